/* SPDX-License-Identifier: MIT */
/* The host executor: operations on host memory, complete when their call returns. BLAS 1 and 2
 * operations call OpenBLAS on one thread, because short vectors do not repay waking others. */
#include "executor_host_blocks.h"
#include "executor_host_gram.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL float
#define REAL_SAFE FLT_MIN
#define NAME(x) x##_s
#define BLAS(prefix, x) prefix##s##x
#include "executor_host_template.h"

#define REAL double
#define REAL_SAFE DBL_MIN
#define NAME(x) x##_d
#define BLAS(prefix, x) prefix##d##x
#include "executor_host_template.h"

enum { ALIGNMENT = 256 };

static void host_destroy(struct executor *e)
{
	struct host_executor *h = (struct host_executor *)e;

	for (int i = 0; i < EXECUTOR_STAGES; i++)
		free(h->stages[i].data);
	free(h->marks);
	host_threads_close();
	free(h);
}

static bool host_alloc(struct executor *e, int64_t bytes, void **data)
{
	size_t rounded = ((size_t)(bytes > 0 ? bytes : 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	*data = bytes < 0 ? NULL : aligned_alloc(ALIGNMENT, rounded);
	if (!*data)
		return fault_set(&e->fault,
		        "no %" PRId64 " bytes of host memory: choose a smaller panel", bytes);
	return true;
}

static void host_release(struct executor *e, void *data)
{
	(void)e;
	free(data);
}

static void copy_columns(
        struct matrix shape, const void *from, int64_t from_ld, void *to, int64_t to_ld)
{
	int64_t word = precision_bytes(shape.precision);

	for (int64_t j = 0; j < shape.n; j++)
		memcpy((char *)to + j * to_ld * word, (const char *)from + j * from_ld * word,
		        (size_t)(shape.m * word));
}

static bool host_upload(struct executor *e, const void *host, int64_t host_ld, struct matrix a)
{
	(void)e;
	copy_columns(a, host, host_ld, matrix_address(a), a.ld);
	return true;
}

static bool host_download(struct executor *e, struct matrix a, void *host, int64_t host_ld)
{
	(void)e;
	copy_columns(a, matrix_address(a), a.ld, host, host_ld);
	return true;
}

static bool host_duplicate(struct executor *e, struct matrix from, struct matrix to)
{
	(void)e;
	copy_columns(from, matrix_address(from), from.ld, matrix_address(to), to.ld);
	return true;
}

static bool host_read_pivots(struct executor *e, struct pivots p, int *host_ipiv, int *info)
{
	(void)e;
	memcpy(host_ipiv, p.data, (size_t)p.n * sizeof *host_ipiv);
	*info = p.data[p.n];
	return true;
}

static bool host_sync(struct executor *e)
{
	(void)e;
	return true;
}

static bool host_iamax(struct executor *e, struct matrix x, int64_t *index)
{
	(void)e;
	*index = CALL(x, iamax, x);
	return true;
}

static bool host_get(struct executor *e, struct matrix element, double *value)
{
	(void)e;
	*value = CALL(element, get, element);
	return true;
}

static bool host_swap(struct executor *e, struct matrix x, struct matrix y)
{
	(void)e;
	CALL(x, swap, x, y);
	return true;
}

static bool host_scal(struct executor *e, double alpha, struct matrix x)
{
	(void)e;
	CALL(x, scal, alpha, x);
	return true;
}

static bool host_scale_by(struct executor *e, struct matrix element, struct matrix x)
{
	(void)e;
	CALL(x, scale_by, element, x);
	return true;
}

static bool host_ger(struct executor *e, struct matrix x, struct matrix y, struct matrix a)
{
	(void)e;
	CALL(a, ger, x, y, a);
	return true;
}

static bool host_zero_pivot(struct executor *e, struct matrix a, int *info)
{
	(void)e;
	*info = CALL(a, zero_pivot, a);
	return true;
}

static bool host_store_pivots(struct executor *e, const int *ipiv, int info, struct pivots p)
{
	(void)e;
	if (p.n > 0)
		memcpy(p.data, ipiv, (size_t)p.n * sizeof *ipiv);
	p.data[p.n] = info;
	return true;
}

/* Between two fused steps, work holds the row of the next pivot. */
static int64_t host_fused_work(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return sizeof(int64_t);
}

static bool host_fused_begin(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	(void)e;
	p.data[a.n] = 0;
	*(int64_t *)work = CALL(a, reference_search, a, 0);
	return true;
}

static bool host_fused_pivot(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)e;
	CALL(a, reference_pivot, a, j, *(int64_t *)work, p);
	return true;
}

static bool host_fused_update(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)e;
	(void)p;
	CALL(a, reference_update, a, j);
	if (j + 1 < a.n)
		*(int64_t *)work = CALL(a, reference_search, a, j + 1);
	return true;
}

