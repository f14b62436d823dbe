/* SPDX-License-Identifier: MIT */
#include "lawn_errors.h"

#include "lib/base/msg.h"
#include "factor/validation/check_whole.h"
#include "factor/validation/kind_errors.h"
#include "factor/validation/matrices.h"

#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double shift = 0.001;

/* The lower triangle into both, the shift added. */
static void complete(const double *lower, int64_t n, enum precision precision, void *full)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++) {
			double x = lower[i >= j ? i + j * n : j + i * n] + (i == j ? shift : 0);
			if (precision == SINGLE)
				((float *)full)[i + j * n] = (float)x;
			else
				((double *)full)[i + j * n] = x;
		}
}

bool lawn_fill(struct executor *e, const struct whole *whole, struct matrix a, uint64_t seed)
{
	if (whole->operation != POTRF)
		return whole_fill(e, whole, a, seed);
	const size_t count = (size_t)(a.n * a.n);
	double *x = xmalloc(count * sizeof *x), *product = xmalloc(count * sizeof *product);

	matrix_fill(x, a.n, a.n, a.n, DOUBLE, MATRIX_RANDOM, seed);
	cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)a.n, (int)a.n, 1, x, (int)a.n, 0,
	        product, (int)a.n);
	complete(product, a.n, a.precision, x);
	bool ok = e->ops->sync(e) && e->ops->upload(e, x, a.n, a);
	free(x);
	free(product);
	return ok;
}

/* ---- the table ---- */

static const struct way {
	const char *name, *variant;
	enum math math;
} ways[] = {{"gpu", "gpu", MATH_FP32}, {"hybrid", "hybrid", MATH_FP32},
        {"3xtf32", "gpu", MATH_3XTF32}, {"3xfp16", "gpu", MATH_3XFP16},
        {"cusolver", "cusolver", MATH_FP32}, {"openblas", "openblas", MATH_FP32}};

/* "" of LAWN 202's own matrix. */
static void kind_of(const struct result *row, char kind[KIND_ERRORS_NAME])
{
	if (!kind_errors_of(row, kind))
		kind[0] = 0;
}

static bool same_line(const struct result *a, const struct result *b)
{
	char of_a[KIND_ERRORS_NAME], of_b[KIND_ERRORS_NAME];

	kind_of(a, of_a);
	kind_of(b, of_b);
	return strcmp(a->operation, b->operation) == 0 && a->precision == b->precision &&
	       a->n == b->n && strcmp(of_a, of_b) == 0;
}

bool errors_first_of_line(const struct results *results, size_t i)
{
	bool first = results_is_error(&results->row[i]);

	for (size_t j = 0; j < i && first; j++)
		first = !same_line(&results->row[i], &results->row[j]);
	return first;
}

double errors_of_line(const struct results *results, const struct result *line, const char *variant,
        enum math math)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (same_line(row, line) && strcmp(row->variant, variant) == 0 && row->math == math)
			return row->residual;
	}
	return NAN;
}

void lawn_errors_print(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		char kind[KIND_ERRORS_NAME];
		if (!errors_first_of_line(results, i) || kind_errors_of(row, kind))
			continue;
		if (!any) {
			fprintf(out,
			        "\nBackward errors as LAWN 202 measures them, in eps max|A|\n"
			        "%-11s   %7s",
			        "", "n");
			for (size_t w = 0; w < ARRAY_LEN(ways); w++)
				fprintf(out, " %9s", ways[w].name);
			fputc('\n', out);
		}
		any = true;
		fprintf(out, "%-11s %c %7" PRId64, row->operation, (char)row->precision, row->n);
		for (size_t w = 0; w < ARRAY_LEN(ways); w++)
			fprintf(out, " %9.4g",
			        errors_of_line(results, row, ways[w].variant, ways[w].math));
		fputc('\n', out);
	}
}
