/* SPDX-License-Identifier: MIT */
#include "interval_fit.h"

#include "lib/base/msg.h"
#include "lib/stats/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double coverage = 0.95;

struct samples {
	double *spreads, *efficiency;
	size_t count;
};

struct interval_fit {
	struct samples of[INTERVAL_KINDS];
	struct interval_table table; /* its runs */
	size_t runs;
};

struct interval_fit *interval_fit_new(void)
{
	return xcalloc(1, sizeof(struct interval_fit));
}

void interval_fit_free(struct interval_fit *fit)
{
	for (int k = 0; fit && k < INTERVAL_KINDS; k++) {
		free(fit->of[k].spreads);
		free(fit->of[k].efficiency);
	}
	free(fit);
}

static bool counts(const struct comparison *row)
{
	return row->drawn && !row->phase && errors_counts(row) &&
	       (row->level == LEVEL_FULL || row->level == LEVEL_HARDWARE) &&
	       isfinite(row->predicted->seconds.low) && isfinite(row->predicted->seconds.high);
}

static void add_case(
        struct samples *s, const struct comparison *row, const struct interval_factor *used)
{
	const struct estimate *p = &row->predicted->seconds;
	const double measured = row->measured->seconds.value, off = fabs(measured - p->value),
	             spread = measured > p->value ? p->high - p->value : p->value - p->low;
	const size_t bytes = (s->count + 1) * sizeof(double);

	if (!(spread > 0)) /* no factor widens it */
		return;
	s->spreads = xrealloc(s->spreads, bytes);
	s->efficiency = xrealloc(s->efficiency, bytes);
	s->spreads[s->count] = off / spread * used->spreads;
	s->efficiency[s->count] = p->value / measured;
	s->count++;
}

static void note_run(struct interval_fit *fit, const char *machine, int64_t seed)
{
	struct interval_run *run = fit->table.run;

	for (size_t i = 0; i < fit->runs; i++)
		if (run[i].seed == seed && strcmp(run[i].machine, machine) == 0)
			return;
	if (fit->runs + 1 >= ARRAY_LEN(fit->table.run))
		msg_die(EXIT_MEASURE_FAILED, "more than %zu runs to calibrate intervals on",
		        ARRAY_LEN(fit->table.run) - 1);
	run[fit->runs++] = (struct interval_run){machine, seed};
}

void interval_fit_add(struct interval_fit *fit, const char *machine, const struct comparison *rows,
        size_t count, const struct interval_table *used)
{
	for (size_t i = 0; i < count; i++) {
		if (!counts(&rows[i]))
			continue;
		const enum interval_kind kind = errors_interval_kind(&rows[i]);
		add_case(&fit->of[kind], &rows[i], &used->of[kind]);
		note_run(fit, machine, result_seed(rows[i].predicted));
	}
}

struct interval_table interval_fit_table(
        const struct interval_fit *fit, const struct interval_table *used)
{
	struct interval_table table = fit->table;

	for (int k = 0; k < INTERVAL_KINDS; k++) {
		const struct samples *s = &fit->of[k];
		const bool measured = k != INTERVAL_HARDWARE && k != INTERVAL_ALONE;
		struct interval_factor *f = &table.of[k];
		*f = used->of[k];
		if (s->count == 0)
			continue;
		*f = (struct interval_factor){1, 1, 1, s->count};
		if (measured) {
			f->spreads = stats_quantile(s->spreads, s->count, coverage);
		} else {
			const double outside = (1 - coverage) / 2;
			f->most = fmax(1, stats_quantile(s->efficiency, s->count, 1 - outside));
			f->least = fmin(1, stats_quantile(s->efficiency, s->count,
			                           f->most > 1 ? outside : 1 - coverage));
		}
	}
	return table;
}

void interval_table_write(const struct interval_table *table, FILE *out)
{
	static const char *const name[INTERVAL_KINDS] = {[INTERVAL_HARDWARE] = "HARDWARE",
	        [INTERVAL_LIBRARY] = "LIBRARY",
	        [INTERVAL_CALIBRATED] = "CALIBRATED",
	        [INTERVAL_WITH_HOST] = "WITH_HOST",
	        [INTERVAL_ALONE] = "ALONE"};

	fputs("/* SPDX-License-Identifier: MIT */\n"
	      "/* Written by `make intervals` from the recorded runs below; not by hand. */\n"
	      "#include \"intervals.h\"\n\n"
	      "/* clang-format off */\n"
	      "const struct interval_table interval_table = {\n"
	      "\t.of = { /* spreads, least, most, cases */\n",
	        out);
	for (int k = 0; k < INTERVAL_KINDS; k++) {
		const struct interval_factor *f = &table->of[k];
		fprintf(out, "\t\t[INTERVAL_%s] = {%.3g, %.3g, %.3g, %zu},\n", name[k], f->spreads,
		        f->least, f->most, f->cases);
	}
	fputs("\t},\n\t.run = {\n", out);
	for (size_t i = 0; i < ARRAY_LEN(table->run) && table->run[i].machine; i++)
		fprintf(out, "\t\t{\"%s\", %" PRId64 "},\n", table->run[i].machine,
		        table->run[i].seed);
	fputs("\t},\n};\n/* clang-format on */\n", out);
}
