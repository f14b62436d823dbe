/* SPDX-License-Identifier: MIT */
/* The executor interface: an algorithm in factor/ is written once against it and run by `cuda`,
 * checked by `host`, estimated by `model`. Every operation belongs to a phase, so that the same phases
 * are estimated and timed. */
#ifndef FATHOM_EXECUTOR_H
#define FATHOM_EXECUTOR_H

#include "lib/base/base.h"
#include "factor/kernels/gram_schmidt/gram_schmidt_kernels.h"
#include "lib/base/matrix.h"
#include "lib/profile/profile.h"
#include "factor/kernels/lu/deferred_swaps.h"
#include "factor/kernels/update/sweep_kernel.h"
#include "factor/kernels/gemm/tf32.h"

/* Phases that are estimated and timed. */
enum phase {
	PHASE_SEARCH,   /* find the pivot; the norm of a column */
	PHASE_FETCH,    /* pivots and single values between executor memory and the host */
	PHASE_SWAP,     /* exchange two rows */
	PHASE_SCALE,    /* divide the column by the pivot */
	PHASE_UPDATE,   /* rank-1 update */
	PHASE_TRANSFER, /* panel to the host and back */
	PHASE_PANEL,    /* whole panel in one call (host LAPACK, resident kernel) */
	PHASE_SOLVE,    /* triangular solves and inverses of diagonal blocks */
	PHASE_LAYOUT,   /* transposes, copies and fills inside executor memory */
	PHASE_COUNT
};
extern const char *const phase_name[PHASE_COUNT];

/* Operations are put into queues, which are in order; different queues overlap where the machine
 * can. An event is a number below EXECUTOR_EVENTS that the algorithm gives a meaning. */
enum queue {
	QUEUE_MAIN,  /* updates */
	QUEUE_PANEL, /* panels, ahead of the updates; of higher priority */
	QUEUE_OUT,   /* copies to the host */
	QUEUE_IN,    /* copies to the device */
	QUEUE_COUNT
};
enum { EXECUTOR_EVENTS = 64, EXECUTOR_STAGES = 4 };

/* The inverse of a triangle is trusted in place of substitution up to this product of the largest
 * magnitudes of the triangle and of its inverse: the error of the one is that of the other times
 * about as much. */
enum { EXECUTOR_INVERSE_GROWTH = 1000 };

/* Columns of the panels that lu_columns and lu_top take, and rows up to which the former is worth
 * it. */
enum { EXECUTOR_LU_COLUMNS = 64, EXECUTOR_LU_TOP = 128, EXECUTOR_LU_COLUMNS_ROWS = 8192 };

/* And those of the panels that lu_rows takes at most (rows_most). */
enum { EXECUTOR_LU_ROWS = 512 };

/* Columns that reflect_columns takes: a kernel for few, which the next panel waits for. */
enum { EXECUTOR_QR_COLUMNS = 64 };

/* Columns, in single precision, from which on LU on a GPU works on the transpose, and those left
 * from which on it goes back. On an H200, by columns, so to the end, and so, ms: n = 8192 in fp32
 * 18.4, 17.1 and 15.8, by 3xTF32 14.9, 14.6 and 13.9; 4096 by columns 4.5, to the end 5.6; in fp64
 * 6000 13.2 and 14.2. Going back at 3072 and 5120 columns 8192 takes 15.8 and 15.9, 16384 at 4096
 * and 5120 80.7 and 80.9. */
enum { EXECUTOR_ROW_MAJOR = 8000, EXECUTOR_COLUMN_MAJOR = 4096 };

/* And QR, LU by columns and Cholesky of matrices that are not aligned, in a copy that is
 * (aligned.h). */
enum { EXECUTOR_ALIGNED_FROM = 2048 };

/* Columns from which on LU's exchanges reach those left of a panel at the end (factor/kernels/lu/deferred_swaps.h;
 * factor/algorithms/getrf_deferred_swaps.c says why from there). */
enum { EXECUTOR_DEFERRED_FROM = 3500 };

