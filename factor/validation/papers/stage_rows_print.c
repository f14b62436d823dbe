/* SPDX-License-Identifier: MIT */
#include "stage_rows.h"

#include "factor/validation/print_number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Seconds of the fastest row of a problem with this value of plan, NULL: one width, whose number
 * goes to nb; NaN: none. */
static double fastest(const struct results *results, const struct result *problem, const char *plan,
        bool sums, int64_t *nb)
{
	double least = NAN;

	for (const struct result *row = results->row; row < results->row + results->count; row++) {
		if (!result_same_problem(row, problem) ||
		        strcmp(row->executor, problem->executor) != 0 ||
		        (strcmp(row->variant, STAGES_VARIANT) == 0) != sums ||
		        (plan ? !result_has_value(row, "plan", plan) : result_has(row, "plan")) ||
		        !(row->seconds.value > 0) || row->seconds.value >= least)
			continue;
		least = row->seconds.value;
		*nb = row->nb;
	}
	return least;
}

static void print_line(const struct results *results, const struct result *sequence, FILE *out)
{
	int64_t nb = 0, unused;
	const double sum = fastest(results, sequence, "stages", true, &unused),
	             one = fastest(results, sequence, NULL, false, &nb),
	             model = fastest(results, sequence, "model", false, &unused),
	             ours = sequence->seconds.value;

	fprintf(out, "%-6s %7" PRId64, sequence->executor, sequence->n);
	print_number(sum * 1e3, 10, 3, out);
	print_number(ours * 1e3, 10, 3, out);
	print_number(one * 1e3, 10, 3, out);
	fprintf(out, " %5" PRId64, nb);
	print_number(model * 1e3, 10, 3, out);
	print_number(100 * (one / ours - 1), 10, 1, out);
	print_number(100 * (model / ours - 1), 10, 1, out);
	fprintf(out, "  %s\n",
	        strstr(sequence->plan, "widths=") ? strstr(sequence->plan, "widths=")
	                                          : "one width");
}

void stage_rows_print(const struct results *results, FILE *out)
{
	bool any = false;

	for (const struct result *row = results->row; row < results->row + results->count; row++) {
		if (!results_is_widths(row) || !result_has_value(row, "plan", "stages") ||
		        strcmp(row->variant, STAGES_VARIANT) == 0)
			continue;
		if (!any)
			fprintf(out,
			        "\nQR by widths from measured stages, as in LAWN 202: "
			        "milliseconds, "
			        "and gain in percent\n%-6s %7s %10s %10s %10s %5s %10s %10s %10s\n",
			        "", "n", "stages' sum", "measured", "one width", "nb", "model's",
			        "over one", "over model");
		any = true;
		print_line(results, row, out);
	}
}
