/* SPDX-License-Identifier: MIT */
/* Predictions and measurements: read, their plans parsed, and compared with themselves. */
#include "fuzz.h"

#include "factor/validation/errors.h"
#include "factor/validation/results.h"
#include "factor/validation/whole.h"

#include <stdlib.h>
#include <string.h>

static void use_rows(const struct results *results)
{
	static struct whole_plan plan;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		results_gflops(row);
		results_level(row);
		results_calls(row);
		whole_plan_parse(row->plan, whole_panels_on_host(row->variant), row->nb, &plan);
		fuzz_require(plan.plan.count >= 1 && plan.plan.count <= WHOLE_WIDTHS);
	}
}

static void compare(const struct results *results)
{
	static const struct errors_filter all = {.level = LEVEL_FULL};
	struct comparison *rows;
	const size_t count = errors_compare(results, results, &rows);

	errors_baseline_peak(rows, count, "cuda", 1e12);
	errors_baseline_interpolated(rows, count, results);
	errors_summary(rows, count, &all);
	errors_ranking(rows, count, &all);
	errors_regret(rows, count, &all);
	free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = {.text = ""};
	struct results *results = results_read(fuzz_file(data, size), &fault);

	fuzz_require(results || fault.text[0]);
	if (!results)
		return 0;
	use_rows(results);
	compare(results);
	results_free(results);
	return 0;
}
