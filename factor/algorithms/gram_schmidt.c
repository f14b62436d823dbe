/* SPDX-License-Identifier: MIT */
/* Words moved in column j of an m x n matrix: blas and kernels m(n-j) read for the dot products and
 * 2m(n-j-1) for the update, fused 2m(n-j-1) for both; the paper's kernels as blas and kernels.
 * Calls a column: blas 5 (one waits for the host), the paper's 3, kernels 2, fused 1. Operations of
 * all forms: 2mn^2, of twice 4mn^2. */
#include "gram_schmidt.h"

#include "plan.h"

#include "lib/base/msg.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct gram_process {
	struct executor *e;
	struct matrix a, r;
	int64_t nb, k; /* k: columns that become orthonormal */
	struct gram_shape shape;
	int *info;
	struct matrix norms; /* of A's columns, squares (n x 1) */
	void *pass;          /* workspace of the passes */
	int64_t bytes;
	/* orthogonalize */
	int64_t basis;
	struct matrix again; /* coefficients of the second pass (basis + n x nb) */
	struct matrix r1, r2, norms2;
};

/* Not an event of whole factorizations. */
enum { EVENT_NORMS = EXECUTOR_EVENTS - 1 };

/* A column is dependent when less than this times sqrt(n) u of it is left. The rounding of n
 * updates leaves less of a column that is dependent. */
static const double rounding = 4;

