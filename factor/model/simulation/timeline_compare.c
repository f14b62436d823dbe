/* SPDX-License-Identifier: MIT */
#include "timeline_compare.h"

#include "lib/base/msg.h"
#include "executor_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- steps ---- */

static size_t common_steps(const struct comparison *c)
{
	return c->steps[0] < c->steps[1] ? c->steps[0] : c->steps[1];
}

static bool same_limiter(const struct comparison *c, size_t i)
{
	return c->step[0][i].limiter == c->step[1][i].limiter;
}

/* Of a step's time. */
static const double tie_band = 0.10;

static bool tied(const struct comparison *c, size_t i)
{
	const struct step *simulated = &c->step[0][i];
	const double *critical = simulated->exposure.critical;
	double lead = critical[simulated->limiter] - critical[c->step[1][i].limiter];

	return lead <= tie_band * (simulated->end - simulated->begin);
}

static size_t all_steps(const struct comparison *c)
{
	return c->steps[0] > c->steps[1] ? c->steps[0] : c->steps[1];
}

double comparison_agreement(const struct comparison *c)
{
	return all_steps(c) ? (double)c->same / (double)all_steps(c) : 1;
}

double comparison_contradiction(const struct comparison *c)
{
	size_t other = all_steps(c) - c->same - c->tied;

	return all_steps(c) ? (double)other / (double)all_steps(c) : 0;
}

/* ---- operations ---- */

static struct operation_sum *find_sum(struct comparison *c, const struct timeline_entry *e)
{
	for (size_t i = 0; i < c->sums; i++)
		if (c->sum[i].lane == e->lane && strcmp(c->sum[i].operation, e->operation) == 0)
			return &c->sum[i];
	if (c->sums == COMPARED_SUMS)
		return NULL;
	c->sum[c->sums] = (struct operation_sum){.operation = e->operation, .lane = e->lane};
	return &c->sum[c->sums++];
}

static double difference(const struct operation_sum *s)
{
	return s->seconds[0] - s->seconds[1];
}

static int by_difference(const void *a, const void *b)
{
	double x = fabs(difference(a)), y = fabs(difference(b));

	return (x < y) - (x > y);
}

static void sum_operations(struct comparison *c, const struct timeline *t, int side)
{
	for (size_t i = 0; i < t->count; i++) {
		bool queueing = t->entry[i].operation == timeline_queueing;
		struct operation_sum *sum = queueing ? NULL : find_sum(c, &t->entry[i]);
		if (!sum)
			continue;
		sum->entries[side]++;
		sum->seconds[side] += t->entry[i].end - t->entry[i].begin;
	}
}

/* ---- all ---- */

static void take_side(struct comparison *c, const struct timeline *t, int side)
{
	struct exposure exposure = timeline_expose(t);

	c->seconds[side] = t->seconds;
	c->steps[side] = timeline_steps(t, c->step[side], COMPARED_STEPS);
	timeline_busy(t, c->busy[side]);
	for (int p = 0; p < PHASE_COUNT; p++)
		c->busy[side][p] /= t->seconds;
	for (int o = 0; o < CRITICAL_COUNT; o++)
		c->exposed[side][o] = exposure.critical[o] / t->seconds;
	sum_operations(c, t, side);
}

struct comparison *timeline_compare(
        const struct timeline *simulated, const struct timeline *measured)
{
	struct comparison *c = xcalloc(1, sizeof *c);

	take_side(c, simulated, 0);
	take_side(c, measured, 1);
	for (size_t i = 0; i < common_steps(c); i++) {
		c->same += same_limiter(c, i);
		c->tied += !same_limiter(c, i) && tied(c, i);
	}
	for (int o = 0; o < CRITICAL_COUNT; o++)
		c->worst = fmax(c->worst, fabs(c->exposed[0][o] - c->exposed[1][o]));
	qsort(c->sum, c->sums, sizeof *c->sum, by_difference);
	return c;
}

/* ---- table ---- */

static double lasts(const struct comparison *c, int side, size_t from, size_t to)
{
	double seconds = 0;

	for (size_t i = from; i < to; i++)
		seconds += c->step[side][i].end - c->step[side][i].begin;
	return seconds;
}

