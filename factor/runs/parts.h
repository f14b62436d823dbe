/* SPDX-License-Identifier: MIT */
/* The operations that LAPACK Working Note 202 measures by themselves, in single precision on the
 * device: the matrix product, the transposition, 64 row interchanges, the triangular solve against
 * the product by the inverse. Each in several ways, by many calls one after the other. */
#ifndef FATHOM_PARTS_H
#define FATHOM_PARTS_H

#include "../../lib/msg.h"
#include "results.h"
#include "timing.h"

enum part { PART_GEMM, PART_TRANSPOSE, PART_LASWP, PART_TRSM, PARTS };
extern const char *const part_name[PARTS];

enum { PART_WAYS = 10, PART_EXCHANGES = 64 };

/* Whether this is one of them, and which. */
bool part_find(const char *operation, enum part *part);

/* A problem: C += A B, or A B^T, of square matrices (m = n = k), n x m from m x n, exchanges in m x
 * n, or a unit lower triangle of order m with n right-hand sides. */
struct part_problem {
	enum part part;
	int64_t m, n, k;
};

/* What the ways of one problem share: matrices and pivots in executor memory. In row-major layout
 * the exchanges take the matrix for its transpose. */
struct part_data {
	struct part_problem problem;
	struct matrix original, result; /* what the operation starts from, and changes */
	struct matrix x, y;   /* gemm: A, B. transpose: x is what is transposed. trsm: x is the
	                         triangle and, right of it, its inverse; y is the right-hand sides */
	struct pivots pivots; /* of the exchanges */
	int ipiv[PART_EXCHANGES];
};

/* One way of a part: variant and options as in its row. */
struct part_way {
	enum part part;
	const char *variant, *options; /* options: pairs after the memory state, "" for none */
	bool unchecked;                /* the result means nothing */
	bool (*call)(struct executor *executor, const struct part_way *way,
	        const struct part_data *data);
	int experiment; /* of the call: enum volkov_without */
};

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