static double dependent_below(struct matrix a)
{
	double u = (a.precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
	double part = rounding * sqrt((double)a.n) * u;

	return part * part;
}

/* ---- panels ---- */

static struct gram_schmidt new_panel(const struct gram_process *s, struct matrix a, struct matrix r,
        struct matrix norms, int64_t j)
{
	return (struct gram_schmidt){.a = a,
	        .r = r,
	        .norms = norms,
	        .dependent = dependent_below(s->a),
	        .first = j,
	        .info = s->info,
	        .work = s->pass,
	        .shape = s->shape};
}

/* w columns from j on. */
static struct gram_schmidt panel_of(const struct gram_process *s, int64_t j, int64_t w)
{
	return new_panel(s, matrix_view(s->a, 0, j, s->a.m, w),
	        matrix_view(s->r, j, j, min_int64(w, s->r.m - j), w),
	        matrix_view(s->norms, j, 0, w, 1), j);
}

/* In one call. */
static bool panel(const struct gram_process *s, int64_t j, int64_t w)
{
	struct gram_schmidt g = panel_of(s, j, w);

	return ex_gram_panel(s->e, &g);
}

/* ---- forms ---- */

static bool run_fused(struct gram_process *s)
{
	struct gram_schmidt g = panel_of(s, 0, s->a.n);

	return gram_by_passes(s->e, &g, s->k);
}

static bool run_kernels(struct gram_process *s)
{
	struct gram_schmidt g = panel_of(s, 0, s->a.n);
	bool ok = true;

	for (int64_t j = 0; ok && j < s->k; j++)
		ok = ex_gram_dots(s->e, &g, j) && ex_gram_update(s->e, &g, j);
	return ok;
}

static bool run_shaped(struct gram_process *s)
{
	struct gram_schmidt g = panel_of(s, 0, s->a.n);
	bool ok = true;

	for (int64_t j = 0; ok && j < s->a.n; j++)
		ok = ex_gram_dots(s->e, &g, j) && ex_gram_scale(s->e, &g, j) &&
		     (j + 1 == s->a.n || ex_gram_update(s->e, &g, j));
	return ok;
}

static bool run_blocked(struct gram_process *s)
{
	const int64_t m = s->a.m, n = s->a.n;
	bool ok = true;

	for (int64_t j = 0; ok && j < s->k; j += s->nb) {
		int64_t w = min_int64(s->nb, s->k - j), rest = n - j - w;
		ok = panel(s, j, w) && ex_gram_apply(s->e, matrix_view(s->a, 0, j, m, w),
		                               matrix_view(s->r, j, j + w, w, rest),
		                               matrix_view(s->a, 0, j + w, m, rest), false);
	}
	return ok;
}

/* r := q^T a, a -= q r */
static bool take_out(struct executor *e, struct matrix q, struct matrix r, struct matrix a)
{
	return q.n == 0 || (ex_gemm(e, TRANSPOSED, PLAIN, 1, q, a, 0, r) &&
	                           ex_gemm(e, PLAIN, PLAIN, -1, q, r, 1, a));
}

static bool halves(const struct gram_process *s, int64_t j, int64_t w)
{
	if (w <= s->nb)
		return panel(s, j, w);

	int64_t leaves = (w + s->nb - 1) / s->nb, left = (leaves + 1) / 2 * s->nb, rest = w - left;
	return halves(s, j, left) &&
	       take_out(s->e, matrix_view(s->a, 0, j, s->a.m, left),
	               matrix_view(s->r, j, j + left, left, rest),
	               matrix_view(s->a, 0, j + left, s->a.m, rest)) &&
	       halves(s, j + left, rest);
}

static bool run_block(struct gram_process *s)
{
	return halves(s, 0, s->a.n);
}

/* ---- Listing 3 ---- */

static bool drop_column(struct gram_process *s, int64_t j)
{
	return ex_fill(s->e, WHOLE, 0, 0, matrix_view(s->a, 0, j, s->a.m, 1)) &&
	       ex_fill(s->e, WHOLE, 0, 0, matrix_view(s->r, j, j, 1, s->a.n - j));
}

/* before: the square of the norm that the column had at first */
static bool blas_column(struct gram_process *s, int64_t j, double before, int *info)
{
	struct executor *e = s->e;
	int64_t m = s->a.m, rest = s->a.n - j;
	struct matrix q = matrix_view(s->a, 0, j, m, 1), row = matrix_view(s->r, j, j, 1, rest);
	double square;

	if (!ex_gemv(e, TRANSPOSED, 1, matrix_view(s->a, 0, j, m, rest), q, 0, row) ||
	        !ex_get(e, matrix_view(row, 0, 0, 1, 1), &square))
		return false;
	if (square <= dependent_below(s->a) * before && !isinf(square)) {
		*info = *info ? *info : (int)(j + 1);
		return drop_column(s, j);
	}
	/* NaN, not zero: some BLAS make a zero of an infinity times zero */
	double scale = isinf(square) ? NAN : 1 / sqrt(square);
	return ex_scal(e, scale, q) && ex_scal(e, scale, row) &&
	       (rest == 1 || ex_ger(e, q, matrix_view(row, 0, 1, 1, rest - 1),
	                             matrix_view(s->a, 0, j + 1, m, rest - 1)));
}

/* The model has no norms: none of its columns is dependent. */
static double norm_at(struct matrix norms, int64_t j)
{
	if (!norms.data)
		return 0;
	return norms.precision == SINGLE ? (double)((const float *)norms.data)[j]
	                                 : ((const double *)norms.data)[j];
}

static bool run_blas(struct gram_process *s)
{
	struct executor *e = s->e;
	bool blas_only = e->blas_only;
	struct matrix norms;
	int info = 0;
	bool ok = e->ops->stage(e, 0, s->a.n, 1, s->a.precision, &norms) &&
	          ex_to_host(e, s->norms, norms) && ex_record(e, EVENT_NORMS) &&
	          ex_wait_host(e, EVENT_NORMS);

	e->blas_only = true;
	for (int64_t j = 0; ok && j < s->k; j++)
		ok = blas_column(s, j, norm_at(norms, j), &info);
	e->blas_only = blas_only;
	return ok && ex_store_pivots(e, NULL, info, (struct pivots){s->info, 0});
}

/* ---- orthogonalization against a basis ---- */

/* w new columns from the j-th on. The first pass leaves in them up to u k of the basis and of one
 * another; they are then so well conditioned that the second pass leaves u. */
static bool add_columns(struct gram_process *s, int64_t j, int64_t w)
{
	struct executor *e = s->e;
	int64_t m = s->a.m, k = s->basis + j;
	struct matrix q = matrix_view(s->a, 0, 0, m, k), a = matrix_view(s->a, 0, k, m, w);
	struct matrix above = matrix_view(s->r, 0, j, k, w), r = matrix_view(s->r, k, j, w, w);
	struct matrix again = matrix_view(s->again, 0, 0, k, w);
	struct matrix r1 = matrix_view(s->r1, 0, 0, w, w), r2 = matrix_view(s->r2, 0, 0, w, w);
	struct matrix norms = matrix_view(s->norms, j, 0, w, 1),
	              norms2 = matrix_view(s->norms2, 0, 0, w, 1);
	struct gram_schmidt first = new_panel(s, a, r1, norms, j),
	                    second = new_panel(s, a, r2, norms2, j);

	return take_out(e, q, above, a) && ex_gram_panel(e, &first) &&
	       ex_column_norms(e, a, norms2) && take_out(e, q, again, a) &&
	       ex_gram_panel(e, &second) && ex_gemm(e, PLAIN, PLAIN, 1, r2, r1, 0, r) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, again, r1, 1, above);
}

