/* SPDX-License-Identifier: MIT */
#include "kind_errors.h"

#include "lib/base/msg.h"
#include "factor/validation/papers/lawn_errors.h"
#include "matrices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char condition[] = "condition-";

const char *const kind_errors_name[KIND_ERRORS] = {
        "random", "graded-rows", "graded-columns", "ties", "condition-2", "condition-1e6"};

bool kind_errors_of(const struct result *row, char kind[KIND_ERRORS_NAME])
{
	return results_option(row->options, "kind", kind, KIND_ERRORS_NAME);
}

static bool upload_conditioned(struct executor *e, double wanted, struct matrix a, uint64_t seed)
{
	const size_t count = (size_t)(a.m * a.n);
	double *x = xmalloc(count * sizeof *x);
	float *single = xmalloc(count * sizeof *single);

	matrix_fill_conditioned(x, a.m, a.n, wanted, seed);
	for (size_t i = 0; i < count; i++)
		single[i] = (float)x[i];
	bool ok = e->ops->upload(e, a.precision == SINGLE ? (void *)single : x, a.m, a);
	free(single);
	free(x);
	return ok;
}

bool kind_errors_fill(struct executor *e, const char *kind, struct matrix a, uint64_t seed)
{
	if (strncmp(kind, condition, strlen(condition)) == 0)
		return upload_conditioned(e, atof(kind + strlen(condition)), a, seed);
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

/* ---- the table ---- */

enum { OURS = 3, WAYS = 5 };
static const struct way {
	const char *name, *variant;
	enum math math;
} ways[WAYS] = {{"fp32", "gpu", MATH_FP32}, {"3xtf32", "gpu", MATH_3XTF32},
        {"3xfp16", "gpu", MATH_3XFP16}, {"cusolver", "cusolver", MATH_FP32},
        {"openblas", "openblas", MATH_FP32}};

static void print_line(
        const struct results *results, const struct result *row, const char *kind, FILE *out)
{
	double error[WAYS];

	fprintf(out, "%-11s   %7" PRId64 " %-15s", row->operation, row->n, kind);
	for (int w = 0; w < WAYS; w++)
		fprintf(out, " %9.4g",
		        error[w] = errors_of_line(results, row, ways[w].variant, ways[w].math));
	const double other = isnan(error[OURS]) ? error[OURS + 1] : error[OURS];
	for (int w = 0; w < OURS; w++)
		fprintf(out, " %9.2f", error[w] / other);
	fputc('\n', out);
}

static void print_header(FILE *out)
{
	fprintf(out,
	        "\nBackward errors by kind of matrix, in eps norm(A), and ours over the other's\n"
	        "%-11s   %7s %-15s",
	        "", "n", "kind");
	for (int w = 0; w < WAYS + OURS; w++)
		fprintf(out, " %9s", ways[w % WAYS].name);
	fputc('\n', out);
}

void kind_errors_print(const struct results *results, FILE *out)
{
	char kind[KIND_ERRORS_NAME];
	size_t lines = 0;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (!errors_first_of_line(results, i) || !kind_errors_of(row, kind))
			continue;
		if (lines++ == 0)
			print_header(out);
		print_line(results, row, kind, out);
	}
}
