/* SPDX-License-Identifier: MIT */
#include "compare_machines.h"

#include "factor/model/efficiency/efficiency.h"
#include "factor/model/predictions/ways.h"
#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/device/machine.h"
#include "lib/profile/profile_ratio.h"
#include "lib/profile/profile_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which differences are faults ---- */

static const char *meta(const struct machine_pair *pair, int which, const char *key)
{
	const struct table *source = pair->profile[which]->source;
	const char *text = source ? table_meta(source, key) : NULL;

	return text ? text : "unknown";
}

static bool alike(const struct machine_pair *pair, const char *key)
{
	return strcmp(meta(pair, 0, key), meta(pair, 1, key)) == 0;
}

/* Machines of one kind should be equally fast. */
static bool is_judged(const struct machine_pair *pair)
{
	return alike(pair, "gpu") && alike(pair, "cpu");
}

/* ---- operations ---- */

/* What the model gets wrong it gets wrong on both machines: rows have their own intervals alone. */
static void prepare(struct profile *profile)
{
	efficiency_prepare(profile);
	for (size_t i = 0; i < profile->count; i++)
		profile->row[i].spread = 0;
}

struct operation_pair {
	char name[40];
	bool possible;
	struct estimate time[2];
	const char *way[2], *limiter[2];
	struct ratio ratio;
	struct way answer[2];
};

static void name_way(const struct way_question *q, char *name, size_t size)
{
	static const char *const title[WAY_OPERATIONS] = {
	        "LU", "QR", "Cholesky", "product", "A x", "Gram-Schmidt"};
	char second[16] = "", inner[24] = "";

	if (q->m != q->n)
		snprintf(second, sizeof second, " x %" PRId64, q->n);
	if (q->k && q->k != q->n)
		snprintf(inner, sizeof inner, ", k = %" PRId64, q->k);
	snprintf(name, size, "%s of %" PRId64 "%s%s%s%s", title[q->operation], q->m, second, inner,
	        q->precision == DOUBLE ? ", double" : "", q->from_host ? ", from host" : "");
}

/* One operation on the GPU, by the fastest way of each machine. */
static void ask_way(const struct machine_pair *pair, const struct way_question *q,
        struct operation_pair *operation)
{
	struct way way[MOST_WAYS];

	name_way(q, operation->name, sizeof operation->name);
	operation->possible = true;
	for (int i = 0; i < 2; i++) {
		struct way *best = &operation->answer[i];
		ways_of(pair->profile[i], NULL, q, way);
		*best = way[0];
		operation->possible &= !isnan(best->seconds);
		if (isnan(best->seconds))
			continue;
		way_interval(pair->profile[i], q, best);
		operation->time[i] = (struct estimate){best->seconds, best->low, best->high, 1};
		operation->way[i] = best->name;
		operation->limiter[i] = way_limiter(q, best);
	}
}

/* The panel that the host factorizes. */
static void ask_host(const struct machine_pair *pair, struct operation_pair *operation)
{
	enum { ROWS = 8192, COLUMNS = 64 };

	snprintf(operation->name, sizeof operation->name, "LU panel of %d x %d, host", ROWS,
	        COLUMNS);
	operation->possible = true;
	for (int i = 0; i < 2; i++) {
		struct prediction made;
		operation->possible &= model_predict(pair->profile[i], MODEL_HOST, "blas", ROWS,
		        COLUMNS, SINGLE, LEVEL_FULL, &made);
		operation->time[i] = (struct estimate){made.seconds,
		        fmax(0, made.seconds - made.below), made.seconds + made.above, 1};
		operation->way[i] = "blas";
		operation->limiter[i] = term_name[made.parts.limiter];
	}
}

enum { OPERATIONS = WAY_EXAMPLES + 1 };

static size_t ask_operations(const struct machine_pair *pair, struct operation_pair *operation)
{
	size_t count = 0;

	if (profile_has(pair->profile[0], "gpu.launch.") &&
	        profile_has(pair->profile[1], "gpu.launch."))
		for (; count < WAY_EXAMPLES; count++)
			ask_way(pair, &way_example[count], &operation[count]);
	ask_host(pair, &operation[count++]);
	for (size_t i = 0; i < count; i++)
		operation[i].ratio =
		        operation[i].possible
		                ? ratio_of(operation[i].time[0], operation[i].time[1], "s")
		                : (struct ratio){NAN, NAN, NAN, RATIO_OPEN};
	return count;
}