static bool run_twice(struct gram_process *s)
{
	int64_t n = s->a.n - s->basis;
	bool ok = ex_fill(s->e, WHOLE, 0, 0, s->r1) && ex_fill(s->e, WHOLE, 0, 0, s->r2);

	for (int64_t j = 0; ok && j < n; j += s->nb)
		ok = add_columns(s, j, min_int64(s->nb, n - j));
	return ok;
}

/* ---- the forms by name, their checks and their workspace ---- */

const char *const gram_schmidt_forms[] = {"blas", "kernels", "fused", "blocked", "block", "twice",
        "direct", "shared", "wide", "atomic", NULL};

/* shape: blocks of threads near the fastest for many and for few columns. */
struct form {
	bool (*run)(struct gram_process *);
	bool in_blocks, twice;
	struct gram_shape shape;
};
static const struct form forms[] = {{run_blas, false, false, {GRAM_OWN, 0, 0}},
        {run_kernels, false, false, {GRAM_OWN, 0, 0}}, {run_fused, false, false, {GRAM_OWN, 0, 0}},
        {run_blocked, true, false, {GRAM_OWN, 0, 0}}, {run_block, true, false, {GRAM_OWN, 0, 0}},
        {run_twice, true, true, {GRAM_OWN, 0, 0}},
        {run_shaped, false, false, {GRAM_DIRECT, 256, 1}},
        {run_shaped, false, false, {GRAM_SHARED, 256, 1}},
        {run_shaped, false, false, {GRAM_WIDE, 256, 1}},
        {run_shaped, false, false, {GRAM_ATOMIC, 256, 1}}};
static const struct form *const twice = &forms[5];

static bool is_called(const char *name, const char *form)
{
	size_t length = strlen(form);

	return strncmp(name, form, length) == 0 && (name[length] == '\0' || name[length] == '=');
}

struct gram_shape gram_schmidt_shape(const char *name)
{
	const char *blocks = strchr(name, '=');
	struct gram_shape shape = {GRAM_OWN, 0, 0};
	char end;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (is_called(name, gram_schmidt_forms[i]))
			shape = forms[i].shape;
	if (blocks && (sscanf(blocks, "=%dx%d%c", &shape.nx, &shape.ny, &end) != 2 ||
	                      !gram_shape_allowed(shape)))
		shape.access = GRAM_OWN;
	return shape;
}

bool gram_schmidt_in_blocks(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (is_called(name, gram_schmidt_forms[i]))
			return forms[i].in_blocks;
	return false;
}

static const struct form *find_form(struct gram_process *s, const char *name)
{
	s->shape = gram_schmidt_shape(name);
	for (size_t i = 0; gram_schmidt_forms[i]; i++)
		if (s->shape.access == GRAM_OWN ? strcmp(gram_schmidt_forms[i], name) == 0
		                                : is_called(name, gram_schmidt_forms[i]))
			return &forms[i];
	fault_refuse(&s->e->fault,
	        "unknown form \"%s\" of Gram-Schmidt: use blas, kernels, fused, blocked, block, "
	        "twice, or direct, shared, wide, atomic, which may end in =NXxNY",
	        name);
	return NULL;
}

bool gram_apply_fits(struct executor *e, struct matrix a)
{
	const int64_t most = GRAM_APPLY_BYTES / precision_bytes(a.precision);

	return e->on_host || a.m <= most ||
	       fault_refuse(&e->fault,
	               "columns of %" PRId64
	               " rows: this form of Gram-Schmidt holds at most %" PRId64
	               " in registers, use fused or block",
	               a.m, most);
}

