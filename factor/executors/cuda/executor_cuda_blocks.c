/* SPDX-License-Identifier: MIT */
/* The cuda executor's blocks but the matrix products: triangular solves by cuBLAS, the rest by our
 * own kernels. */
#include "executor_cuda.h"
#include "factor/papers/rotations.h"

#include "lib/base/msg.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemv/gemv.h"
#include "factor/kernels/qr/panel_geqrf.h"

/* ---- BLAS ---- */

static cublasOperation_t blas_trans(enum trans trans)
{
	return trans == PLAIN ? CUBLAS_OP_N : CUBLAS_OP_T;
}

static cublasFillMode_t blas_uplo(enum uplo uplo)
{
	return uplo == LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

bool cuda_trsm(struct executor *executor, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, double alpha, struct matrix a, struct matrix b)
{
	struct cuda *x = self(executor);
	const float alpha_single = (float)alpha;
	cublasSideMode_t blas_side = side == LEFT ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
	cublasDiagType_t blas_diag = diag == UNIT ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
	if (b.m == 0 || b.n == 0)
		return true;
	cublasStatus_t status =
	        b.precision == SINGLE
	                ? cublasStrsm_64(lane_of(x)->blas, blas_side, blas_uplo(uplo),
	                          blas_trans(trans), blas_diag, b.m, b.n, &alpha_single,
	                          matrix_address(a), a.ld, matrix_address(b), b.ld)
	                : cublasDtrsm_64(lane_of(x)->blas, blas_side, blas_uplo(uplo),
	                          blas_trans(trans), blas_diag, b.m, b.n, &alpha, matrix_address(a),
	                          a.ld, matrix_address(b), b.ld);
	return blas_ok(x, status, "trsm");
}

bool cuda_nrm2(struct executor *executor, struct matrix v, double *norm)
{
	struct cuda *x = self(executor);
	float single = 0;
	cublasStatus_t status =
	        v.precision == SINGLE
	                ? cublasSnrm2_64(lane_of(x)->blas, v.m, matrix_address(v), 1, &single)
	                : cublasDnrm2_64(lane_of(x)->blas, v.m, matrix_address(v), 1, norm);
	if (v.precision == SINGLE)
		*norm = (double)single;
	return blas_ok(x, status, "nrm2");
}

/* Between the elements of a vector that is a column or a row. */
static int64_t increment(struct matrix v)
{
	return v.n == 1 ? 1 : v.ld;
}

/* By our own kernel, or by cuBLAS where that needs more room for partial sums than there is. */
bool cuda_gemv(struct executor *executor, enum trans trans, double alpha, struct matrix a,
        struct matrix v, double beta, struct matrix y)
{
	struct cuda *x = self(executor);
	const float alpha_single = (float)alpha, beta_single = (float)beta;
	const struct gemv_call call = {a.precision, trans == TRANSPOSED, a.m, a.n, alpha,
	        matrix_address(a), a.ld, matrix_address(v), increment(v), beta, matrix_address(y),
	        increment(y)};
	const struct gemv_plan plan = gemv_plan(&call, &x->gpu);
	if (a.m == 0 || a.n == 0)
		return true;
	if (!executor->blas_only &&
	        gemv_work(&plan, a.precision) <= GEMV_COUNTERS + LANE_SCRATCH_BYTES)
		return cuda_ok(
		        x, gemv_tuned(&call, &plan, lane_of(x)->counters, stream_of(x)), "gemv");
	cublasStatus_t status =
	        a.precision == SINGLE
	                ? cublasSgemv_64(lane_of(x)->blas, blas_trans(trans), a.m, a.n,
	                          &alpha_single, call.a, a.ld, call.x, call.incx, &beta_single,
	                          call.y, call.incy)
	                : cublasDgemv_64(lane_of(x)->blas, blas_trans(trans), a.m, a.n, &alpha,
	                          call.a, a.ld, call.x, call.incx, &beta, call.y, call.incy);
	return blas_ok(x, status, "gemv");
}

/* ---- triangles and panels ---- */

static bool size_ok(struct cuda *x, int64_t n, int64_t limit, const char *what)
{
	return n <= limit || fault_set(&x->base.fault, "%s of n = %lld: at most %lld", what,
	                             (long long)n, (long long)limit);
}

bool cuda_trtri(struct executor *executor, enum uplo uplo, enum diag diag, struct matrix a,
        struct matrix inverse)
{
	struct cuda *x = self(executor);
	return size_ok(x, a.n, BLOCK_TRTRI_MAX, "trtri") &&
	       cuda_ok(x,
	               block_trtri(uplo, diag, a, inverse, x->gpu.shared_per_block, stream_of(x)),
	               "trtri");
}

bool cuda_trsm_guard(struct executor *executor, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b)
{
	struct cuda *x = self(executor);
	return size_ok(x, a.n, BLOCK_TRTRI_MAX, "trsm_guard") &&
	       cuda_ok(x,
	               block_trsm_guard(side, uplo, trans, diag, a, inverse,
	                       EXECUTOR_INVERSE_GROWTH, kept, b, stream_of(x)),
	               "trsm_guard");
}

/* Beside an update it leaves most of the multiprocessors alone. */
bool cuda_potrf_block(
        struct executor *executor, enum uplo uplo, struct matrix a, int64_t first, int *info)
{
	struct cuda *x = self(executor);
	const struct block_room room = {x->gpu.shared_per_block,
	        x->gpu.sm_count / (ex_is_beside(executor) ? BLOCK_POTRF_BESIDE : 1),
	        lane_of(x)->counters};
	return size_ok(x, a.m < a.n ? a.m : a.n, BLOCK_POTRF_MAX, "potrf_block") &&
	       cuda_ok(x, block_potrf(uplo, a, first, info, &room, stream_of(x)), "potrf_block");
}

bool cuda_larft(struct executor *executor, struct matrix v, struct matrix tau, struct matrix t)
{
	struct cuda *x = self(executor);
	struct matrix g = {lane_of(x)->scratch, 0, v.n, v.n, v.n > 0 ? v.n : 1, v.precision};
	return size_ok(x, v.n, BLOCK_LARFT_MAX, "larft") &&
	       cuda_gemm(executor, TRANSPOSED, PLAIN, 1, v, v, 0, g) &&
	       cuda_ok(x, block_larft(g, tau, t, x->gpu.shared_per_block, stream_of(x)), "larft");
}

int64_t cuda_geqrf_work(struct executor *executor, struct matrix a)
{
	(void)executor;
	return panel_geqrf_work(a.precision, a.m, a.n);
}

bool cuda_panel_geqrf(struct executor *executor, struct matrix a, struct matrix tau, void *work)
{
	struct cuda *x = self(executor);
	return size_ok(x, a.n, PANEL_GEQRF_COLUMNS, "panel_geqrf") &&
	       cuda_ok(x,
	               panel_geqrf(a.precision, matrix_address(a), a.ld, a.m, a.n,
	                       matrix_address(tau), executor->queue == QUEUE_PANEL, NULL, work,
	                       stream_of(x)),
	               "panel_geqrf");
}

bool cuda_panel_reflects(struct executor *executor, struct matrix a)
{
	(void)executor;
	return panel_geqrf_reflects(a.precision, a.m, a.n);
}

bool cuda_panel_reflectors(struct executor *executor, struct matrix a, struct matrix tau,
        struct matrix v, struct matrix t, void *work)
{
	struct cuda *x = self(executor);
	const struct block_reflector r = {matrix_address(v), v.ld, matrix_address(t), t.ld};
	return cuda_ok(x,
	        panel_geqrf(a.precision, matrix_address(a), a.ld, a.m, a.n, matrix_address(tau),
	                executor->queue == QUEUE_PANEL, &r, work, stream_of(x)),
	        "panel_reflectors");
}

bool cuda_band_fits(struct executor *executor, enum precision precision, int64_t p)
{
	(void)executor;
	return sweep_kernel_fits(precision, p);
}

int64_t cuda_band_work(struct executor *executor, const struct band *band)
{
	(void)executor;
	return sweep_kernel_work(band);
}

bool cuda_band_sweep(struct executor *executor, const struct band *band, void *work)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, sweep_kernel(band, work, stream_of(x)), "band_sweep");
}