/* ---- JSON ---- */

static void set_pair(
        struct table *table, size_t r, const struct estimate *value, const struct ratio *ratio)
{
	static const char *const column[2][3] = {
	        {"first", "first_low", "first_high"}, {"second", "second_low", "second_high"}};

	for (int i = 0; i < 2; i++) {
		table_set_real(table, r, column[i][0], value[i].value);
		table_set_real(table, r, column[i][1], value[i].low);
		table_set_real(table, r, column[i][2], value[i].high);
	}
	table_set_real(table, r, "ratio", ratio->value);
	table_set_real(table, r, "ratio_low", ratio->low);
	table_set_real(table, r, "ratio_high", ratio->high);
	table_set_text(table, r, "verdict", ratio_verdict_name[ratio->verdict]);
}

static void add_operation(struct table *table, const struct operation_pair *o)
{
	const size_t r = table_add_row(table);

	table_set_text(table, r, "what", "operation");
	table_set_text(table, r, "name", o->name);
	table_set_text(table, r, "unit", "s");
	set_pair(table, r, o->time, &o->ratio);
	if (!o->possible)
		return;
	table_set_text(table, r, "first_way", o->way[0]);
	table_set_text(table, r, "second_way", o->way[1]);
	table_set_text(table, r, "first_limiter", o->limiter[0]);
	table_set_text(table, r, "second_limiter", o->limiter[1]);
}

static void add_parameters(struct table *table, const struct machine_pair *pair)
{
	for (size_t i = 0; i < pair->profile[0]->count; i++) {
		const struct parameter *row = &pair->profile[0]->row[i],
		                       *other = profile_find_row(pair->profile[1], row);
		if (!profile_row_usable(row) || !other || !profile_row_usable(other))
			continue;
		const struct estimate value[2] = {row->estimate, other->estimate};
		const struct ratio ratio = ratio_of_rows(row, other);
		const size_t r = table_add_row(table);
		char *name = profile_row_name(row);
		table_set_text(table, r, "what", "parameter");
		table_set_text(table, r, "name", name);
		table_set_text(table, r, "unit", row->unit);
		table_set_text(table, r, "regime", row->regime);
		set_pair(table, r, value, &ratio);
		free(name);
	}
}

