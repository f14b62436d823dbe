/* SPDX-License-Identifier: MIT */
/* The factorization that changes, made from the matrix, its solution and its drift, on the host
 * executor and on the GPU; each way that is timed; and what is said of the model's choices. */
#include "factor_test.h"

#include "factor/algorithms/qr_refactor.h"
#include "factor/validation/update_or_refactor.h"
#include "factor/validation/timing_update.h"
#include "factor/validation/update_cases.h"

#include <lapacke.h>

enum { M = 150, N = 61, SIDES = 2 };

static double *random_doubles(int64_t count, uint64_t seed, enum precision p)
{
	double *x = xmalloc((size_t)count * sizeof *x);

	for (int64_t i = 0; i < count; i++) {
		double value = test_random(seed, i);
		x[i] = p == SINGLE ? (double)(float)value : value;
	}
	return x;
}

static struct matrix send(struct executor *e, struct test_memory *memory, const double *x,
        int64_t m, int64_t n, enum precision p)
{
	struct matrix a = {NULL, 0, m, n, m, p};
	char *host = xmalloc((size_t)(m * n * 8) + 8);

	if (!test_open(e, memory, m * n * precision_bytes(p), 0xff))
		diag("%s", e->fault.text);
	a.data = memory->data;
	for (int64_t i = 0; x && i < m * n; i++)
		put(host, i, p, x[i]);
	if (x && !e->ops->upload(e, host, m, a))
		diag("%s", e->fault.text);
	free(host);
	return a;
}

static double *fetch(struct executor *e, struct matrix a)
{
	char *host = xcalloc((size_t)(a.m * a.n) + 1, 8);

	e->ops->download(e, a, host, a.m);
	double *x = to_doubles(host, a.m, a.m, a.n, a.precision);
	free(host);
	return x;
}

/* ---- the factorization ---- */

struct fixture {
	struct executor *e;
	double *a, *b;
	struct matrix ma, mb, x, sums, random;
	struct qr_factors f;
	struct test_memory memory[9];
	enum precision p;
};

static struct fixture fixture_new(struct executor *e, enum precision p, enum q_kept kept)
{
	struct fixture s = {.e = e, .p = p, .f = {.m = M, .n = N, .kept = kept}};
	double *random = random_doubles(N, 3, p);

	s.a = random_doubles(M * N, 1, p);
	s.b = random_doubles(M * SIDES, 2, p);
	s.ma = send(e, &s.memory[0], s.a, M, N, p);
	s.mb = send(e, &s.memory[1], s.b, M, SIDES, p);
	s.f.q = send(e, &s.memory[2], NULL, M, M, p);
	s.f.r = send(e, &s.memory[3], NULL, N, N, p);
	s.f.d = send(e, &s.memory[4], NULL, M, SIDES, p);
	s.x = send(e, &s.memory[5], NULL, N, SIDES, p);
	s.sums = send(e, &s.memory[6], NULL, 4, 1, p);
	s.random = send(e, &s.memory[7], random, N, 1, p);
	free(random);
	return s;
}

static bool with_work(struct fixture *s, int64_t bytes)
{
	return bytes >= 0 && test_open(s->e, &s->memory[8], bytes, 0xff);
}

static bool fixture_close(struct fixture *s)
{
	bool intact = true;

	for (int i = 0; i < 8; i++)
		intact = test_close(s->e, &s->memory[i]) && intact;
	free(s->a);
	free(s->b);
	return intact;
}

/* norm1(A^T (B - A X)) over norms, m and eps. */
static double solution_ratio(const struct fixture *s, const double *x)
{
	double *rest = xmalloc(M * SIDES * sizeof *rest), gradient[N * SIDES];

	memcpy(rest, s->b, M * SIDES * sizeof *rest);
	multiply(CblasNoTrans, CblasNoTrans, M, SIDES, N, -1, s->a, x, 1, rest);
	multiply(CblasTrans, CblasNoTrans, N, SIDES, M, 1, s->a, rest, 0, gradient);
	double ratio = test_ratio(norm_one(gradient, N, SIDES), M,
	        norm_one(s->a, M, N) * norm_one(s->b, M, SIDES), unit_roundoff(s->p));
	free(rest);
	return ratio;
}

static bool drifted(struct fixture *s, struct matrix a)
{
	double sums[4] = {NAN, NAN, NAN, NAN}, *found;

	if (with_work(s, qr_drift_work(s->e, &s->f)) &&
	        qr_drift(s->e, &s->f, a, s->random, s->sums, s->memory[8].data) &&
	        s->e->ops->sync(s->e) && test_close(s->e, &s->memory[8])) {
		found = fetch(s->e, s->sums);
		memcpy(sums, found, sizeof sums);
		free(found);
	}
	return qr_drifted(s->p, M, sums);
}

static void check_refactor(struct executor *e, enum precision p, enum q_kept kept)
{
	struct fixture s = fixture_new(e, p, kept);
	bool good = with_work(&s, qr_refactor_work(e, &s.f)) &&
	            qr_refactor(e, &s.f, s.ma, s.mb, s.memory[8].data) && qr_solve(e, &s.f, s.x) &&
	            e->ops->sync(e);

	good = test_close(e, &s.memory[8]) && good;
	if (!good)
		diag("%s", e->fault.text);
	double *x = fetch(e, s.x), *r = fetch(e, s.f.r), ratio = solution_ratio(&s, x);
	bool zeros = true;
	for (int64_t i = 0; i < N * N; i++)
		zeros = zeros && (i % N <= i / N || r[i] == 0);
	struct matrix none = {NULL, 0, 0, 0, 1, p};
	bool fresh = !drifted(&s, s.ma) && !drifted(&s, none);
	s.a[3] += 1;
	struct test_memory other;
	struct matrix changed = send(e, &other, s.a, M, N, p);
	bool seen = drifted(&s, changed);
	ok(good && zeros && ratio < 30 && fresh && seen && test_close(e, &other) && fixture_close(&s),
	        "%c, Q %s: solution %.2g; no drift at first %d, seen when A is another %d", p,
	        q_kept_name[kept], ratio, fresh, seen);
	free(x);
	free(r);
}

