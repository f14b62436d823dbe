/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include "factor/validation/papers/gram_kernels.h"
#include "factor/validation/papers/lawn_errors.h"
#include "factor/validation/papers/paper_operations.h"
#include "factor/validation/papers/stage_rows.h"
#include "factor/validation/print_number.h"
#include "factor/validation/vendor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const cuda_variants[] = {"persistent", "cusolver", "blas", "host", NULL};
static const char *const host_variants[] = {"host", "blas", NULL};

const char *const *bench_variants(const char *executor)
{
	return strcmp(executor, "cuda") == 0 ? cuda_variants : host_variants;
}

static double seconds_of(
        const struct results *results, const struct result *shape, const char *variant)
{
	struct result like = *shape;
	snprintf(like.variant, sizeof like.variant, "%s", variant);
	const struct result *found = results_find(results, &like);
	return found ? found->seconds.value : NAN;
}

/* Prints a heading once. */
static void head(bool *done, const char *heading, FILE *out)
{
	if (!*done)
		fprintf(out, "\n%s\n", heading);
	*done = true;
}

/* ---- panels ---- */

static void print_header(const char *const *variant, FILE *out)
{
	fprintf(out, "Microseconds of LU panels, and ratios to the first variant\n%8s %5s", "m",
	        "n");
	for (const char *const *v = variant; *v; v++)
		fprintf(out, " %14s", *v);
	for (const char *const *v = variant + 1; *v; v++)
		fprintf(out, " %12s/%s", *v, variant[0]);
	fputc('\n', out);
}

static void print_shape(const struct results *results, const struct result *shape,
        const char *const *variant, FILE *out)
{
	double first = seconds_of(results, shape, variant[0]);

	fprintf(out, "%8" PRId64 " %5" PRId64, shape->m, shape->n);
	for (const char *const *v = variant; *v; v++)
		print_number(seconds_of(results, shape, *v) * 1e6, 14, 1, out);
	for (const char *const *v = variant + 1; *v; v++)
		print_number(seconds_of(results, shape, *v) / first, (int)(13 + strlen(variant[0])),
		        2, out);
	fputc('\n', out);
}

static void print_panels(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		const char *const *variant = bench_variants(row->executor);
		if (strcmp(row->operation, "panel_getrf") != 0)
			continue;
		if (!any)
			print_header(variant, out);
		any = true;
		if (strcmp(row->variant, variant[0]) == 0)
			print_shape(results, row, variant, out);
	}
}

/* ---- whole factorizations ---- */

/* The fastest complete row of a variant, or NULL; from_host: the matrix starts in host memory. */
static const struct result *best_of(const struct results *results, const struct result *problem,
        const char *variant, bool from_host, enum math math)
{
	const struct result *best = NULL;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (result_same_problem(row, problem) && strcmp(row->variant, variant) == 0 &&
		        row->math == math && result_has(row, "from") == from_host &&
		        !result_has(row, "without") && row->seconds.value > 0 &&
		        (!best || row->seconds.value < best->seconds.value))
			best = row;
	}
	return best;
}

/* The block width of our rows, or the vendor's algorithm and triangle. */
static const char *way_of(const struct result *row, char *text, size_t size)
{
	char algorithm[8] = "", uplo[4] = "";

	snprintf(text, size, "-");
	if (!row)
		return text;
	results_option(row->options, "uplo", uplo, sizeof uplo);
	if (results_option(row->options, "alg", algorithm, sizeof algorithm))
		snprintf(text, size, "%s%s%s", algorithm, uplo[0] ? "," : "", uplo);
	else if (row->nb > 0)
		snprintf(text, size, "%" PRId64 "%s", row->nb, result_has(row, "plan") ? "*" : "");
	return text;
}