static bool host_resident_fits(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return true;
}

static bool host_resident_panel(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	host_fused_begin(e, a, work, p);
	for (int64_t j = 0; j < a.n; j++) {
		host_fused_pivot(e, a, j, work, p);
		host_fused_update(e, a, j, work, p);
	}
	return true;
}

static const struct executor_ops host_ops = {.destroy = host_destroy,
        .alloc = host_alloc,
        .release = host_release,
        .upload = host_upload,
        .download = host_download,
        .duplicate = host_duplicate,
        .read_pivots = host_read_pivots,
        .sync = host_sync,
        .mark = host_block_mark,
        .elapsed = host_block_elapsed,
        .iamax = host_iamax,
        .iamax_host = host_iamax,
        .get = host_get,
        .nrm2 = host_block_nrm2,
        .swap = host_swap,
        .scal = host_scal,
        .scale_by = host_scale_by,
        .ger = host_ger,
        .zero_pivot = host_zero_pivot,
        .store_pivots = host_store_pivots,
        .fused_work = host_fused_work,
        .fused_begin = host_fused_begin,
        .fused_pivot = host_fused_pivot,
        .fused_update = host_fused_update,
        .resident_fits = host_resident_fits,
        .resident_work = host_fused_work,
        .resident_panel = host_resident_panel,
        .column_norms = host_column_norms,
        .gram_work = host_gram_work,
        .gram_dots = host_gram_dots,
        .gram_update = host_gram_update,
        .gram_fused = host_gram_fused,
        .gram_panel = host_gram_panel,
        .gram_apply = host_gram_apply,
        .record = host_block_event,
        .wait = host_block_event,
        .wait_host = host_block_event,
        .stage = host_block_stage,
        .to_host = host_duplicate,
        .to_device = host_duplicate,
        .host_panel_getrf = host_block_panel_getrf,
        .host_panel_geqrf = host_block_panel_geqrf,
        .host_panel_potrf = host_block_panel_potrf,
        .gemm = host_block_gemm,
        .split = host_block_split,
        .gemm_tf32 = host_block_gemm_tf32,
        .half_update = host_block_half_update,
        .gemm_tall = host_block_gemm_tall,
        .add_triangles = host_block_add_triangles,
        .syrk = host_block_syrk,
        .trsm = host_block_trsm,
        .trsm_guard = host_block_trsm_guard,
        .gemv = host_block_gemv,
        .trtri = host_block_trtri,
        .laswp = host_block_laswp,
        .lu_columns = host_block_lu_columns,
        .lu_rows = host_block_lu_rows,
        .lu_top = host_block_lu_top,
        .record_swaps = host_block_record_swaps,
        .apply_swaps = host_block_apply_swaps,
        .offset_pivots = host_block_offset_pivots,
        .join_halves = host_block_join_halves,
        .clear_info = host_block_clear_info,
        .zero_diagonal = host_block_zero_diagonal,
        .potrf_block = host_block_potrf,
        .geqrf_work = host_block_geqrf_work,
        .panel_geqrf = host_block_geqrf,
        .explicit_v = host_block_explicit_v,
        .larft = host_block_larft,
        .make_rotations = host_block_make_rotations,
        .rotate = host_block_rotate,
        .transpose = host_block_transpose,
        .copy = host_block_copy,
        .fill = host_block_fill};

struct executor *executor_host_new(struct fault *fault)
{
	static const struct split_limits limits = {
	        .side = 16, .depth = 4, .alignment = 4, .use = 16, .half = true};

	(void)fault;
	struct host_executor *executor = xcalloc(1, sizeof *executor);

	executor->base = (struct executor){.ops = &host_ops,
	        .name = "host",
	        .on_host = true,
	        .rows_most = {EXECUTOR_LU_ROWS, EXECUTOR_LU_ROWS},
	        .splits = &limits};
#ifdef _SC_LEVEL2_CACHE_SIZE
	executor->l2_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
	host_threads_open();
	return &executor->base;
}
