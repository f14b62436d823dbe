/* SPDX-License-Identifier: MIT */
#include "gram_kernels.h"

#include <inttypes.h>
#include <string.h>

static bool is_measured(const struct result *row)
{
	return results_is_gram_kernel(row) && strcmp(row->executor, "model") != 0 &&
	       row->seconds.value > 0;
}

static bool same_kernel(const struct result *a, const struct result *b)
{
	return result_same_problem(a, b) && strcmp(a->variant, b->variant) == 0 && a->k == b->k;
}

static bool is_fastest(const struct results *results, const struct result *row)
{
	for (size_t i = 0; i < results->count; i++)
		if (is_measured(&results->row[i]) && same_kernel(&results->row[i], row) &&
		        results->row[i].seconds.value < row->seconds.value)
			return false;
	return is_measured(row);
}

void gram_kernels_print(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (!is_fastest(results, row))
			continue;
		if (!any)
			fprintf(out,
			        "\nGram-Schmidt's kernels, by the fastest blocks of threads\n");
		any = true;
		const struct gram_kernel kernel = gram_kernel_of(row);
		fprintf(out,
		        "%-11s %-8s %6" PRId64 " %6" PRId64 " %3" PRId64
		        " %-20s %10.2f us %7.0f GB/s\n",
		        row->operation, row->variant, row->m, row->n, row->k, row->options,
		        row->seconds.value * 1e6,
		        gram_kernel_bytes(&kernel) / row->seconds.value * 1e-9);
	}
}
