/* SPDX-License-Identifier: MIT */
/* Blocks of factorizations in the cuda executor, without matrix products: triangular solves by
 * cuBLAS, the rest by our own kernels. */
#include "executor_cuda.h"
#include "factor/papers/kerr_kernels.h"
#include "factor/papers/rotations.h"

#include "lib/base/msg.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemv/gemv.h"
#include "factor/kernels/qr/panel_geqrf.h"

static cublasOperation_t blas_trans(enum trans trans)
{
	return trans == PLAIN ? CUBLAS_OP_N : CUBLAS_OP_T;
}

bool cuda_trsm(struct executor *executor, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, double alpha, struct matrix a, struct matrix b)
{
	const union scalar factor = scalar_of(b.precision, alpha);
	return b.m == 0 || b.n == 0 ||
	       BLAS(self(executor), b.precision, "trsm", cublasStrsm_64, cublasDtrsm_64,
	               side == LEFT ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
	               uplo == LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
	               blas_trans(trans), diag == UNIT ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT,
	               b.m, b.n, (const void *)&factor, matrix_address(a), a.ld, matrix_address(b),
	               b.ld);
}

bool cuda_nrm2(struct executor *executor, struct matrix v, double *norm)
{
	union scalar result = {.wide = 0};
	const bool ok = BLAS(self(executor), v.precision, "nrm2", cublasSnrm2_64, cublasDnrm2_64,
	        v.m, matrix_address(v), 1, (void *)&result);
	*norm = v.precision == SINGLE ? (double)result.single : result.wide;
	return ok;
}

/* Distance between the elements of a vector that is a column or a row. */
static int64_t increment(struct matrix v)
{
	return v.n == 1 ? 1 : v.ld;
}

/* Our own kernel; cuBLAS when the partial sums do not fit in the scratch memory. */
bool cuda_gemv(struct executor *executor, enum trans trans, double alpha, struct matrix a,
        struct matrix v, double beta, struct matrix y)
{
	struct cuda *x = self(executor);
	const union scalar alpha_at = scalar_of(a.precision, alpha);
	const union scalar beta_at = scalar_of(a.precision, beta);
	const struct gemv_call call = {a.precision, trans == TRANSPOSED, a.m, a.n, alpha,
	        matrix_address(a), a.ld, matrix_address(v), increment(v), beta, matrix_address(y),
	        increment(y)};
	const struct gemv_plan plan = gemv_plan(&call, &executor->tuning);
	if (a.m == 0 || a.n == 0)
		return true;
	if (!executor->blas_only &&
	        gemv_work(&plan, a.precision) <= GEMV_COUNTERS + LANE_SCRATCH_BYTES)
		return cuda_ok(
		        x, gemv_tuned(&call, &plan, lane_of(x)->counters, stream_of(x)), "gemv");
	return BLAS(x, a.precision, "gemv", cublasSgemv_64, cublasDgemv_64, blas_trans(trans), a.m,
	        a.n, (const void *)&alpha_at, call.a, a.ld, call.x, call.incx,
	        (const void *)&beta_at, call.y, call.incy);
}

