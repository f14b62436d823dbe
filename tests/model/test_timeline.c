/* SPDX-License-Identifier: MIT */
/* Timelines: shares of the critical path, steps, table and drawing, with times of whole seconds. */
#include "tests/tap.h"

#include "factor/model/simulation/timeline_compare.h"
#include "factor/validation/trace_file.h"

enum {
	HOST = LANE_HOST,
	MAIN = LANE_QUEUE + (int)QUEUE_MAIN,
	PANEL = LANE_QUEUE + (int)QUEUE_PANEL
};

/* An entry of a block, in a lane; the host also queues others. */
#define WORK(in, on, of, from, to)                                                                 \
	{                                                                                          \
		.lane = (enum lane)(on), .engine = (enum lane)(on), .phase = PHASE_##of,           \
		.operation = "work", .m = 8, .n = 4, .block = in, .begin = from, .end = to         \
	}
#define QUEUEING(in, from, to)                                                                     \
	{                                                                                          \
		.lane = LANE_HOST, .engine = LANE_HOST, .phase = PHASE_SWAP,                       \
		.operation = timeline_queueing, .block = in, .begin = from, .end = to              \
	}

static struct timeline *made(const char *title, const struct timeline_entry *entry, size_t count)
{
	struct timeline *t = timeline_new(title);

	for (size_t i = 0; i < count; i++)
		timeline_add(t, &entry[i]);
	return t;
}

static void test_critical(void)
{
	const struct timeline_entry entries[] = {WORK(0, MAIN, UPDATE, 2, 10),
	        WORK(0, PANEL, PANEL, 4, 13), WORK(0, HOST, TRANSFER, 0, 14),
	        WORK(0, MAIN, SOLVE, 12, 12)};
	struct timeline *t = made("critical", entries, ARRAY_LEN(entries));
	double critical[4];

	t->seconds = 16;
	ok(t->count == 3, "an entry without length is none");
	is_real(timeline_critical(t, critical), 2, 0, "nothing is under way at the end");
	is_real(critical[0], 8, 0, "all of the update's time is critical");
	is_real(critical[1], 3, 0, "of the panel the part that the update does not hide");
	is_real(critical[2], 3, 0, "of the host the rest");
	const struct exposure x = timeline_expose(t);
	is_real(x.critical[PHASE_PANEL] + x.critical[CRITICAL_IDLE], 5, 0, "by phases");
	timeline_free(t);
	t = timeline_new("nothing");
	is_real(timeline_expose(t).critical[CRITICAL_IDLE], 0, 0,
	        "an empty timeline has no critical time");
	timeline_free(t);
}

/* Three steps: the panel is exposed, the panel is hidden, the last has little update left. */
static struct timeline *look_ahead(void)
{
	const struct timeline_entry entries[] = {WORK(0, PANEL, PANEL, 0, 2),
	        WORK(0, MAIN, UPDATE, 2, 3), WORK(1, PANEL, PANEL, 3, 5),
	        WORK(1, PANEL, UPDATE, 5, 6), WORK(1, PANEL, PANEL, 6, 8),
	        WORK(0, MAIN, UPDATE, 3, 13), WORK(1, MAIN, UPDATE, 13, 14),
	        WORK(2, PANEL, PANEL, 14, 24), WORK(1, MAIN, UPDATE, 14, 15)};

	return made("look-ahead", entries, ARRAY_LEN(entries));
}