static const char *verdict(const struct comparison *c, size_t i)
{
	return same_limiter(c, i) ? "" : tied(c, i) ? "  tied" : "  another";
}

static void print_steps(const struct comparison *c, FILE *out)
{
	size_t count = common_steps(c);

	fprintf(out, "\n%-13s %-10s %-10s %12s %12s\n", "steps", "simulated", "measured",
	        "simulated/us", "measured/us");
	for (size_t i = 0, next; i < count; i = next) {
		const struct step *a = &c->step[0][i], *b = &c->step[1][i];
		for (next = i + 1; next < count; next++)
			if (c->step[0][next].limiter != a->limiter ||
			        c->step[1][next].limiter != b->limiter ||
			        tied(c, next) != tied(c, i))
				break;
		char range[32];
		snprintf(range, sizeof range, next - i > 1 ? "%zu .. %zu" : "%zu", i, next - 1);
		fprintf(out, "%-13s %-10s %-10s %12.1f %12.1f%s\n", range,
		        critical_name(a->limiter), critical_name(b->limiter),
		        lasts(c, 0, i, next) * 1e6, lasts(c, 1, i, next) * 1e6, verdict(c, i));
	}
	fprintf(out,
	        "same limiter in %zu of %zu steps (%.1f %%), another in %zu (%.1f %%); %zu tied:\n"
	        "the simulation has the two within %.0f %% of the step: a tie",
	        c->same, all_steps(c), 100 * comparison_agreement(c),
	        all_steps(c) - c->same - c->tied, 100 * comparison_contradiction(c), c->tied,
	        100 * tie_band);
	if (c->steps[0] != c->steps[1])
		fprintf(out, "; %zu simulated, %zu measured", c->steps[0], c->steps[1]);
	fputc('\n', out);
}

static void print_share(double a, double b, FILE *out)
{
	fprintf(out, " %9.1f%% %9.1f%%", 100 * a, 100 * b);
}

static void print_phases(const struct comparison *c, FILE *out)
{
	fprintf(out, "\n%-10s %21s %21s %11s\n%-10s %10s %10s %10s %10s %11s\n", "", "busy",
	        "exposed", "difference", "phase", "simulated", "measured", "simulated", "measured",
	        "points");
	for (int o = 0; o < CRITICAL_COUNT; o++) {
		bool phase = o < PHASE_COUNT;
		double a = c->exposed[0][o], b = c->exposed[1][o];
		if (phase && !(c->busy[0][o] > 0) && !(c->busy[1][o] > 0))
			continue;
		fprintf(out, "%-10s", critical_name(o));
		if (phase)
			print_share(c->busy[0][o], c->busy[1][o], out);
		else
			fprintf(out, " %21s", "");
		print_share(a, b, out);
		fprintf(out, " %+11.1f\n", 100 * (a - b));
	}
	fprintf(out, "largest difference of exposed shares: %.1f points\n", 100 * c->worst);
}

static void print_operations(const struct comparison *c, size_t most, FILE *out)
{
	fprintf(out, "\n%-16s %-16s %8s %12s %12s %14s\n", "operation", "lane", "entries",
	        "simulated/us", "measured/us", "difference/us");
	for (size_t i = 0; i < c->sums && i < most; i++) {
		const struct operation_sum *s = &c->sum[i];
		fprintf(out, "%-16s %-16s %8zu %12.1f %12.1f %+14.1f\n", s->operation,
		        lane_name[s->lane], s->entries[1], s->seconds[0] * 1e6, s->seconds[1] * 1e6,
		        difference(s) * 1e6);
	}
}

void comparison_print(const struct comparison *c, size_t most, FILE *out)
{
	print_steps(c, out);
	print_phases(c, out);
	print_operations(c, most, out);
	fprintf(out, "\nwhole time: simulated %.1f us, measured %.1f us (%+.1f %%)\n",
	        c->seconds[0] * 1e6, c->seconds[1] * 1e6,
	        100 * (c->seconds[0] / c->seconds[1] - 1));
}
