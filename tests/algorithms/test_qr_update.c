/* SPDX-License-Identifier: MIT */
/* Every change of a QR factorization, with all, the thin part or nothing of Q, on the host executor
 * and on the GPU: residual, orthogonality, right-hand sides, R against a fresh R, rows and columns
 * at every end, long sequences, dependent columns, rows that must stay, refused calls. */
#include "update_fixture.h"

/* ---- one change ---- */

/* First, last, in the middle; one, all but one, as many as columns, more than at once; down to
 * square and to one column; square and tall; windows' edges. */
static const struct shape columns_removed[] = {{2, 2, 0, 1}, {5, 3, 1, 1}, {40, 40, 0, 39},
        {150, 130, 0, 1}, {150, 130, 129, 1}, {150, 130, 3, 70}, {300, 200, 72, 64},
        {300, 193, 0, 65}, {500, 201, 100, 7}, {600, 330, 2, 257}};
static const struct shape columns_added[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 0, 20},
        {40, 1, 0, 30}, {150, 100, 0, 1}, {150, 100, 100, 50}, {150, 100, 37, 9},
        {400, 200, 63, 64}, {400, 129, 65, 150}, {500, 201, 0, 7}};
static const struct shape rows_added[] = {{1, 1, 0, 1}, {3, 3, 3, 5}, {40, 20, 0, 20},
        {40, 20, 7, 300}, {300, 100, 300, 256}, {300, 100, 0, 257}, {150, 100, 0, 1},
        {150, 100, 150, 64}, {300, 129, 50, 33}, {500, 201, 128, 100}};
static const struct shape rows_removed[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 20, 20},
        {60, 20, 9, 20}, {150, 100, 0, 1}, {150, 100, 149, 1}, {150, 100, 10, 9},
        {400, 200, 300, 64}, {400, 129, 65, 150}, {500, 201, 128, 7}};
static const struct shape modified[] = {{1, 1, 0, 1}, {3, 3, 0, 2}, {40, 40, 0, 40}, {40, 39, 0, 5},
        {40, 3, 0, 11}, {150, 100, 0, 1}, {400, 200, 0, 64}, {400, 129, 0, 70}, {500, 201, 0, 7}};

static const struct {
	const struct shape *shapes;
	size_t count;
} changes[] = {[QR_REMOVE_COLUMNS] = {columns_removed, ARRAY_LEN(columns_removed)},
        [QR_ADD_COLUMNS] = {columns_added, ARRAY_LEN(columns_added)},
        [QR_ADD_ROWS] = {rows_added, ARRAY_LEN(rows_added)},
        [QR_REMOVE_ROWS] = {rows_removed, ARRAY_LEN(rows_removed)},
        [QR_MODIFY] = {modified, ARRAY_LEN(modified)}};

static bool needs_q(enum qr_change what)
{
	return what == QR_ADD_COLUMNS || what == QR_MODIFY;
}

/* A small run takes every fourth shape; they take turns. */
static bool runs(size_t what, int kept, size_t i)
{
	const struct shape *s = &changes[what].shapes[i];

	return test_turn(what + (size_t)kept + i, 4) && test_fits(s->m, s->n);
}

static void test_changes(struct executor *e)
{
	for (size_t what = 0; what < ARRAY_LEN(changes); what++)
		for (int kept = needs_q((enum qr_change)what) ? Q_THIN : Q_NONE; kept <= Q_FULL;
		        kept++)
			for (size_t i = 0; i < changes[what].count; i++)
				for (int twice = 0; twice < 2 && runs(what, kept, i); twice++)
					check_change(e, &qr_update_calls, (enum qr_change)what,
					        (enum q_kept)kept, twice ? DOUBLE : SINGLE,
					        &changes[what].shapes[i], "");
}

/* ---- one after another ---- */

static uint64_t draw(uint64_t seed, int64_t i, int64_t count)
{
	return (uint64_t)((test_random(seed, i) + 1) / 2 * (double)count) % (uint64_t)count;
}

