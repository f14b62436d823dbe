/* SPDX-License-Identifier: MIT */
#include "advise.h"

#include "factor/model/efficiency/efficiency.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/profile/profile_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question ---- */

enum way_operation operation_named(const char *name)
{
	enum way_operation o = 0;

	while (o < WAY_OPERATIONS && (!name || strcmp(name, way_operation_name[o]) != 0))
		o++;
	return o;
}

void operation_check(struct way_question *q)
{
	static const double most = 1e12; /* elements */
	const char *name = way_operation_name[q->operation];

	if (q->operation == WAY_POTRF && q->n == 0)
		q->n = q->m;
	if (q->operation == WAY_POTRF && q->m == 0)
		q->m = q->n;
	if (q->m == 0 || q->n == 0 || (q->operation == WAY_GEMM && q->k == 0))
		msg_die(EXIT_BAD_USAGE, "give the sizes: advise %s --m ROWS --n COLUMNS%s", name,
		        q->operation == WAY_GEMM ? " --k INNER" : "");
	if (q->operation == WAY_POTRF && q->m != q->n)
		msg_die(EXIT_BAD_USAGE,
		        "Cholesky: give a square matrix: m = %" PRId64 ", n = %" PRId64, q->m,
		        q->n);
	if ((q->operation == WAY_GEQRF || q->operation == WAY_GRAM) && q->m < q->n)
		msg_die(EXIT_BAD_USAGE,
		        "%s: give at least as many rows as columns: m = %" PRId64 ", n = %" PRId64,
		        name, q->m, q->n);
	if ((double)q->m * (double)q->n > most)
		msg_die(EXIT_BAD_USAGE,
		        "%" PRId64 " x %" PRId64 ": give at most %g elements, which are simulated",
		        q->m, q->n, most);
}

/* ---- what a time follows ---- */

/* Parts of a machine, and the change that makes each better. */
static const struct {
	const char *name, *pattern;
	double factor;
} machine_part[] = {{"DRAM bandwidth", "gpu.dram.[rwc]*", 1.1},
        {"L2 bandwidth", "gpu.l2.[rwc]*", 1.1},
        {"multiply-adds and tensor cores", "gpu.[fmw]*ma*.[rbc]*[es]", 1.1},
        {"launches", "gpu.launch.*", 0.909}, {"barriers", "gpu.barrier.*", 0.909},
        {"exchanges", "gpu.exchange.*", 0.909}, {"links", "link.*.beta", 1.1},
        {"the host's processors", "host.fma.*", 1.1}};

static void print_parts(const struct profile *profile, const struct way_question *q,
        const struct way *best, FILE *out)
{
	fprintf(out, "\nA machine with 10 %% more of one part, for the fastest way:\n");
	for (size_t i = 0; i < ARRAY_LEN(machine_part); i++) {
		struct profile changed =
		        efficiency_scaled(profile, machine_part[i].pattern, machine_part[i].factor);
		const double gain = best->seconds / way_seconds(&changed, q, best) - 1;
		profile_view_free(&changed);
		if (fabs(gain) >= 0.0005)
			fprintf(out, "  %-32s %+5.1f %% speed\n", machine_part[i].name, 100 * gain);
	}
}

/* ---- output ---- */

static const char *const columns[] = {
        "way", "plan", "seconds", "gflops", "regime", "limiter", "share", "hardware", "reason"};

static struct table *ways_table(const struct way_question *q, const struct way *way, size_t count)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++) {
		const struct way *w = &way[i];
		const size_t r = table_add_row(table);
		table_set_text(table, r, "way", w->name);
		table_set_text(table, r, "plan", w->detail);
		if (isnan(w->seconds)) {
			table_set_text(table, r, "reason", w->fault.text);
			continue;
		}
		table_set_real(table, r, "seconds", w->seconds);
		table_set_real(table, r, "gflops", way_flops(q) / w->seconds / 1e9);
		table_set_text(table, r, "regime", w->regime);
		table_set_text(table, r, "limiter", term_name[w->parts.limiter]);
		table_set_real(
		        table, r, "share", w->parts.term[w->parts.limiter] / w->parts.seconds);
		table_set_real(table, r, "hardware", w->hardware);
		if (w->simpler[0])
			table_set_text(table, r, "reason", w->simpler);
	}
	return table;
}

