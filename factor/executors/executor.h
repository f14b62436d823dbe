/* SPDX-License-Identifier: MIT */
/* The executor interface. An algorithm is written once against it; the cuda executor runs it on a
 * GPU, the host executor runs it on the CPU, the model executor predicts its time. operations.h
 * lists the operations. */
#pragma once

#include "factor/kernels/gemm/stairs.h"
#include "factor/kernels/gemm/tf32.h"
#include "factor/kernels/gram_schmidt/gram_schmidt_kernels.h"
#include "factor/kernels/lu/deferred_swaps.h"
#include "factor/kernels/update/sweep_kernel.h"
#include "factor/tuning/tuning.h"

/* Phases of an algorithm. Every operation belongs to one; phases are predicted and timed. */
enum phase {
	PHASE_SEARCH,   /* find the pivot; the norm of a column */
	PHASE_FETCH,    /* pivots and single values between executor memory and the host */
	PHASE_SWAP,     /* exchange rows; note pivots for that */
	PHASE_SCALE,    /* divide the column by the pivot */
	PHASE_UPDATE,   /* products: of rank 1 and more */
	PHASE_TRANSFER, /* panel to the host and back */
	PHASE_PANEL,    /* a whole panel in one call, by LAPACK or a kernel */
	PHASE_SOLVE,    /* triangular solves and inverses of diagonal blocks */
	PHASE_LAYOUT,   /* transposes, copies and fills inside executor memory */
	PHASE_COUNT
};
extern const char *const phase_name[PHASE_COUNT];

/* Operations go into queues. A queue is in order; different queues overlap where the machine can.
 * An event is a number below EXECUTOR_EVENTS; the algorithm gives it a meaning. */
enum queue {
	QUEUE_MAIN,  /* updates */
	QUEUE_PANEL, /* panels, ahead of the updates; of higher priority */
	QUEUE_OUT,   /* copies to the host */
	QUEUE_IN,    /* copies to the device */
	QUEUE_COUNT
};
enum { EXECUTOR_EVENTS = 64, EXECUTOR_STAGES = 4 };

/* How products in single precision are computed: by fused multiply-adds of fp32, or the large ones
 * with operands split in two, by 3xTF32 (factor/kernels/gemm/tf32.h) or 3xFP16
 * (factor/kernels/gemm/half_pair.h). */
enum math { MATH_FP32, MATH_3XTF32, MATH_3XFP16, MATHS };
extern const char *const math_name[MATHS], *const math_title[MATHS];

/* False when no math has this name. */
bool math_find(const char *name, enum math *math);

/* Products of one shape; steps between their operands in elements. */
struct products {
	int64_t count, a, b, c;
};

/* Workspace of products with split operands, and the operand that several products share
 * (split.h). */
struct split_room {
	void *data, *kept_data;
	int64_t bytes, kept_bytes; /* 0: no such products */
	struct matrix kept;
	enum split_form stack; /* of op(kept) */
	enum trans trans;
	bool made;           /* kept's stack exists */
	struct matrix ready; /* the next product's other operand, when its stack exists; no columns:
	                        none does */
};

/* What executors can do. */
enum {
	/* Most columns of the panels of lu_columns, lu_top and lu_rows (but see rows_most). */
	EXECUTOR_LU_COLUMNS = 64,
	EXECUTOR_LU_TOP = 128,
	EXECUTOR_LU_ROWS = 512,
	/* Most columns that reflect_columns takes. */
	EXECUTOR_QR_COLUMNS = 64,
	/* The inverse of a triangle replaces substitution up to this product of the largest
	 * magnitudes in the triangle and in its inverse. The error of the inverse is larger by
	 * about this factor. */
	EXECUTOR_INVERSE_GROWTH = 1000,
};

struct executor;

/* A list of operations.h without its parentheses. */
#define EXECUTOR_LIST(...) __VA_ARGS__

/* Every operation returns false after filling executor->fault. Operations may return before they
 * are done; sync waits for all. */
struct executor_ops {
#define FUNCTION(type, name, parameters) type(*name) parameters;
#include "operations.h"
};

