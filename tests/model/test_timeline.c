/* SPDX-License-Identifier: MIT */
/* Timelines: shares of the critical path, steps, table and drawing, with times of whole seconds. */
#include "tests/tap.h"

#include "factor/model/simulation/timeline_compare.h"
#include "factor/validation/trace_file.h"

#include <stdlib.h>
#include <string.h>

static void add(struct timeline *t, int lane, enum phase phase, double begin, double end)
{
	timeline_add(t, &(struct timeline_entry){.lane = (enum lane)lane,
	                        .engine = (enum lane)lane,
	                        .phase = phase,
	                        .operation = "work",
	                        .m = 8,
	                        .n = 4,
	                        .begin = begin,
	                        .end = end});
}

enum { ON_MAIN = LANE_QUEUE + QUEUE_MAIN, ON_PANEL = LANE_QUEUE + QUEUE_PANEL };

static void test_critical(void)
{
	struct timeline *t = timeline_new("critical");
	double critical[4];

	add(t, ON_MAIN, PHASE_UPDATE, 2, 10);
	add(t, ON_PANEL, PHASE_PANEL, 4, 13);
	add(t, LANE_HOST, PHASE_TRANSFER, 0, 14);
	add(t, ON_MAIN, PHASE_SOLVE, 12, 12);
	t->seconds = 16;
	ok(t->count == 3, "an entry without length is none");
	is_real(timeline_critical(t, critical), 2, 0, "nothing is under way at the end");
	is_real(critical[0], 8, 0, "all of the update's time is critical");
	is_real(critical[1], 3, 0, "of the panel the part that the update does not hide");
	is_real(critical[2], 3, 0, "of the host the rest");
	struct exposure x = timeline_expose(t);
	is_real(x.critical[PHASE_PANEL] + x.critical[CRITICAL_IDLE], 5, 0, "by phases");

	timeline_free(t);
	t = timeline_new("nothing");
	is_real(timeline_expose(t).critical[CRITICAL_IDLE], 0, 0,
	        "an empty timeline has no critical time");
	timeline_free(t);
}

static void add_of(
        struct timeline *t, int block, int lane, enum phase phase, double begin, double end)
{
	add(t, lane, phase, begin, end);
	t->entry[t->count - 1].block = block;
}

/* Three steps: the panel is exposed, the panel is hidden, the last has little update left. */
static struct timeline *look_ahead(void)
{
	struct timeline *t = timeline_new("look-ahead");

	add_of(t, 0, ON_PANEL, PHASE_PANEL, 0, 2);
	add_of(t, 0, ON_MAIN, PHASE_UPDATE, 2, 3);
	add_of(t, 1, ON_PANEL, PHASE_PANEL, 3, 5);
	add_of(t, 1, ON_PANEL, PHASE_UPDATE, 5, 6);
	add_of(t, 1, ON_PANEL, PHASE_PANEL, 6, 8);
	add_of(t, 0, ON_MAIN, PHASE_UPDATE, 3, 13);
	add_of(t, 1, ON_MAIN, PHASE_UPDATE, 13, 14);
	add_of(t, 2, ON_PANEL, PHASE_PANEL, 14, 24);
	add_of(t, 1, ON_MAIN, PHASE_UPDATE, 14, 15);
	return t;
}

static void test_steps(void)
{
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
}

static void add_queueing(struct timeline *t, int block, double begin, double end)
{
	add_of(t, block, LANE_HOST, PHASE_SWAP, begin, end);
	t->entry[t->count - 1].operation = timeline_queueing;
}

static void test_other_limiters(void)
{
	struct timeline *t = timeline_new("host");
	struct step step[2];

	add_queueing(t, 0, 0, 1);
	add_of(t, 0, ON_PANEL, PHASE_PANEL, 1, 2);
	add_queueing(t, 0, 2, 6);
	add_of(t, 0, ON_MAIN, PHASE_UPDATE, 6, 7);
	add_of(t, 1, ON_PANEL, PHASE_PANEL, 7, 8);
	add_of(t, 1, ON_MAIN, PHASE_UPDATE, 12, 13);
	size_t count = timeline_steps(t, step, 2);
	ok(count == 2 && step[0].limiter == CRITICAL_QUEUEING && step[1].limiter == CRITICAL_IDLE,
	        "by the %s, which is busy queueing, and by %s", critical_name(step[0].limiter),
	        critical_name(step[1].limiter));
	timeline_free(t);
}

