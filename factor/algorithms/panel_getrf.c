/* SPDX-License-Identifier: MIT */
/* Cost in LAWN 202's letters, column j of an m x n panel: isamax m-j words, sswap 4n, sscal
 * 2(m-j-1), sger 2(m-j-1)(n-j-1) plus its row and column. Calls a column: blas 5 (two wait for the
 * host), optimized 4 to 5 (one waits), fused 2 (none waits); persistent and host are one call each.
 */
#include "panel_getrf.h"

#include "lib/base/msg.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads and writes of a column from a multiple of this many bytes cover whole lines. */
enum { LINE_BYTES = 128 };

/* Not an event of whole factorizations. */
enum { EVENT_ON_HOST = EXECUTOR_EVENTS - 1 };

/* The parts of the panel that step j works on. */
struct column {
	struct matrix search; /* column j from the diagonal down */
	struct matrix pivot;  /* the diagonal element */
	struct matrix below;  /* column j below the diagonal */
	struct matrix right;  /* row j right of the diagonal */
	struct matrix trail;  /* what the rank-1 update changes */
};

static struct column column_at(struct matrix a, int64_t j)
{
	int64_t rows = a.m - j - 1, columns = a.n - j - 1;

	return (struct column){.search = matrix_view(a, j, j, a.m - j, 1),
	        .pivot = matrix_view(a, j, j, 1, 1),
	        .below = matrix_view(a, j + 1, j, rows, 1),
	        .right = matrix_view(a, j, j + 1, 1, columns),
	        .trail = matrix_view(a, j + 1, j + 1, rows, columns)};
}

static bool swap_rows(struct executor *e, struct matrix a, int64_t i, int64_t k)
{
	return i == k || ex_swap(e, matrix_view(a, i, 0, 1, a.n), matrix_view(a, k, 0, 1, a.n));
}

static bool blas_column(struct executor *e, struct matrix a, int64_t j, int *ipiv, int *info)
{
	/* whose reciprocal does not overflow: LAPACK's sfmin */
	const double smallest = a.precision == SINGLE ? (double)FLT_MIN : DBL_MIN;
	struct column c = column_at(a, j);
	int64_t index;
	double pivot;

	if (!ex_iamax(e, c.search, &index) || !swap_rows(e, a, j, j + index) ||
	        !ex_get(e, c.pivot, &pivot))
		return false;
	ipiv[j] = (int)(j + index + 1);
	if (pivot == 0 && !*info)
		*info = (int)(j + 1);

	if (pivot != 0 && c.below.m) {
		/* the reciprocal of a subnormal pivot may overflow: divide then */
		bool ok = fabs(pivot) < smallest ? ex_scale_by(e, c.pivot, c.below)
		                                 : ex_scal(e, 1 / pivot, c.below);
		if (!ok)
			return false;
	}
	return !c.trail.m || !c.trail.n || ex_ger(e, c.below, c.right, c.trail);
}

/* Rows above the first one of the view that starts a line in every column; 0 when columns do not
 * share such a row. */
static int64_t unaligned_head(struct matrix view)
{
	int64_t line = LINE_BYTES / precision_bytes(view.precision);

	return view.ld % line ? 0 : (line - view.offset % line) % line;
}

/* LAWN 202 section 3.7's remedy for misaligned columns: a large aligned body and a short head. */
static bool split_ger(struct executor *e, struct column c)
{
	int64_t rows = c.trail.m, columns = c.trail.n, head = unaligned_head(c.trail);

	if (!rows || !columns)
		return true;
	if (head == 0 || head >= rows)
		return ex_ger(e, c.below, c.right, c.trail);
	return ex_ger(e, matrix_view(c.below, head, 0, rows - head, 1), c.right,
	               matrix_view(c.trail, head, 0, rows - head, columns)) &&
	       ex_ger(e, matrix_view(c.below, 0, 0, head, 1), c.right,
	               matrix_view(c.trail, 0, 0, head, columns));
}