struct executor {
	const struct executor_ops *ops;
	struct fault fault;
	const char *name; /* cuda, host, model */
	bool on_host;     /* executor memory is host memory */

	/* what it can do; 0: never */
	int64_t row_major, column_major; /* as in struct layout_tuning */
	int64_t aligned_from, deferred_from;
	int64_t deferred_most[2];          /* rows with deferred swaps at most: fp32, fp64 */
	int64_t rows_most[2];              /* columns of lu_rows' panels at most: fp32, fp64 */
	const struct split_limits *splits; /* NULL: no products of split operands */
	struct tuning tuning;              /* for its device */

	/* set by the caller */
	enum math math;
	unsigned skip;   /* bit per phase: its operations do nothing and succeed (phase timing) */
	enum queue home; /* of a factorization's updates; without look-ahead of all its work.
	                    QUEUE_MAIN, but for a panel inside a larger factorization */

	struct matrix in_host; /* pinned host memory of the matrix that is factorized, for plans
	                          in_place; no columns: none */

	/* set by the algorithm */
	enum queue queue; /* where the next operations go */
	int64_t block;  /* of a blocked factorization, that the next operations belong to: 0, 1.. */
	bool shares;    /* other queues have work beside the next operations: products leave them
	                   multiprocessors between tiles */
	bool blas_only; /* products by the BLAS (in double precision on a GPU by
	                   factor/kernels/gemm/blas_double.h), even where our own kernels are faster
	                 */
	bool gram_double; /* QR's panels in double precision use the Gram matrix, too */
	struct split_room split;
};

/* Constructors; NULL with a fault when not possible here. executor_cuda_new fails in builds without
 * the CUDA Toolkit. */
struct executor *executor_host_new(struct fault *fault);
struct executor *executor_cuda_new(const char *device, struct fault *fault);
void executor_free(struct executor *executor);

/* For executors of a GPU: the tuned sizes. splits: it has products of split operands; half: also by
 * 3xFP16. */
void executor_tune(struct executor *, struct tuning_device, bool splits, bool half);

/* Threads that the host executor's library has for large operations. */
int executor_host_threads(void);

/* Whether the executor's device and build can do this math. */
bool math_possible(const struct executor *, enum math math);

/* Whether updates run beside the next operations: beside all panels but the first. */
static inline bool ex_is_beside(const struct executor *executor)
{
	return executor->queue == QUEUE_PANEL && executor->block > 0;
}

/* Algorithms call operations by ex_<name>, which honours `skip`. A skipped operation with a result
 * gives one that keeps the sequence going: the last row as pivot, 2 as value and norm, info 0. An
 * operation on blocks with an empty result does nothing. */
#define OPERATION(name, parameters, ...)                                                           \
	bool ex_##name(struct executor *e, EXECUTOR_LIST parameters);
#define HOST_PANEL OPERATION
#define OPTIONAL OPERATION
#include "operations.h"

bool ex_record(struct executor *, int event);
bool ex_wait(struct executor *, int event);
bool ex_wait_host(struct executor *, int event);

/* By the BLAS, or by split operands where split.h chooses them. */
bool ex_gemm(struct executor *, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c);
bool ex_syrk(struct executor *, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        double beta, struct matrix c);

/* C += alpha A B^T in stairs, where split_wanted_stairs; b: the rows of A that belong to C's
 * columns. */
bool ex_stairs(struct executor *, struct stairs stairs, double alpha, struct matrix a,
        struct matrix b, struct matrix c);

/* Modified Gram-Schmidt of the first k columns of g, one pass each. */
bool gram_by_passes(struct executor *, const struct gram_schmidt *g, int64_t k);

/* lu_top by laswp and trsm; lu_columns by lu_top and gemm. */
bool lu_top_by_calls(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool lu_columns_by_calls(struct executor *, struct matrix a, struct pivots p, struct matrix c);

/* panel_geqrf, explicit_v and larft, in one call where the executor has it; without V (v.n = 0)
 * panel_geqrf alone. */
bool ex_panel_reflectors(struct executor *, struct matrix a, struct matrix tau, struct matrix v,
        struct matrix t, bool summed, void *work);
