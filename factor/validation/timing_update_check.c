/* SPDX-License-Identifier: MIT */
#include "timing_update_internal.h"

#include "lib/base/msg.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>

/* Frobenius's norm. */
static bool norm_of(struct update_fixture *s, struct matrix x, double *norm)
{
	struct executor *e = s->fixture.executor;
	double wide[CHECK_VECTORS], sum = 0;
	float narrow[CHECK_VECTORS];
	bool single = x.precision == SINGLE;

	if (!ex_column_norms(e, x, matrix_view(s->sums, 0, 0, x.n, 1)) || !e->ops->sync(e) ||
	        !e->ops->download(
	                e, matrix_view(s->sums, 0, 0, x.n, 1), single ? (void *)narrow : wide, x.n))
		return false;
	for (int64_t i = 0; i < x.n; i++)
		sum += single ? (double)narrow[i] : wide[i];
	*norm = sqrt(sum);
	return true;
}

/* norm(y - op(a) x) / norm(y); overwrites y */
static bool compare(struct update_fixture *s, enum trans trans, struct matrix a, struct matrix x,
        struct matrix y, double *result)
{
	double whole, rest;

	if (!norm_of(s, y, &whole) || !ex_gemm(s->fixture.executor, trans, PLAIN, -1, a, x, 1, y) ||
	        !norm_of(s, y, &rest))
		return false;
	*result = rest / whole;
	return true;
}

static struct matrix rows(struct matrix a, int64_t m)
{
	return matrix_view(a, 0, 0, m, a.n);
}

/* f: the factors of the changed matrix. */
static bool check_factors(struct update_fixture *s, const struct qr_factors *f, double *residual,
        double *orthogonality)
{
	struct executor *e = s->fixture.executor;
	struct matrix r = matrix_view(f->r, 0, 0, f->n, f->n), q;
	struct matrix rx = rows(s->wide, f->n), x = rows(s->vectors, f->n);
	struct matrix ax = rows(s->tall, f->m), atax = rows(s->wide2, f->n);
	bool ok = ex_gemm(e, PLAIN, PLAIN, 1, r, x, 0, rx) &&
	          ex_gemm(e, PLAIN, PLAIN, 1, s->a1, x, 0, ax);

	*orthogonality = NAN;
	if (f->kept == Q_NONE)
		return ok && ex_gemm(e, TRANSPOSED, PLAIN, 1, s->a1, ax, 0, atax) &&
		       compare(s, TRANSPOSED, r, rx, atax, residual);
	q = matrix_view(f->q, 0, 0, f->m, f->n);
	if (!ok || !compare(s, PLAIN, q, rx, ax, residual))
		return false;
	q.n = f->kept == Q_FULL ? f->m : f->n;
	x = rows(s->vectors, q.n);
	struct matrix kept = rows(s->tall2, q.n);
	return ex_gemm(e, PLAIN, PLAIN, 1, q, x, 0, ax) && ex_copy(e, WHOLE, x, kept) &&
	       compare(s, TRANSPOSED, q, ax, kept, orthogonality);
}

/* norm(A^T (b - A x)) / (norm(A) norm(b)) */
static bool check_solution(struct update_fixture *s, struct matrix x, double *residual)
{
	struct executor *e = s->fixture.executor;
	const struct matrix a = s->a1;
	struct matrix rest = matrix_view(s->tall, 0, 0, a.m, 1);
	struct matrix gradient = matrix_view(s->wide, 0, 0, a.n, 1);
	struct matrix ax = rows(s->tall2, a.m);
	double gain, size, sides, left;

	if (!ex_gemm(e, PLAIN, PLAIN, 1, a, rows(s->vectors, a.n), 0, ax) ||
	        !norm_of(s, ax, &gain) || !norm_of(s, rows(s->vectors, a.n), &size) ||
	        !norm_of(s, rows(s->b1, a.m), &sides) ||
	        !ex_copy(e, WHOLE, rows(s->b1, a.m), rest) ||
	        !ex_gemv(e, PLAIN, -1, a, x, 1, rest) ||
	        !ex_gemv(e, TRANSPOSED, 1, a, rest, 0, gradient) || !norm_of(s, gradient, &left))
		return false;
	*residual = left / (gain / size * sides);
	return true;
}

static bool in_place(const struct update_entry *entry)
{
	return entry->way == UPDATE_SOLVE || entry->way == UPDATE_CUSOLVER;
}

static struct matrix solution_of(const struct update_entry *entry, int64_t n)
{
	const struct update_fixture *s = entry->fixture;

	return matrix_view(in_place(entry) ? s->cb : s->x, 0, 0, n, 1);
}

static bool find_ratios(
        const struct update_entry *entry, double *residual, double *solution, double *orthogonality)
{
	struct update_fixture *s = entry->fixture;
	const struct qr_factors f = update_factors_after(entry);

	*residual = 0;
	return update_make_after(entry) &&
	       (in_place(entry) || check_factors(s, &f, residual, orthogonality)) &&
	       check_solution(s, solution_of(entry, f.n), solution);
}

static bool find_errors(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;
	struct qr_factors f = update_factors_after(entry);

	if (!s->full) {
		s->full = xmalloc((size_t)f.n * sizeof *s->full);
		if (!update_errors_full(e, s->a1, s->b1, s->full)) {
			free(s->full); /* for no other candidate */
			s->full = NULL;
			return false;
		}
	}
	f.kept = in_place(entry) ? Q_NONE : f.kept;
	return update_errors_find(e, &f, s->a1, solution_of(entry, f.n), s->full, entry->errors);
}

bool update_check(struct timing_fixture *fixture, struct candidate *candidate)
{
	const struct update_entry *entry = candidate->context;
	const struct update_question *asked = &entry->fixture->asked;
	double residual = NAN, solution = NAN, orthogonality = NAN;

	fixture->executor->queue = QUEUE_MAIN;
	if (!find_ratios(entry, &residual, &solution, &orthogonality))
		return false;
	const double scale = (double)entry->fixture->a1.m * check_eps(asked->precision);
	candidate->residual = (residual > solution ? residual : solution) / scale;
	candidate->orthogonality = orthogonality / scale;
	const bool has_q = !in_place(entry) && asked->kept != Q_NONE;
	if (!(residual / scale < CHECK_THRESHOLD && solution / scale < CHECK_THRESHOLD) ||
	        (has_q && !(candidate->orthogonality < CHECK_THRESHOLD)))
		return fault_set(&candidate->fault,
		        "failed: residual ratio %.3g, solution %.3g, orthogonality %.3g",
		        residual / scale, solution / scale, candidate->orthogonality);
	return !entry->errors || find_errors(entry);
}