/* How products in single precision are computed: with fused multiply-adds of fp32, or the large
 * ones of operands split in two, by 3xTF32 (factor/kernels/gemm/tf32.h) or by 3xFP16 (factor/kernels/gemm/half_pair.h); and the
 * latter's names in titles. */
enum math { MATH_FP32, MATH_3XTF32, MATH_3XFP16, MATHS };
extern const char *const math_name[MATHS], *const math_title[MATHS];

/* False when the name is none of them. */
bool math_find(const char *name, enum math *math);

/* Products of one shape; the operands' steps in elements. */
struct products {
	int64_t count, a, b, c;
};

struct executor;

/* Whether the executor's device and build have what that needs. */
bool math_possible(const struct executor *, enum math math);

/* Every operation returns false after filling executor->fault. Operations may return before they
 * are done; sync waits. */
struct executor_ops {
	void (*destroy)(struct executor *);

	/* memory of the executor, and copies that are outside of what is timed */
	bool (*alloc)(struct executor *, int64_t bytes, void **data);
	void (*release)(struct executor *, void *data);
	bool (*upload)(struct executor *, const void *host, int64_t host_ld, struct matrix a);
	bool (*download)(struct executor *, struct matrix a, void *host, int64_t host_ld);
	bool (*duplicate)(struct executor *, struct matrix from, struct matrix to);
	bool (*read_pivots)(struct executor *, struct pivots p, int *host_ipiv, int *info);
	bool (*sync)(struct executor *);
	/* mark `index` (0, 1, ...; any may be set again): when all work put into the current queue
	 * so far is done; seconds from one mark to another, after waiting for the later one */
	bool (*mark)(struct executor *, int64_t index);
	bool (*elapsed)(struct executor *, int64_t from, int64_t to, double *seconds);

	/* 0-based index of the entry of largest magnitude of the column x (m x 1), lowest index on
	 * ties; result on the host */
	bool (*iamax)(struct executor *, struct matrix x, int64_t *index);
	/* the same, by copying the column to the host first */
	bool (*iamax_host)(struct executor *, struct matrix x, int64_t *index);
	/* one element to the host */
	bool (*get)(struct executor *, struct matrix element, double *value);
	/* Euclidean norm of the column x, by the BLAS; result on the host */
	bool (*nrm2)(struct executor *, struct matrix x, double *norm);
	/* exchange two 1 x n rows */
	bool (*swap)(struct executor *, struct matrix x, struct matrix y);
	/* x *= alpha, by the BLAS; x is a column (n = 1) or a row (stride ld) */
	bool (*scal)(struct executor *, double alpha, struct matrix x);
	/* x /= element, which stays where it is; nothing when it is zero (reciprocal unless it is
	 * subnormal, as sgetf2) */
	bool (*scale_by)(struct executor *, struct matrix element, struct matrix x);
	/* A -= x y^T, x m x 1, y 1 x n, by the BLAS */
	bool (*ger)(struct executor *, struct matrix x, struct matrix y, struct matrix a);
	/* info of a factorized panel: 1-based index of the first exactly zero diagonal element, 0
	 * when there is none; result on the host */
	bool (*zero_pivot)(struct executor *, struct matrix a, int *info);
	/* ipiv and info known on the host to executor memory; the array may be reused on return */
	bool (*store_pivots)(struct executor *, const int *ipiv, int info, struct pivots p);

	/* Fused steps of column j of the panel a (two kernels a column). fused_begin finds the
	 * pivot of column 0. fused_pivot finishes the search of column j, swaps rows j and p of the
	 * whole panel, stores ipiv[j], info. fused_update scales column j, updates columns j+1..
	 * and searches column j+1 in the same sweep. work holds fused_work bytes. */
	int64_t (*fused_work)(struct executor *, struct matrix a);
	bool (*fused_begin)(struct executor *, struct matrix a, void *work, struct pivots p);
	bool (*fused_pivot)(
	        struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);
	bool (*fused_update)(
	        struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);

	/* The whole panel in one kernel with the panel resident on chip; work holds resident_work
	 * bytes. resident_fits is false, with the reason in the fault, when the panel does not fit.
	 */
	bool (*resident_fits)(struct executor *, struct matrix a);
	int64_t (*resident_work)(struct executor *, struct matrix a);
	bool (*resident_panel)(struct executor *, struct matrix a, void *work, struct pivots p);