static void print_json(const struct machine_pair *pair, const struct operation_pair *operation,
        size_t count, bool good)
{
	static const char *const columns[] = {"what", "name", "unit", "first", "first_low",
	        "first_high", "second", "second_low", "second_high", "ratio", "ratio_low",
	        "ratio_high", "verdict", "regime", "first_way", "second_way", "first_limiter",
	        "second_limiter"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	table_meta_set(table, "first", "%s", pair->name[0]);
	table_meta_set(table, "second", "%s", pair->name[1]);
	table_meta_set(table, "one_kind", "%d", is_judged(pair));
	table_meta_set(table, "verdict", "%s",
	        !is_judged(pair) ? "of another kind"
	        : good           ? "not slower"
	                         : "slower");
	for (size_t i = 0; i < count; i++)
		add_operation(table, &operation[i]);
	add_parameters(table, pair);
	cli_write_json(table, "side_by_side");
	table_free(table);
}

/* ---- text ---- */

static const char *shown(double value, const char *unit, char text[24])
{
	const bool plain = strcmp(unit, "count") == 0 || strcmp(unit, "ratio") == 0;

	cli_format_quantity(text, 24, value, plain ? "" : unit);
	if (plain)
		snprintf(text + strlen(text), 24 - strlen(text), " %s", unit);
	return text;
}

/* Three digits, also where the last ones are 0. */
static const char *digits(double value, char text[16])
{
	const bool whole = fabs(value) >= 99.95;

	snprintf(text, 16, whole ? "%.0f" : "%#.3g", value);
	return text;
}

static const char *ends(const struct ratio *r, size_t rows, char text[40])
{
	char low[16], high[16];

	snprintf(text, 40, "%s %s %s", digits(r->low, low), rows == 1 ? ".." : "to",
	        digits(r->high, high));
	return text;
}

static void print_machines(const struct machine_pair *pair, FILE *out)
{
	for (int i = 0; i < 2; i++)
		fprintf(out, "%c %s: GPU %s, CPU %s, driver %s, CUDA %s, measured %.*s\n", "AB"[i],
		        pair -> name[i], meta(pair, i, "gpu"), meta(pair, i, "cpu"),
		        meta(pair, i, "driver"), meta(pair, i, "cuda"),
		        machine_day_length(meta(pair, i, "date")), meta(pair, i, "date"));
}

static struct ratio speed_of(const struct operation_pair *o)
{
	return (struct ratio){
	        1 / o->ratio.value, 1 / o->ratio.high, 1 / o->ratio.low, o->ratio.verdict};
}

static void print_operations(const struct operation_pair *operation, size_t count, FILE *out)
{
	char interval[40], value[16], a[24], b[24];
	int width = (int)strlen("95 % interval");

	for (size_t i = 0; i < count; i++) {
		const struct ratio speed = speed_of(&operation[i]);
		width = (int)max_int64(width, (int64_t)strlen(ends(&speed, 1, interval)));
	}
	fprintf(out,
	        "\nOperations, predicted from each profile by its fastest way. Speed: B over A; "
	        "its "
	        "interval is that\nof the parameters, since the model errs alike on both.\n  %-28s "
	        "%9s %9s %6s  %-*s  %-6s  %s\n",
	        "operation", "A", "B", "speed", width, "95 % interval", "B is", "limited by");
	for (size_t i = 0; i < count; i++) {
		const struct operation_pair *o = &operation[i];
		const struct ratio speed = speed_of(o);
		if (!o->possible) {
			fprintf(out, "  %-28s one of the profiles does not suffice\n", o->name);
			continue;
		}
		const bool both = strcmp(o->limiter[0], o->limiter[1]) == 0;
		fprintf(out, "  %-28s %9s %9s %6s  %-*s  %-6s  %s%s%s\n", o->name,
		        shown(o->time[0].value, "s", a), shown(o->time[1].value, "s", b),
		        digits(speed.value, value), width, ends(&speed, 1, interval),
		        ratio_verdict_name[speed.verdict], o->limiter[0], both ? " on both" : "; ",
		        both ? "" : o->limiter[1]);
	}
}

/* The columns of print_row: names, A and B, ratio, interval, verdict. */
#define ROW_FORMAT "  %-38s %12s %12s %6s  %-16s  %s\n"

static void print_row(const char *name, size_t rows, const struct parameter *first,
        const struct parameter *second, const struct ratio *ratio, FILE *out)
{
	char a[24] = "", b[24] = "", interval[40], count[24], value[16];

	snprintf(count, sizeof count, "%zu rows", rows);
	if (rows == 1) {
		shown(first->estimate.value, first->unit, a);
		shown(second->estimate.value, second->unit, b);
	}
	fprintf(out, ROW_FORMAT, name, rows == 1 ? a : count, b, digits(ratio->value, value),
	        ends(ratio, rows, interval), ratio_verdict_name[ratio->verdict]);
}

/* Every parameter. */
static void print_parameters(const struct machine_pair *pair, FILE *out)
{
	for (size_t i = 0; i < pair->profile[0]->count; i++) {
		const struct parameter *row = &pair->profile[0]->row[i],
		                       *other = profile_find_row(pair->profile[1], row);
		if (!profile_row_usable(row) || !other || !profile_row_usable(other))
			continue;
		const struct ratio ratio = ratio_of_rows(row, other);
		char *name = profile_row_name(row);
		print_row(name, 1, row, other, &ratio, out);
		free(name);
	}
}

static double change(const struct family_ratio *f)
{
	return fabs(log(f->ratio.value));
}

static int by_change(const void *a, const void *b)
{
	const double x = change(*(struct family_ratio *const *)a),
	             y = change(*(struct family_ratio *const *)b);

	return (x < y) - (x > y);
}

/* Those of a part of the machine that differ most, the hardware alone. */
static void print_part(const char *part, const struct family_ratio *family, size_t count, FILE *out)
{
	enum { MOST = 16 };
	const struct family_ratio **differs = xcalloc(count + 1, sizeof *differs);
	size_t found = 0, all = 0;

	for (size_t i = 0; i < count; i++) {
		const struct family_ratio *f = &family[i];
		const enum ratio_verdict v = f->ratio.verdict;
		if (strncmp(f->first->name, part, strlen(part)) != 0 ||
		        regime_is_timing(f->first->regime))
			continue;
		all++;
		if (v == RATIO_FASTER || v == RATIO_SLOWER || v == RATIO_MORE || v == RATIO_LESS)
			differs[found++] = f;
	}
	qsort(differs, found, sizeof *differs, by_change);
	if (all)
		fprintf(out, "\n  %.*s: %zu of %zu families of parameters differ%s\n",
		        (int)strlen(part) - 1, part, found, all,
		        found > MOST ? ", most of all:" : "");
	for (size_t i = 0; i < found && i < MOST; i++)
		print_row(differs[i]->first->name, differs[i]->count, differs[i]->first,
		        differs[i]->second, &differs[i]->ratio, out);
	free(differs);
}

/* ---- the judgement ---- */

/* Whether it is slower by more than the tolerance, which is then said. */
static bool is_fault(const struct machine_pair *pair, const char *name, const struct ratio *ratio,
        const char *unit, size_t faults, FILE *out)
{
	const double slowdown = ratio_slowdown(ratio->value, unit);

	if (ratio->verdict != RATIO_SLOWER || !(slowdown > 1 + pair->tolerance))
		return false;
	if (out && faults == 0)
		fprintf(out, "\nB is slower than A by more than %.3g %%; times as much time:\n",
		        100 * pair->tolerance);
	if (out)
		fprintf(out, "  %-38s %.3g\n", name, slowdown);
	return true;
}

static bool judge(const struct machine_pair *pair, const struct operation_pair *operation,
        size_t operations, const struct family_ratio *family, size_t families, FILE *out)
{
	size_t faults = 0;

	if (!is_judged(pair)) {
		if (out)
			fprintf(out,
			        "\nGPU or processor is another: what is slower is no fault.\n");
		return true;
	}
	for (size_t i = 0; i < operations; i++)
		faults += is_fault(pair, operation[i].name, &operation[i].ratio, "s", faults, out);
	for (size_t i = 0; i < families; i++) {
		const struct parameter *row = family[i].first;
		faults += is_fault(pair, row->name, &family[i].ratio, row->unit, faults, out);
	}
	if (out && !faults)
		fprintf(out, "\nB is nowhere slower than A by more than %.3g %%.\n",
		        100 * pair->tolerance);
	return faults == 0;
}

bool compare_machines(struct machine_pair *pair, bool json, bool verbose)
{
	struct operation_pair *operation = xcalloc(OPERATIONS, sizeof *operation);
	size_t families;

	for (int i = 0; i < 2; i++)
		prepare(pair->profile[i]);
	const size_t operations = ask_operations(pair, operation);
	struct family_ratio *family = profile_ratios(pair->profile[0], pair->profile[1], &families);
	FILE *out = json ? NULL : wrap_open();
	if (!json) {
		print_machines(pair, out);
		print_operations(operation, operations, out);
		fprintf(out, "\nParameters, ratios B / A with interval (of families: the median, "
		             "from least to most)\n");
		fprintf(out, ROW_FORMAT, "parameter", "A", "B", "ratio", "95 % interval", "B is");
		if (verbose)
			print_parameters(pair, out);
		else
			for (int p = 0; p < 3; p++)
				print_part((const char *const[]){"gpu.", "link.", "host."}[p],
				        family, families, out);
	}
	const bool good = judge(pair, operation, operations, family, families, out);
	if (json)
		print_json(pair, operation, operations, good);
	else
		wrap_close(out, stdout);
	free(family);
	free(operation);
	return good;
}