static void print_problem(const struct results *results, const struct result *problem, FILE *out)
{
	const struct result *gpu = best_of(results, problem, "gpu", false, MATH_FP32),
	                    *hybrid = best_of(results, problem, "hybrid", false, MATH_FP32),
	                    *vendor = best_of(results, problem, "cusolver", false, MATH_FP32),
	                    *emulated =
	                            best_of(results, problem, VENDOR_EMULATED, false, MATH_FP32),
	                    *host = best_of(results, problem, "openblas", false, MATH_FP32),
	                    *there = best_of(results, problem, "gpu", true, MATH_FP32),
	                    *tf32 = best_of(results, problem, "gpu", false, MATH_3XTF32),
	                    *half = best_of(results, problem, "gpu", false, MATH_3XFP16);
	const struct result *const rate[] = {
	        gpu, hybrid, vendor, emulated, host, there, tf32, half};
	static const int way_width[] = {5, 5, 8, 0, 0, 0, 5, 5};
	const double ours = fmax(results_gflops(gpu), results_gflops(hybrid)),
	             ratio[] = {
	                     results_gflops(gpu), ours, results_gflops(tf32), results_gflops(half)};
	char way[32];

	fprintf(out, "%-6s %c %7" PRId64 " %6" PRId64, problem->operation, (char)problem->precision,
	        problem->m, problem->n);
	for (size_t i = 0; i < ARRAY_LEN(rate); i++) {
		print_number(results_gflops(rate[i]), 9, 1, out);
		if (way_width[i])
			fprintf(out, " %-*s", way_width[i], way_of(rate[i], way, sizeof way));
	}
	for (size_t i = 0; i < ARRAY_LEN(ratio); i++)
		print_number(ratio[i] / results_gflops(vendor), 7, 2, out);
	fputc('\n', out);
}

static bool is_gram_schmidt(const struct result *row)
{
	return strcmp(row->operation, "gramschmidt") == 0;
}

static void print_problems(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		enum paper_op part;
		bool seen = results_is_panel(row) || paper_op_find(row->operation, &part) ||
		            is_gram_schmidt(row) || results_is_gram_kernel(row) ||
		            results_is_error(row) || results_is_stage(row) ||
		            results_is_widths(row);
		for (size_t j = 0; j < i && !seen; j++)
			seen = result_same_problem(row, &results->row[j]);
		if (seen)
			continue;
		if (!any)
			fprintf(out,
			        "\nGflop/s by block width (* first width of the model's plan) or "
			        "algorithm, and speedup over cuSOLVER's fastest algorithm\n%-8s "
			        "%7s %6s %15s %15s %18s %9s %9s %9s %15s %15s %7s %7s %7s %7s\n",
			        "", "m", "n", "gpu nb   ", "hybrid nb   ", "cusolver         ",
			        "emulated", "openblas", "from host", "3xtf32 nb   ", "3xfp16 nb   ",
			        "gpu/cu", "best/cu", "tf32/cu", "fp16/cu");
		any = true;
		print_problem(results, row, out);
	}
}

/* ---- LAWN 202's operations ---- */

/* A row of the model. */
static bool is_estimate(const struct result *row)
{
	return strcmp(row->executor, "model") == 0;
}

/* Bytes read and written by operations that only move words. */
static double moved_bytes(const struct result *row)
{
	const double m = (double)row->m, n = (double)row->n,
	             w = (double)precision_bytes(row->precision);

	if (strcmp(row->operation, "scopy") == 0)
		return 2 * m * w;
	return strcmp(row->operation, "laswp") == 0 ? 4 * (double)row->k * n * w : 2 * m * n * w;
}

static void print_part(const struct results *results, const struct result *row, FILE *out)
{
	const bool moves = isnan(results_flops(row));
	struct result like = *row;

	snprintf(like.executor, sizeof like.executor, "model");
	const struct result *model = results_find(results, &like);
	fprintf(out, "%-10s %7" PRId64 " %6" PRId64 " %6" PRId64 " %-8s %-32s %10.1f us %9.1f %-7s",
	        row->operation, row->m, row->n, row->k, row->variant, row->options,
	        row->seconds.value * 1e6,
	        (moves ? moved_bytes(row) : results_flops(row)) / row->seconds.value * 1e-9,
	        moves ? "GB/s" : "Gflop/s");
	if (model)
		fprintf(out, " estimated %.1f by %s", results_gflops(model), model->plan);
	fputc('\n', out);
}

static void print_parts(const struct results *results, FILE *out)
{
	bool any = false;
	enum paper_op part;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (!paper_op_find(row->operation, &part) || is_estimate(row))
			continue;
		head(&any, "Single operations: m, n, k", out);
		print_part(results, row, out);
	}
}

/* ---- Gram-Schmidt ---- */

