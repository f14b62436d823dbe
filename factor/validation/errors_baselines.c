/* SPDX-License-Identifier: MIT */
/* Baselines beside the model: what a reader would estimate without one. */
#include "errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- nearest measured size ---- */

/* Between sizes; another block width is a little further. */
static double log_distance(const struct result *a, const struct result *b)
{
	return fabs(log((double)a->m / (double)b->m)) + fabs(log((double)a->n / (double)b->n)) +
	       (a->nb == b->nb ? 0 : 1e-9);
}

/* Leave one out: the measured rate of the nearest other size of the same family and level. */
static void scale_nearest(const struct comparison *rows, size_t count, struct comparison *row)
{
	const struct result *nearest = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct comparison *other = &rows[i];
		if (other == row || other->phase || !errors_counts(other) ||
		        other->level != row->level || strcmp(other->family, row->family) != 0 ||
		        strcmp(other->predicted->executor, row->predicted->executor) != 0)
			continue;
		if (other->measured->m == row->measured->m &&
		        other->measured->n == row->measured->n)
			continue;
		if (!nearest || log_distance(other->measured, row->measured) <
		                        log_distance(nearest, row->measured))
			nearest = other->measured;
	}
	if (nearest) {
		double rate = results_flops(nearest) / nearest->seconds.value;
		double scaled = results_flops(row->measured) / rate;
		row->scaled_error = errors_relative(scaled, row->measured->seconds.value);
	}
}

void errors_baseline_scaled(struct comparison *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!rows[i].phase && errors_counts(&rows[i]))
			scale_nearest(rows, count, &rows[i]);
}

/* ---- peak ---- */

/* Bound by memory traffic. */
static bool is_traffic(const struct result *row)
{
	return results_is_panel(row) || strcmp(row->operation, "gemv") == 0 ||
	       (strncmp(row->operation, "gram_", 5) == 0 &&
	               strcmp(row->operation, "gram_apply") != 0);
}

void errors_baseline_peak(
        struct comparison *rows, size_t count, const char *executor, double bandwidth)
{
	for (size_t i = 0; i < count; i++) {
		const struct result *measured = rows[i].measured;
		if (!errors_counts(&rows[i]) || !is_traffic(measured) ||
		        strcmp(measured->executor, executor) != 0)
			continue;
		bool reads = strcmp(measured->operation, "gemv") == 0 ||
		             strcmp(measured->operation, "gram_dots") == 0;
		double bytes = (reads ? 1 : 2) * (double)measured->m * (double)measured->n *
		               (double)precision_bytes(measured->precision);
		rows[i].peak_error = errors_relative(bytes / bandwidth, measured->seconds.value);
	}
}

void errors_baseline_rate(struct comparison *rows, size_t count, const char *executor,
        enum precision precision, double rate)
{
	for (size_t i = 0; i < count; i++) {
		const struct result *measured = rows[i].measured;
		if (errors_counts(&rows[i]) && !is_traffic(measured) &&
		        measured->precision == precision && measured->math == MATH_FP32 &&
		        strcmp(measured->executor, executor) == 0)
			rows[i].peak_error = errors_relative(
			        results_flops(measured) / rate, measured->seconds.value);
	}
}

/* ---- interpolation between benched powers of two ---- */

static bool is_power_of_two(int64_t n)
{
	return (n & (n - 1)) == 0;
}

/* A benched square of the same factorization, by any complete plan with panels in the same place.
 */
static bool is_anchor(const struct result *bench, const struct result *measured)
{
	return bench->m == bench->n && is_power_of_two(bench->n) && bench->seconds.value > 0 &&
	       bench->precision == measured->precision && bench->math == measured->math &&
	       strcmp(bench->operation, measured->operation) == 0 &&
	       strcmp(bench->variant, measured->variant) == 0 &&
	       strcmp(bench->executor, measured->executor) == 0 &&
	       result_same_option(bench, measured, "uplo") &&
	       result_same_option(bench, measured, "from") && !result_has(bench, "without");
}

/* Whether a is the better anchor on its side of n: nearer, or as near and faster. */
static bool is_better(const struct result *a, const struct result *b, int64_t n)
{
	if (!b)
		return true;
	return a->n == b->n ? a->seconds.value < b->seconds.value
	                    : llabs(a->n - n) < llabs(b->n - n);
}

static double interpolated(const struct results *bench, const struct result *measured)
{
	const int64_t n = measured->n;
	const struct result *below = NULL, *above = NULL;

	for (const struct result *r = bench->row; r < bench->row + bench->count; r++) {
		if (!is_anchor(r, measured))
			continue;
		if (r->n <= n && is_better(r, below, n))
			below = r;
		if (r->n >= n && is_better(r, above, n))
			above = r;
	}
	if (!below || !above)
		return NAN;
	const double t = above->n == below->n ? 0
	                                      : log((double)n / (double)below->n) /
	                                                log((double)above->n / (double)below->n);
	return below->seconds.value * pow(above->seconds.value / below->seconds.value, t);
}

void errors_baseline_interpolated(
        struct comparison *rows, size_t count, const struct results *bench)
{
	for (size_t i = 0; i < count; i++) {
		const struct result *measured = rows[i].measured;
		if (errors_counts(&rows[i]) && measured->m == measured->n &&
		        result_has_value(measured, "plan", "model"))
			rows[i].interpolated_error = errors_relative(
			        interpolated(bench, measured), measured->seconds.value);
	}
}
