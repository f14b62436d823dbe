/* SPDX-License-Identifier: MIT */
/* The operations that LAPACK Working Note 202 measures by themselves, in single precision on the
 * device: the matrix product, also of block triangles (section 4.2), for small C (Figure 5) and of
 * thin matrices (Figure 6), the transposition, 64 row interchanges, the triangular solve against
 * the product by the inverse. Each in several ways, by many calls one after the other. */
#ifndef FATHOM_PARTS_H
#define FATHOM_PARTS_H

#include "../../lib/msg.h"
#include "../cuda/gemm_volkov.h"
#include "results.h"
#include "timing.h"

enum part {
	PART_GEMM,
	PART_TRANSPOSE,
	PART_LASWP,
	PART_TRSM,
	PART_SYRK,
	PART_TRMM,
	PART_SMALL_GEMM,
	PART_THIN_GEMM,
	PARTS
};
extern const char *const part_name[PARTS];

enum { PART_WAYS = 10, PART_EXCHANGES = 64, PART_SMALL_K = 1024, PART_SPLITS = 16 };

/* Whether this is one of them, and which. */
bool part_find(const char *operation, enum part *part);

/* A problem: C += A B, or A B^T, of square matrices (m = n = k); n x m from m x n; exchanges in m x
 * n; a unit lower triangle of order m with n right-hand sides; the lower triangle of C, of order m
 * = n, += A A^T; a triangle times a square, or a square times a triangle (m = n = k); C += A B with
 * k = PART_SMALL_K, or with m = n and any k. */
struct part_problem {
	enum part part;
	int64_t m, n, k;
};

/* That of two sizes: m x n, but of syrk and thin_gemm the order of C and k. */
struct part_problem part_problem(enum part part, int64_t m, int64_t n);

/* What the ways of one problem share: matrices and pivots in executor memory. In row-major layout
 * the exchanges take the matrix for its transpose. */
struct part_data {
	struct part_problem problem;
	struct matrix original, result; /* what the operation starts from, and changes */
	struct matrix x, y; /* gemm: A, B. transpose: x is what is transposed. trsm: x is the
	                       triangle and, right of it, its inverse; y is the right-hand sides.
	                       syrk: x is A. trmm: x is a lower triangle and, right of it, an upper
	                       one, zeros beside them; y is the square */
	void *work;         /* small_gemm: for PART_SPLITS C, of so many bytes */
	int64_t work_bytes;
	struct pivots pivots; /* of the exchanges */
	int ipiv[PART_EXCHANGES];
};

struct part_way;
typedef bool part_call(
        struct executor *executor, const struct part_way *way, const struct part_data *data);

/* One way of a part: variant and options as in its row. */
struct part_way {
	enum part part;
	const char *variant, *options; /* options: pairs after the memory state, "" for none */
	bool unchecked;                /* the result means nothing */
	part_call *call;
	int setting; /* of the call: for gemm enum volkov_without, for syrk and trmm enum
	                volkov_shape, for small_gemm splits of k (of ours 0 or as the plan wants) */
};

/* Whether a way has this among its options. */
bool part_has(const struct part_way *way, const char *key, const char *value);

/* The triangle that a way of trmm multiplies by. */
struct matrix part_triangle(const struct part_way *way, const struct part_data *data);

/* part_checks.c: how far one element or column of the result, chosen by state, is from what one
 * call on the original makes of it: in units of the rounding of the terms' magnitudes; of words
 * that are only moved, 0 or infinite. NaN with a fault when it could not be looked at. */
double part_ratio(struct executor *executor, const struct part_way *way,
        const struct part_data *data, uint64_t *state, struct fault *fault);

/* Small, so that repeated updates stay finite: C += this times A B. */
#define PART_ALPHA 1e-3

#ifdef FATHOM_CUDA
/* part_calls.c: all ways of a part, at most PART_WAYS; their number. */
size_t part_ways(enum part part, const struct part_way **ways);

/* timing_parts.c: fills seconds and residual of a contender for each of the ways; calls[i] is how
 * many calls a sample of contender i had. */
bool timing_parts(struct executor *executor, const struct part_problem *problem,
        const struct timing_plan *plan, const struct part_way *const *way,
        struct contender *contender, int *calls, size_t count, struct fault *fault);
#else
static inline size_t part_ways(enum part part, const struct part_way **ways)
{
	(void)part, (void)ways;
	return 0;
}

static inline bool timing_parts(struct executor *executor, const struct part_problem *problem,
        const struct timing_plan *plan, const struct part_way *const *way,
        struct contender *contender, int *calls, size_t count, struct fault *fault)
{
	(void)executor, (void)problem, (void)plan, (void)way, (void)contender, (void)calls,
	        (void)count;
	return fault_set(fault, "built without the CUDA Toolkit");
}
#endif

#endif
