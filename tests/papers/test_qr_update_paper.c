/* SPDX-License-Identifier: MIT */
/* The paper's changes of a QR factorization, on the host executor and on the GPU, for several
 * widths of blocks and the candidates beside them: residual, orthogonality, right-hand sides, R
 * against a fresh R, rows and columns at every end, sequences, refused calls. */
#include "tests/algorithms/update_fixture.h"
#include "tests/executors/deferred.h"

#include "tests/model/model_profile.h"

#include "factor/model/predictions/model_update_paper.h"

static struct qr_paper how;

static int64_t work(
        struct executor *e, const struct qr_factors *f, enum qr_change change, int64_t p)
{
	return qr_paper_work(e, f, change, p, &how);
}

static bool run(struct executor *e, struct qr_factors *f, enum qr_change change, int64_t k,
        int64_t p, struct matrix u, struct matrix v, struct matrix b, void *room, int *info)
{
	(void)v;
	return qr_paper_change(e, f, change, k, p, u, b, room, info, &how);
}

static const struct update_calls calls = {work, run};

/* ---- one change ---- */

static void check(struct executor *e, enum qr_change what, enum q_kept kept,
        enum precision precision, const struct shape *c)
{
	char text[60];

	snprintf(text, sizeof text, ", blocks of %d%s", (int)how.nb, how.whole ? ", whole" : "");
	check_change(e, &calls, what, kept, precision, c, text);
}

/* First, last, middle; one, all but one; square and tall; a block, its neighbours, several. */
static const struct shape columns_removed[] = {{2, 2, 0, 1}, {5, 3, 1, 1}, {40, 40, 0, 39},
        {150, 130, 0, 1}, {150, 130, 129, 1}, {150, 130, 3, 70}, {200, 193, 0, 65},
        {300, 201, 100, 7}};
static const struct shape columns_added[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 0, 20},
        {40, 1, 0, 30}, {150, 100, 0, 1}, {150, 100, 100, 50}, {150, 100, 37, 9},
        {300, 129, 65, 150}};
static const struct shape rows_removed[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 20, 20},
        {40, 20, 13, 7}, {150, 100, 0, 1}, {150, 100, 149, 1}, {150, 100, 10, 9},
        {300, 129, 65, 130}};
static const struct shape rows_added[] = {{1, 1, 0, 1}, {3, 3, 3, 5}, {40, 20, 7, 300},
        {150, 100, 0, 1}, {150, 100, 150, 64}, {300, 129, 50, 33}};

static const struct {
	const struct shape *shapes;
	size_t count;
} changes[QR_MODIFY] = {[QR_REMOVE_COLUMNS] = {columns_removed, ARRAY_LEN(columns_removed)},
        [QR_ADD_COLUMNS] = {columns_added, ARRAY_LEN(columns_added)},
        [QR_ADD_ROWS] = {rows_added, ARRAY_LEN(rows_added)},
        [QR_REMOVE_ROWS] = {rows_removed, ARRAY_LEN(rows_removed)}};

static bool rotates(enum qr_change what)
{
	return what == QR_ADD_COLUMNS || what == QR_REMOVE_ROWS;
}

/* A small run has matrices of few columns, of which each is many launches; shapes, widths of blocks
 * and precisions take turns, but for the one kernel. */
static bool runs(int what, size_t i, int turn)
{
	const bool turns =
	        how.whole || ((i + (size_t)how.nb) % 2 == 0 && (i + (size_t)turn) % 2 == 0);

	return !test_small() || (changes[what].shapes[i].n <= 20 && turns);
}

static void test_changes(struct executor *e)
{
	for (int what = how.whole ? QR_ADD_COLUMNS : 0;
	        what < (how.whole ? QR_REMOVE_ROWS : QR_MODIFY); what++)
		for (int kept = rotates((enum qr_change)what) ? Q_FULL : Q_NONE; kept <= Q_FULL;
		        kept++)
			for (size_t i = 0; i < changes[what].count; i++)
				for (int twice = 0; twice < 2; twice++)
					if (runs(what, i, kept + twice))
						check(e, (enum qr_change)what, (enum q_kept)kept,
						        twice ? DOUBLE : SINGLE,
						        &changes[what].shapes[i]);
}