static bool size_ok(struct cuda *x, int64_t n, int64_t limit, const char *what)
{
	return n <= limit || fault_refuse(&x->base.fault, "%s of n = %lld: at most %lld", what,
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

/* Beside an update the kernel uses a part of the multiprocessors. */
bool cuda_potrf_block(struct executor *executor, enum uplo uplo, struct matrix a,
        struct matrix added, int64_t first, int *info)
{
	struct cuda *x = self(executor);
	const struct block_room room = {x->gpu.shared_per_block,
	        x->gpu.sm_count / (ex_is_beside(executor) ? BLOCK_POTRF_BESIDE : 1),
	        lane_of(x)->counters};
	return size_ok(x, a.m < a.n ? a.m : a.n, BLOCK_POTRF_MAX, "potrf_block") &&
	       cuda_ok(x, block_potrf(uplo, a, added, first, info, &room, stream_of(x)),
	               "potrf_block");
}

bool cuda_larft(struct executor *executor, struct matrix v, struct matrix tau, struct matrix t)
{
	struct cuda *x = self(executor);
	struct matrix g = {lane_of(x)->scratch, 0, v.n, v.n, v.n > 0 ? v.n : 1, v.precision};
	const int64_t most = block_larft_most(v.precision, x->gpu.shared_per_block);
	return size_ok(x, v.n, most, "larft") &&
	       cuda_gemm(executor, TRANSPOSED, PLAIN, 1, v, v, 0, g) &&
	       cuda_ok(x, block_larft(g, tau, t, x->gpu.shared_per_block, stream_of(x)), "larft");
}

int64_t cuda_geqrf_work(struct executor *executor, struct matrix a)
{
	return panel_geqrf_work(a.precision, a.m, a.n, executor->gram_double);
}

bool cuda_panel_geqrf(struct executor *executor, struct matrix a, struct matrix tau, void *work)
{
	struct cuda *x = self(executor);
	return size_ok(x, a.n, PANEL_GEQRF_COLUMNS, "panel_geqrf") &&
	       cuda_ok(x,
	               panel_geqrf(a.precision, matrix_address(a), a.ld, a.m, a.n,
	                       matrix_address(tau), executor->queue == QUEUE_PANEL,
	                       executor->gram_double, false, NULL, work, stream_of(x)),
	               "panel_geqrf");
}

bool cuda_panel_reflects(struct executor *executor, struct matrix a)
{
	return panel_geqrf_reflects(a.precision, a.m, a.n, executor->gram_double);
}

bool cuda_panel_reflectors(struct executor *executor, struct matrix a, struct matrix tau,
        struct matrix v, struct matrix t, bool summed, void *work)
{
	struct cuda *x = self(executor);
	const struct block_reflector r = {matrix_address(v), v.ld, matrix_address(t), t.ld};
	return cuda_ok(x,
	        panel_geqrf(a.precision, matrix_address(a), a.ld, a.m, a.n, matrix_address(tau),
	                executor->queue == QUEUE_PANEL, executor->gram_double, summed,
	                v.n > 0 ? &r : NULL, work, stream_of(x)),
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

ONE_KERNEL(band_sweep, (const struct band *band, void *work),
        sweep_kernel(band, work, stream(executor)))

bool cuda_reflects_columns(struct executor *executor, struct matrix v, struct matrix c)
{
	return !executor->blas_only && block_qr_columns_fits(c.precision, v.m, v.n);
}

ONE_KERNEL(reflect_columns, (struct matrix v, struct matrix t, struct matrix c),
        block_qr_columns(v, t, c, stream(executor)))
ONE_KERNEL(laswp, (struct matrix a, struct pivots p, bool backwards),
        block_laswp(a, p, backwards, stream(executor)))

/* One kernel where the shared memory suffices for it. */
bool cuda_lu_top(struct executor *executor, struct matrix a, struct pivots p, struct matrix c)
{
	struct cuda *x = self(executor);
	if (p.n <= BLOCK_LU_TOP_MAX &&
	        block_lu_top_bytes(c.precision, p.n) <= x->gpu.shared_per_block)
		return cuda_ok(x, block_lu_top(a, p, c, stream_of(x)), "LU top");
	return lu_top_by_calls(executor, a, p, c);
}

/* One kernel on devices with clusters. */
bool cuda_lu_columns(struct executor *executor, struct matrix a, struct pivots p, struct matrix c)
{
	struct cuda *x = self(executor);
	if (block_lu_columns_fits(c.precision, c.m, p.n))
		return cuda_ok(x, block_lu_columns(a, p, c, stream_of(x)), "LU columns");
	return lu_columns_by_calls(executor, a, p, c);
}

bool cuda_lu_rows(struct executor *executor, struct matrix a, struct pivots p, struct matrix c)
{
	struct cuda *x = self(executor);
	return size_ok(x, a.n > p.n ? a.n : p.n, executor->rows_most[c.precision == DOUBLE],
	               "lu_rows") &&
	       cuda_ok(x, block_lu_rows(a, p, c, stream_of(x)), "LU rows");
}

ONE_KERNEL(record_swaps, (struct deferred_swaps t, struct pivots p, int64_t first, int64_t block),
        deferred_swaps_record(t, p, first, block, stream(executor)))
ONE_KERNEL(apply_swaps, (struct deferred_swaps t, struct matrix a),
        deferred_swaps_apply(t, a, stream(executor)))
ONE_KERNEL(offset_pivots, (struct pivots panel, int64_t first, struct pivots all),
        block_offset_pivots(panel, first, all, stream(executor)))
ONE_KERNEL(join_halves,
        (struct matrix beside, struct pivots half, int64_t first, struct pivots all),
        block_join_halves(beside, half, first, all, stream(executor)))
ONE_KERNEL(clear_info, (int *info), cudaMemsetAsync(info, 0, sizeof *info, stream(executor)))
ONE_KERNEL(check_triangle, (struct matrix a, struct matrix b, int *info, int *doubtful),
        block_check_triangle(a, b, info, doubtful, stream(executor)))

ONE_KERNEL(kerr_house,
        (struct matrix a, int64_t j, struct matrix squares, struct matrix y, struct matrix tau),
        kerr_house(a, j, squares, y, tau, stream(executor)))
ONE_KERNEL(kerr_project, (struct matrix tau, struct matrix a, struct matrix v, struct matrix row),
        kerr_project(tau, a, v, row, stream(executor)))
ONE_KERNEL(kerr_extend,
        (struct matrix tau, struct matrix w, struct matrix row, struct matrix v, struct matrix z),
        kerr_extend(tau, w, row, v, z, stream(executor)))
ONE_KERNEL(make_rotations, (int64_t row, struct matrix x, struct matrix g),
        rotations_make(row, x, g, stream(executor)))
ONE_KERNEL(rotate, (struct matrix g, struct matrix x), rotations_apply(g, x, stream(executor)))
ONE_KERNEL(explicit_v, (struct matrix a, struct matrix v), block_explicit_v(a, v, stream(executor)))
ONE_KERNEL(transpose, (struct matrix a, struct matrix b), block_transpose(a, b, stream(executor)))
ONE_KERNEL(copy, (enum uplo uplo, struct matrix from, struct matrix to),
        block_copy(uplo, from, to, stream(executor)))
ONE_KERNEL(fill, (enum uplo uplo, double off, double on, struct matrix a),
        block_fill(uplo, off, on, a, stream(executor)))