	/* Gram-Schmidt. norms(k) = sum of squares of column k of a. One pass each over the columns
	 * from j on, with the same work of gram_work bytes: gram_dots forms the dot products of
	 * column j with itself and those right of it; gram_update makes column j the q_j of its
	 * row of R and takes it out of those right of it; gram_fused is gram_update of column j and
	 * gram_dots of column j + 1 in one pass. By kernels of g->shape (NULL on the host, where
	 * there are none) gram_scale comes between the two. gram_panel does all columns. gram_apply
	 * takes the orthonormal columns q, one after another, out of each column of a: r (q.n x
	 * a.n) says how much of them it had; single: a block of threads takes one column of a. */
	bool (*column_norms)(struct executor *, struct matrix a, struct matrix norms);
	int64_t (*gram_work)(struct executor *, struct matrix a);
	bool (*gram_dots)(struct executor *, const struct gram_schmidt *g, int64_t j);
	bool (*gram_update)(struct executor *, const struct gram_schmidt *g, int64_t j);
	bool (*gram_scale)(struct executor *, const struct gram_schmidt *g, int64_t j);
	bool (*gram_fused)(struct executor *, const struct gram_schmidt *g, int64_t j);
	bool (*gram_panel)(struct executor *, const struct gram_schmidt *g);
	bool (*gram_apply)(
	        struct executor *, struct matrix q, struct matrix r, struct matrix a, bool single);

	/* ---- blocks: what blocked factorizations are made of; on the executor's current queue */

	/* event := all work put into the current queue so far; the current queue, or the host,
	 * waits for it. An event never recorded is over. So that it can be captured as a CUDA
	 * graph an algorithm waits in queues only for events that it has recorded itself, and at
	 * its end has QUEUE_MAIN wait for all that it put into others. */
	bool (*record)(struct executor *, int event);
	bool (*wait)(struct executor *, int event);
	bool (*wait_host)(struct executor *, int event);

	/* m x n host memory that copies reach at full speed (pinned), kept by the executor: stage
	 * 0 .. EXECUTOR_STAGES-1, valid until it is asked for with a larger size. ld is m. */
	bool (*stage)(struct executor *, int stage, int64_t m, int64_t n, enum precision precision,
	        struct matrix *host);
	bool (*to_host)(struct executor *, struct matrix from, struct matrix host);
	bool (*to_device)(struct executor *, struct matrix host, struct matrix to);

	/* on host matrices, by LAPACKE and the BLAS, with the host thread and at once; what they
	 * read must have arrived (wait_host). Results that later operations read in executor memory
	 * (pivots, tau, info) are copied there on the current queue. */
	bool (*host_panel_getrf)(struct executor *, struct matrix host, struct pivots p);
	bool (*host_panel_geqrf)(struct executor *, struct matrix host, struct matrix tau);
	bool (*host_panel_potrf)(
	        struct executor *, enum uplo uplo, struct matrix host, int64_t first, int *info);

