/* SPDX-License-Identifier: MIT */
/* Slabs of rows of a tall matrix on their way to shared memory, column by column. A column that
 * begins at an odd multiple of 8 bytes is turned down by one place, with its last row in the first
 * place: then all copies have 16 bytes but those of its first and last row. What lies outside the
 * matrix arrives as zeros. */
#pragma once

#include "double_tall.h"
#include "gemm_copy.cuh"
#include "lib/base/matrix.h"

namespace
{

/* Blocks of all kernels here. */
const int TALL_THREADS = DOUBLE_TALL_THREADS, TALL_WARPS = TALL_THREADS / 32;

/* Columns of a tall matrix as a kernel gets them. */
struct tall_operand {
	double *data;
	int64_t ld, rows;
	int columns;
	bool pairs; /* every column starts at a multiple of 16 bytes */

	/* Places by which a column's rows are turned down in a slab. */
	template <bool TURNS> DEVICE int shift(int column) const
	{
		if (!TURNS)
			return 0;
		return (int)(((uint64_t)data / sizeof *data + (uint64_t)(column * ld)) & 1);
	}
};

struct tall_operand tall_operand_of(struct matrix a)
{
	return {(double *)matrix_address(a), a.ld, a.m, (int)a.n, matrix_is_aligned(a)};
}

/* The operand from a column on. */
DEVICE struct tall_operand columns_from(const struct tall_operand &a, int first, int most)
{
	return {a.data + first * a.ld, a.ld, a.rows, max(0, min(most, a.columns - first)), a.pairs};
}

/* Rows of a column are permuted in pairs, so that 4 columns by 4 rows of single words and 2 columns
 * by 4 pairs of rows lie in different banks. `place` of row i, from a multiple of 16 on, is i ^
 * slab_turn(column). */
DEVICE int slab_turn(int column)
{
	return column % 2 * 8 + column / 2 % 2 * 4;
}

/* A pair of rows; or for the `ends` of a column of LENGTH rows, whose first pair has the row above
 * at `from`: its first row and, in the place before, its last row. Only the first `valid` bytes of
 * the pair or the first row are read, and `last` of the last row. */
template <int LENGTH>
DEVICE void copy_turned(double *to, const double *from, bool ends, int valid, int last)
{
#if __CUDA_ARCH__ >= 800
	const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
	asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n"
	             "@!p cp.async.cg.shared.global [%0], [%1], 16, %3;\n"
	             "@p cp.async.ca.shared.global [%0+8], [%1+8], 8, %3;\n"
	             "@p cp.async.ca.shared.global [%0], [%1+%5], 8, %4;\n}" ::"r"(shared),
	             "l"(from), "r"((int)ends), "r"(valid), "r"(last), "n"(8 * LENGTH)
	             : "memory");
#else
	if (!ends) {
		copy_start<16>(to, from, valid);
	} else {
		copy_start<8>(to + 1, from + 1, valid);
		copy_start<8>(to, from + LENGTH, last);
	}
#endif
}

/* A thread's copies of slabs of ROWS rows by COLUMNS columns, column after column in shared memory.
 * TURNS: columns are turned down as they begin; else those that are not aligned have copies of 8
 * bytes.
 * A kernel has one of both ways: with a branch between them ptxas 13.0 lost an address.
 * The thread keeps the place of the next slab in the matrix. */
template <int COLUMNS, int ROWS, bool TURNS> struct slab_copies {
	static const int COUNT = COLUMNS * ROWS / 2 / TALL_THREADS; /* copies of pairs */
	static_assert(TALL_THREADS % ROWS == 0 && ROWS <= TALL_THREADS / 4, "4 columns at once");
	static_assert(COLUMNS * ROWS % (2 * TALL_THREADS) == 0, "whole copies");

	const double *from; /* of this thread's next copy, which reads nothing outside the matrix */
	int64_t step;       /* between its copies */
	int64_t rows;       /* of the matrix, from the thread's first on; 0: copies of zeros */
	int columns, to;    /* columns from there on; place in a slab */
	bool pairs, ends;   /* ends: the thread's pair is the last row and the first */

	/* The first slab begins at a row, if it is there. */
	DEVICE slab_copies(const struct tall_operand &a, int64_t row, bool there)
	{
		const int each = TURNS || a.pairs ? 2 : 1, beside = ROWS / each;
		const int place = threadIdx.x % beside * each, j = threadIdx.x / beside;
		const int i = place - a.shift<TURNS>(j);

		from = a.data + row + i + j * a.ld;
		step = TALL_THREADS / beside * a.ld;
		rows = there ? a.rows - row - i : 0;
		columns = a.columns - j;
		to = j * ROWS + (place ^ slab_turn(j));
		pairs = a.pairs;
		ends = i < 0;
	}

	/* After all copies of a slab, to one that begins so many rows further down, if it is there.
	 */
	DEVICE void advance(int64_t down, bool there)
	{
		from += down - (TURNS || pairs ? COUNT : 2 * COUNT) * step;
		rows = there ? rows - down : 0;
	}

	template <int EACH> DEVICE void start_each(double *slab, int first, int end)
	{
		const int BETWEEN = TALL_THREADS * EACH / ROWS; /* columns */
		const int valid = rows >= EACH ? EACH : rows > 0 ? 1 : 0;

#pragma unroll
		for (int c = first; c < end; c++) {
			const bool there = c * BETWEEN < columns && valid;
			copy_start<8 * EACH>(
			        slab + to + c * BETWEEN * ROWS, from, there ? 8 * valid : 0);
			from += step;
		}
	}

	DEVICE void start_turned(double *slab, int first, int end)
	{
		const int BETWEEN = TALL_THREADS * 2 / ROWS; /* columns */
		const int valid = rows < 1 || (ends && rows < 2) ? 0 : rows < 2 || ends ? 8 : 16;
		const int last = rows > ROWS ? 8 : 0;

#pragma unroll
		for (int c = first; c < end; c++) {
			const bool there = c * BETWEEN < columns;
			copy_turned<ROWS>(slab + to + c * BETWEEN * ROWS, from, ends,
			        there ? valid : 0, there ? last : 0);
			from += step;
		}
	}

	/* Starts part number x of PARTS of the next slab's copies; all parts in turn. */
	template <int PARTS> DEVICE void start(double *slab, int x)
	{
		if (TURNS)
			start_turned(slab, COUNT * x / PARTS, COUNT * (x + 1) / PARTS);
		else if (pairs)
			start_each<2>(slab, COUNT * x / PARTS, COUNT * (x + 1) / PARTS);
		else
			start_each<1>(slab, 2 * COUNT * x / PARTS, 2 * COUNT * (x + 1) / PARTS);
	}
};

/* The ring of STAGES slabs: the one in use and the one to be written. */
template <int STAGES> struct slab_ring {
	int now, free;

	/* Waits for the next slab: a barrier. Copies of STAGES - 2 further slabs may be
	 * unfinished. */
	DEVICE void wait(void)
	{
		copy_wait<STAGES - 2>();
		__syncthreads();
		free = now;
		now = now == STAGES - 1 ? 0 : now + 1;
	}
};

} // namespace
