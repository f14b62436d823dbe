/* SPDX-License-Identifier: MIT */
/* Copies of operand tiles from global to shared memory: asynchronous from compute capability 8.0
 * on, else through registers. A tile in shared memory is stored depth by depth, with the rows of
 * op(A) (columns of op(B)) contiguous, for any layout in global memory. */
#pragma once

#include "lib/base/base.h"

/* Copies BYTES (4, 8 or 16) bytes. Only the first `valid` are read; the rest become zero. */
template <int BYTES> static DEVICE void copy_start(void *to, const void *from, int valid)
{
#if __CUDA_ARCH__ >= 800
	const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
	if (BYTES == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared),
		             "l"(from), "r"(valid)
		             : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared),
		             "l"(from), "n"(BYTES), "r"(valid)
		             : "memory");
#else
	for (int i = 0; i < BYTES / 4; i++)
		((unsigned *)to)[i] = 4 * i < valid ? ((const unsigned *)from)[i] : 0;
#endif
}

/* The same with all bytes valid. */
template <int BYTES> static DEVICE void copy_start(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
	const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
	if (BYTES == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from)
		             : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from),
		             "n"(BYTES)
		             : "memory");
#else
	if (BYTES == 16)
		*(float4 *)to = *(const float4 *)from;
	else if (BYTES == 8)
		*(double *)to = *(const double *)from;
	else
		*(float *)to = *(const float *)from;
#endif
}

/* If wanted: starts the copy of *from if it is `there`, else writes `otherwise`. Without branches,
 * because a branch makes the next copy wait until this one's address has been read. */
template <typename T>
static DEVICE void copy_or_set(T *to, const T *from, bool wanted, bool there, T otherwise)
{
	const int copied = wanted && there, set = wanted && !there;
#if __CUDA_ARCH__ >= 800
	const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
	if (sizeof(T) == 8)
		asm volatile("{\n.reg .pred p, q;\nsetp.ne.s32 p, %2, 0;\nsetp.ne.s32 q, %3, 0;\n"
		             "@p cp.async.ca.shared.global [%0], [%1], 8;\n"
		             "@q st.shared.f64 [%0], %4;\n}" ::"r"(shared),
		             "l"(from), "r"(copied), "r"(set), "d"((double)otherwise)
		             : "memory");
	else
		asm volatile("{\n.reg .pred p, q;\nsetp.ne.s32 p, %2, 0;\nsetp.ne.s32 q, %3, 0;\n"
		             "@p cp.async.ca.shared.global [%0], [%1], 4;\n"
		             "@q st.shared.f32 [%0], %4;\n}" ::"r"(shared),
		             "l"(from), "r"(copied), "r"(set), "f"((float)otherwise)
		             : "memory");
#else
	if (copied)
		*to = *from;
	else if (set)
		*to = otherwise;
#endif
}

static DEVICE void copy_commit(void)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most PENDING groups of this thread are unfinished. */
template <int PENDING> static DEVICE void copy_wait(void)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

/* How THREADS threads copy a ROWS x DEPTH tile of one operand. ALONG: rows are contiguous in global
 * memory (op(A) = A, op(B) = B^T), VECTOR of them in one copy. Otherwise depth is contiguous, and a
 * warp reads 8 of depth in 4 rows: whole sectors of memory, and different banks because of the
 * pitch. */
template <typename T, bool ALONG, int VECTOR, int ROWS, int DEPTH, int THREADS> struct tile_copy {
	static const int PITCH = ALONG && sizeof(T) == 4 ? ROWS : ROWS + 4;
	static const int PER_DEPTH = ROWS / VECTOR; /* ALONG: threads side by side */
	static const int STEP = ALONG ? THREADS / PER_DEPTH : THREADS / 8;
	static const int BYTES = VECTOR * (int)sizeof(T);
	static const int COPIES = ROWS * DEPTH / VECTOR / THREADS; /* per thread */
	static_assert(!ALONG || (THREADS % PER_DEPTH == 0 && DEPTH % STEP == 0), "whole copies");
	static_assert(ALONG || (ROWS % STEP == 0 && DEPTH % 8 == 0), "whole copies");

	/* Row and depth of this thread's first copy. */
	static DEVICE int row(void)
	{
		return ALONG ? threadIdx.x % PER_DEPTH * VECTOR : threadIdx.x / 8;
	}

	static DEVICE int depth(void)
	{
		return ALONG ? threadIdx.x / PER_DEPTH : threadIdx.x % 8;
	}

	static DEVICE int64_t offset(int64_t row, int64_t depth, int64_t ld)
	{
		return ALONG ? row + depth * ld : depth + row * ld;
	}

	/* Copy number i of a whole tile; `chain` starts at the thread's first element. */
	static DEVICE void start_one(T *tile, const T *&chain, int64_t ld, int i)
	{
		T *to = tile + depth() * PITCH + row();
		if constexpr (ALONG) {
			copy_start<BYTES>(to + i * STEP * PITCH, chain);
			chain += STEP * ld;
		} else {
			const int d = i % (DEPTH / 8) * 8;
			copy_start<BYTES>(to + d * PITCH + i / (DEPTH / 8) * STEP, chain + d);
			if (d == DEPTH - 8)
				chain += STEP * ld;
		}
	}

	/* All copies of a tile with only `rows` rows and `depths` of depth inside the matrix. No
	 * address outside the matrix is formed. */
	static DEVICE void start_edge(T *tile, const T *from, int64_t ld, int rows, int depths)
	{
		T *to = tile + depth() * PITCH + row();
		rows -= row();
		depths -= depth();
		if constexpr (ALONG) {
			const int inside = min(max(rows, 0), VECTOR) * (int)sizeof(T);
#pragma unroll
			for (int i = 0; i < DEPTH / STEP; i++) {
				const int valid = i * STEP < depths ? inside : 0;
				copy_start<BYTES>(to + i * STEP * PITCH,
				        valid ? from + i * STEP * ld : from, valid);
			}
		} else {
#pragma unroll
			for (int i = 0; i < ROWS / STEP; i++)
#pragma unroll
				for (int d = 0; d < DEPTH; d += 8) {
					const int valid = i * STEP < rows && d < depths ? BYTES : 0;
					copy_start<BYTES>(to + d * PITCH + i * STEP,
					        valid ? from + i * STEP * ld + d : from, valid);
				}
		}
	}
};