	/* C = alpha op(A) op(B) + beta C; beta = 0 overwrites, NaN included */
	bool (*gemm)(struct executor *, enum trans ta, enum trans tb, double alpha, struct matrix a,
	        struct matrix b, double beta, struct matrix c);
	/* stacks for 3xTF32 or pairs for 3xFP16 (factor/kernels/gemm/tf32.h, factor/kernels/gemm/half_pair.h); and products
	 * C = alpha A^T B + beta C of two stacks, each a multiple of 4 elements deep, in single
	 * precision: of the one given, and of those that lie a step further each */
	bool (*split)(struct executor *, struct splits splits);
	bool (*gemm_tf32)(struct executor *, double alpha, struct matrix a, struct matrix b,
	        double beta, struct matrix c, struct products products);
	/* C += alpha X^T Y, given X's and Y's pairs: WHOLE, or one triangle and what is behind it,
	 * as in syrk, of one pair, which has as many columns as C's longer side
	 * (factor/kernels/gemm/half_update.h); where split_limits say that there is such a kernel */
	bool (*half_update)(struct executor *, enum uplo part, double alpha, struct matrix left,
	        struct matrix right, struct matrix c);
	/* p = v^T c by 3xTF32 where the device has a kernel for it, of long columns that begin at
	 * 16 bytes, in single precision */
	bool (*gemm_tall)(struct executor *, struct matrix v, struct matrix c, struct matrix p);
	/* to the blocks of blocks.m rows and columns on the diagonal of c, which lie beside each
	 * other in `blocks`: one triangle of each, with its diagonal, added to that of c */
	bool (*add_triangles)(
	        struct executor *, enum uplo uplo, struct matrix blocks, struct matrix c);
	/* one triangle of C = alpha op(A) op(A)^T + beta C, and what is below it (LOWER, C m x n, m
	 * >= n, op(A) of m rows) or right of it (UPPER, C n x m): the product with the transpose of
	 * op(A)'s first n rows */
	bool (*syrk)(struct executor *, enum uplo uplo, enum trans trans, double alpha,
	        struct matrix a, double beta, struct matrix c);
	/* B = alpha inv(op(A)) B or alpha B inv(op(A)) */
	bool (*trsm)(struct executor *, enum side side, enum uplo uplo, enum trans trans,
	        enum diag diag, double alpha, struct matrix a, struct matrix b);
	/* b, which is inverse times kept (or kept times inverse), stays when the inverse of the
	 * triangle a (n <= 128) can be trusted; else, and when it has a NaN, b becomes the solution
	 * by substitution from kept, which is as large */
	bool (*trsm_guard)(struct executor *, enum side side, enum uplo uplo, enum trans trans,
	        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept,
	        struct matrix b);
	/* y = alpha op(A) x + beta y; x and y are columns (n = 1) or rows (m = 1, stride ld) */
	bool (*gemv)(struct executor *, enum trans trans, double alpha, struct matrix a,
	        struct matrix x, double beta, struct matrix y);
	/* Givens rotations: the i-th of columns 2 i and 2 i + 1 of x (2 g.n columns), which become
	 * c x0 + s x1 and c x1 - s x0 with c = g(0,i) and s = g(1,i). make_rotations chooses them
	 * so that element (row + i, 2 i + 1) of x becomes zero */
	bool (*make_rotations)(struct executor *, int64_t row, struct matrix x, struct matrix g);
	bool (*rotate)(struct executor *, struct matrix g, struct matrix x);
	/* inverse of the triangle a (n <= 128) into inverse, whose other triangle becomes zero */
	bool (*trtri)(struct executor *, enum uplo uplo, enum diag diag, struct matrix a,
	        struct matrix inverse);
	/* rows i and ipiv[i]-1 of a exchanged for i = 0 .. p.n-1, or backwards */
	bool (*laswp)(struct executor *, struct matrix a, struct pivots p, bool backwards);
	/* the columns c right of an LU panel a of p.n columns (EXECUTOR_LU_COLUMNS at most), both
	 * from the panel's first row on: rows exchanged as by laswp, the first p.n of them solved
	 * for with a's unit lower triangle, the others less those left of them in a times these.
	 * Meant for few columns, which the next panel waits for. Of the phase of updates, but left
	 * out with swaps or solves, too */
	bool (*lu_columns)(struct executor *, struct matrix a, struct pivots p, struct matrix c);
	/* the same for any number of columns, without the rows below the top, right of panels of
	 * EXECUTOR_LU_TOP columns at most. Of the phase of solves, but left out with swaps, too */
	bool (*lu_top)(struct executor *, struct matrix a, struct pivots p, struct matrix c);
	/* of a matrix that lies by rows: c is the transpose of the columns beside an LU panel, or
	 * left of it, from its first row on. Rows exchanged as by laswp and the first p.n of them
	 * (rows_most at most) solved for with the panel's unit lower triangle a, which lies
	 * by columns; exchanged only when a has no columns; the first a.n solved for only when p
	 * has none. Of the phase of solves, then of swaps; what solves is left out with swaps, too
	 */
	bool (*lu_rows)(struct executor *, struct matrix a, struct pivots p, struct matrix c);
	/* late exchanges of rows: factor/kernels/lu/deferred_swaps.h */
	bool (*record_swaps)(struct executor *, struct deferred_swaps t, struct pivots p, int64_t first,
	        int64_t block);
	bool (*apply_swaps)(struct executor *, struct deferred_swaps t, struct matrix a);
	/* pivots of a panel whose first row is row `first` of the matrix: all[first + i] = panel[i]
	 * + first; the first info that is not zero stays, moved by first */
	bool (*offset_pivots)(
	        struct executor *, struct pivots panel, int64_t first, struct pivots all);
	/* what is left to do when a panel's second half, whose first row is its row `first`, is
	 * factorized: the rows beside it of the first half's columns exchanged as by laswp, and its
	 * pivots and info put behind those of the first half, which are the beginning of all, its
	 * info at all[first] */
	bool (*join_halves)(struct executor *, struct matrix beside, struct pivots half,
	        int64_t first, struct pivots all);
	/* info := 0, on the current queue */
	bool (*clear_info)(struct executor *, int *info);
	/* info := the 1-based index of the first exactly zero diagonal element of a (m >= n), 0
	 * when there is none; info in executor memory, unlike zero_pivot's */
	bool (*zero_diagonal)(struct executor *, struct matrix a, int *info);
	/* Cholesky of a diagonal block (n <= 512) whose first row is row `first` of the matrix, and
	 * the solution for what is below it (LOWER, a m x n, m >= n) or right of it (UPPER, a n x
	 * m): a pivot that is not positive (or NaN) sets info, once, to its 1-based row; from then
	 * on all potrf_block of this info leave their blocks alone */
	bool (*potrf_block)(
	        struct executor *, enum uplo uplo, struct matrix a, int64_t first, int *info);
	/* Householder QR of a panel (m >= n, n <= 128) in one call: R above, vectors below the
	 * diagonal, LAPACK's signs and tau (n x 1). work: geqrf_work bytes. */
	int64_t (*geqrf_work)(struct executor *, struct matrix a);
	bool (*panel_geqrf)(struct executor *, struct matrix a, struct matrix tau, void *work);
	/* V with its unit diagonal and zeros above, as gemm needs it, from the panel a */
	bool (*explicit_v)(struct executor *, struct matrix a, struct matrix v);
	/* T (n x n, upper, zeros below) of the compact WY form of the reflectors v (explicit);
	 * LAPACK's larft, forward, columnwise */
	bool (*larft)(struct executor *, struct matrix v, struct matrix tau, struct matrix t);
	/* panel_geqrf, explicit_v and larft in one call, for a panel of which panel_reflects says
	 * that there is one; NULL: for none */
	bool (*panel_reflects)(struct executor *, struct matrix a);
	bool (*panel_reflectors)(struct executor *, struct matrix a, struct matrix tau,
	        struct matrix v, struct matrix t, void *work);
	/* all of a sweep down (sweep.h) in one call, for a band of which band_fits says that there
	 * is one; NULL: for none. work: band_work bytes */
	bool (*band_fits)(struct executor *, enum precision precision, int64_t p);
	int64_t (*band_work)(struct executor *, const struct band *band);
	bool (*band_sweep)(struct executor *, const struct band *band, void *work);
	/* the columns c right of a QR panel, EXECUTOR_QR_COLUMNS at most, less what its reflectors
	 * take of them, c - V T^T V^T c, in one call, where reflects_columns says that there is
	 * one; NULL: for none */
	bool (*reflects_columns)(struct executor *, struct matrix v, struct matrix c);
	bool (*reflect_columns)(
	        struct executor *, struct matrix v, struct matrix t, struct matrix c);
	/* b = a^T; the triangle of to and the diagonal := from's (LAPACK's lacpy; asynchronous);
	 * the triangle off the diagonal := off, diagonal := on */
	bool (*transpose)(struct executor *, struct matrix a, struct matrix b);
	bool (*copy)(struct executor *, enum uplo uplo, struct matrix from, struct matrix to);
	bool (*fill)(struct executor *, enum uplo uplo, double off, double on, struct matrix a);
};