/* The host never sees a pivot: info comes from the finished diagonal. */
static bool optimized_column(struct executor *e, struct matrix a, int64_t j, int *ipiv, int *info)
{
	struct column c = column_at(a, j);
	int64_t index;
	bool found = c.search.m < PANEL_HOST_SEARCH_ROWS ? ex_iamax_host(e, c.search, &index)
	                                                 : ex_iamax(e, c.search, &index);

	if (!found)
		return false;
	ipiv[j] = (int)(j + index + 1);
	return swap_rows(e, a, j, j + index) && (!c.below.m || ex_scale_by(e, c.pivot, c.below)) &&
	       split_ger(e, c) && (j + 1 < a.n || ex_zero_pivot(e, a, info));
}

typedef bool column_step(struct executor *, struct matrix a, int64_t j, int *ipiv, int *info);

static bool run_columns(struct executor *e, struct matrix a, struct pivots p, column_step *step)
{
	int *ipiv = xmalloc((size_t)a.n * sizeof *ipiv), info = 0;
	bool ok = true;

	for (int64_t j = 0; ok && j < a.n; j++)
		ok = step(e, a, j, ipiv, &info);
	ok = ok && ex_store_pivots(e, ipiv, info, p);
	free(ipiv);
	return ok;
}

static bool run_blas(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	(void)work;
	return run_columns(e, a, p, blas_column);
}

static bool run_optimized(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	(void)work;
	return run_columns(e, a, p, optimized_column);
}

static bool run_fused(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	bool ok = ex_fused_begin(e, a, work, p);

	for (int64_t j = 0; ok && j < a.n; j++)
		ok = ex_fused_pivot(e, a, j, work, p) && ex_fused_update(e, a, j, work, p);
	return ok;
}

static bool run_host(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	struct matrix host;

	(void)work;
	if (e->on_host)
		return ex_host_panel_getrf(e, a, p, NULL);
	return e->ops->stage(e, 0, a.m, a.n, a.precision, &host) && ex_to_host(e, a, host) &&
	       ex_record(e, EVENT_ON_HOST) && ex_wait_host(e, EVENT_ON_HOST) &&
	       ex_host_panel_getrf(e, host, p, NULL) && ex_to_device(e, host, a);
}

static int64_t work_fused(struct executor *e, struct matrix a)
{
	return e->ops->fused_work(e, a);
}

static int64_t work_persistent(struct executor *e, struct matrix a)
{
	return e->ops->resident_fits(e, a) ? e->ops->resident_work(e, a) : -1;
}

struct variant {
	int64_t (*work)(struct executor *, struct matrix a); /* NULL: none */
	bool (*run)(struct executor *, struct matrix a, void *work, struct pivots p);
};

const char *const panel_getrf_variants[] = {
        "blas", "optimized", "fused", "persistent", "host", NULL};

static const struct variant variants[] = {{NULL, run_blas}, {NULL, run_optimized},
        {work_fused, run_fused}, {work_persistent, ex_resident_panel}, {NULL, run_host}};

static const struct variant *find_variant(struct executor *e, const char *name)
{
	for (size_t i = 0; panel_getrf_variants[i]; i++)
		if (strcmp(panel_getrf_variants[i], name) == 0)
			return &variants[i];
	fault_refuse(&e->fault,
	        "unknown panel variant \"%s\": use blas, optimized, fused, persistent or host",
	        name);
	return NULL;
}

static bool check_shape(struct executor *e, struct matrix a)
{
	if (a.n < 1 || a.m < a.n)
		return fault_refuse(&e->fault,
		        "a panel of %" PRId64 " x %" PRId64
		        " can't be factorized: m >= n >= 1 is needed",
		        a.m, a.n);
	if (a.ld < a.m)
		return fault_refuse(&e->fault,
		        "leading dimension %" PRId64 " is smaller than the panel's %" PRId64
		        " rows",
		        a.ld, a.m);
	if (a.ld > INT32_MAX)
		return fault_refuse(&e->fault,
		        "leading dimension %" PRId64 " exceeds LAPACK's 32-bit integers", a.ld);
	return true;
}

int64_t panel_getrf_work(struct executor *executor, const char *variant, struct matrix a)
{
	const struct variant *v = find_variant(executor, variant);

	if (!v || !check_shape(executor, a))
		return -1;
	return v->work ? v->work(executor, a) : 0;
}

bool panel_getrf(struct executor *executor, const char *variant, struct matrix a, void *work,
        struct pivots pivots)
{
	const struct variant *v = find_variant(executor, variant);

	return v && check_shape(executor, a) && v->run(executor, a, work, pivots);
}
