/* SPDX-License-Identifier: MIT */
/* The host executor's operations on blocks. They call OpenBLAS and LAPACKE. Plain C replaces the
 * calls that break the interface's promises (a NaN pivot of Cholesky, inverses with exact zeros).
 */
#ifndef FATHOM_EXECUTOR_HOST_BLOCKS_H
#define FATHOM_EXECUTOR_HOST_BLOCKS_H

#include "factor/executors/executor.h"

struct host_executor {
	struct executor base;
	struct {
		void *data;
		int64_t bytes;
	} stages[EXECUTOR_STAGES];
	double *marks; /* readings of the clock */
	int64_t mark_count;
	const struct gram_loops *gram; /* NULL: the project's own */
	int64_t l2_bytes;              /* of a core; 0: unknown */
};

/* Calls an operation in the precision of a matrix. */
#define CALL(a, name, ...) ((a).precision == SINGLE ? name##_s(__VA_ARGS__) : name##_d(__VA_ARGS__))

/* OpenBLAS's number of threads, a setting of the process that all host executors share: one thread
 * from the first open to the last close, and between begin and end all threads or one. */
void host_threads_open(void);
void host_threads_close(void);
void host_threads_begin(bool all);
void host_threads_end(void);

/* info becomes first + row, unless row is 0 or info is already set. */
static inline void host_store_info(int *info, int row, int64_t first)
{
	if (*info == 0 && row != 0)
		*info = (int)(first + row);
}

bool host_block_mark(struct executor *, int64_t index);
bool host_block_elapsed(struct executor *, int64_t from, int64_t to, double *seconds);
bool host_block_event(struct executor *, int event);
bool host_block_stage(struct executor *, int stage, int64_t m, int64_t n, enum precision precision,
        struct matrix *host);
bool host_block_panel_getrf(struct executor *, struct matrix host, struct pivots p);
bool host_block_panel_geqrf(struct executor *, struct matrix host, struct matrix tau);
bool host_block_panel_potrf(
        struct executor *, enum uplo uplo, struct matrix host, int64_t first, int *info);
bool host_block_gemm(struct executor *, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c);
bool host_block_split(struct executor *, struct splits splits);
bool host_block_gemm_tall(struct executor *, struct matrix v, struct matrix c, struct matrix p);
bool host_block_gemm_tf32(struct executor *, double alpha, struct matrix a, struct matrix b,
        double beta, struct matrix c, struct products products);
bool host_block_half_update(struct executor *, enum uplo part, double alpha, struct matrix left,
        struct matrix right, struct matrix c);
bool host_block_add_triangles(
        struct executor *, enum uplo uplo, struct matrix blocks, struct matrix c);
bool host_block_syrk(struct executor *, enum uplo uplo, enum trans trans, double alpha,
        struct matrix a, double beta, struct matrix c);
bool host_block_trsm(struct executor *, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, double alpha, struct matrix a, struct matrix b);
bool host_block_trsm_guard(struct executor *, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept,
        struct matrix b);
bool host_block_nrm2(struct executor *, struct matrix x, double *norm);
bool host_block_gemv(struct executor *, enum trans trans, double alpha, struct matrix a,
        struct matrix x, double beta, struct matrix y);
bool host_block_trtri(
        struct executor *, enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse);
bool host_block_laswp(struct executor *, struct matrix a, struct pivots p, bool backwards);
bool host_block_lu_top(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool host_block_lu_columns(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool host_block_lu_rows(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool host_block_join_halves(struct executor *, struct matrix beside, struct pivots half,
        int64_t first, struct pivots all);
bool host_block_record_swaps(
        struct executor *, struct deferred_swaps t, struct pivots p, int64_t first, int64_t block);
bool host_block_apply_swaps(struct executor *, struct deferred_swaps t, struct matrix a);
bool host_block_offset_pivots(
        struct executor *, struct pivots panel, int64_t first, struct pivots all);
bool host_block_clear_info(struct executor *, int *info);
bool host_block_zero_diagonal(struct executor *, struct matrix a, int *info);
bool host_block_potrf(struct executor *, enum uplo uplo, struct matrix a, int64_t first, int *info);
int64_t host_block_geqrf_work(struct executor *, struct matrix a);
bool host_block_geqrf(struct executor *, struct matrix a, struct matrix tau, void *work);
bool host_block_explicit_v(struct executor *, struct matrix a, struct matrix v);
bool host_block_larft(struct executor *, struct matrix v, struct matrix tau, struct matrix t);
bool host_block_make_rotations(struct executor *, int64_t row, struct matrix x, struct matrix g);
bool host_block_rotate(struct executor *, struct matrix g, struct matrix x);
bool host_block_transpose(struct executor *, struct matrix a, struct matrix b);
bool host_block_copy(struct executor *, enum uplo uplo, struct matrix from, struct matrix to);
bool host_block_fill(struct executor *, enum uplo uplo, double off, double on, struct matrix a);

#endif
