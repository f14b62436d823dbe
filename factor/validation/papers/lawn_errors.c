/* SPDX-License-Identifier: MIT */
#include "lawn_errors.h"

#include "lib/base/msg.h"
#include "factor/validation/check_whole.h"
#include "factor/validation/matrices.h"

#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrices ---- */

static const double shift = 0.001;
static const char condition[] = "condition-";

const char *const kind_errors_name[KIND_ERRORS] = {
        "random", "graded-rows", "graded-columns", "ties", "condition-2", "condition-1e6"};

bool kind_errors_of(const struct result *row, char kind[KIND_ERRORS_NAME])
{
	return results_option(row->options, "kind", kind, KIND_ERRORS_NAME);
}

bool kind_errors_fill(struct executor *e, const char *kind, struct matrix a, uint64_t seed)
{
	if (strncmp(kind, condition, strlen(condition)) == 0)
		return matrix_upload_conditioned(e, a, atof(kind + strlen(condition)), seed);
	for (int k = 0; k < MATRIX_KINDS; k++) {
		if (strcmp(kind, matrix_kind_name[k]) != 0)
			continue;
		void *x = xmalloc((size_t)(a.m * a.n * precision_bytes(a.precision)));
		matrix_fill(x, a.m, a.m, a.n, a.precision, (enum matrix_kind)k, seed);
		bool ok = e->ops->upload(e, x, a.m, a);
		free(x);
		return ok;
	}
	return fault_set(&e->fault, "no kind of matrix is called '%s'", kind);
}

bool lawn_fill(struct executor *e, const struct whole *whole, struct matrix a, uint64_t seed)
{
	const int64_t n = a.n;

	if (whole->operation != POTRF)
		return whole_fill(e, whole, a, seed);
	double *x = xmalloc((size_t)(n * n) * sizeof *x),
	       *lower = xmalloc((size_t)(n * n) * sizeof *lower);
	matrix_fill(x, n, n, n, DOUBLE, MATRIX_RANDOM, seed);
	cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)n, (int)n, 1, x, (int)n, 0, lower,
	        (int)n);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			matrix_put(x, a.precision, i + j * n,
			        lower[i >= j ? i + j * n : j + i * n] + (i == j ? shift : 0));
	bool ok = e->ops->sync(e) && e->ops->upload(e, x, n, a);
	free(x);
	free(lower);
	return ok;
}

bool lawn_errors_fill(struct executor *e, const struct whole *whole, const char *kind,
        struct matrix a, uint64_t seed)
{
	return kind ? kind_errors_fill(e, kind, a, seed) : lawn_fill(e, whole, a, seed);
}

/* ---- tables: one line per factorization, size and kind ---- */

/* option: with, of LU with products by inverted triangles in place of solves; without, of LAWN
 * 202's own plan with solves; or NULL. */
struct way {
	const char *name, *variant;
	enum math math;
	const char *option;
};

static bool has_option(const struct result *row, const char *option, const struct way *way)
{
	return result_has(row, option) == (way->option && strcmp(way->option, option) == 0);
}

static bool same_line(const struct result *a, const struct result *b)
{
	return result_same_problem(a, b) && result_same_option(a, b, "kind");
}

static bool first_of_line(const struct results *results, size_t i)
{
	bool first = results_is_error(&results->row[i]);

	for (size_t j = 0; j < i && first; j++)
		first = !same_line(&results->row[i], &results->row[j]);
	return first;
}

/* NaN where the line has no such row. */
static double error_of(
        const struct results *results, const struct result *line, const struct way *way)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (same_line(row, line) && strcmp(row->variant, way->variant) == 0 &&
		        row->math == way->math && has_option(row, "with", way) &&
		        has_option(row, "without", way))
			return row->residual;
	}
	return NAN;
}

/* The errors of all ways, then `ratios` of the first ones over the other's: the last but one, or
 * the last. */
static void print_table(const struct results *results, bool by_kind, const char *heading,
        const struct way *way, int ways, int ratios, FILE *out)
{
	bool any = false;
	char kind[KIND_ERRORS_NAME];

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (!first_of_line(results, i) || kind_errors_of(row, kind) != by_kind)
			continue;
		if (!any) {
			fprintf(out, "\n%s\n%-11s   %7s", heading, "", "n");
			if (by_kind)
				fprintf(out, " %-15s", "kind");
			for (int w = 0; w < ways + ratios; w++)
				fprintf(out, " %9s", way[w % ways].name);
			fputc('\n', out);
		}
		any = true;
		fprintf(out, "%-11s %c %7" PRId64, row->operation,
		        by_kind ? ' ' : (char)row->precision, row->n);
		if (by_kind)
			fprintf(out, " %-15s", kind);
		for (int w = 0; w < ways; w++)
			fprintf(out, " %9.4g", error_of(results, row, &way[w]));
		const double vendor = error_of(results, row, &way[ways - 2]),
		             host = error_of(results, row, &way[ways - 1]);
		for (int w = 0; w < ratios; w++)
			fprintf(out, " %9.2f",
			        error_of(results, row, &way[w]) / (isnan(vendor) ? host : vendor));
		fputc('\n', out);
	}
}

void lawn_errors_print(const struct results *results, FILE *out)
{
	static const struct way ways[] = {{"gpu", "gpu", MATH_FP32, NULL},
	        {"inverse", "gpu", MATH_FP32, "with"}, {"hybrid", "hybrid", MATH_FP32, NULL},
	        {"inverse", "hybrid", MATH_FP32, "with"}, {"lawn", "lawn", MATH_FP32, NULL},
	        {"solves", "lawn", MATH_FP32, "without"}, {"3xtf32", "gpu", MATH_3XTF32, NULL},
	        {"3xfp16", "gpu", MATH_3XFP16, NULL}, {"cusolver", "cusolver", MATH_FP32, NULL},
	        {"openblas", "openblas", MATH_FP32, NULL}};

	print_table(results, false, "Backward errors as LAWN 202 measures them, in eps max|A|",
	        ways, ARRAY_LEN(ways), 0, out);
}

void kind_errors_print(const struct results *results, FILE *out)
{
	static const struct way ways[] = {{"fp32", "gpu", MATH_FP32, NULL},
	        {"3xtf32", "gpu", MATH_3XTF32, NULL}, {"3xfp16", "gpu", MATH_3XFP16, NULL},
	        {"cusolver", "cusolver", MATH_FP32, NULL},
	        {"openblas", "openblas", MATH_FP32, NULL}};

	print_table(results, true,
	        "Backward errors by kind of matrix, in eps norm(A), and ours over the other's",
	        ways, ARRAY_LEN(ways), 3, out);
}
