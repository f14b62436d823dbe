/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
	STEPS = 4096,  /* of a timeline at most */
	SHORT = 2000,  /* operations shorter than the drawn time by this factor are left out */
	MAGNIFIED = 5, /* steps of the lower view */
	WIDTH = 1400,
	MARGIN = 120, /* for the lanes' names */
	RIGHT_MARGIN = 20,
	ROW = 26,
	BAR = 20,
	TITLE = 34,
	AXIS = 40,
	LEGEND = 30
};

/* Okabe and Ito's palette, for colour-blind readers too; queueing is grey. */
static const char *const colour[PHASE_COUNT] = {[PHASE_SEARCH] = "#f0e442",
        [PHASE_FETCH] = "#000000",
        [PHASE_SWAP] = "#cc79a7",
        [PHASE_SCALE] = "#f0e442",
        [PHASE_UPDATE] = "#0072b2",
        [PHASE_TRANSFER] = "#e69f00",
        [PHASE_PANEL] = "#d55e00",
        [PHASE_SOLVE] = "#009e73",
        [PHASE_LAYOUT] = "#56b4e9"};
static const char queueing_colour[] = "#cccccc";

struct frame {
	double from, to; /* seconds */
	FILE *out;
};

static double x_of(const struct frame *f, double seconds)
{
	return MARGIN + (seconds - f->from) / (f->to - f->from) * (WIDTH - MARGIN - RIGHT_MARGIN);
}

/* Whether an entry is drawn in a lane: a copy in its queue and on its engine. */
static bool in_lane(const struct timeline_entry *e, int lane)
{
	return (int)e->lane == lane || (int)e->engine == lane;
}

static bool used(const struct timeline *t, int lane)
{
	for (size_t i = 0; i < t->count; i++)
		if (in_lane(&t->entry[i], lane))
			return true;
	return false;
}

static int rows(const struct timeline *t)
{
	int count = 0;

	for (int lane = 0; lane < LANE_COUNT; lane++)
		count += used(t, lane);
	return count;
}

static const char *fill_of(const struct timeline_entry *e)
{
	return e->operation == timeline_queueing ? queueing_colour : colour[e->phase];
}

/* A title or a name, which may come from a file. */
static void draw_text(const char *text, FILE *out)
{
	for (; *text; text++)
		if (*text == '<' || *text == '&')
			fputs(*text == '<' ? "&lt;" : "&amp;", out);
		else
			fputc(*text, out);
}

static void draw_entry(const struct frame *f, const struct timeline_entry *e, double y)
{
	double begin = fmax(e->begin, f->from), end = fmin(e->end, f->to);

	if (begin >= end)
		return;
	double x = x_of(f, begin), width = x_of(f, end) - x;
	fprintf(f->out,
	        "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\">"
	        "<title>%s ",
	        x, y, fmax(width, 0.25), BAR, fill_of(e), phase_name[e->phase]);
	draw_text(e->operation, f->out);
	if (e->m)
		fprintf(f->out, " %" PRId64 " x %" PRId64, e->m, e->n);
	if (e->k)
		fprintf(f->out, " x %" PRId64, e->k);
	fprintf(f->out, ", %.2f us from %.2f us on</title></rect>\n", (e->end - e->begin) * 1e6,
	        e->begin * 1e6);
}

/* The entries of a lane. Calls that queue operations are one box where they are close. */
static void draw_lane(const struct frame *f, const struct timeline *t, int lane, double y)
{
	const double least = (f->to - f->from) / SHORT;
	struct timeline_entry calls = {.operation = NULL};

	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_entry *e = &t->entry[i];
		if (!in_lane(e, lane))
			continue;
		if (e->operation != timeline_queueing) {
			if (e->end - e->begin > least)
				draw_entry(f, e, y);
		} else if (calls.operation && e->begin - calls.end < least) {
			calls.end = e->end;
		} else {
			draw_entry(f, &calls, y);
			calls = *e;
		}
	}
	draw_entry(f, &calls, y);
}

static double draw_lanes(const struct frame *f, const struct timeline *t, double y)
{
	fprintf(f->out, "<text x=\"%d\" y=\"%.1f\" font-weight=\"bold\">", MARGIN, y + TITLE - 12);
	draw_text(t->title, f->out);
	fprintf(f->out, ": %.1f us</text>\n", t->seconds * 1e6);
	y += TITLE;
	for (int lane = 0; lane < LANE_COUNT; lane++) {
		if (!used(t, lane))
			continue;
		fprintf(f->out,
		        "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n"
		        "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
		        MARGIN - 8, y + 15, lane_name[lane], MARGIN, y + BAR + 1,
		        WIDTH - RIGHT_MARGIN, y + BAR + 1);
		draw_lane(f, t, lane, y);
		y += ROW;
	}
	return y;
}

