/* SPDX-License-Identifier: MIT */
/* A QR factorization made anew from its matrix, its solution and its drift, on the host executor
 * and on the GPU; each way that is timed; and the judgement of the model's choices. */
#include "update_fixture.h"

#include "factor/algorithms/qr_refactor.h"
#include "factor/validation/update_or_refactor.h"
#include "factor/validation/timing_update.h"
#include "factor/validation/update_cases.h"

enum { M = 150, N = 61, NEW = 4 };

/* ---- the factorization ---- */

/* Makes the factorization of a and b anew and the solution x; NULL: without x. */
static bool refactored(struct fixture *s, struct matrix a, struct matrix b, const struct matrix *x)
{
	struct test_room room = room_new(s->e);
	void *work = room_bytes(&room, qr_refactor_work(s->e, &s->f));

	return room_close(&room, room.good && ex_fill(s->e, WHOLE, NAN, NAN, s->f.r) &&
	                                 ex_fill(s->e, WHOLE, NAN, NAN, s->f.d) &&
	                                 (!s->f.kept || ex_fill(s->e, WHOLE, NAN, NAN, s->f.q)) &&
	                                 qr_refactor(s->e, &s->f, a, b, work) &&
	                                 (!x || qr_solve(s->e, &s->f, *x)) &&
	                                 s->e->ops->sync(s->e));
}

/* norm1(A^T (B - A X)) over norms, m and eps. */
static double solution_ratio(const struct fixture *s, const double *x)
{
	double *rest = xmalloc(M * SIDES * sizeof *rest), gradient[N * SIDES];

	memcpy(rest, s->b, M * SIDES * sizeof *rest);
	multiply(CblasNoTrans, CblasNoTrans, M, SIDES, N, -1, s->a, x, 1, rest);
	multiply(CblasTrans, CblasNoTrans, N, SIDES, M, 1, s->a, rest, 0, gradient);
	double ratio = test_ratio(norm_one(gradient, N, SIDES), M,
	        norm_one(s->a, M, N) * norm_one(s->b, M, SIDES), unit_roundoff(s->precision));
	free(rest);
	return ratio;
}

/* Whether the factorization has drifted from a; a of no rows: by itself. */
static bool drifted(struct fixture *s, struct matrix a)
{
	double *random = test_randoms(3, N, s->precision), sums[4] = {NAN, NAN, NAN, NAN};
	struct test_room room = room_new(s->e);
	struct matrix x = placed(s, &room, random, N, 1), out = placed(s, &room, NULL, 4, 1);
	void *work = room_bytes(&room, qr_drift_work(s->e, &s->f));

	if (room.good && qr_drift(s->e, &s->f, a, x, out, work) && s->e->ops->sync(s->e)) {
		double *found = fetch(s, out, 4, 1);
		memcpy(sums, found, sizeof sums);
		free(found);
	}
	if (!room_close(&room, true))
		sums[0] = NAN;
	free(random);
	return qr_drifted(s->precision, M, sums);
}

static void check_refactor(struct executor *e, enum precision p, enum q_kept kept)
{
	struct fixture s = fixture_new(e, &qr_update_calls, p, kept, M, N, M, N, 1);
	struct matrix a = placed(&s, &s.room, s.a, M, N), b = placed(&s, &s.room, s.b, M, SIDES),
	              out = placed(&s, &s.room, NULL, N, SIDES), none = {NULL, 0, 0, 0, 1, p};
	bool good = refactored(&s, a, b, &out);
	double *x = fetch(&s, out, N, SIDES), ratio = solution_ratio(&s, x);
	struct measures found = measure(&s);
	bool fresh = !drifted(&s, a) && !drifted(&s, none);

	s.a[3] += 1;
	bool seen = drifted(&s, placed(&s, &s.room, s.a, M, N));
	ok(fixture_close(&s) && good && found.zeros && ratio < 30 && fresh && seen,
	        "%c, Q %s: solution %.2g; no drift at first %d, drift when A changes %d", p,
	        q_kept_name[kept], ratio, fresh, seen);
	free(x);
}

