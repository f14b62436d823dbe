/* SPDX-License-Identifier: MIT */
/* Changes by one row or column compared with qrupdate, the Fortran library (J. Hajek), on the host
 * executor and on the GPU: R beside a
 * fresh one up to the signs of its rows, residual and orthogonality of both. */
#include "update_fixture.h"

#ifndef FATHOM_QRUPDATE

int main(void)
{
	skip_all("built without qrupdate (make setup installs libqrupdate-dev)");
}

#else

/* Insert and delete column and row: m x n, k columns of Q; j is 1-based, w workspace. */
#define DECLARE(p, real)                                                                           \
	void p##qrinc_(const int *m, const int *n, const int *k, real *q, const int *ldq, real *r, \
	        const int *ldr, const int *j, const real *x, real *w);                             \
	void p##qrdec_(const int *m, const int *n, const int *k, real *q, const int *ldq, real *r, \
	        const int *ldr, const int *j, real *w);                                            \
	void p##qrinr_(const int *m, const int *n, real *q, const int *ldq, real *r,               \
	        const int *ldr, const int *j, real *x, real *w);                                   \
	void p##qrder_(const int *m, const int *n, real *q, const int *ldq, real *r,               \
	        const int *ldr, const int *j, real *w);
DECLARE(s, float)
DECLARE(d, double)

#define THEIRS(p, name, ...) ((p) == SINGLE ? s##name##_(__VA_ARGS__) : d##name##_(__VA_ARGS__))

enum { M = 90, N = 41, LD = M + 2, COUNT = LD * LD };

/* x (m x n) as an array of the precision with LD rows. */
static void *array(enum precision p, const double *x, int64_t m, int64_t n)
{
	void *out = xcalloc(COUNT, (size_t)precision_bytes(p));

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(out, i + j * LD, p, x[i + j * m]);
	return out;
}

/* Changes the full Q and R, which has all of A's rows. `added`: the new row or column. */
static void change_theirs(
        enum precision p, enum qr_change change, int k, void *q, void *r, void *added)
{
	const int m = M, n = N, ld = LD, j = k + 1;
	void *w = array(p, NULL, 0, 0);

	if (change == QR_ADD_COLUMNS)
		THEIRS(p, qrinc, &m, &n, &m, q, &ld, r, &ld, &j, added, w);
	else if (change == QR_REMOVE_COLUMNS)
		THEIRS(p, qrdec, &m, &n, &m, q, &ld, r, &ld, &j, w);
	else if (change == QR_ADD_ROWS)
		THEIRS(p, qrinr, &m, &n, q, &ld, r, &ld, &j, added, w);
	else
		THEIRS(p, qrder, &m, &n, q, &ld, r, &ld, &j, w);
	free(w);
}

/* Their factors take the place of ours in the fixture, to be measured alike. */
static void send_theirs(struct fixture *s, const void *q, const void *r)
{
	double *wide_q = to_doubles(q, LD, s->f.m, s->f.m, s->precision),
	       *wide_r = to_doubles(r, LD, s->f.n, s->f.n, s->precision);

	s->room.good = s->room.good && send(s, wide_q, s->f.m, s->f.m, s->f.q) &&
	               send(s, wide_r, s->f.n, s->f.n, s->f.r);
	free(wide_q);
	free(wide_r);
}

static void check(struct executor *e, enum precision p, enum qr_change what, int k)
{
	struct fixture s = fixture_new(e, &qr_update_calls, p, Q_FULL, M, N, M + 1, N + 1, 1);
	double *full = fetch(&s, s.f.q, M, M), *upper = fetch(&s, s.f.r, N, N);
	void *q = array(p, full, M, M), *r = array(p, upper, N, N);
	struct outcome out = change(&s, what, k, 1);
	double *row = rows_at(s.a, s.f.m, s.f.n, what == QR_ADD_ROWS ? k : 0, 1);
	void *added = what == QR_ADD_ROWS ? array(p, row, s.f.n, 1)
	                                  : array(p, s.a + (s.f.n > N ? k * s.f.m : 0), s.f.m, 1);
	const struct measures ours = measure(&s);

	change_theirs(p, what, k, q, r, added);
	send_theirs(&s, q, r);
	const struct measures theirs = measure(&s);
	ok(fixture_close(&s) && out.ran && good(&ours, 30) && theirs.residual < 30 &&
	                theirs.orthogonality < 30 && theirs.fresh < 30,
	        "%c, %s, one at %d: R apart from a fresh one %.2g, qrupdate's %.2g; residual %.2g "
	        "and %.2g",
	        p, qr_change_name[what], k, ours.fresh, theirs.fresh, ours.residual,
	        theirs.residual);
	void *all[] = {full, upper, q, r, row, added};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		free(all[i]);
}

static void test(struct executor *e)
{
	for (int single = 0; single < 2; single++)
		for (int change = QR_REMOVE_COLUMNS; change <= QR_REMOVE_ROWS; change++) {
			bool columns = change == QR_REMOVE_COLUMNS || change == QR_ADD_COLUMNS;
			bool more = change == QR_ADD_COLUMNS || change == QR_ADD_ROWS;
			const int last = (columns ? N : M) - !more, at[] = {0, 17, last};
			for (size_t i = 0; i < ARRAY_LEN(at); i++)
				check(e, single ? SINGLE : DOUBLE, (enum qr_change)change, at[i]);
		}
}

int main(void)
{
	return test_on_executors(test);
}

#endif