/* ---- orthonormal again ---- */

/* The larger of the ratios of I - Q^T Q, A - Q R and Q^T B - D of thin Q. */
static double thin_ratio(const struct fixture *s, int64_t n, const double *a)
{
	double *q = fetch(s->e, matrix_view(s->f.q, 0, 0, M, n)), eps = unit_roundoff(s->p);
	double *r = fetch(s->e, matrix_view(s->f.r, 0, 0, n, n));
	double *d = fetch(s->e, matrix_view(s->f.d, 0, 0, n, SIDES));
	double *rest = xmalloc(M * M * sizeof *rest);

	memcpy(rest, a, (size_t)(M * n) * sizeof *rest);
	multiply(CblasNoTrans, CblasNoTrans, M, n, n, -1, q, r, 1, rest);
	double worst = test_ratio(norm_one(rest, M, n), M, norm_one(a, M, n), eps);
	for (int64_t i = 0; i < n * n; i++)
		rest[i] = i % (n + 1) == 0;
	multiply(CblasTrans, CblasNoTrans, n, n, M, -1, q, q, 1, rest);
	worst = worse(worst, test_ratio(norm_one(rest, n, n), M, 1, eps));
	multiply(CblasTrans, CblasNoTrans, n, SIDES, M, -1, q, s->b, 1, d);
	worst = worse(worst, test_ratio(norm_one(d, n, SIDES), M, norm_one(s->b, M, SIDES), eps));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j + 1; i < n; i++)
			worst = r[i + j * n] == 0 ? worst : INFINITY;
	free(q);
	free(r);
	free(d);
	free(rest);
	return worst;
}

static bool refactored(struct fixture *s)
{
	bool good = with_work(s, qr_refactor_work(s->e, &s->f)) &&
	            qr_refactor(s->e, &s->f, s->ma, s->mb, s->memory[8].data) &&
	            s->e->ops->sync(s->e);

	return test_close(s->e, &s->memory[8]) && good;
}

static bool reorthogonalized(struct fixture *s, int *result)
{
	struct test_memory info;
	bool good = test_open(s->e, &info, 4, 0xff) &&
	            with_work(s, qr_reorthogonalize_work(s->e, &s->f)) &&
	            qr_reorthogonalize(s->e, &s->f, s->mb, s->memory[8].data, info.data) &&
	            s->e->ops->read_pivots(s->e, (struct pivots){info.data, 0}, &(int){0}, result);

	if (!good)
		diag("%s", s->e->fault.text);
	return test_close(s->e, &s->memory[8]) && test_close(s->e, &info) && good;
}

/* Columns 1 and 3 of four new ones depend on A's; then Q R = A with a Q that has lost two
 * directions, until it is repaired. */
static void check_reorthogonalize(struct executor *e, enum precision p)
{
	enum { NEW = 4 };
	struct fixture s = fixture_new(e, p, Q_THIN);
	double *u = random_doubles(M * NEW, 6, p), *whole = xmalloc(M * (N + NEW) * sizeof *whole);
	struct test_memory mu, info, r;
	int found = -1, repaired = -1;

	for (int64_t i = 0; i < M; i++) {
		u[i] = s.a[i + 5 * M] / 2;
		u[i + 2 * M] = s.a[i + 9 * M] + s.a[i + 10 * M];
		if (p == SINGLE)
			u[i + 2 * M] = (double)(float)u[i + 2 * M];
	}
	memcpy(whole, s.a, M * 7 * sizeof *whole);
	memcpy(whole + M * 7, u, M * NEW * sizeof *whole);
	memcpy(whole + M * (7 + NEW), s.a + M * 7, M * (N - 7) * sizeof *whole);
	struct matrix columns = send(e, &mu, u, M, NEW, p);
	struct matrix small = s.f.r;
	s.f.r = send(e, &r, NULL, N + NEW, N + NEW, p);
	bool good = refactored(&s) && test_open(e, &info, 4, 0xff) &&
	            with_work(&s, qr_update_work(e, &s.f, QR_ADD_COLUMNS, NEW)) &&
	            qr_add_columns(e, &s.f, 7, columns, s.mb, s.memory[8].data, info.data) &&
	            e->ops->read_pivots(e, (struct pivots){info.data, 0}, &(int){0}, &found);
	good = test_close(e, &s.memory[8]) && test_close(e, &info) && good;
	double before = thin_ratio(&s, N + NEW, whole);
	good = good && reorthogonalized(&s, &repaired);
	double after = thin_ratio(&s, N + NEW, whole);
	ok(good && found == 1 && before > 1000 && repaired == 0 && after < 30,
	        "%c: two of four new columns depend: info %d, ratios %.2g; orthonormal again: %.2g",
	        p, found, before, after);
	s.f.r = small;
	ok(test_close(e, &mu) && test_close(e, &r) && fixture_close(&s),
	        "%c: nothing else is written", p);
	s.f.kept = Q_FULL;
	ok(qr_reorthogonalize_work(e, &s.f) == -1, "refused: %s", e->fault.text);
	free(u);
	free(whole);
}

/* ---- what is timed ---- */

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
	struct fault fault = {""};
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
				if (kept != Q_NONE || change != QR_ADD_COLUMNS)
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

/* Three changes: right to update, wrong to update (1.5 times as long), right to begin again; a
 * fourth that was not measured. */
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