/* ---- one after another ---- */

/* Each of the four in turn, so that the matrix grows and shrinks. */
static void check_sequence(struct executor *e, enum precision precision)
{
	static const enum qr_change turns[] = {
	        QR_ADD_ROWS, QR_ADD_COLUMNS, QR_REMOVE_ROWS, QR_REMOVE_COLUMNS};
	struct fixture s = fixture_new(e, &calls, precision, Q_FULL, 80, 30, 90, 40, 9);
	const int64_t count = test_at_most(200, 4);
	bool fine = true;

	for (int64_t i = 0; i < count && fine; i++) {
		enum qr_change what = turns[i % 4];
		int64_t p = 1 + i / 4 % 9;
		fine = change(&s, what, i * 7 % (what == QR_ADD_ROWS ? 80 : 21), p).ran;
	}
	struct measures found = measure(&s);
	ok(fixture_close(&s) && fine && good(&found, 30),
	        "%c: %d changes one after another: residual %.2g, orthogonality %.2g", precision,
	        (int)count, found.residual, found.orthogonality);
}

/* ---- NaN ---- */

static void check_nan(struct executor *e, enum qr_change what)
{
	struct fixture s = fixture_new(e, &calls, SINGLE, Q_FULL, 60, 30, 70, 40, 2);
	const double nan = NAN;
	bool sent = send(&s, &nan, 1, 1, matrix_view(s.f.r, 20, 25, 1, 1));
	struct outcome out = change(&s, what, 5, 4);
	double *r = fetch(&s, s.f.r, s.f.n, s.f.n);
	bool stays = any_not_finite(r, s.f.n * s.f.n);

	ok(fixture_close(&s) && sent && out.ran && stays, "%s: a NaN in R stays one",
	        qr_change_name[what]);
	free(r);
}

/* ---- queues ---- */

/* Same answer in any order that queues and events allow. */
static void check_order(struct executor *host, enum qr_change what)
{
	double *first = NULL;
	bool same = true;

	for (uint64_t seed = 0; seed < 6 && same; seed++) {
		struct executor *e = seed ? deferred_new(host, seed) : host;
		struct fixture s = fixture_new(e, &calls, SINGLE, Q_FULL, 90, 50, 110, 70, 2);
		struct outcome out = change(&s, what, 7, 11);
		int64_t m = s.f.m, n = s.f.n;
		double *q = fetch(&s, s.f.q, m, m), *r = fetch(&s, s.f.r, n, n);
		double *d = fetch(&s, s.f.d, m, SIDES);
		size_t words[3] = {(size_t)(m * m), (size_t)(n * n), (size_t)(m * SIDES)};
		double *all = xmalloc((words[0] + words[1] + words[2]) * sizeof *all);
		memcpy(all, q, words[0] * sizeof *all);
		memcpy(all + words[0], r, words[1] * sizeof *all);
		memcpy(all + words[0] + words[1], d, words[2] * sizeof *all);
		if (seed == 0)
			first = all;
		same = fixture_close(&s) && out.ran &&
		       memcmp(all, first, (words[0] + words[1] + words[2]) * sizeof *all) == 0;
		free(q);
		free(r);
		free(d);
		if (seed) {
			free(all);
			executor_free(e);
		}
	}
	free(first);
	ok(same, "%s%s: the same whatever runs first", qr_change_name[what],
	        how.whole ? ", whole" : "");
}

static void test_order(struct executor *host)
{
	how = (struct qr_paper){.nb = 8};
	for (int what = 0; what < QR_MODIFY; what++)
		check_order(host, (enum qr_change)what);
	how.whole = true;
	check_order(host, QR_ADD_COLUMNS);
	check_order(host, QR_ADD_ROWS);
}

/* ---- phases ---- */

