/* SPDX-License-Identifier: MIT */
#include "kerr_rows.h"

#include "lib/base/msg.h"
#include "factor/validation/fields.h"
#include "factor/validation/print_number.h"
#include "kerr_protocol.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"variant", "phase", "m", "n", "r", "threads", "flops",
        "seconds", "low", "high", "repeats", "gflops", "predicted", "residual", "orthogonality",
        "triangularity", "limit", "note"};

struct kerr_rows *kerr_rows_new(void)
{
	struct kerr_rows *rows = xcalloc(1, sizeof *rows);

	rows->table = table_new(columns, ARRAY_LEN(columns));
	return rows;
}

void kerr_rows_free(struct kerr_rows *rows)
{
	if (!rows)
		return;
	table_free(rows->table);
	free(rows->row);
	free(rows);
}

void kerr_rows_add(struct kerr_rows *rows, const struct kerr_row *row)
{
	rows->row = xrealloc(rows->row, (rows->count + 1) * sizeof *rows->row);
	rows->row[rows->count++] = *row;
}

const struct kerr_row *kerr_rows_find(const struct kerr_rows *rows, const struct kerr_row *like)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		if (strcmp(row->variant, like->variant) == 0 &&
		        strcmp(row->phase, like->phase) == 0 && row->m == like->m &&
		        row->n == like->n && row->r == like->r && row->threads == like->threads)
			return row;
	}
	return NULL;
}

/* ---- the file ---- */

#define MEMBER(kind, column, member) FIELD(struct kerr_row, kind, column, member)

static const struct field fields[] = {MEMBER(FIELD_TEXT, "variant", variant),
        MEMBER(FIELD_TEXT, "phase", phase), MEMBER(FIELD_WHOLE, "m", m),
        MEMBER(FIELD_WHOLE, "n", n), MEMBER(FIELD_WHOLE, "r", r),
        MEMBER(FIELD_WHOLE, "threads", threads), MEMBER(FIELD_REAL, "flops", flops),
        MEMBER(FIELD_REAL, "seconds", seconds.value), MEMBER(FIELD_REAL, "low", seconds.low),
        MEMBER(FIELD_REAL, "high", seconds.high), MEMBER(FIELD_COUNT, "repeats", seconds.samples),
        MEMBER(FIELD_REAL, "predicted", predicted), MEMBER(FIELD_REAL, "residual", residual),
        MEMBER(FIELD_REAL, "orthogonality", orthogonality),
        MEMBER(FIELD_REAL, "triangularity", triangularity), MEMBER(FIELD_REAL, "limit", limit),
        MEMBER(FIELD_TEXT, "note", note)};

bool kerr_rows_write(const struct kerr_rows *rows, const char *path, struct fault *fault)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	table_meta_add(table, rows->table);
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		size_t r = table_add_row(table);
		fields_write(table, r, fields, ARRAY_LEN(fields), row);
		table_set_real(table, r, "gflops", row->flops / row->seconds.value * 1e-9);
	}
	bool ok = table_write(table, path, fault);
	table_free(table);
	return ok;
}

/* Counts are whole numbers from 0 on. */
static bool readable(const struct table *t, size_t i)
{
	static const char *const counts[] = {"m", "n", "r", "threads", "repeats"};

	for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
		double x = table_real(t, i, counts[c]);
		if (!(x >= 0 && x < 0x1p53 && x == floor(x)))
			return false;
	}
	return !(table_real(t, i, "seconds") <= 0);
}

struct kerr_rows *kerr_rows_read(const char *path, struct fault *fault)
{
	struct table *table = fields_table_read(path, columns, ARRAY_LEN(columns), fault);
	struct kerr_rows *rows = xcalloc(1, sizeof *rows);
	bool ok = table != NULL;

	rows->table = table;
	for (size_t i = 0; ok && i < table->row_count; i++) {
		struct kerr_row row;
		if (!fields_read(table, i, fields, ARRAY_LEN(fields), &row) ||
		        !readable(table, i) || kerr_rows_find(rows, &row))
			ok = table_fault(table, i, fault,
			        "an impossible count, time or text, or a row for the second time");
		kerr_rows_add(rows, &row);
	}
	if (ok)
		return rows;
	kerr_rows_free(rows);
	return NULL;
}

/* ---- text ---- */

static const struct kerr_row *find(
        const struct kerr_rows *rows, const struct kerr_row *like, const char *phase, int64_t r)
{
	struct kerr_row key = *like;

	key.r = r;
	snprintf(key.phase, sizeof key.phase, "%s", phase);
	return kerr_rows_find(rows, &key);
}