/* The i-th of a sequence that keeps m in 60 .. 119 and n in 20 .. 39. */
static struct outcome random_change(struct fixture *s, int64_t i)
{
	enum qr_change what = (enum qr_change)draw(1, i, QR_MODIFY + 1);
	int64_t p = 1 + (int64_t)draw(2, i, 9);

	if (what == QR_ADD_COLUMNS && s->f.n + p >= 40)
		what = QR_REMOVE_COLUMNS;
	if (what == QR_REMOVE_COLUMNS && s->f.n - p < 20)
		what = QR_ADD_COLUMNS;
	if (what == QR_ADD_ROWS && s->f.m + p >= 120)
		what = QR_REMOVE_ROWS;
	if (what == QR_REMOVE_ROWS && s->f.m - p < 60)
		what = QR_ADD_ROWS;
	int64_t most = what == QR_REMOVE_COLUMNS ? s->f.n - p
	               : what == QR_ADD_COLUMNS  ? s->f.n
	               : what == QR_ADD_ROWS     ? s->f.m
	                                         : s->f.m - p;
	return change(s, what, (int64_t)draw(3, i, most + 1), p);
}

/* The products u v^T of modify add up: the matrix must not grow for ever, hence the scale of the
 * ratios is the norm of the matrix, and the drift is the sum of all changes' errors. */
static void check_sequence(struct executor *e, enum q_kept kept, enum precision precision)
{
	struct fixture s = fixture_new(e, &qr_update_calls, precision, kept, 80, 30, 120, 50, 9);
	struct measures found = measure(&s);
	const int64_t count = test_at_most(1000, 10);
	bool fine = true;
	int info = 0;

	for (int64_t i = 1; i <= count && fine; i++) {
		struct outcome out = random_change(&s, i);
		fine = out.ran;
		info = info ? info : out.info;
		if (i % (count / 5) == 0) {
			found = measure(&s);
			diag("%c, Q %s, after %" PRId64
			     " changes: residual %.2g, orthogonality %.2g, sides %.2g",
			        precision, q_kept_name[kept], i, found.residual,
			        found.orthogonality, found.sides);
		}
	}
	ok(fixture_close(&s) && fine && info == 0 && found.zeros && found.residual < 30 &&
	                found.orthogonality < 30 && found.sides < 30,
	        "%c, Q %s: %d changes one after another stay valid", precision, q_kept_name[kept],
	        (int)count);
}

/* ---- dependent columns, rows that must stay ---- */

static void check_dependent_column(struct executor *e, enum q_kept kept, enum precision precision)
{
	struct fixture s = fixture_new(e, &qr_update_calls, precision, kept, 90, 30, 90, 40, 4);
	double *u = random_doubles(&s, 90, 5), x[30];

	for (int64_t i = 0; i < 30; i++)
		x[i] = test_random(6, i);
	multiply(CblasNoTrans, CblasNoTrans, 90, 1, 30, 1, s.a, x, 0, u + 2 * 90);
	struct outcome out = change_with(&s, QR_ADD_COLUMNS, 7, 5, u);
	struct measures found = measure(&s);
	bool said = kept == Q_FULL ? out.info == 0 && found.orthogonality < 30 : out.info == 3;
	ok(fixture_close(&s) && out.ran && said && found.zeros && found.residual < 30,
	        "%c, Q %s: the third of five new columns depends: info %d, residual %.2g, "
	        "orthogonality %.2g",
	        precision, q_kept_name[kept], out.info, found.residual, found.orthogonality);
	free(u);
}