static void test_steps(void)
{
	const struct timeline_entry others[] = {QUEUEING(0, 0, 1), WORK(0, PANEL, PANEL, 1, 2),
	        QUEUEING(0, 2, 6), WORK(0, MAIN, UPDATE, 6, 7), WORK(1, PANEL, PANEL, 7, 8),
	        WORK(1, MAIN, UPDATE, 12, 13)};
	struct timeline *t = look_ahead();
	struct step step[8];
	size_t count = timeline_steps(t, step, ARRAY_LEN(step));

	ok(count == 3, "three steps, one for each block: %zu", count);
	ok(step[0].limiter == PHASE_PANEL && step[1].limiter == PHASE_UPDATE &&
	                step[2].limiter == PHASE_PANEL,
	        "limited by panel, update, panel");
	is_real(step[1].begin, 3, 0, "a step begins with its panel");
	is_real(step[1].end, 14, 0, "and ends with the next");
	is_real(step[1].exposure.critical[PHASE_UPDATE], 11, 0, "all of it is its update's");
	ok(timeline_steps(t, step, 1) == 1, "no more than there is room for");
	timeline_free(t);
	t = made("host", others, ARRAY_LEN(others));
	count = timeline_steps(t, step, 2);
	ok(count == 2 && step[0].limiter == CRITICAL_QUEUEING && step[1].limiter == CRITICAL_IDLE,
	        "by the %s, which is busy queueing, and by %s", critical_name(step[0].limiter),
	        critical_name(step[1].limiter));
	timeline_free(t);
}

/* One step of 10 s, of which the panel costs so much, 4 s measured, and the update the rest. */
static void test_tie(double simulated, bool tied)
{
	const struct timeline_entry a[] = {WORK(0, PANEL, PANEL, 0, simulated),
	        WORK(0, MAIN, UPDATE, simulated, 10)},
	                            b[] = {WORK(0, PANEL, PANEL, 0, 4),
	                                    WORK(0, MAIN, UPDATE, 4, 10)};
	struct timeline *t[] = {made("simulated", a, 2), made("measured", b, 2)};
	struct comparison *c = timeline_compare(t[0], t[1]);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ok(c->same == 0 && c->tied == tied && comparison_agreement(c) == 0 &&
	                comparison_contradiction(c) == !tied,
	        "limiters %g s apart of 10 s %s, and are no agreement", 2 * simulated - 10,
	        tied ? "are tied" : "contradict each other");
	comparison_print(c, 1, out);
	fclose(out);
	ok(strstr(text, tied ? "  tied" : "  another") && strstr(text, "same limiter in 0 of 1"),
	        "the table says so");
	free(text);
	free(c);
	timeline_free(t[0]);
	timeline_free(t[1]);
}

static void test_comparison(void)
{
	struct timeline *a = look_ahead(), *b = look_ahead(); /* b: the last panel takes 16 more */
	struct comparison *c = timeline_compare(a, a);

	b->entry[7].end += 16;
	b->seconds += 16;
	ok(c->same == 3 && comparison_agreement(c) == 1 && c->worst == 0, "equal timelines agree");
	free(c);
	c = timeline_compare(a, b);
	ok(c->same == 3 && c->steps[1] == 3, "a longer panel limits the same step");
	is_real(c->busy[0][PHASE_PANEL], 16.0 / 24, 1e-12, "busy shares of the one");
	is_real(c->busy[1][PHASE_PANEL], 32.0 / 40, 1e-12, "and the other");
	is_real(c->exposed[0][PHASE_PANEL], 11.0 / 24, 1e-12, "exposed shares of the one");
	is_real(c->exposed[1][PHASE_PANEL], 27.0 / 40, 1e-12, "and the other");
	is_real(c->worst, 27.0 / 40 - 11.0 / 24, 1e-12, "their difference is the largest");
	ok(strcmp(c->sum[0].operation, "work") == 0 && (int)c->sum[0].lane == PANEL &&
	                c->sum[0].entries[0] == 5 && c->sums == 2,
	        "the panel's operations are furthest off");
	is_real(c->sum[0].seconds[0] - c->sum[0].seconds[1], -16, 1e-12, "by that much");
	free(c);

	b->entry[5].end = 4; /* the first update is short: its panel shows */
	c = timeline_compare(a, b);
	ok(c->same == 2 && c->tied == 0, "another limiter in one step of three: %zu", c->same);
	is_real(comparison_contradiction(c), 1.0 / 3, 1e-12, "which contradicts the simulation");
	free(c);
	b->count = 2; /* one step */
	b->seconds = 3;
	c = timeline_compare(a, b);
	is_real(comparison_agreement(c), 1.0 / 3, 1e-12, "steps that one does not have disagree");
	free(c);
	timeline_free(a);
	timeline_free(b);
}