static void print_ways(const struct way_question *q, const struct way *way, size_t count, FILE *out)
{
	fprintf(out, "  %-26s %10s %8s  %-10s  %-17s %11s  %s\n", "way", "us", "Gflop/s", "regime",
	        "limiter", "hardware us", "plan");
	for (size_t i = 0; i < count; i++) {
		const struct way *w = &way[i];
		char limiter[32];
		if (isnan(w->seconds)) {
			fprintf(out, "  %-26s refused: %s\n", w->name, w->fault.text);
			continue;
		}
		snprintf(limiter, sizeof limiter, "%s (%.0f %%)", term_name[w->parts.limiter],
		        100 * w->parts.term[w->parts.limiter] / w->parts.seconds);
		fprintf(out, "%c %-26s %10.1f %8.1f  %-10s  %-17s ", i ? ' ' : '*', w->name,
		        w->seconds * 1e6, way_flops(q) / w->seconds / 1e9, w->regime, limiter);
		if (isnan(w->hardware))
			fprintf(out, "%11s", "-");
		else
			fprintf(out, "%11.1f", w->hardware * 1e6);
		fprintf(out, "  %s\n", w->detail);
		if (w->simpler[0])
			fprintf(out, "    %s\n", w->simpler);
	}
}

void advise_operation(const struct way_question *asked, const struct profile_context *context)
{
	struct way_question question = *asked;
	const struct way_question *q = &question;
	const struct profile *profile = context->profile;
	struct profile *alone = profile_context_hardware(profile);
	struct way way[MOST_WAYS];

	question.memory = profile_context_memory(context);
	const size_t count = ways_of(profile, alone, q, way);
	profile_free(alone);
	if (context->common.json) {
		struct table *table = ways_table(q, way, count);
		profile_context_stamp(table, context);
		cli_write_json(table, "ways");
		table_free(table);
	} else {
		FILE *out = wrap_open();
		fprintf(out, "%s of %" PRId64 " x %" PRId64, way_operation_name[q->operation], q->m,
		        q->n);
		if (q->operation == WAY_GEMM)
			fprintf(out, " by %" PRId64 " inner", q->k);
		fprintf(out, ", %s precision%s%s\n", q->precision == SINGLE ? "single" : "double",
		        q->from_host ? ", in host memory" : "",
		        q->operation <= WAY_POTRF ? ", by libfathom's default plans" : "");
		advise_describe(context, out);
		fputc('\n', out);
		print_ways(q, way, count, out);
		if (!isnan(way[0].seconds))
			print_parts(profile, q, &way[0], out);
		wrap_close(out, stdout);
	}
	if (isnan(way[0].seconds))
		msg_die(way[0].fault.refused ? EXIT_NOT_POSSIBLE : EXIT_MEASURE_FAILED,
		        "no way can be predicted here: %s", way[0].fault.text);
}

/* ---- another machine ---- */

static void set_short(struct table *table, size_t r, const char *column, double value)
{
	char text[32];

	snprintf(text, sizeof text, "%.4g", value);
	table_set_text(table, r, column, text);
}

void advise_machine(const struct profile_context *context)
{
	static const char *const names[] = {"operation", "m", "n", "k", "precision", "from", "way",
	        "measured_machine", "that_machine", "gain", "limiter"},
	                         *const shown[] = {"operation", "m", "n", "k", "from", "way",
	                                 "measured_machine", "that_machine", "gain", "limiter"};
	struct table *table = table_new(names, ARRAY_LEN(names));

	for (size_t i = 0; i < WAY_EXAMPLES; i++) {
		struct way now[MOST_WAYS], then[MOST_WAYS];
		const struct way_question *q = &way_example[i];
		ways_of(context->measured, NULL, q, now);
		ways_of(context->profile, NULL, q, then);
		const size_t r = table_add_row(table);
		table_set_text(table, r, "operation", way_operation_name[q->operation]);
		table_set_int(table, r, "m", q->m);
		table_set_int(table, r, "n", q->n);
		if (q->k)
			table_set_int(table, r, "k", q->k);
		table_set_text(table, r, "precision", q->precision == SINGLE ? "s" : "d");
		table_set_text(table, r, "from", q->from_host ? "host" : "device");
		table_set_text(table, r, "way", then[0].name);
		set_short(table, r, "measured_machine", now[0].seconds);
		set_short(table, r, "that_machine", then[0].seconds);
		set_short(table, r, "gain", now[0].seconds / then[0].seconds);
		table_set_text(table, r, "limiter", term_name[then[0].parts.limiter]);
	}
	if (context->common.json) {
		profile_context_stamp(table, context);
		cli_write_json(table, "what_if");
	} else {
		FILE *out = wrap_open();
		advise_describe(context, out);
		fprintf(out, "Seconds as measured and on the changed machine, each by its fastest "
		             "way\n\n");
		for (size_t r = 0; r < table->row_count; r++) { /* "sgetrf": shorter lines */
			char *name = xasprintf("%s%s", table_text(table, r, "precision"),
			        table_text(table, r, "operation"));
			table_set_text(table, r, "operation", name);
			free(name);
		}
		table_print(table, shown, ARRAY_LEN(shown), out);
		wrap_close(out, stdout);
	}
	table_free(table);
}