/* Which products are worth making of split operands: with as many rows and columns, inner dimension
 * and operations at least, with C aligned to so many bytes, and where a fresh stack is read for as
 * many rows or columns of C. Squares narrower than `together` are products of one call. */
struct split_limits {
	int64_t side, depth, alignment, use;
	int64_t together;
	int64_t tall, across; /* of V^T C without stacks: columns of V at most, of C at least */
	double flops, symmetric, half_symmetric; /* the latter of symmetric updates */
	bool half; /* 3xFP16, whose updates are one kernel each, wherever C lies */
};

/* Where products of split operands have their stacks or pairs, and the operand that several of them
 * share (split.h). */
struct split_room {
	void *data, *kept_data;
	int64_t bytes, kept_bytes; /* 0: no such products */
	struct matrix kept;
	enum split_form stack; /* of op(kept) */
	enum trans trans;
	bool made;           /* it exists */
	struct matrix ready; /* the other operand of the next product, whose stack is made; no
	                        columns: none is */
};

struct executor {
	const struct executor_ops *ops;
	const char *name;   /* cuda, host, model */
	enum queue queue;   /* where the next operations go; set by the algorithm */
	bool shares;        /* other queues have work beside the next operations: products leave
	                       multiprocessors to it between their tiles. Set by the algorithm */
	bool on_host;       /* its memory is the host's: what works there needs no way there */
	int64_t block;      /* that the next operations belong to, of a factorization by blocks: 0,
	                       1, ... Set by the algorithm */
	enum math math;     /* the caller's to set */
	int64_t row_major;    /* columns from which on LU works on the transpose; 0: never */
	int64_t column_major; /* and those left from which on it goes back */
	int64_t aligned_from; /* columns from which on what is not aligned is copied; 0: never */
	int64_t deferred_from;    /* columns from which on LU's exchanges left of a panel are made at
	                         the end; 0: never */
	int64_t deferred_most[2]; /* rows of which that can be: in fp32, in fp64 */
	int64_t rows_most[2]; /* columns of panels that lu_rows takes here: in fp32, in fp64 */
	const struct split_limits *splits; /* NULL: no products of split operands here */
	struct split_room split;           /* set by the algorithm, whose workspace it is */
	bool blas_only; /* products by the BLAS (on a GPU in double precision as factor/kernels/gemm/blas_double.h
	                   calls it) even where kernels of our own are ahead of it. Set by the
	                   algorithm */
	unsigned skip;  /* bit per phase: operations of these phases do nothing and succeed (phase
	                   timing) */
	struct fault fault;
};