/* The column "one pass" is the traffic of one pass per column over the time, for all forms. */
static void print_gram_schmidt(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (!is_gram_schmidt(row) || is_estimate(row))
			continue;
		if (!any)
			fprintf(out,
			        "\nGram-Schmidt; one pass: bytes of one pass per column over the "
			        "time\n%10s %7s %6s %-9s %5s %12s %10s %12s %10s %10s %9s %12s\n",
			        "", "m", "n", "form", "nb", "ms", "Gflop/s", "one pass", "/ blas",
			        "residual", "orthog.", "predicted ms");
		any = true;
		struct result plain = *row, model = *row;
		plain.nb = 0;
		results_option_add(model.options, "on", row->executor);
		snprintf(model.executor, sizeof model.executor, "model");
		const struct result *predicted = results_find(results, &model);
		double blas = seconds_of(results, &plain,
		        strcmp(row->executor, "cuda") == 0 ? "cublas" : "openblas");
		double bytes = (double)row->m * (double)row->n * (double)row->n *
		               (double)precision_bytes(row->precision);
		fprintf(out, "%8s %c %7" PRId64 " %6" PRId64 " %-9s %5" PRId64, row->executor,
		        (char)row->precision, row->m, row->n, row->variant, row->nb);
		print_number(row->seconds.value * 1e3, 12, 3, out);
		print_number(results_gflops(row), 10, 1, out);
		print_number(bytes / row->seconds.value * 1e-9, 7, 0, out);
		fprintf(out, " GB/s");
		print_number(blas / row->seconds.value, 10, 2, out);
		fprintf(out, " %10.3g %9.3g", row->residual, row->orthogonality);
		print_number(predicted ? predicted->seconds.value * 1e3 : NAN, 12, 3, out);
		fputc('\n', out);
	}
}

/* ---- LAWN 202's own plans ---- */

static void print_lawn(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (strcmp(row->variant, "lawn") != 0 || results_is_error(row) ||
		        result_has(row, "without") || result_has(row, "from"))
			continue;
		head(&any, "LAWN 202's own plans: Gflop/s in device memory and from host memory",
		        out);
		fprintf(out, "%-6s %c %7" PRId64 " nb %-5" PRId64, row->operation,
		        (char)row->precision, row->n, row->nb);
		print_number(results_gflops(row), 10, 1, out);
		print_number(
		        results_gflops(best_of(results, row, "lawn", true, MATH_FP32)), 10, 1, out);
		fprintf(out, "  %s\n", row->plan);
	}
}

/* ---- ablations ---- */

/* A plan without its sequence of widths may have another first width. */
static bool same_width(const struct result *without, const struct result *with)
{
	return without->nb == with->nb || result_has_value(without, "without", "widths");
}

/* The row of the complete plan, by block width and variant. */
static const struct result *complete(const struct results *results, const struct result *without)
{
	const struct result *best = NULL;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		size_t length = strlen(row->options);
		if (result_same_problem(row, without) && row->math == without->math &&
		        strcmp(row->variant, without->variant) == 0 && same_width(without, row) &&
		        row->seconds.value > 0 &&
		        strncmp(row->options, without->options, length) == 0 &&
		        strncmp(without->options + length, ",without=", 9) == 0)
			best = row;
	}
	return best;
}

static void print_without(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i], *whole = complete(results, row);
		char name[16];
		enum paper_op part;
		if (!whole || paper_op_find(row->operation, &part) ||
		        !results_option(row->options, "without", name, sizeof name))
			continue;
		head(&any, "Ablations: slowdown without one optimization", out);
		fprintf(out, "%-6s %c %7" PRId64 " %-7s nb %-5" PRId64 " without %-10s %5.2f\n",
		        row->operation, (char)row->precision, row->n, row->variant, row->nb, name,
		        row->seconds.value / whole->seconds.value);
	}
}

/* ---- Cholesky's triangles ---- */

static void print_triangles(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		struct result like = *row;
		char *upper = strstr(like.options, "uplo=u");
		if (!upper || row->nb <= 0)
			continue;
		upper[strlen("uplo=")] = 'l';
		const struct result *lower = results_find(results, &like);
		if (!lower)
			continue;
		head(&any, "Upper triangles: time over the lower triangle's", out);
		fprintf(out, "%-6s %c %7" PRId64 " %-7s nb %-5" PRId64 " %5.2f\n", row->operation,
		        (char)row->precision, row->n, row->variant, row->nb,
		        row->seconds.value / lower->seconds.value);
	}
}

void bench_print(const struct results *results, FILE *out)
{
	print_panels(results, out);
	print_parts(results, out);
	print_problems(results, out);
	print_lawn(results, out);
	print_without(results, out);
	print_triangles(results, out);
	lawn_errors_print(results, out);
	kind_errors_print(results, out);
	stage_rows_print(results, out);
	gram_kernels_print(results, out);
	print_gram_schmidt(results, out);
}
