/* SPDX-License-Identifier: MIT */
/* Errors of changed QR factorizations by norms in 2: known differences of x, of Q R from A and of Q
 * from an orthogonal matrix come back. */
#include "tests/tap.h"

#include "lib/base/msg.h"
#include "factor/validation/timing_update_internal.h"
#include "factor/validation/update_errors.h"

#include <math.h>
#include <stdlib.h>

enum { M = 40, N = 12, SIDE = M * M };
static const double shear = 1e-3;

static struct matrix dense(double *data, int64_t m, int64_t n)
{
	return (struct matrix){data, 0, m, n, m, DOUBLE};
}

/* Q: the identity, its last column (1 + shear) times as long; R upper triangular; A = Q R but for
 * one element of the size `wrong` in a column that is zero in R. */
static void test_known(struct executor *e)
{
	double q[SIDE] = {0}, r[N * N] = {0}, a[M * N] = {0}, x[N], full[N];
	const double wrong = 1e-4;

	for (int64_t i = 0; i < M; i++)
		q[i + i * M] = i == M - 1 ? 1 + shear : 1;
	for (int64_t j = 0; j < N - 1; j++)
		r[j + j * N] = a[j + j * M] = 2;
	a[(N + 3) + (N - 1) * M] = wrong;
	for (int64_t i = 0; i < N; i++) {
		full[i] = 3;
		x[i] = i == 5 ? 3.5 : 3;
	}
	const struct qr_factors f = {
	        .m = M, .n = N, .kept = Q_FULL, .q = dense(q, M, M), .r = dense(r, N, N)};
	struct update_errors found;
	ok(update_errors_find(e, &f, dense(a, M, N), dense(x, N, 1), full, &found), "found");
	is_real(found.x, 0.5 / (3 * sqrt(N)), 1e-12, "error of x");
	is_real(found.orthogonal, 2 * shear + shear * shear, 1e-9, "loss of orthogonality");
	is_real(found.factors, wrong / 2, 1e-9, "backward error");
	struct qr_factors bare = f;
	bare.kept = Q_NONE;
	ok(update_errors_find(e, &bare, dense(a, M, N), dense(x, N, 1), full, &found) &&
	                isnan(found.factors) && isnan(found.orthogonal) && found.x > 0,
	        "without Q: of x alone");
}

/* The full QR solves a consistent system, in both precisions. */
static void test_solution(struct executor *e)
{
	double a[M * N], b[M] = {0}, x[N], worst = 0;
	float narrow_a[M * N], narrow_b[M];
	uint64_t state = 7;

	for (int64_t i = 0; i < M * N; i++) {
		state = state * 6364136223846793005u + 1;
		a[i] = (double)(state >> 40) * 0x1p-23 - 1;
		narrow_a[i] = (float)a[i];
	}
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < M; i++)
			b[i] += a[i + j * M] * (double)(j + 1);
	for (int64_t i = 0; i < M; i++)
		narrow_b[i] = (float)b[i];
	bool made = update_errors_full(e, dense(a, M, N), dense(b, M, 1), x);
	for (int64_t j = 0; j < N; j++)
		worst = fmax(worst, fabs(x[j] - (double)(j + 1)));
	ok(made && worst < 1e-12, "double: x is right to %.1e", worst);
	made = update_errors_full(e, (struct matrix){narrow_a, 0, M, N, M, SINGLE},
	        (struct matrix){narrow_b, 0, M, 1, M, SINGLE}, x);
	worst = 0;
	for (int64_t j = 0; j < N; j++)
		worst = fmax(worst, fabs(x[j] - (double)(j + 1)));
	ok(made && worst > 1e-9 && worst < 1e-4, "single: x is right to %.1e", worst);
}

/* The columns of Q beyond A's take no part in Q R = A: only its orthogonality tells. */
static void test_nan(struct executor *e)
{
	const struct update_question asked = {QR_ADD_COLUMNS, Q_FULL, M, N, 3, 2, 1, SINGLE, false};
	struct fault fault = {.text = ""};
	struct update_fixture *s = update_fixture_new(e, &asked, 1, &fault);
	struct update_entry entry = {.fixture = s, .way = UPDATE_CHANGE, .k = 3, .p = 2};
	struct candidate c = candidate_update(&entry);

	if (!ok(s && c.prepare(&c) && c.before(&c) && c.run(&c), "columns are added"))
		return;
	ok(update_check(&s->fixture, &c), "a right Q passes");
	ok(ex_fill(e, WHOLE, NAN, NAN, matrix_view(s->f.q, 0, M - 1, M, 1)), "Q's last column");
	ok(!update_check(&s->fixture, &c), "NaN there does not: %s", c.fault.text);
	e->ops->release(e, c.work);
	update_fixture_free(s);
}

int main(void)
{
	struct fault fault = {.text = ""};
	struct executor *e = executor_host_new(&fault);

	test_known(e);
	test_solution(e);
	test_nan(e);
	executor_free(e);
	return finish();
}