/* Row 12 alone has something in the last column. */
static void check_needed_row(struct executor *e, enum q_kept kept, enum precision precision)
{
	struct fixture s = fixture_new(e, &qr_update_calls, precision, kept, 60, 20, 60, 30, 5);
	double *q = xmalloc(60 * 60 * sizeof *q), *r = xmalloc(20 * 20 * sizeof *r);
	for (int64_t i = 0; i < 60; i++)
		s.a[i + 19 * 60] = i == 12;
	factorize(s.a, 60, 20, q, r);
	bool sent = send(&s, q, 60, q_columns(&s), s.f.q) && send(&s, r, 20, 20, s.f.r);
	struct outcome out = change(&s, QR_REMOVE_ROWS, 10, 5);
	double *last = fetch(&s, matrix_view(s.f.r, 19, 19, 1, 1), 1, 1);
	double eps = unit_roundoff(precision);
	ok(fixture_close(&s) && sent && out.ran &&
	                (kept == Q_FULL ? fabs(last[0]) < 100 * eps : out.info > 0),
	        "%c, Q %s: without a row that a column needs: info %d, r_nn %.2g", precision,
	        q_kept_name[kept], out.info, last[0]);
	free(last);
	free(q);
	free(r);
}

static void test_dependent(struct executor *e)
{
	for (int single = 0; single < 2; single++) {
		enum precision precision = single ? SINGLE : DOUBLE;
		check_dependent_column(e, Q_THIN, precision);
		check_dependent_column(e, Q_FULL, precision);
		check_needed_row(e, Q_NONE, precision);
		check_needed_row(e, Q_THIN, precision);
		check_needed_row(e, Q_FULL, precision);
		check_sequence(e, Q_THIN, precision);
		check_sequence(e, Q_FULL, precision);
	}
}

/* ---- refusals ---- */

static void test_refused(struct executor *e)
{
	static const struct {
		enum qr_change change;
		enum q_kept kept;
		int64_t m, n, p, rows;
		const char *word;
	} cases[] = {{QR_REMOVE_COLUMNS, Q_FULL, 9, 5, 5, 9, "fewer rows"},
	        {QR_REMOVE_COLUMNS, Q_FULL, 4, 5, 1, 9, "m >= n"},
	        {QR_REMOVE_COLUMNS, Q_NONE, 5, 5, 0, 9, "at least one"},
	        {QR_ADD_COLUMNS, Q_FULL, 9, 5, 5, 20, "fewer rows"},
	        {QR_ADD_COLUMNS, Q_NONE, 9, 5, 1, 20, "needs Q"},
	        {QR_MODIFY, Q_NONE, 9, 5, 1, 20, "needs Q"},
	        {QR_REMOVE_ROWS, Q_THIN, 9, 5, 5, 20, "fewer rows"},
	        {QR_ADD_COLUMNS, Q_FULL, 9, 5, 2, 6, "R has room"},
	        {QR_ADD_ROWS, Q_FULL, 9, 5, 2, 10, "Q has room"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t rows = cases[i].rows;
		struct matrix room = {NULL, 0, rows, rows, rows, SINGLE};
		struct qr_factors f = {.m = cases[i].m,
		        .n = cases[i].n,
		        .kept = cases[i].kept,
		        .q = room,
		        .r = room};
		f.r.n = f.r.m = rows < 6 ? rows : 6;
		e->fault.text[0] = '\0';
		ok(qr_update_work(e, &f, cases[i].change, cases[i].p) == -1 &&
		                strstr(e->fault.text, cases[i].word),
		        "refused: %s", e->fault.text);
	}
	struct matrix room = {NULL, 0, 9, 9, 9, SINGLE};
	struct qr_factors f = {.m = 9, .n = 5, .kept = Q_NONE, .r = room};
	struct matrix rows = {NULL, 0, 2, 4, 2, SINGLE};
	ok(!qr_update(e, &f, QR_REMOVE_COLUMNS, 5, 1, room, room, room, NULL, NULL) && f.n == 5,
	        "refused: %s", e->fault.text);
	ok(!qr_update(e, &f, QR_ADD_ROWS, 0, 2, rows, room, room, NULL, NULL) && f.m == 9,
	        "refused: %s", e->fault.text);
}

static void test(struct executor *e)
{
	test_changes(e);
	test_dependent(e);
	test_refused(e);
}

int main(void)
{
	return test_on_executors(test);
}