/* ---- orthonormal again ---- */

static bool reorthogonalized(struct fixture *s, struct matrix b, int *result)
{
	struct test_room room = room_new(s->e);
	struct pivots info = room_pivots(&room, 0);
	void *work = room_bytes(&room, qr_reorthogonalize_work(s->e, &s->f));
	bool good = room.good && qr_reorthogonalize(s->e, &s->f, b, work, info.data);

	*result = room_info(&room, info);
	return room_close(&room, good);
}

/* The largest of the ratios, INFINITY with elements below R's diagonal. */
static double thin_ratio(struct fixture *s)
{
	const struct measures found = measure(s);

	return found.zeros ? worse(worse(found.residual, found.orthogonality), found.sides)
	                   : INFINITY;
}

/* Columns 1 and 3 of four new ones depend on A's; then Q R = A with a Q that has lost two
 * directions, until it is repaired. */
static void check_reorthogonalize(struct executor *e, enum precision p)
{
	struct fixture s = fixture_new(e, &qr_update_calls, p, Q_THIN, M, N, M, N + NEW, 1);
	double *u = random_doubles(&s, M, NEW);
	struct matrix a = placed(&s, &s.room, s.a, M, N), b = placed(&s, &s.room, s.b, M, SIDES);
	int repaired = -1;

	for (int64_t i = 0; i < M; i++) {
		const double sum = s.a[i + 9 * M] + s.a[i + 10 * M];
		u[i] = s.a[i + 5 * M] / 2;
		u[i + 2 * M] = p == SINGLE ? (double)(float)sum : sum;
	}
	bool good = refactored(&s, a, b, NULL);
	struct outcome added = change_with(&s, QR_ADD_COLUMNS, 7, NEW, u);
	double before = thin_ratio(&s);
	good = reorthogonalized(&s, b, &repaired) && good;
	double after = thin_ratio(&s);
	ok(good && added.ran && added.info == 1 && before > 1000 && repaired == 0 && after < 30,
	        "%c: two of four new columns depend: info %d, ratios %.2g; orthonormal again: %.2g",
	        p, added.info, before, after);
	s.f.kept = Q_FULL;
	ok(qr_reorthogonalize_work(e, &s.f) == -1, "refused: %s", e->fault.text);
	ok(fixture_close(&s), "%c: reorthogonalization writes nothing else", p);
	free(u);
}

/* ---- timed ways ---- */

static volatile sig_atomic_t stop;

static void check_ways(struct executor *e, enum qr_change change, enum q_kept kept, bool from_host)
{
	const struct update_question asked = {.change = change,
	        .kept = kept,
	        .m = 200,
	        .n = 70,
	        .p = 30,
	        .sides = 1,
	        .precision = SINGLE,
	        .from_host = from_host};
	const struct timing_plan plan = {
	        .warm_seconds = 0, .max_seconds = 1e-3, .target = 1, .stop = &stop};
	struct fault fault = {.text = ""};
	struct update_fixture *fixture = update_fixture_new(e, &asked, 5, &fault);
	struct update_entry entry[] = {{.fixture = fixture, .way = UPDATE_CHANGE, .k = 0, .p = 30},
	        {.fixture = fixture, .way = UPDATE_CHANGE, .k = 40, .p = 30},
	        {.fixture = fixture, .way = UPDATE_REFACTOR, .k = 0, .p = 30},
	        {.fixture = fixture, .way = UPDATE_SOLVE, .k = 0, .p = 30}};
	struct candidate candidate[ARRAY_LEN(entry)];
	int timed = 0;

	for (size_t i = 0; i < ARRAY_LEN(entry); i++)
		candidate[i] = candidate_update(&entry[i]);
	bool good = fixture && timing_update(fixture, &plan, candidate, ARRAY_LEN(entry), &fault);
	for (size_t i = 0; good && i < ARRAY_LEN(entry); i++) {
		timed += candidate[i].seconds.value > 0 && candidate[i].residual < 30;
		if (candidate[i].note[0])
			diag("%s", candidate[i].note);
	}
	ok(good && timed == ARRAY_LEN(entry), "%s, Q %s%s: every way is timed and right",
	        qr_change_name[change], q_kept_name[kept], from_host ? ", from the host" : "");
	update_fixture_free(fixture);
}

