/* SPDX-License-Identifier: MIT */
/* What the checks of several ranks share: matrices by their elements, one problem spread over the
 * ranks with poison around it, and results that all ranks agree on. Rank 0 prints them. */
#pragma once

#include "tests/algorithms/double_checks.h"
#include "tests/tap.h"

#include "factor/distributed/comm_mpi.h"
#include "factor/distributed/distributed.h"

#include <inttypes.h>
#include <stdarg.h>

/* ---- matrices by their elements ---- */

enum elements {
	RANDOM,       /* in (-1, 1) */
	EXACT,        /* P L U of small numbers: no step of an LU rounds, no pivot is a tie */
	PERMUTATION,  /* the same with L = U = I */
	TIES,         /* ones left in each row: no step rounds, and every pivot is a tie */
	ZERO_COLUMN,  /* random, column n/2 and the last one zero */
	DEFINITE,     /* symmetric positive definite, random */
	EXACT_SQUARE, /* L L^T of small numbers */
	NOT_DEFINITE, /* DEFINITE with a negative number on the diagonal, in row n/2 */
	NOT_A_NUMBER  /* the same with a NaN there */
};

struct whole {
	enum elements elements;
	int64_t m, n;
};

static inline uint64_t mixed(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline double random_at(int64_t i, int64_t j)
{
	uint64_t x = mixed((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)j * 77 + 1);

	return (double)(x >> 40) / (1 << 23) - 1;
}

/* A permutation of 0 .. m-1 by a step without a common divisor. */
static inline int64_t permuted(int64_t i, int64_t m)
{
	int64_t step = 7;

	while (m % step == 0)
		step += 2;
	return (i * step + 3) % m;
}

static inline double lower_at(int64_t i, int64_t j)
{
	return i == j ? 1 : i < j ? 0 : ((double)(mixed((uint64_t)(i * 999 + j)) % 3) - 1) / 2;
}

static inline double upper_at(int64_t i, int64_t j)
{
	uint64_t x = mixed((uint64_t)(i * 777 + j * 13 + 5));

	return i > j ? 0 : i == j ? (x % 2 ? 2 : -2) : (double)(x % 3) - 1;
}

static inline double product_at(int64_t i, int64_t j, int64_t k)
{
	double sum = 0;

	for (int64_t l = 0; l <= i && l <= j && l < k; l++)
		sum += lower_at(i, l) * upper_at(l, j);
	return sum;
}

static inline double square_at(int64_t i, int64_t j)
{
	double sum = 0;

	for (int64_t l = 0; l <= i && l <= j; l++)
		sum += lower_at(i, l) * lower_at(j, l);
	return sum;
}

static inline double definite_at(int64_t i, int64_t j, int64_t n)
{
	return i == j ? (double)n : i > j ? random_at(i, j) : random_at(j, i);
}

static inline double element_at(void *context, int64_t i, int64_t j)
{
	const struct whole *w = context;

	switch (w->elements) {
	case RANDOM:
		return random_at(i, j);
	case EXACT:
		return product_at(permuted(i, w->m), j, min_int64(w->m, w->n));
	case PERMUTATION:
		return permuted(i, w->m) == j;
	case TIES:
		return permuted(i, w->m) >= j;
	case ZERO_COLUMN:
		return j == w->n / 2 || j == w->n - 1 ? 0 : random_at(i, j);
	case DEFINITE:
		return definite_at(i, j, w->n);
	case EXACT_SQUARE:
		return square_at(i, j);
	case NOT_DEFINITE:
		return i == j && i == w->n / 2 ? -1 : definite_at(i, j, w->n);
	case NOT_A_NUMBER:
		return i == j && i == w->n / 2 ? NAN : definite_at(i, j, w->n);
	}
	return NAN;
}

/* ---- ranks ---- */

struct ranks {
	struct grid grid;
	struct grid alone; /* one rank */
	struct executor *e;
	int rank; /* of all */
};

/* A failure of the machinery ends all ranks with one message. */
_Noreturn static inline void fail_ranks(const struct fault *fault)
{
	fprintf(stderr, "%s\n", fault->text);
	fflush(stderr);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static inline void must(const struct ranks *r, bool good)
{
	if (!good)
		fail_ranks(&r->e->fault);
}

/* An assertion that must hold on every rank. */
PRINTF_LIKE(3, 4)
static inline bool all_ok(const struct ranks *r, bool good, const char *format, ...)
{
	int mine = good, all = 0;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (!good)
		diag("rank %d: not so: %s", r->rank, text);
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	return r->rank == 0 ? ok(all, "%s", text) : all;
}

/* Whether all ranks have the same integers. */
static inline bool all_same(const struct ranks *r, const int *mine, int64_t count)
{
	int *first = xmalloc((size_t)(count + 1) * sizeof *first);

	memcpy(first, mine, (size_t)count * sizeof *first);
	MPI_Bcast(first, (int)count, MPI_INT, 0, MPI_COMM_WORLD);
	bool same = memcmp(first, mine, (size_t)count * sizeof *first) == 0;
	(void)r;
	free(first);
	return same;
}

/* ---- a matrix over ranks ---- */

enum { PADDING = 3, POISON = 0xa5 };

struct spread {
	struct distributed d;
	int64_t bytes; /* of the local columns and the padding below each */
};

static inline struct spread spread_laid_out(const struct ranks *r, const struct grid *grid,
        const struct whole *w, struct block_cyclic layout, enum precision precision)
{
	struct spread s = {.d = {*grid, layout, {0}}};
	int64_t m = distributed_rows_before(&s.d, w->m), n = distributed_columns_before(&s.d, w->n);

	s.bytes = (m + PADDING) * n * precision_bytes(precision);
	s.d.local = (struct matrix){xmalloc((size_t)s.bytes + 1), 0, m, n, m + PADDING, precision};
	memset(s.d.local.data, POISON, (size_t)s.bytes);
	must(r, distributed_fill(r->e, &s.d, element_at, (void *)(uintptr_t)w));
	return s;
}

/* In square blocks. from_last: the last rank has the first block, not the first rank. */
static inline struct spread spread_new(const struct ranks *r, const struct grid *grid,
        const struct whole *w, int64_t nb, bool from_last, enum precision precision)
{
	const int first = from_last ? grid->all->ranks - 1 : 0, columns = grid_columns(grid);

	return spread_laid_out(r, grid, w,
	        (struct block_cyclic){.m = w->m,
	                .n = w->n,
	                .nb = nb,
	                .first = first % columns,
	                .first_row = first / columns,
	                .mb = nb},
	        precision);
}

static inline bool spread_padding_intact(const struct spread *s)
{
	const struct matrix a = s->d.local;
	const int64_t word = precision_bytes(a.precision);

	for (int64_t j = 0; j < a.n; j++)
		for (int64_t i = a.m * word; i < a.ld * word; i++)
			if (((unsigned char *)a.data)[j * a.ld * word + i] != POISON)
				return false;
	return true;
}

/* The whole matrix on rank 0, in double precision with leading dimension m; NULL elsewhere. */
static inline double *spread_gather(const struct ranks *r, const struct spread *s)
{
	const struct block_cyclic *d = &s->d.layout;
	const enum precision precision = s->d.local.precision;
	const bool mine = s->d.grid.all->rank == 0;
	void *all = mine ? xmalloc((size_t)(d->m * d->n * precision_bytes(precision) + 1)) : NULL;

	must(r, distributed_gather(r->e, &s->d, 0, all, max_int64(d->m, 1)));
	double *out = mine ? to_doubles(all, d->m, d->m, d->n, precision) : NULL;
	free(all);
	return out;
}

static inline void *poisoned(int64_t bytes)
{
	void *data = aligned_alloc(256, (size_t)(bytes + 511) / 256 * 256);

	memset(data, 0xff, (size_t)bytes);
	return data;
}

/* ---- problems ---- */

/* Block size far beyond any matrix: one block, whose room must not be larger than the matrix. */
enum { HIGH = 1 << 30 };

struct problem {
	struct whole whole;
	int64_t nb;
	enum precision precision;
	enum math math;
};

static inline const char *problem_title(const struct problem *p)
{
	static const char *const names[] = {"random", "exact", "permutation", "ties",
	        "zero columns", "definite", "exact square", "not definite", "with a NaN"};
	static char text[128];

	snprintf(text, sizeof text, "%s %" PRId64 " x %" PRId64 ", nb %" PRId64 ", %c %s",
	        names[p->whole.elements], p->whole.m, p->whole.n, p->nb, (char)p->precision,
	        math_name[p->math]);
	return text;
}

/* Errors are at most 1.5 times one rank's, or at most this many eps. */
static inline bool error_as_good(double error, double error_of_one)
{
	return error <= fmax(1.5 * error_of_one, 0.05);
}

/* The elements as the precision has them; leading dimension m. */
static inline double *whole_new(const struct whole *w, enum precision precision)
{
	double *a = xmalloc((size_t)(w->m * w->n + 1) * sizeof *a);

	for (int64_t j = 0; j < w->n; j++)
		for (int64_t i = 0; i < w->m; i++) {
			double x = element_at((void *)(uintptr_t)w, i, j);
			a[i + j * w->m] = precision == SINGLE ? (double)(float)x : x;
		}
	return a;
}

/* The checks, file by file; whether all of rank 0's passed. */
bool check_lu(const struct ranks *);
bool check_cholesky(const struct ranks *);
bool check_qr(const struct ranks *);
bool check_solves(const struct ranks *);
bool check_library(const struct ranks *);

/* An LU over ranks, for a check of ranks that stop. */
void lu_stopped(const struct ranks *);
