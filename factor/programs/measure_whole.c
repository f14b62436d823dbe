/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/kind_errors.h"
#include "factor/validation/timing_whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contexts of the candidates of one shape. */
struct entries {
	struct whole_entry ours[MEASURE_CANDIDATES];
	struct vendor_entry vendor[MEASURE_CANDIDATES];
};

static struct whole whole_of(const struct result *row)
{
	char value[8];
	struct whole whole = {.uplo = LOWER};

	operation_find(results_factorization(row->operation), &whole.operation);
	if (results_option(row->options, "uplo", value, sizeof value) && value[0] == 'u')
		whole.uplo = UPPER;
	whole.from_host = results_option(row->options, "from", value, sizeof value);
	if (results_option(row->options, "piece", value, sizeof value))
		whole.piece = atoll(value);
	whole.math = row->math;
	whole.column_major = results_option(row->options, "without", value, sizeof value) &&
	                   strcmp(value, "rows") == 0;
	return whole;
}

static enum vendor_algorithm algorithm_of(const struct result *row)
{
	char name[8];

	if (results_option(row->options, "alg", name, sizeof name))
		for (int a = 0; a < VENDOR_ALGORITHMS; a++)
			if (strcmp(name, vendor_algorithm_name[a]) == 0)
				return (enum vendor_algorithm)a;
	return VENDOR_PLAIN;
}

static struct candidate candidate_for(struct measure *measure, struct executor *executor,
        const struct result *row, struct whole_entry *ours, struct vendor_entry *vendor)
{
	struct whole whole = whole_of(row);

	if (strcmp(row->variant, "cusolver") == 0) {
		*vendor = (struct vendor_entry){
		        measure->vendor, whole.operation, whole.uplo, algorithm_of(row)};
		return candidate_vendor(vendor);
	}
	ours->executor = executor;
	ours->whole = whole;
	if (strcmp(row->variant, "openblas") == 0)
		return candidate_lapacke(ours);
	whole_plan_parse(row->plan, strcmp(row->variant, "hybrid") == 0, row->nb, &ours->plan);
	return candidate_whole(ours, row->variant);
}

bool measure_whole(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct entries *entries = xcalloc(1, sizeof *entries);
	struct whole whole = whole_of(row);
	char kind[KIND_ERRORS_NAME];
	const bool of_kind = kind_errors_of(row, kind);
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		candidate[i] = candidate_for(
		        measure, executor, &row[i], &entries->ours[i], &entries->vendor[i]);
	measure->plan.seed += 1000;
	bool ok = results_is_error(row) ? timing_whole_errors(executor, &whole,
	                                          of_kind ? kind : NULL, row->precision, row->n,
	                                          &measure->plan, candidate, count, &fault)
	                                : timing_whole(executor, &whole, row->precision, row->m,
	                                          row->n, &measure->plan, candidate, count, &fault);
	free(entries);
	return measure_add_all(measure, row, candidate, count, ok, &fault, out);
}