static void test(struct executor *e)
{
	check_reorthogonalize(e, SINGLE);
	check_reorthogonalize(e, DOUBLE);
	for (int kept = Q_NONE; kept <= Q_FULL; kept++) {
		check_refactor(e, SINGLE, (enum q_kept)kept);
		check_refactor(e, DOUBLE, (enum q_kept)kept);
		for (int change = 0; change < QR_MODIFY; change++)
			for (int from_host = 0; from_host < 2; from_host++)
				if ((kept != Q_NONE || change != QR_ADD_COLUMNS) &&
				        test_turn((size_t)(kept + change + from_host), 5))
					check_ways(e, (enum qr_change)change, (enum q_kept)kept,
					        from_host);
	}
}

/* ---- decisions ---- */

static void add(struct results *results, int64_t p, enum update_way way, double seconds)
{
	const struct update_question asked = {.change = QR_ADD_ROWS,
	        .kept = Q_NONE,
	        .m = 100,
	        .n = 50,
	        .k = 7,
	        .p = p,
	        .sides = 1,
	        .precision = SINGLE};
	struct result row = update_row(&asked, way, "cuda");

	row.seconds = (struct estimate){seconds, seconds, seconds, 3};
	results_add(results, &row);
}

/* Three changes: right to update, wrong to update (1.5 times as long), right to refactor; a fourth
 * that was not measured. */
static void test_update_choices(void)
{
	static const double predicted[][2] = {{1, 3}, {2, 3}, {5, 3}, {1, 1}};
	static const double measured[][2] = {{1, 2}, {3, 2}, {4, 2}};
	struct results *before = results_new(), *after = results_new();
	struct update_choice *list;

	for (int i = 0; i < 4; i++) {
		add(before, i + 1, UPDATE_CHANGE, predicted[i][0]);
		add(before, i + 1, UPDATE_REFACTOR, predicted[i][1]);
		if (i < 3) {
			add(after, i + 1, UPDATE_CHANGE, measured[i][0]);
			add(after, i + 1, UPDATE_REFACTOR, measured[i][1]);
		}
	}
	size_t count = update_choices_list(before, after, &list);
	struct update_choice_summary s = update_choices_summary(list, count);
	ok(count == 3 && s.points == 3 && s.even == 2, "changes that were measured, near even %zu",
	        s.even);
	ok(fabs(s.right - 2. / 3) < 1e-12 && fabs(s.cost - 0.5 / 3) < 1e-12 &&
	                fabs(s.cost_worst - 0.5) < 1e-12,
	        "right %.3g, cost %.3g, worst %.3g", s.right, s.cost, s.cost_worst);
	ok(fabs(s.always - 1.5 / 3) < 1e-12 && fabs(s.always_worst - 1) < 1e-12 &&
	                fabs(s.never - 1. / 3) < 1e-12 && fabs(s.never_worst - 1) < 1e-12,
	        "always %.3g, never %.3g", s.always, s.never);
	ok(fabs(s.error_update - 0.25) < 1e-12 && fabs(s.error_refactor - 0.5) < 1e-12,
	        "median errors %.3g and %.3g", s.error_update, s.error_refactor);
	struct table *table = update_choices_table(list, count);
	ok(table->row_count == 2 && strcmp(table_text(table, 0, "operation"), "add_rows") == 0 &&
	                strcmp(table_text(table, 1, "operation"), "all") == 0,
	        "a row for the change and one for all");
	table_free(table);
	free(list);
	results_free(before);
	results_free(after);
}

int main(void)
{
	test_update_choices();
	return test_on_executors(test);
}
