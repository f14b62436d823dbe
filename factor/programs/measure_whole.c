/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/papers/lawn_errors.h"
#include "factor/validation/products.h"
#include "factor/validation/timing_panel.h"
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
	char piece[24] = "0";
	struct whole whole = {.uplo = result_has_value(row, "uplo", "u") ? UPPER : LOWER,
	        .from_host = result_has(row, "from"),
	        .math = row->math,
	        .column_major = result_has_value(row, "without", "rows")};

	operation_find(results_factorization(row->operation), &whole.operation);
	results_option(row->options, "piece", piece, sizeof piece);
	whole.piece = atoll(piece);
	return whole;
}

static enum vendor_algorithm algorithm_of(const struct result *row)
{
	for (int a = 0; a < VENDOR_ALGORITHMS; a++)
		if (result_has_value(row, "alg", vendor_algorithm_name[a]))
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
	bool ok = results_is_error(row) ? timing_whole_errors(executor, &whole, lawn_errors_fill,
	                                          of_kind ? kind : NULL, row->precision, row->n,
	                                          &measure->plan, candidate, count, &fault)
	                                : timing_whole(executor, &whole, row->precision, row->m,
	                                          row->n, &measure->plan, candidate, count, &fault);
	free(entries);
	return measure_add_all(measure, row, candidate, count, ok, &fault, out);
}

/* ---- panels of LU ---- */

static struct candidate panel_contender(struct executor *executor, const struct result *row)
{
	char phase[16];
	unsigned skip = 0;

	if (strcmp(row->operation, "ger") == 0)
		return candidate_ger(executor);
	if (results_option(row->options, "phase", phase, sizeof phase))
		for (unsigned p = 0; p < PHASE_COUNT; p++)
			if (strcmp(phase_name[p], phase) != 0)
				skip |= 1u << p;
	return candidate_panel(executor, row->variant, skip);
}

bool measure_panel(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct vendor_entry vendor = {measure->vendor, GETRF, LOWER, VENDOR_PLAIN};
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++) {
		candidate[i] = strcmp(row[i].variant, "cusolver") == 0
		                       ? candidate_vendor(&vendor)
		                       : panel_contender(executor, &row[i]);
		snprintf(row[i].plan, sizeof row[i].plan, "nb=%" PRId64 " lda=%" PRId64, row->n,
		        measure->plan.ld);
	}
	measure->plan.seed += 1000;
	bool timed = timing_panel(
	        executor, row->precision, row->m, row->n, &measure->plan, candidate, count, &fault);
	return measure_add_all(measure, row, candidate, count, timed, &fault, out);
}

/* ---- products ---- */

bool measure_product(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct product product[MEASURE_CANDIDATES] = {0};
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		product[i] = product_of(&row[i]);
	measure->plan.seed += 1000;
	bool timed = timing_products(executor, product, &measure->plan, candidate, count, &fault);
	return measure_add_all(measure, row, candidate, count, timed, &fault, out);
}