bool cuda_reflects_columns(struct executor *executor, struct matrix v, struct matrix c)
{
	return !executor->blas_only && block_qr_columns_fits(c.precision, v.m, v.n);
}

bool cuda_reflect_columns(
        struct executor *executor, struct matrix v, struct matrix t, struct matrix c)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_qr_columns(v, t, c, stream_of(x)), "reflect columns");
}

/* ---- pivots and info ---- */

bool cuda_laswp(struct executor *executor, struct matrix a, struct pivots p, bool backwards)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_laswp(a, p, backwards, stream_of(x)), "laswp");
}

/* In one kernel where its blocks find the shared memory. */
bool cuda_lu_top(struct executor *executor, struct matrix a, struct pivots p, struct matrix c)
{
	struct cuda *x = self(executor);
	if (p.n <= BLOCK_LU_TOP_MAX &&
	        block_lu_top_bytes(c.precision, p.n) <= x->gpu.shared_per_block)
		return cuda_ok(x, block_lu_top(a, p, c, stream_of(x)), "LU top");
	return cuda_laswp(executor, c, p, false) &&
	       cuda_trsm(executor, LEFT, LOWER, PLAIN, UNIT, 1, matrix_view(a, 0, 0, p.n, p.n),
	               matrix_view(c, 0, 0, p.n, c.n));
}

