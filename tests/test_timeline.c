/* SPDX-License-Identifier: MIT */
/* Timelines: what each moment is owed to, steps, table and drawing. Seconds that can be seen. */
#include "tap.h"

#include "../factor/model/timeline.h"

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

static void test_owing(void)
{
	struct timeline *t = timeline_new("owing");
	double owed[4];

	add(t, ON_MAIN, PHASE_UPDATE, 2, 10);
	add(t, ON_PANEL, PHASE_PANEL, 4, 13);
	add(t, LANE_HOST, PHASE_TRANSFER, 0, 14);
	add(t, ON_MAIN, PHASE_SOLVE, 12, 12);
	t->seconds = 16;
	ok(t->count == 3, "an entry without length is none");
	is_real(timeline_owe(t, owed), 2, 0, "nothing is under way at the end");
	is_real(owed[0], 8, 0, "the update is owed all its time");
	is_real(owed[1], 3, 0, "the panel what the update does not hide");
	is_real(owed[2], 3, 0, "the host the rest");
	struct exposure x = timeline_expose(t);
	is_real(x.phase[PHASE_PANEL] + x.idle, 5, 0, "by phases");

	timeline_free(t);
	t = timeline_new("nothing");
	is_real(timeline_expose(t).idle, 0, 0, "an empty timeline owes nothing");
	timeline_free(t);
}

/* Three steps: the panel hides, the panel shows, the last has no update left. */
static struct timeline *look_ahead(void)
{
	struct timeline *t = timeline_new("look-ahead");

	add(t, ON_PANEL, PHASE_PANEL, 0, 2);
	add(t, ON_MAIN, PHASE_UPDATE, 2, 3);
	add(t, ON_MAIN, PHASE_UPDATE, 3, 13);
	add(t, ON_PANEL, PHASE_PANEL, 3, 5);
	add(t, ON_PANEL, PHASE_UPDATE, 5, 6);
	add(t, ON_PANEL, PHASE_PANEL, 6, 8);
	add(t, ON_MAIN, PHASE_UPDATE, 13, 14);
	add(t, ON_MAIN, PHASE_UPDATE, 14, 15);
	add(t, ON_PANEL, PHASE_PANEL, 14, 24);
	return t;
}

static void test_steps(void)
{
	struct timeline *t = look_ahead();
	struct step step[8];
	size_t count = timeline_steps(t, step, ARRAY_LEN(step));

	ok(count == 3, "three steps: the halves of a panel are one: %zu", count);
	ok(step[0].limiter == PHASE_PANEL && step[1].limiter == PHASE_UPDATE &&
	                step[2].limiter == PHASE_PANEL,
	        "limited by panel, update, panel");
	is_real(step[1].begin, 3, 0, "a step begins with its panel");
	is_real(step[1].end, 14, 0, "and ends with the next");
	is_real(step[1].exposure.phase[PHASE_UPDATE], 11, 0, "its update is owed all of it");
	ok(timeline_steps(t, step, 1) == 1, "no more than there is room for");
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
	test_owing();
	test_steps();
	test_output();
	return finish();
}
