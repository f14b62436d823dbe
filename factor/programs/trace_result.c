/* SPDX-License-Identifier: MIT */
#include "trace_result.h"

#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "factor/model/simulation/timeline_compare.h"
#include "factor/validation/trace_file.h"

#include <inttypes.h>
#include <stdlib.h>

/* Operations with the largest errors of predicted cost. */
enum { OPERATIONS_SHOWN = 5 };

/* ---- text ---- */

static void print_plan(const struct plan *plan, FILE *out)
{
	int64_t same = 0;

	fprintf(out, "plan: panels on the %s, look-ahead %d, leaves of %" PRId64 ", ",
	        plan->hybrid ? "host" : "device", plan->lookahead, plan->leaf);
	if (plan->inverse)
		fprintf(out, "inverses of %" PRId64 ", blocks of", plan->inverse);
	else
		fprintf(out, "triangular solves, blocks of");
	for (int64_t i = 0; i < plan->count; i += same) {
		for (same = 1; i + same < plan->count; same++)
			if (plan->widths[i + same] != plan->widths[i])
				break;
		if (plan->count == 1)
			fprintf(out, " %" PRId64, plan->widths[i]);
		else
			fprintf(out, " %" PRId64 " x %" PRId64, same, plan->widths[i]);
	}
	fprintf(out, "\n\n");
}

static void print_limiters(const struct timeline *timeline, FILE *out)
{
	struct step *step = xmalloc(COMPARED_STEPS * sizeof *step);
	size_t count = timeline_steps(timeline, step, COMPARED_STEPS),
	       limited[CRITICAL_COUNT] = {0};

	for (size_t i = 0; i < count; i++)
		limited[step[i].limiter]++;
	fprintf(out, "\n%zu steps, limited by", count);
	for (int o = 0; o < CRITICAL_COUNT; o++)
		if (limited[o])
			fprintf(out, " %s %zu", critical_name(o), limited[o]);
	fprintf(out, "\n\n");
	free(step);
}

static void print_run(const struct trace_result *a, FILE *out)
{
	const struct estimate *plain = &a->run.plain, *recorded = &a->run.recorded;

	if (a->recorded)
		return;
	fprintf(out,
	        "recorded run: %.1f us (median of %zu); not recorded %.1f us (%.1f .. %.1f, "
	        "median of %zu): the records cost %+.1f %%\n"
	        "clocks of host and GPU aligned to +- %.1f us; residual ratio %.3g\n",
	        recorded->value * 1e6, recorded->samples, plain->value * 1e6, plain->low * 1e6,
	        plain->high * 1e6, plain->samples, 100 * (recorded->value / plain->value - 1),
	        a->run.uncertainty * 1e6, a->run.residual);
}

void trace_result_print(const struct trace_result *a, size_t lines, FILE *out)
{
	double flops =
	        model_factor_flops(a->asked.operation, (double)a->asked.m, (double)a->asked.n);

	fprintf(out, "%s\n", a->context.choice);
	print_plan(&a->plan->plan, out);
	timeline_print(a->simulated, lines, out);
	print_limiters(a->simulated, out);
	fprintf(out, "%.1f us until the host sees the end, %.2f Tflop/s", a->seconds * 1e6,
	        flops / a->seconds / 1e12);
	if (a->marks > 0)
		fprintf(out,
		        "; the recorder's marks, which the timeline above contains, cost another "
		        "%.1f us",
		        a->marks * 1e6);
	fputc('\n', out);
	if (!a->measured)
		return;
	fputc('\n', out);
	timeline_print(a->measured, lines, out);
	print_limiters(a->measured, out);
	print_run(a, out);
	struct comparison *comparison = timeline_compare(a->simulated, a->measured);
	comparison_print(comparison, OPERATIONS_SHOWN, out);
	free(comparison);
}

/* ---- table ---- */

void trace_result_describe(const struct trace_result *a, bool with_plan, struct table *table)
{
	const struct plan *plan = &a->plan->plan;
	char text[WHOLE_PLAN_TEXT];

	table_meta_set(table, "uplo", "%s", a->whole.uplo == UPPER ? "upper" : "lower");
	if (a->whole.math != MATH_FP32)
		table_meta_set(table, "math", "%s", math_name[a->whole.math]);
	if (!with_plan)
		return;
	if (whole_plan_text(&a->whole, plan, text))
		table_meta_set(table, "plan", "%s", text);
	table_meta_set(table, "nb", "%" PRId64, plan->widths[0]);
	table_meta_set(table, "panels", "%s", plan->hybrid ? "host" : "device");
}

static void describe_run(const struct trace_result *a, struct table *table)
{
	const struct trace_run *run = &a->run;
	const struct {
		const char *key;
		double value;
	} fact[] = {{"plain_seconds", run->plain.value}, {"plain_low", run->plain.low},
	        {"plain_high", run->plain.high}, {"recorded_seconds", run->recorded.value},
	        {"clocks_seconds", run->uncertainty}, {"residual", run->residual}};

	machine_stamp(table, "trace", &a->gpu, a->context.argc, a->context.argv);
	for (size_t i = 0; i < ARRAY_LEN(fact); i++)
		table_meta_set(table, fact[i].key, "%.9g", fact[i].value);
}

struct table *trace_result_table(const struct trace_result *a)
{
	struct table *table = trace_table_new();

	if (a->recorded)
		table_meta_add(table, a->recorded);
	else if (a->measured)
		describe_run(a, table);
	table_meta_set(table, "title", "%s", a->names[0]);
	table_meta_set(table, "profile_sha256", "%s", a->context.sha);
	trace_result_describe(a, true, table);
	table_meta_set(table, "simulated_seconds", "%.9g", a->simulated->seconds);
	if (a->marks > 0)
		table_meta_set(table, "marks_seconds", "%.9g", a->marks);
	trace_table_add(table, "simulated", a->simulated);
	if (a->measured) {
		table_meta_set(table, "measured_seconds", "%.9g", a->measured->seconds);
		struct comparison *c = timeline_compare(a->simulated, a->measured);
		table_meta_set(table, "same_limiter", "%zu of %zu", c->same, c->steps[1]);
		table_meta_set(table, "tied_limiters", "%zu", c->tied);
		free(c);
		trace_table_add(table, "measured", a->measured);
	}
	return table;
}

void trace_check_window(
        const struct trace_output *to, const struct timeline *const *timeline, size_t count)
{
	double end = 0;

	for (size_t i = 0; i < count; i++)
		end = max_double(end, timeline[i]->seconds * 1e6);
	if (to->svg && to->from > 0 && to->from >= end)
		msg_die(EXIT_BAD_USAGE, "--from %.15g: the timeline ends at %.2f us: begin earlier",
		        to->from, end);
}

void trace_draw(const struct trace_output *to, const struct timeline *const *timeline, size_t count)
{
	FILE *out = to->svg ? fopen(to->svg, "w") : NULL;

	if (!to->svg)
		return;
	if (!out)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", to->svg);
	timeline_draw(timeline, count, to->from * 1e-6, to->to * 1e-6, out);
	if (fclose(out) != 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", to->svg);
}

void trace_result_free(struct trace_result *a)
{
	timeline_free(a->simulated);
	timeline_free(a->measured);
	table_free(a->recorded);
	free(a->names[0]);
	free(a->names[1]);
	free(a->plan);
	profile_context_close(&a->context);
}