static char *written(void (*write)(const struct timeline *, FILE *), const struct timeline *t)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write(t, out);
	fclose(out);
	return text;
}

static void print(const struct timeline *t, FILE *out)
{
	timeline_print(t, 2, out);
}

static void draw(const struct timeline *t, FILE *out)
{
	timeline_draw((const struct timeline *const[]){t, t}, 2, 0, 0, out);
}

/* The same, but the last panel, twice as long, and all of it. */
static struct timeline *stretched(double panel)
{
	struct timeline *t = look_ahead();

	t->entry[7].end += panel;
	t->seconds += panel;
	return t;
}

/* One step of 10 s, of which the panel costs so much and the update the rest. */
static struct timeline *one_step(double panel)
{
	struct timeline *t = timeline_new("one step");

	add_of(t, 0, ON_PANEL, PHASE_PANEL, 0, panel);
	add_of(t, 0, ON_MAIN, PHASE_UPDATE, panel, 10);
	return t;
}

static void test_tie(double simulated_panel, bool tied)
{
	struct timeline *a = one_step(simulated_panel), *b = one_step(4);
	struct comparison *c = timeline_compare(a, b);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ok(c->same == 0 && c->tied == tied && comparison_agreement(c) == 0,
	        "limiters %g s apart of 10 s %s, and are no agreement", 2 * simulated_panel - 10,
	        tied ? "are tied" : "contradict each other");
	is_real(comparison_contradiction(c), !tied, 0, "contradicted or not");
	comparison_print(c, 1, out);
	fclose(out);
	ok(strstr(text, tied ? "  tied" : "  another") && strstr(text, "same limiter in 0 of 1"),
	        "the table says so");
	free(text);
	free(c);
	timeline_free(a);
	timeline_free(b);
}

static void test_ties(void)
{
	test_tie(5.4, true);
	test_tie(5.6, false);
}

static void test_comparison(void)
{
	struct timeline *a = look_ahead(), *b = stretched(16);
	struct comparison *c = timeline_compare(a, a);

	ok(c->same == 3 && comparison_agreement(c) == 1 && c->worst == 0, "equal timelines agree");
	free(c);
	c = timeline_compare(a, b);
	ok(c->same == 3 && c->steps[1] == 3, "a longer panel limits the same step");
	is_real(c->busy[0][PHASE_PANEL], 16.0 / 24, 1e-12, "busy shares of the one");
	is_real(c->busy[1][PHASE_PANEL], 32.0 / 40, 1e-12, "and the other");
	is_real(c->exposed[0][PHASE_PANEL], 11.0 / 24, 1e-12, "exposed shares of the one");
	is_real(c->exposed[1][PHASE_PANEL], 27.0 / 40, 1e-12, "and the other");
	is_real(c->worst, 27.0 / 40 - 11.0 / 24, 1e-12, "their difference is the largest");
	ok(strcmp(c->sum[0].operation, "work") == 0 && (int)c->sum[0].lane == ON_PANEL &&
	                c->sum[0].entries[0] == 5 && c->sums == 2,
	        "the panel's operations are furthest off");
	is_real(c->sum[0].seconds[0] - c->sum[0].seconds[1], -16, 1e-12, "by that much");
	free(c);

	b->entry[5].end = 4; /* the first update is short: its panel shows */
	c = timeline_compare(a, b);
	ok(c->same == 2 && c->tied == 0, "another limiter in one step of three: %zu", c->same);
	is_real(comparison_contradiction(c), 1.0 / 3, 1e-12, "which contradicts the simulation");
	free(c);
	test_ties();
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
	struct timeline *t = look_ahead();
	struct table *table = trace_table_new();
	struct fault fault = {""};

	add_queueing(t, 2, 20, 21);
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
	ok(strcmp(square, "data/x/trace_sgetrf_8192.tsv") == 0 &&
	                strcmp(tall, "data/x/trace_dgeqrf_4096x512.tsv") == 0,
	        "files have names: %s", tall);
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
	char *table = written(print, t), *drawing = written(draw, t);

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

int main(void)
{
	test_critical();
	test_steps();
	test_other_limiters();
	test_comparison();
	test_file();
	test_output();
	return finish();
}