/* The next row of that variant (NULL: any) and phase after `row` (NULL: the first one), or NULL. */
static const struct kerr_row *next(const struct kerr_rows *rows, const struct kerr_row *row,
        const char *variant, const char *phase)
{
	for (row = row ? row + 1 : rows->row; row < rows->row + rows->count; row++)
		if ((!variant || strcmp(row->variant, variant) == 0) &&
		        strcmp(row->phase, phase) == 0)
			return row;
	return NULL;
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

/* The width of blocks in the table of a variant's phases. */
static int64_t printed_r(const char *variant, const struct kerr_row *total)
{
	return strcmp(variant, kerr_variant_name[KERR_ONE]) == 0 ? total->n : KERR_TABLE_R;
}

enum { PAIRS = 3 }; /* columns of pairs that a line has room for */

/* The next total of a table of kerr_rows_print, with the beginning of its line; NULL: none. */
static const struct kerr_row *next_line(
        const struct kerr_rows *rows, const struct kerr_row *total, const char *variant, FILE *out)
{
	do
		total = next(rows, total, variant, "total");
	while (total && total->r != printed_r(variant, total));
	if (total)
		fprintf(out, "%6" PRId64 " %6" PRId64, total->m, total->n);
	return total;
}

/* Table 2 with the paper's width, or all columns: predicted and measured milliseconds. */
static void print_phases(const struct kerr_rows *rows, const char *variant, FILE *out)
{
	const struct kerr_row *total = NULL;

	if (strcmp(variant, kerr_variant_name[KERR_ONE]) == 0)
		fprintf(out, "\n%s, r = n: ms predicted and measured\n", variant);
	else
		fprintf(out, "\n%s, r = %d: ms predicted and measured\n", variant, KERR_TABLE_R);
	for (int first = 0; first < KERR_PHASES; first += PAIRS) {
		const int end = first + PAIRS < KERR_PHASES ? first + PAIRS : KERR_PHASES;
		fprintf(out, "%6s %6s", "m", "n");
		for (int p = first; p < end; p++)
			fprintf(out, " %19s", kerr_phase_name[p]);
		fputc('\n', out);
		while ((total = next_line(rows, total, variant, out))) {
			for (int p = first; p < end; p++)
				print_pair(find(rows, total, kerr_phase_name[p], total->r), out);
			fputc('\n', out);
		}
	}
	fprintf(out, "%6s %6s %19s %9s %6s %6s %6s\n", "m", "n", "total", "Gflop/s", "QR - A",
	        "Q'Q-I", "Q'A");
	while ((total = next_line(rows, total, variant, out))) {
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
	const struct kerr_row *total = NULL;

	fprintf(out, "\n%s: ms predicted and measured by r\n", variant);
	for (size_t first = 0; first < ARRAY_LEN(printed_widths); first += PAIRS) {
		const bool last = first + PAIRS >= ARRAY_LEN(printed_widths);
		const size_t end = last ? ARRAY_LEN(printed_widths) : first + PAIRS;
		fprintf(out, "%6s %6s", "m", "n");
		for (size_t w = first; w < end; w++)
			fprintf(out, " %19" PRId64, printed_widths[w]);
		if (last)
			fprintf(out, " %8s %9s", "model's", "regret");
		fputc('\n', out);
		while ((total = next_line(rows, total, variant, out))) {
			for (size_t w = first; w < end; w++)
				print_pair(find(rows, total, "total", printed_widths[w]), out);
			if (last)
				print_choice(rows, total, out);
			else
				fputc('\n', out);
		}
	}
}

/* Our fastest row of that size, or NULL. */
static const struct kerr_row *best(const struct kerr_rows *rows, int64_t m)
{
	const struct kerr_row *found = NULL, *row = NULL;

	while ((row = next(rows, row, kerr_variant_name[KERR_AHEAD], "total")))
		if (row->m == m && row->seconds.value > 0 &&
		        (!found || row->seconds.value < found->seconds.value))
			found = row;
	return found;
}

static void print_gemv(const struct kerr_rows *rows, FILE *out)
{
	const struct kerr_row *row = NULL;

	if (next(rows, NULL, NULL, "gemv"))
		fprintf(out, "\nA x, and A'x (t), A m x m\n%6s %-13s %12s %12s %9s\n", "m", "",
		        "us predicted", "us measured", "Gflop/s");
	while ((row = next(rows, row, NULL, "gemv"))) {
		fprintf(out, "%6" PRId64 " %-13s", row->m, row->variant);
		print_number(row->predicted * 1e6, 12, 3, out);
		print_number(row->seconds.value * 1e6, 12, 3, out);
		fprintf(out, " %9.1f\n", rate(row));
	}
}

static void print_balance(const struct kerr_rows *rows, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		if (strcmp(row->variant, "balance") != 0)
			continue;
		if (!any)
			fprintf(out,
			        "\nSome columns of A on the host: ms predicted and measured\n%6s "
			        "%6s %8s %19s\n",
			        "m", "n", "columns", "total");
		any = true;
		fprintf(out, "%6" PRId64 " %6" PRId64 " %8s", row->m, row->n,
		        row->phase + strlen("share_"));
		print_pair(row, out);
		fputc('\n', out);
	}
}

static void print_reference(
        const struct kerr_rows *rows, const char *variant, const char *calls, FILE *out)
{
	const struct kerr_row *row = NULL;

	if (next(rows, NULL, variant, "total"))
		fprintf(out, "\n%s, and the speedup of ahead over it\n%6s %6s %8s %12s %9s %12s\n",
		        calls, "m", "n", "threads", "ms", "Gflop/s", "speedup");
	while ((row = next(rows, row, variant, "total"))) {
		const struct kerr_row *ours = best(rows, row->m);
		fprintf(out, "%6" PRId64 " %6" PRId64 " %8" PRId64 " %12.3f %9.1f %12.1f\n", row->m,
		        row->n, row->threads, row->seconds.value * 1e3, rate(row),
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
		if (!next(rows, NULL, kerr_variant_name[v], "total"))
			continue;
		if (v != KERR_AHEAD)
			print_phases(rows, kerr_variant_name[v], out);
		if (v != KERR_ONE)
			print_widths(rows, kerr_variant_name[v], out);
		print_errors(rows, kerr_variant_name[v], false, out);
		print_errors(rows, kerr_variant_name[v], true, out);
	}
	print_balance(rows, out);
	print_gemv(rows, out);
	print_reference(rows, "cusolver", "cuSOLVER geqrf and orgqr", out);
	print_reference(rows, "lapack", "LAPACKE geqrf and ormqr", out);
}