static void check_phases(struct executor *e, enum qr_change what, unsigned expected)
{
	struct phase_timer phase_timer = {0};
	double seconds[PAPER_PHASES], sum = 0, whole = -1;
	unsigned found = 0;

	how.phase_timer = &phase_timer;
	struct fixture s = fixture_new(e, &calls, SINGLE, Q_FULL, 120, 60, 140, 80, 2);
	struct outcome out = change(&s, what, 5, 12);
	struct measures measured = measure(&s);
	bool read = phase_timer_read(e, &phase_timer, seconds, PAPER_PHASES) &&
	            e->ops->elapsed(e, 0, phase_timer.count, &whole);
	for (int64_t i = 0; i < phase_timer.count; i++)
		found |= 1u << phase_timer.part[i];
	for (int p = 0; p < PAPER_PHASES; p++)
		sum += seconds[p];
	ok(fixture_close(&s) && out.ran && read && good(&measured, 30) && found == expected &&
	                fabs(sum - whole) <= 1e-3 * whole + 1e-5,
	        "%s%s: phases %x, %.3g s of %.3g s", qr_change_name[what],
	        how.whole ? ", whole" : "", found, sum, whole);
	phase_timer_free(&phase_timer);
	how.phase_timer = NULL;
}

static void test_phases(struct executor *e)
{
	const unsigned layout = 1u << PAPER_LAYOUT, project = 1u << PAPER_PROJECT;
	const unsigned blocks = 1u << PAPER_HOUSE | 1u << PAPER_T | 1u << PAPER_APPLY_R |
	                        1u << PAPER_APPLY_D | 1u << PAPER_APPLY_Q;
	const unsigned waves = 1u << PAPER_GIVENS_R | 1u << PAPER_GIVENS_Q;
	const unsigned whole = 1u << PAPER_WHOLE | 1u << PAPER_APPLY_Q;

	how = (struct qr_paper){.nb = 16};
	check_phases(e, QR_REMOVE_COLUMNS, layout | blocks);
	check_phases(e, QR_ADD_COLUMNS, layout | project | blocks | waves);
	check_phases(e, QR_ADD_ROWS, layout | blocks);
	check_phases(e, QR_REMOVE_ROWS, layout | waves);
	how.whole = true;
	check_phases(e, QR_ADD_COLUMNS, layout | project | whole);
	check_phases(e, QR_ADD_ROWS, layout | whole);
}

/* ---- refusals ---- */

static void test_refused(struct executor *e)
{
	static const struct {
		enum qr_change change;
		enum q_kept kept;
		int64_t p;
		const char *word;
	} cases[] = {{QR_ADD_COLUMNS, Q_THIN, 1, "all of Q"},
	        {QR_REMOVE_ROWS, Q_THIN, 1, "all of Q"}, {QR_REMOVE_ROWS, Q_NONE, 1, "all of Q"},
	        {QR_MODIFY, Q_FULL, 1, "has no modify"},
	        {QR_REMOVE_COLUMNS, Q_FULL, 5, "fewer rows"},
	        {QR_ADD_COLUMNS, Q_FULL, 5, "fewer rows"}};
	struct matrix room = {NULL, 0, 20, 20, 20, SINGLE};
	struct qr_factors f = {.m = 9, .n = 5, .q = room, .r = room};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		f.kept = cases[i].kept;
		e->fault.text[0] = '\0';
		ok(qr_paper_work(e, &f, cases[i].change, cases[i].p, &how) == -1 &&
		                strstr(e->fault.text, cases[i].word),
		        "refused: %s", e->fault.text);
	}
	ok(!run(e, &f, QR_REMOVE_COLUMNS, 5, 1, room, room, room, NULL, NULL) && f.n == 5,
	        "refused: %s", e->fault.text);
	struct matrix few = {NULL, 0, 2, 4, 2, SINGLE};
	ok(!run(e, &f, QR_ADD_ROWS, 0, few.m, few, few, room, NULL, NULL) && f.m == 9,
	        "refused: %s", e->fault.text);
}