static void test_file(void)
{
	const struct timeline_entry queueing = QUEUEING(2, 20, 21);
	struct timeline *t = look_ahead();
	struct table *table = trace_table_new();
	struct fault fault = {.text = ""};

	timeline_add(t, &queueing);
	trace_table_add(table, "measured", t);
	struct timeline *back = trace_table_timeline(table, "measured", "back", &fault);
	bool same = back && back->count == t->count && back->seconds == t->seconds;
	for (size_t i = 0; same && i < t->count; i++) {
		const struct timeline_entry *x = &t->entry[i], *y = &back->entry[i];
		same = x->lane == y->lane && x->engine == y->engine && x->phase == y->phase &&
		       x->m == y->m && x->n == y->n && x->k == y->k && x->block == y->block &&
		       x->begin == y->begin && x->end == y->end &&
		       (x->operation == timeline_queueing) == (y->operation == timeline_queueing);
	}
	ok(same, "a timeline comes back from its table");
	timeline_free(back);
	back = trace_table_timeline(table, "simulated", "none", &fault);
	ok(back && back->count == 0, "one that it does not have is empty");
	timeline_free(back);
	table_set_text(table, 0, "lane", "slow lane");
	ok(!trace_table_timeline(table, "measured", "bad", &fault) && strstr(fault.text, "row 1"),
	        "a lane that is none is refused: %s", fault.text);
	table_free(table);
	timeline_free(t);

	char *square = trace_file_path("data/x", "getrf", SINGLE, 8192, 8192);
	char *tall = trace_file_path("data/x", "geqrf", DOUBLE, 4096, 512);
	is_text(square, "data/x/trace_sgetrf_8192.tsv", "a file's name, of a square");
	is_text(tall, "data/x/trace_dgeqrf_4096x512.tsv", "and of a rectangle");
	free(square);
	free(tall);
}

static size_t occurrences(const char *text, const char *what)
{
	size_t count = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		count++;
	return count;
}

static void test_output(void)
{
	struct timeline *t = look_ahead();
	char *table = NULL, *drawing = NULL;
	size_t size;
	FILE *out = open_memstream(&table, &size);

	timeline_print(t, 2, out);
	fclose(out);
	out = open_memstream(&drawing, &size);
	timeline_draw((const struct timeline *const[]){t, t}, 2, 0, 0, out);
	fclose(out);
	ok(strstr(table, "... 7 more") && strstr(table, "8 x 4"),
	        "the table says what is left out");
	ok(strstr(table, "waiting") && strstr(table, "exposed"), "and what is exposed");
	ok(occurrences(drawing, "<svg") == 1 && occurrences(drawing, "</svg>") == 1, "one drawing");
	ok(occurrences(drawing, "look-ahead: ") == 2, "of two timelines below each other");
	ok(occurrences(drawing, "<title>") == 2 * t->count, "every entry is drawn");
	ok(strstr(drawing, "time [ms]") && strstr(drawing, ">update</text>"), "axis and legend");
	free(table);
	free(drawing);
	timeline_free(t);
}

static void test_markup(void)
{
	struct timeline_entry entry = WORK(0, MAIN, UPDATE, 0, 1);
	char *drawing = NULL;
	size_t size;
	FILE *out = open_memstream(&drawing, &size);

	entry.operation = "<script>";
	struct timeline *t = made("<b> & co", &entry, 1);
	timeline_draw((const struct timeline *const[]){t}, 1, 0, 0, out);
	fclose(out);
	ok(strstr(drawing, "update &lt;script>") && strstr(drawing, "&lt;b> &amp; co: "),
	        "markup in names is text");
	ok(!strstr(drawing, "<script>") && !strstr(drawing, "<b>"), "all of it");
	free(drawing);
	timeline_free(t);
}

int main(void)
{
	test_critical();
	test_steps();
	test_tie(5.4, true);
	test_tie(5.6, false);
	test_comparison();
	test_file();
	test_output();
	test_markup();
	return finish();
}