/* In one kernel on devices that have it. */
bool cuda_lu_columns(struct executor *executor, struct matrix a, struct pivots p, struct matrix c)
{
	struct cuda *x = self(executor);
	const int64_t below = c.m - p.n;
	if (block_lu_columns_fits(c.precision, c.m, p.n))
		return cuda_ok(x, block_lu_columns(a, p, c, stream_of(x)), "LU columns");
	return cuda_lu_top(executor, a, p, c) &&
	       (below == 0 ||
	               cuda_gemm(executor, PLAIN, PLAIN, -1, matrix_view(a, p.n, 0, below, p.n),
	                       matrix_view(c, 0, 0, p.n, c.n), 1,
	                       matrix_view(c, p.n, 0, below, c.n)));
}

bool cuda_lu_rows(struct executor *executor, struct matrix a, struct pivots p, struct matrix c)
{
	struct cuda *x = self(executor);
	return size_ok(x, a.n > p.n ? a.n : p.n, executor->rows_most[c.precision == DOUBLE],
	               "lu_rows") &&
	       cuda_ok(x, block_lu_rows(a, p, c, stream_of(x)), "LU rows");
}

bool cuda_record_swaps(struct executor *executor, struct deferred_swaps t, struct pivots p, int64_t first,
        int64_t block)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, deferred_swaps_record(t, p, first, block, stream_of(x)), "track rows");
}

bool cuda_apply_swaps(struct executor *executor, struct deferred_swaps t, struct matrix a)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, deferred_swaps_apply(t, a, stream_of(x)), "settle rows");
}

bool cuda_offset_pivots(
        struct executor *executor, struct pivots panel, int64_t first, struct pivots all)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_offset_pivots(panel, first, all, stream_of(x)), "adopt pivots");
}

bool cuda_join_halves(struct executor *executor, struct matrix beside, struct pivots half,
        int64_t first, struct pivots all)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_join_halves(beside, half, first, all, stream_of(x)), "join halves");
}

bool cuda_clear_info(struct executor *executor, int *info)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, cudaMemsetAsync(info, 0, sizeof *info, stream_of(x)), "clear info");
}

bool cuda_zero_diagonal(struct executor *executor, struct matrix a, int *info)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_zero_diagonal(a, info, stream_of(x)), "zero diagonal");
}

/* ---- rotations ---- */

bool cuda_make_rotations(struct executor *executor, int64_t row, struct matrix x, struct matrix g)
{
	return cuda_ok(self(executor), rotations_make(row, x, g, stream_of(self(executor))),
	        "make rotations");
}

bool cuda_rotate(struct executor *executor, struct matrix g, struct matrix x)
{
	return cuda_ok(self(executor), rotations_apply(g, x, stream_of(self(executor))), "rotate");
}

/* ---- layout ---- */

bool cuda_explicit_v(struct executor *executor, struct matrix a, struct matrix v)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_explicit_v(a, v, stream_of(x)), "explicit V");
}

bool cuda_transpose(struct executor *executor, struct matrix a, struct matrix b)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_transpose(a, b, stream_of(x)), "transpose");
}

bool cuda_copy(struct executor *executor, enum uplo uplo, struct matrix from, struct matrix to)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_copy(uplo, from, to, stream_of(x)), "copy");
}

bool cuda_fill(struct executor *executor, enum uplo uplo, double off, double on, struct matrix a)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, block_fill(uplo, off, on, a, stream_of(x)), "fill");
}