/* Constructors; NULL with a fault when not possible here. */
struct executor *executor_host_new(struct fault *fault);

/* Threads that its library has for large operations. */
int executor_host_threads(void);
struct executor *executor_cuda_new(
        const char *device, struct fault *fault); /* built with the CUDA Toolkit only */
void executor_free(struct executor *executor);

/* Whether an update goes on beside what is put: beside panels but the first one. */
static inline bool ex_is_beside(const struct executor *executor)
{
	return executor->queue == QUEUE_PANEL && executor->block > 0;
}

/* Every call of an operation in an algorithm goes through these, which honour `skip`. A skipped
 * operation with a result gives one that keeps the sequence going: the last row as pivot, 2 as
 * value and norm, info 0. An operation on blocks whose result is empty does nothing. */
bool ex_iamax(struct executor *, struct matrix x, int64_t *index);
bool ex_iamax_host(struct executor *, struct matrix x, int64_t *index);
bool ex_get(struct executor *, struct matrix element, double *value);
bool ex_nrm2(struct executor *, struct matrix x, double *norm);
bool ex_swap(struct executor *, struct matrix x, struct matrix y);
bool ex_scal(struct executor *, double alpha, struct matrix x);
bool ex_scale_by(struct executor *, struct matrix element, struct matrix x);
bool ex_ger(struct executor *, struct matrix x, struct matrix y, struct matrix a);
bool ex_zero_pivot(struct executor *, struct matrix a, int *info);
bool ex_store_pivots(struct executor *, const int *ipiv, int info, struct pivots p);
bool ex_fused_begin(struct executor *, struct matrix a, void *work, struct pivots p);
bool ex_fused_pivot(struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);
bool ex_fused_update(struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);
bool ex_resident_panel(struct executor *, struct matrix a, void *work, struct pivots p);
bool ex_column_norms(struct executor *, struct matrix a, struct matrix norms);
bool ex_gram_dots(struct executor *, const struct gram_schmidt *g, int64_t j);
bool ex_gram_update(struct executor *, const struct gram_schmidt *g, int64_t j);
bool ex_gram_scale(struct executor *, const struct gram_schmidt *g, int64_t j);
bool ex_gram_fused(struct executor *, const struct gram_schmidt *g, int64_t j);
bool ex_gram_panel(struct executor *, const struct gram_schmidt *g);
/* The first k columns of g, one pass each. */
bool gram_by_passes(struct executor *, const struct gram_schmidt *g, int64_t k);
bool ex_gram_apply(
        struct executor *, struct matrix q, struct matrix r, struct matrix a, bool single);