/* 1, 2 or 5 times a power of ten, about a tenth of the range. */
static double tick(double range)
{
	double power = pow(10, floor(log10(range / 10))), rest = range / 10 / power;

	return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

static void draw_axis(const struct frame *f, double top, double y)
{
	double step = tick(f->to - f->from);
	double scale = f->to - f->from < 10e-3 ? 1e6 : 1e3;

	for (double at = ceil(f->from / step) * step; at <= f->to * (1 + 1e-12); at += step)
		fprintf(f->out,
		        "<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" "
		        "stroke=\"#dddddd\"/>\n"
		        "<text x=\"%.2f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
		        x_of(f, at), top, x_of(f, at), y, x_of(f, at), y + 14, at * scale);
	fprintf(f->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">time [%s]</text>\n",
	        WIDTH - RIGHT_MARGIN, y + 30, scale == 1e6 ? "us" : "ms");
}

static void draw_key(const struct frame *f, double *x, double y, const char *fill, const char *name)
{
	fprintf(f->out,
	        "<rect x=\"%.0f\" y=\"%.1f\" width=\"14\" height=\"14\" fill=\"%s\"/>"
	        "<text x=\"%.0f\" y=\"%.1f\">%s</text>\n",
	        *x, y, fill, *x + 19, y + 12, name);
	*x += 110;
}

/* The phases that any timeline has, and the host's queueing behind them. */
static void draw_legend(
        const struct frame *f, const struct timeline *const *timeline, size_t count, double y)
{
	bool has[PHASE_COUNT + 1] = {false};
	double x = MARGIN;

	for (size_t t = 0; t < count; t++)
		for (size_t i = 0; i < timeline[t]->count; i++) {
			const struct timeline_entry *e = &timeline[t]->entry[i];
			has[e->operation == timeline_queueing ? PHASE_COUNT : (int)e->phase] = true;
		}
	for (int p = 0; p < PHASE_COUNT; p++)
		if (has[p])
			draw_key(f, &x, y, colour[p], phase_name[p]);
	if (has[PHASE_COUNT])
		draw_key(f, &x, y, queueing_colour, timeline_queueing);
}

/* Timelines below each other on one axis: `range` seconds from begin[t] on, which the axis calls
 * `label`. */
static double draw_view(FILE *out, const struct timeline *const *timeline, size_t count,
        const double *begin, double range, double label, double y)
{
	const struct frame axis = {label, label + range, out};
	double bottom = y;

	for (size_t t = 0; t < count; t++)
		bottom += TITLE + ROW * rows(timeline[t]);
	draw_axis(&axis, y, bottom);
	for (size_t t = 0; t < count; t++) {
		const struct frame f = {begin[t], begin[t] + range, out};
		y = draw_lanes(&f, timeline[t], y);
	}
	return y + AXIS;
}

/* The begin of each timeline's steps in the middle, and the longest time that they take; 0 where
 * the timelines have too few steps to magnify some of them. */
static double find_middle(
        const struct timeline *const *timeline, size_t count, int64_t *first, double *begin)
{
	struct step *step = xmalloc(STEPS * sizeof *step);
	double range = 0;

	for (size_t t = 0; t < count; t++) {
		const size_t steps = timeline_steps(timeline[t], step, STEPS);
		const size_t at = (steps - MAGNIFIED) / 2;
		if (steps < 3 * MAGNIFIED) {
			range = 0;
			break;
		}
		*first = step[at].block;
		begin[t] = step[at].begin;
		range = fmax(range, step[at + MAGNIFIED].begin - step[at].begin);
	}
	free(step);
	return range;
}

void timeline_draw(
        const struct timeline *const *timeline, size_t count, double from, double to, FILE *out)
{
	const struct frame f = {.out = out};
	double *begin = xcalloc(count, sizeof *begin), *middle = xcalloc(count, sizeof *middle);
	double height = LEGEND + AXIS, y, range = 0, end = to;
	int64_t first = 0;

	if (to <= from) {
		from = end = 0;
		range = find_middle(timeline, count, &first, middle);
	}
	for (size_t t = 0; t < count; t++) {
		height += TITLE + ROW * rows(timeline[t]);
		begin[t] = from;
		if (to <= from)
			end = fmax(end, timeline[t]->seconds);
	}
	if (!(end > from))
		end = from + 1e-6;
	if (range > 0)
		height += height - LEGEND + TITLE;
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
	        "font-family=\"sans-serif\" font-size=\"12\">\n"
	        "<rect width=\"%d\" height=\"%.0f\" fill=\"#ffffff\"/>\n",
	        WIDTH, height, WIDTH, height);
	draw_legend(&f, timeline, count, 8);
	y = draw_view(out, timeline, count, begin, end - from, from, LEGEND);
	if (range > 0) {
		fprintf(out,
		        "<text x=\"%d\" y=\"%.1f\">%d blocks, from the begin of block %" PRId64
		        " on:</text>\n",
		        MARGIN, y + TITLE - 12, MAGNIFIED, first);
		draw_view(out, timeline, count, middle, range, 0, y + TITLE);
	}
	fprintf(out, "</svg>\n");
	free(begin);
	free(middle);
}
