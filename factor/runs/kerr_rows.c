/* SPDX-License-Identifier: MIT */
#include "kerr_rows.h"

#include "../../lib/msg.h"
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

static void write_row(struct table *table, const struct kerr_row *row)
{
	size_t i = table_add_row(table);

	table_set_text(table, i, "variant", row->variant);
	table_set_text(table, i, "phase", row->phase);
	table_set_int(table, i, "m", row->m);
	table_set_int(table, i, "n", row->n);
	table_set_int(table, i, "r", row->r);
	table_set_int(table, i, "threads", row->threads);
	table_set_real(table, i, "flops", row->flops);
	table_set_real(table, i, "seconds", row->seconds.value);
	table_set_real(table, i, "low", row->seconds.low);
	table_set_real(table, i, "high", row->seconds.high);
	table_set_int(table, i, "repeats", (int64_t)row->seconds.samples);
	table_set_real(table, i, "gflops", row->flops / row->seconds.value * 1e-9);
	table_set_real(table, i, "predicted", row->predicted);
	table_set_real(table, i, "residual", row->residual);
	table_set_real(table, i, "orthogonality", row->orthogonality);
	table_set_real(table, i, "triangularity", row->triangularity);
	table_set_real(table, i, "limit", row->limit);
	table_set_text(table, i, "note", row->note[0] ? row->note : "nan");
}

bool kerr_rows_write(const struct kerr_rows *rows, const char *path, struct fault *fault)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	table_meta_add(table, rows->table);
	for (size_t i = 0; i < rows->count; i++)
		write_row(table, &rows->row[i]);
	bool ok = table_write(table, path, fault);
	table_free(table);
	return ok;
}

static void read_text(char *to, size_t size, const struct table *t, size_t i, const char *column)
{
	const char *text = table_text(t, i, column);

	snprintf(to, size, "%s", strcmp(text, "nan") == 0 ? "" : text);
}

static struct kerr_row read_row(const struct table *t, size_t i)
{
	struct kerr_row row = {.m = (int64_t)table_real(t, i, "m"),
	        .n = (int64_t)table_real(t, i, "n"),
	        .r = (int64_t)table_real(t, i, "r"),
	        .threads = (int64_t)table_real(t, i, "threads"),
	        .flops = table_real(t, i, "flops"),
	        .seconds = {table_real(t, i, "seconds"), table_real(t, i, "low"),
	                table_real(t, i, "high"), (size_t)table_real(t, i, "repeats")},
	        .predicted = table_real(t, i, "predicted"),
	        .residual = table_real(t, i, "residual"),
	        .orthogonality = table_real(t, i, "orthogonality"),
	        .triangularity = table_real(t, i, "triangularity"),
	        .limit = table_real(t, i, "limit")};

	read_text(row.variant, sizeof row.variant, t, i, "variant");
	read_text(row.phase, sizeof row.phase, t, i, "phase");
	read_text(row.note, sizeof row.note, t, i, "note");
	return row;
}

/* What is counted with is a whole number from 0 on. */
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
	struct kerr_rows *rows = kerr_rows_new();
	struct table *table = table_read(path, fault);
	bool ok = table != NULL;

	for (size_t c = 0; ok && c < ARRAY_LEN(columns); c++)
		if (table_column(table, columns[c]) < 0)
			ok = fault_set(fault, "%s has no column '%s'", path, columns[c]);
	for (size_t i = 0; ok && i < table->row_count; i++) {
		struct kerr_row row = read_row(table, i);
		if (!readable(table, i) || kerr_rows_find(rows, &row))
			ok = fault_set(fault,
			        "%s, row %zu: a count or a time that cannot be, or a "
			        "row for the second time",
			        path, i + 1);
		kerr_rows_add(rows, &row);
	}
	if (ok) {
		table_free(rows->table);
		rows->table = table;
		return rows;
	}
	table_free(table);
	kerr_rows_free(rows);
	return NULL;
}

/* ---- the table ---- */

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

static void print_pair(const struct kerr_row *row, FILE *out)
{
	if (row)
		fprintf(out, " %9.3f %9.3f", row->predicted * 1e3, row->seconds.value * 1e3);
	else
		fprintf(out, " %9s %9s", "-", "-");
}

/* Table 2 with the paper's width: predicted and measured milliseconds. */
static void print_phases(const struct kerr_rows *rows, const char *variant, FILE *out)
{
	fprintf(out, "\n%s, r = %d: ms predicted and measured\n%6s %6s", variant, KERR_TABLE_R, "m",
	        "n");
	for (int p = 0; p < KERR_PHASES; p++)
		fprintf(out, " %19s", kerr_phase_name[p]);
	fprintf(out, " %19s %9s %9s\n", "total", "Gflop/s", "error");
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *total = &rows->row[i];
		if (!is_total(total, variant) || total->r != KERR_TABLE_R)
			continue;
		fprintf(out, "%6" PRId64 " %6" PRId64, total->m, total->n);
		for (int p = 0; p < KERR_PHASES; p++)
			print_pair(find(rows, total, kerr_phase_name[p], total->r), out);
		print_pair(total, out);
		double worst =
		        fmax(total->residual, fmax(total->orthogonality, total->triangularity));
		fprintf(out, " %9.1f %9.2f\n", total->flops / total->seconds.value * 1e-9,
		        worst / total->limit);
	}
}

static const int64_t printed_widths[] = {16, 32, 64, 128};

static void print_widths(const struct kerr_rows *rows, const char *variant, FILE *out)
{
	fprintf(out, "\n%s: ms predicted and measured by r\n%6s %6s", variant, "m", "n");
	for (size_t w = 0; w < ARRAY_LEN(printed_widths); w++)
		fprintf(out, " %19" PRId64, printed_widths[w]);
	fputc('\n', out);
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *total = &rows->row[i];
		if (!is_total(total, variant) || total->r != KERR_TABLE_R)
			continue;
		fprintf(out, "%6" PRId64 " %6" PRId64, total->m, total->n);
		for (size_t w = 0; w < ARRAY_LEN(printed_widths); w++)
			print_pair(find(rows, total, "total", printed_widths[w]), out);
		fputc('\n', out);
	}
}

/* The fastest of ours there, NULL when there is none. */
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
		if (strcmp(row->phase, "gemv") == 0)
			fprintf(out, "%6" PRId64 " %-12s %12.3f %12.3f %9.1f\n", row->m,
			        row->variant, row->predicted * 1e6, row->seconds.value * 1e6,
			        row->flops / row->seconds.value * 1e-9);
	}
}

static void print_host(const struct kerr_rows *rows, FILE *out)
{
	fprintf(out, "\nLAPACKE geqrf and ormqr\n%6s %6s %8s %12s %9s %12s\n", "m", "n", "threads",
	        "ms", "Gflop/s", "ahead faster");
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		const struct kerr_row *ours = best(rows, row->m);
		if (is_total(row, "lapack"))
			fprintf(out, "%6" PRId64 " %6" PRId64 " %8" PRId64 " %12.3f %9.1f %12.1f\n",
			        row->m, row->n, row->threads, row->seconds.value * 1e3,
			        row->flops / row->seconds.value * 1e-9,
			        ours ? row->seconds.value / ours->seconds.value : NAN);
	}
}

void kerr_rows_print(const struct kerr_rows *rows, FILE *out)
{
	for (int v = 0; v < KERR_VARIANTS; v++) {
		if (v != KERR_AHEAD)
			print_phases(rows, kerr_variant_name[v], out);
		print_widths(rows, kerr_variant_name[v], out);
	}
	print_gemv(rows, out);
	print_host(rows, out);
}