bool ex_record(struct executor *, int event);
bool ex_wait(struct executor *, int event);
bool ex_wait_host(struct executor *, int event);
bool ex_to_host(struct executor *, struct matrix from, struct matrix host);
bool ex_to_device(struct executor *, struct matrix host, struct matrix to);
bool ex_host_panel_getrf(struct executor *, struct matrix host, struct pivots p);
bool ex_host_panel_geqrf(struct executor *, struct matrix host, struct matrix tau);
bool ex_host_panel_potrf(
        struct executor *, enum uplo uplo, struct matrix host, int64_t first, int *info);
bool ex_gemm(struct executor *, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c);
bool ex_syrk(struct executor *, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        double beta, struct matrix c);
bool ex_trsm(struct executor *, enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        double alpha, struct matrix a, struct matrix b);
bool ex_trsm_guard(struct executor *, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept,
        struct matrix b);
bool ex_gemv(struct executor *, enum trans trans, double alpha, struct matrix a, struct matrix x,
        double beta, struct matrix y);
bool ex_make_rotations(struct executor *, int64_t row, struct matrix x, struct matrix g);
bool ex_rotate(struct executor *, struct matrix g, struct matrix x);
bool ex_trtri(
        struct executor *, enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse);
bool ex_laswp(struct executor *, struct matrix a, struct pivots p, bool backwards);
bool ex_lu_columns(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool ex_lu_rows(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool ex_join_halves(struct executor *, struct matrix beside, struct pivots half, int64_t first,
        struct pivots all);
bool ex_lu_top(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool ex_record_swaps(
        struct executor *, struct deferred_swaps t, struct pivots p, int64_t first, int64_t block);
bool ex_apply_swaps(struct executor *, struct deferred_swaps t, struct matrix a);
bool ex_offset_pivots(struct executor *, struct pivots panel, int64_t first, struct pivots all);
bool ex_clear_info(struct executor *, int *info);
bool ex_zero_diagonal(struct executor *, struct matrix a, int *info);
bool ex_potrf_block(struct executor *, enum uplo uplo, struct matrix a, int64_t first, int *info);
bool ex_panel_geqrf(struct executor *, struct matrix a, struct matrix tau, void *work);
bool ex_explicit_v(struct executor *, struct matrix a, struct matrix v);
bool ex_larft(struct executor *, struct matrix v, struct matrix tau, struct matrix t);
bool ex_panel_reflectors(struct executor *, struct matrix a, struct matrix tau, struct matrix v,
        struct matrix t, void *work);
bool ex_band_sweep(struct executor *, const struct band *band, void *work);
bool ex_reflects_columns(struct executor *, struct matrix v, struct matrix c);
bool ex_reflect_columns(struct executor *, struct matrix v, struct matrix t, struct matrix c);
bool ex_transpose(struct executor *, struct matrix a, struct matrix b);
bool ex_copy(struct executor *, enum uplo uplo, struct matrix from, struct matrix to);
bool ex_fill(struct executor *, enum uplo uplo, double off, double on, struct matrix a);

#endif