static void test(struct executor *e)
{
	static const int64_t widths[] = {0, 1, 32};
	static const struct shape large = {1200, 900, 250, 64};

	for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
		how = (struct qr_paper){.nb = widths[w]};
		test_changes(e);
	}
	how = (struct qr_paper){.whole = true};
	test_changes(e);
	how = (struct qr_paper){0};
	for (int what = 0; what < QR_MODIFY; what++) {
		check_nan(e, (enum qr_change)what);
		if (test_on_gpu && test_fits(large.m, large.n))
			check(e, (enum qr_change)what, Q_FULL, SINGLE, &large);
	}
	check_sequence(e, SINGLE);
	check_sequence(e, DOUBLE);
	if (!test_on_gpu)
		test_order(e);
	test_phases(e);
	how = (struct qr_paper){0};
	test_refused(e);
}

/* ---- predictions ---- */

/* The phases one after another take longer than all of them overlapped. */
static void check_prediction(
        const struct profile *p, const struct update_question *asked, const struct qr_paper *q)
{
	struct paper_prediction found;
	double sum = 0;
	bool ok_all = model_update_paper(p, asked, q, &found);

	for (int i = 0; i < PAPER_PHASES; i++)
		sum += found.phase[i];
	ok(ok_all && found.total > 0 && sum > 0.9 * found.total,
	        "%s%s: %.3g s predicted, %.3g s part by part", qr_change_name[asked->change],
	        q->whole ? ", whole" : "", found.total, sum);
	if (!ok_all)
		diag("%s", found.fault.text);
}

/* Launches by the device cost what the profile says; without a row of them there is no answer. */
static void check_device(struct profile *p, struct update_question *asked)
{
	static const struct parameter_spec spec = {"gpu.launch.device.tail", "s", "", NULL, 0, 0};
	const struct qr_paper way = {0};
	struct paper_prediction host;
	struct fault fault;

	ok(isnan(model_update_paper_device(p, asked, &way)), "no tail launches: no answer");
	profile_add(p, &spec, NULL, 0, (struct estimate){1e-6, 1e-6, 1e-6, 1}, false);
	const double one = model_update_paper_device(p, asked, &way);
	const bool set = profile_set(p, "gpu.launch.device.tail=5us", &fault);
	const double five = model_update_paper_device(p, asked, &way);
	const bool made = model_update_paper(p, asked, &way, &host);
	ok(set && made && one > 0 && five - one > 600 * 4e-6 && one < host.total,
	        "tail launches of 1 us: %.3g s, of 5 us: %.3g s; launched by the host: %.3g s", one,
	        five, host.total);
	asked->change = QR_ADD_ROWS;
	ok(isnan(model_update_paper_device(p, asked, &way)), "rows added read norms on the host");
	asked->change = QR_REMOVE_ROWS;
}

static void test_predictions(void)
{
	struct profile *p = synthetic(0);
	struct update_question asked = {.kept = Q_FULL,
	        .m = 600,
	        .n = 300,
	        .k = 50,
	        .p = 20,
	        .sides = 1,
	        .precision = SINGLE};
	struct paper_prediction found;

	add_blocks(p, 0);
	for (int what = 0; what < QR_MODIFY; what++) {
		asked.change = (enum qr_change)what;
		check_prediction(p, &asked, &(struct qr_paper){.nb = 32});
	}
	asked.change = QR_ADD_COLUMNS;
	check_prediction(p, &asked, &(struct qr_paper){.whole = true});
	asked.change = QR_ADD_ROWS;
	check_prediction(p, &asked, &(struct qr_paper){.whole = true});
	asked.change = QR_REMOVE_ROWS;
	check_device(p, &asked);
	asked.kept = Q_THIN;
	ok(!model_update_paper(p, &asked, &(struct qr_paper){0}, &found) && isnan(found.total),
	        "none: %s", found.fault.text);
	profile_free(p);
}

int main(void)
{
	test_predictions();
	return test_on_executors(test);
}
