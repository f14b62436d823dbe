/* SPDX-License-Identifier: MIT */
#include "update_errors.h"

#include "lib/base/msg.h"
#include "lib/base/random.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20 };

/* A dense matrix in double on the host, ld = m. */
struct wide {
	double *data;
	int m, n;
};

static bool fetch(struct executor *e, struct matrix a, struct wide *out)
{
	const size_t count = (size_t)(a.m * a.n);

	*out = (struct wide){xmalloc((count + 1) * sizeof *out->data), (int)a.m, (int)a.n};
	if (!e->ops->download(e, a, out->data, a.m)) {
		free(out->data);
		out->data = NULL;
		return false;
	}
	for (size_t i = count; a.precision == SINGLE && i-- > 0;) {
		float word;
		memcpy(&word, (const char *)out->data + i * sizeof word, sizeof word);
		out->data[i] = (double)word;
	}
	return true;
}

/* y := alpha op(a) x + beta y */
static void multiply(const struct wide *a, bool transposed, double alpha, const double *x,
        double beta, double *y)
{
	cblas_dgemv(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, a->m, a->n, alpha,
	        a->data, a->m, x, 1, beta, y, 1);
}

/* The operator a - q r, or with identity q^T q - I; absent parts are NULL. */
struct difference {
	const struct wide *a, *q, *r;
	double *inner; /* a vector between q and r, or q^T and q */
};

/* y := D x, or transposed D^T x */
static void apply(const struct difference *d, bool transposed, const double *x, double *y)
{
	if (!d->a) {
		multiply(d->q, false, 1, x, 0, d->inner);
		memcpy(y, x, (size_t)d->q->n * sizeof *y);
		multiply(d->q, true, 1, d->inner, -1, y);
		return;
	}
	multiply(d->a, transposed, 1, x, 0, y);
	if (!d->q)
		return;
	multiply(transposed ? d->q : d->r, transposed, 1, x, 0, d->inner);
	multiply(transposed ? d->r : d->q, transposed, -1, d->inner, 1, y);
}

/* norm2(D) of m x n by power iteration on D^T D. */
static double norm_two(const struct difference *d, int m, int n)
{
	double *x = xmalloc((size_t)n * sizeof *x), *y = xmalloc((size_t)m * sizeof *y), norm = 0;
	uint64_t state = 1;

	for (int i = 0; i < n; i++)
		x[i] = 2 * random_unit(&state) - 1;
	for (int step = 0; step < STEPS; step++) {
		const double length = cblas_dnrm2(n, x, 1);
		if (!(length > 0)) /* D is zero, or not a number */
			break;
		cblas_dscal(n, 1 / length, x, 1);
		apply(d, false, x, y);
		norm = cblas_dnrm2(m, y, 1);
		apply(d, true, y, x);
	}
	free(x);
	free(y);
	return norm;
}

/* Norms with Q. */
static void find_norms(
        const struct wide *a, const struct wide *q, const struct wide *r, struct update_errors *out)
{
	const struct wide thin = {q->data, q->m, r->n};
	double *inner = xmalloc((size_t)q->m * sizeof *inner);
	const struct difference whole = {.a = a},
	                        left = {.a = a, .q = &thin, .r = r, .inner = inner},
	                        unit = {.q = q, .inner = inner};

	out->factors = norm_two(&left, a->m, a->n) / norm_two(&whole, a->m, a->n);
	out->orthogonal = norm_two(&unit, q->n, q->n);
	free(inner);
}

static double distance(const double *full, const struct wide *x1)
{
	double rest = 0, norm = 0;

	for (int i = 0; i < x1->m; i++) {
		rest += (full[i] - x1->data[i]) * (full[i] - x1->data[i]);
		norm += full[i] * full[i];
	}
	return sqrt(rest / norm);
}

bool update_errors_full(struct executor *e, struct matrix a, struct matrix b, double *x)
{
	const int m = (int)a.m, n = (int)a.n;
	const size_t bytes = (size_t)precision_bytes(a.precision);
	void *wa = xmalloc((size_t)m * (size_t)n * bytes), *wb = xmalloc((size_t)m * bytes);
	bool ok = e->ops->download(e, a, wa, m) && e->ops->download(e, b, wb, m);

	if (ok) {
		const int info =
		        a.precision == SINGLE
		                ? LAPACKE_sgels(LAPACK_COL_MAJOR, 'N', m, n, 1, wa, m, wb, m)
		                : LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', m, n, 1, wa, m, wb, m);
		ok = info == 0 || fault_set(&e->fault, "LAPACK's gels returned %d", info);
	}
	for (int i = 0; ok && i < n; i++)
		x[i] = a.precision == SINGLE ? (double)((float *)wb)[i] : ((double *)wb)[i];
	free(wa);
	free(wb);
	return ok;
}

bool update_errors_find(struct executor *e, const struct qr_factors *f, struct matrix a,
        struct matrix x1, const double *full, struct update_errors *out)
{
	const int64_t columns = f->kept == Q_FULL ? f->m : f->n;
	struct wide wa = {0}, wq = {0}, wr = {0}, wx = {0};
	bool ok = fetch(e, x1, &wx);

	*out = (struct update_errors){NAN, NAN, NAN};
	if (ok)
		out->x = distance(full, &wx);
	if (f->kept != Q_NONE) {
		ok = ok && fetch(e, a, &wa) &&
		     fetch(e, matrix_view(f->q, 0, 0, f->m, columns), &wq) &&
		     fetch(e, matrix_view(f->r, 0, 0, f->n, f->n), &wr);
		if (ok)
			find_norms(&wa, &wq, &wr, out);
	}
	free(wa.data);
	free(wq.data);
	free(wr.data);
	free(wx.data);
	return ok;
}
