/* SPDX-License-Identifier: MIT */
/* The table of `measure --kerr`. */
#include "kerr_rows.h"

#include "lib/base/msg.h"
#include "kerr_protocol.h"
#include "factor/validation/print_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct kerr_row *find(
        const struct kerr_rows *rows, const struct kerr_row *like, const char *phase, int64_t r)
{
	struct kerr_row key = *like;

	key.r = r;
	snprintf(key.phase, sizeof key.phase, "%s", phase);
	return kerr_rows_find(rows, &key);
}

static bool is_total(const struct kerr_row *row, const char *variant)
{
	return strcmp(row->variant, variant) == 0 && strcmp(row->phase, "total") == 0;
}

static bool has_rows(const struct kerr_rows *rows, const char *variant, const char *phase)
{
	bool any = false;

	for (size_t i = 0; i < rows->count; i++)
		any = any || ((!variant || strcmp(rows->row[i].variant, variant) == 0) &&
		                     strcmp(rows->row[i].phase, phase) == 0);
	return any;
}

static double rate(const struct kerr_row *row)
{
	return row->flops / row->seconds.value * 1e-9;
}

static void print_pair(const struct kerr_row *row, FILE *out)
{
	print_number((row ? row->predicted : NAN) * 1e3, 9, 3, out);
	print_number((row ? row->seconds.value : NAN) * 1e3, 9, 3, out);
}

/* Table 2 with the paper's width: predicted and measured milliseconds. */
static void print_phases(const struct kerr_rows *rows, const char *variant, FILE *out)
{
	fprintf(out, "\n%s, r = %d: ms predicted and measured\n%6s %6s", variant, KERR_TABLE_R, "m",
	        "n");
	for (int p = 0; p < KERR_PHASES; p++)
		fprintf(out, " %19s", kerr_phase_name[p]);
	fprintf(out, " %19s %9s %6s %6s %6s\n", "total", "Gflop/s", "QR - A", "Q'Q-I", "Q'A");
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *total = &rows->row[i];
		if (!is_total(total, variant) || total->r != KERR_TABLE_R)
			continue;
		fprintf(out, "%6" PRId64 " %6" PRId64, total->m, total->n);
		for (int p = 0; p < KERR_PHASES; p++)
			print_pair(find(rows, total, kerr_phase_name[p], total->r), out);
		print_pair(total, out);
		fprintf(out, " %9.1f %6.2f %6.2f %6.2f\n", rate(total),
		        total->residual / total->limit, total->orthogonality / total->limit,
		        total->triangularity / total->limit);
	}
}

static const int64_t printed_widths[] = {16, 32, 64, 128, 256};

/* The width that the model chooses, and how much slower it is than the fastest. */
static void print_choice(const struct kerr_rows *rows, const struct kerr_row *total, FILE *out)
{
	const struct kerr_row *chosen = NULL;
	double fastest = INFINITY;

	for (size_t w = 0; w < ARRAY_LEN(printed_widths); w++) {
		const struct kerr_row *row = find(rows, total, "total", printed_widths[w]);
		if (!row || !(row->seconds.value > 0))
			continue;
		fastest = fmin(fastest, row->seconds.value);
		if (row->predicted > 0 && (!chosen || row->predicted < chosen->predicted))
			chosen = row;
	}
	if (chosen)
		fprintf(out, " %8" PRId64 " %7.1f %%", chosen->r,
		        100 * (chosen->seconds.value / fastest - 1));
	fputc('\n', out);
}

static void print_widths(const struct kerr_rows *rows, const char *variant, FILE *out)
{
	fprintf(out, "\n%s: ms predicted and measured by r\n%6s %6s", variant, "m", "n");
	for (size_t w = 0; w < ARRAY_LEN(printed_widths); w++)
		fprintf(out, " %19" PRId64, printed_widths[w]);
	fprintf(out, " %8s %9s\n", "model's", "regret");
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *total = &rows->row[i];
		if (!is_total(total, variant) || total->r != KERR_TABLE_R)
			continue;
		fprintf(out, "%6" PRId64 " %6" PRId64, total->m, total->n);
		for (size_t w = 0; w < ARRAY_LEN(printed_widths); w++)
			print_pair(find(rows, total, "total", printed_widths[w]), out);
		print_choice(rows, total, out);
	}
}

/* Our fastest row of that size, or NULL. */
static const struct kerr_row *best(const struct kerr_rows *rows, int64_t m)
{
	const struct kerr_row *found = NULL;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		if (is_total(row, kerr_variant_name[KERR_AHEAD]) && row->m == m &&
		        row->seconds.value > 0 &&
		        (!found || row->seconds.value < found->seconds.value))
			found = row;
	}
	return found;
}

static void print_gemv(const struct kerr_rows *rows, FILE *out)
{
	fprintf(out, "\nA x, A m x m\n%6s %-12s %12s %12s %9s\n", "m", "", "us predicted",
	        "us measured", "Gflop/s");
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		if (strcmp(row->phase, "gemv") != 0)
			continue;
		fprintf(out, "%6" PRId64 " %-12s", row->m, row->variant);
		print_number(row->predicted * 1e6, 12, 3, out);
		print_number(row->seconds.value * 1e6, 12, 3, out);
		fprintf(out, " %9.1f\n", rate(row));
	}
}

static void print_host(const struct kerr_rows *rows, FILE *out)
{
	fprintf(out,
	        "\nLAPACKE geqrf and ormqr, and the speedup of ahead over it\n%6s %6s %8s %12s %9s "
	        "%12s\n",
	        "m", "n", "threads", "ms", "Gflop/s", "speedup");
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		const struct kerr_row *ours = best(rows, row->m);
		if (is_total(row, "lapack"))
			fprintf(out, "%6" PRId64 " %6" PRId64 " %8" PRId64 " %12.3f %9.1f %12.1f\n",
			        row->m, row->n, row->threads, row->seconds.value * 1e3, rate(row),
			        ours ? row->seconds.value / ours->seconds.value : NAN);
	}
}

/* Errors of the predictions of a variant's totals, or of its phases. */
static void print_errors(const struct kerr_rows *rows, const char *variant, bool totals, FILE *out)
{
	double *error = xmalloc((rows->count + 1) * sizeof *error);
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		bool of = strcmp(row->variant, variant) == 0 &&
		          (strcmp(row->phase, "total") == 0) == totals;
		if (of && row->predicted > 0 && row->seconds.value > 0)
			error[count++] = fabs(row->predicted / row->seconds.value - 1);
	}
	if (count)
		fprintf(out, "%s: %zu %s predicted, median |error| %.1f %%, worst %.1f %%\n",
		        variant, count, totals ? "totals" : "phases",
		        100 * stats_median(error, count), 100 * stats_quantile(error, count, 1));
	free(error);
}

void kerr_rows_print(const struct kerr_rows *rows, FILE *out)
{
	for (int v = 0; v < KERR_VARIANTS; v++) {
		if (!has_rows(rows, kerr_variant_name[v], "total"))
			continue;
		if (v != KERR_AHEAD)
			print_phases(rows, kerr_variant_name[v], out);
		print_widths(rows, kerr_variant_name[v], out);
		print_errors(rows, kerr_variant_name[v], false, out);
		print_errors(rows, kerr_variant_name[v], true, out);
	}
	if (has_rows(rows, NULL, "gemv"))
		print_gemv(rows, out);
	if (has_rows(rows, "lapack", "total"))
		print_host(rows, out);
}
