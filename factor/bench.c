/* SPDX-License-Identifier: MIT */
#include "bench.h"

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

static void print_header(const char *const *variant, FILE *out)
{
	fprintf(out, "%8s %5s", "m", "n");
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
		fprintf(out, " %11.1f us", seconds_of(results, shape, *v) * 1e6);
	for (const char *const *v = variant + 1; *v; v++)
		fprintf(out, " %*.2f", (int)(13 + strlen(variant[0])),
		        seconds_of(results, shape, *v) / first);
	fputc('\n', out);
}

void bench_print(const struct results *results, FILE *out)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		const char *const *variant = bench_variants(row->executor);
		if (i == 0)
			print_header(variant, out);
		if (strcmp(row->variant, variant[0]) == 0)
			print_shape(results, row, variant, out);
	}
}