static bool check(const struct gram_process *s, const struct form *form)
{
	struct fault *fault = &s->e->fault;
	int64_t n = s->a.n - s->basis;

	if (n < 1 || s->basis < 0)
		return fault_refuse(fault,
		        "%" PRId64 " columns can't be made orthonormal: at least one is needed", n);
	if (s->a.m < s->a.n)
		return fault_refuse(fault,
		        "%" PRId64 " columns of %" PRId64
		        " rows can't all be orthogonal: m >= n is needed",
		        s->a.n, s->a.m);
	if (s->k != s->a.n && (s->k < 1 || s->k > s->a.n || form->run == run_block || form->twice))
		return fault_refuse(fault,
		        "the first %" PRId64 " of %" PRId64
		        " columns alone: not so many, and not by block or twice",
		        s->k, s->a.n);
	if (form->in_blocks && s->nb < 1)
		return fault_refuse(
		        fault, "a block of %" PRId64 " columns: at least one is needed", s->nb);
	if (s->shape.access != GRAM_OWN && s->e->on_host)
		return fault_refuse(
		        fault, "blocks of threads are the GPU's: use kernels on the host");
	if (form->run == run_blocked && s->nb < s->a.n && !gram_apply_fits(s->e, s->a))
		return false;
	return matrix_check(s->e, s->a);
}

static void take_workspace(struct gram_process *s, const struct form *form, void *work)
{
	struct workspace workspace = {work, 0};
	enum precision precision = s->a.precision;
	int64_t n = s->a.n - s->basis;
	int64_t w = form->in_blocks ? min_int64(s->nb, n) : n;

	s->norms = workspace_matrix(&workspace, n, 1, precision);
	s->pass = workspace_bytes(
	        &workspace, s->e->ops->gram_work(s->e, matrix_view(s->a, 0, 0, s->a.m, w)));
	if (form->twice) {
		s->norms2 = workspace_matrix(&workspace, w, 1, precision);
		s->again = workspace_matrix(&workspace, s->a.n, w, precision);
		s->r1 = workspace_matrix(&workspace, w, w, precision);
		s->r2 = workspace_matrix(&workspace, w, w, precision);
	}
	s->bytes = workspace.used;
}

static int64_t work_of(struct gram_process *s, const struct form *form)
{
	if (!form || !check(s, form))
		return -1;
	take_workspace(s, form, NULL);
	return s->bytes;
}

static bool start(struct gram_process *s, const struct form *form, void *work)
{
	int64_t n = s->a.n - s->basis;

	if (!form || !check(s, form))
		return false;
	take_workspace(s, form, work);
	return ex_clear_info(s->e, s->info) && ex_fill(s->e, WHOLE, 0, 0, s->r) &&
	       ex_column_norms(s->e, matrix_view(s->a, 0, s->basis, s->a.m, n), s->norms) &&
	       form->run(s);
}

int64_t gram_schmidt_work(struct executor *e, const char *name, int64_t nb, struct matrix a)
{
	struct gram_process s = {.e = e, .a = a, .nb = nb, .k = a.n};

	return work_of(&s, find_form(&s, name));
}

bool gram_schmidt_first(struct executor *e, const char *name, int64_t nb, int64_t k,
        struct matrix a, struct matrix r, void *work, int *info)
{
	struct gram_process s = {.e = e, .a = a, .r = r, .nb = nb, .k = k, .info = info};

	return start(&s, find_form(&s, name), work);
}

bool gram_schmidt(struct executor *e, const char *name, int64_t nb, struct matrix a,
        struct matrix r, void *work, int *info)
{
	return gram_schmidt_first(e, name, nb, a.n, a, r, work, info);
}

int64_t orthogonalize_work(struct executor *e, int64_t nb, struct matrix a, int64_t basis)
{
	struct gram_process s = {.e = e, .a = a, .nb = nb, .k = a.n, .basis = basis};

	return work_of(&s, twice);
}

bool orthogonalize(struct executor *e, int64_t nb, struct matrix a, int64_t basis, struct matrix r,
        void *work, int *info)
{
	struct gram_process s = {
	        .e = e, .a = a, .r = r, .nb = nb, .k = a.n, .info = info, .basis = basis};

	return start(&s, twice, work);
}
