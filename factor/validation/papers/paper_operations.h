/* SPDX-License-Identifier: MIT */
/* The operations that LAPACK Working Note 202 measures by themselves, in single precision on the
 * device: the matrix product, also of block triangles (section 4.2), for small C (Figure 5) and of
 * thin matrices (Figure 6), the transposition, copies with a stride (section 3.7), 64 row swaps,
 * the triangular solve against the product by the inverse. Each in several ways, by many calls one
 * after the other. */
#pragma once

#include "lib/base/msg.h"
#include "factor/papers/gemm_volkov.h"
#include "factor/validation/results.h"
#include "factor/validation/timing.h"

enum paper_op {
	PAPER_OP_GEMM,
	PAPER_OP_TRANSPOSE,
	PAPER_OP_LASWP,
	PAPER_OP_TRSM,
	PAPER_OP_SYRK,
	PAPER_OP_TRMM,
	PAPER_OP_SMALL_GEMM,
	PAPER_OP_THIN_GEMM,
	PAPER_OP_SCOPY,
	PARTS
};
extern const char *const paper_op_name[PARTS];

enum { PAPER_OP_WAYS = 10, PAPER_OP_EXCHANGES = 64, PAPER_OP_SMALL_K = 1024, PAPER_OP_SPLITS = 16 };

/* False when the operation is none of them. */
bool paper_op_find(const char *operation, enum paper_op *part);

/* A problem, in the order of enum part: C += A B, or A B^T, of square matrices (m = n = k); n x m
 * from m x n; row swaps in m x n; a unit lower triangle of order m with n right-hand sides; the
 * lower triangle of C += A A^T, of order m = n; a triangle times a square, or a square times a
 * triangle (m = n = k); C += A B with k = PAPER_OP_SMALL_K; C += A B with m = n and any k; a
 * copy of m words, n words apart. */
struct paper_op_problem {
	enum paper_op part;
	int64_t m, n, k;
};

/* The problem of two sizes: m x n, but for syrk and thin_gemm the order of C and k. */
struct paper_op_problem paper_op_problem(enum paper_op part, int64_t m, int64_t n);

/* The ways of one problem share matrices and pivots in executor memory. In row-major layout the row
 * swaps see the matrix as its transpose. */
struct paper_op_way;
struct paper_op_data {
	struct executor *executor;
	const struct paper_op_way *way; /* the current one */
	struct paper_op_problem problem;
	uint64_t state;                 /* of random choices */
	struct matrix original, result; /* the input, and the matrix that the operation changes */
	struct matrix x, y;             /* gemm: A, B. transpose: x is the input. scopy:
	                                   the words are a row of x. trsm: x is the triangle and,
	                                   right of it, its inverse; y is the right-hand sides. syrk: x is A.
	                                   trmm: x is a lower triangle and, right of it, an upper one, with
	                                   zeros beside them; y is the square */
	void *work;                     /* small_gemm: work_bytes for PAPER_OP_SPLITS C */
	int64_t work_bytes;
	struct pivots pivots; /* of the row swaps */
	int ipiv[PAPER_OP_EXCHANGES];
};

typedef bool paper_op_call(const struct paper_op_data *data);

/* One way of a part: variant and options as in its row. */
struct paper_op_way {
	enum paper_op part;
	const char *variant, *options; /* options: pairs after the memory state, "" for none */
	bool unchecked;                /* the result is not a product */
	paper_op_call *call;
	int setting; /* of the call: for gemm enum volkov_without, for syrk and trmm enum
	                volkov_shape, for small_gemm splits of k (of ours 0 or as the plan wants) */
};

/* Whether a way has this option with this value. */
bool paper_op_has(const struct paper_op_way *way, const char *key, const char *value);

/* The triangle that the current way of trmm multiplies by. */
struct matrix paper_op_triangle(const struct paper_op_data *data);

/* Factor of A B in C += A B: small, so that repeated updates stay finite. */
#define PAPER_OP_ALPHA 1e-3

#ifdef FATHOM_CUDA
/* paper_operation_calls.c: all ways of a part, at most PAPER_OP_WAYS; their number. */
size_t paper_op_ways(enum paper_op part, const struct paper_op_way **ways);

/* timing_paper_operations.c: fills seconds and residual of a candidate for each of the ways;
 * calls[i] is the number of calls in a sample of candidate i. */
bool timing_parts(struct executor *executor, const struct paper_op_problem *problem,
        const struct timing_plan *plan, const struct paper_op_way *const *way,
        struct candidate *candidate, int *calls, size_t count, struct fault *fault);
#else
static inline size_t paper_op_ways(enum paper_op part, const struct paper_op_way **ways)
{
	(void)part, (void)ways;
	return 0;
}

static inline bool timing_parts(struct executor *executor, const struct paper_op_problem *problem,
        const struct timing_plan *plan, const struct paper_op_way *const *way,
        struct candidate *candidate, int *calls, size_t count, struct fault *fault)
{
	(void)executor, (void)problem, (void)plan, (void)way, (void)candidate, (void)calls,
	        (void)count;
	return fault_set(fault, "built without the CUDA Toolkit");
}
#endif
