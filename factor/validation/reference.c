/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include "factor/kernels/lu/host_panel.h"
#include "factor/model/predictions/model_factor.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/kerr_cases.h"
#include "factor/validation/papers/gram_reference.h"
#include "whole.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char operation[] = "reference";
static const double least_change = 0.05;

/* A function of the profile, and the size of the case's calls. */
struct call {
	char name[24];
	double m, n; /* NaN: no such argument */
};

/* A panel on the host is as high as half of the panels of a whole matrix. */
static bool host_call(const struct result *c, struct call *call)
{
	const char *function = NULL;
	const double least = (double)(c->m < c->n ? c->m : c->n);

	*call = (struct call){.m = (double)c->m, .n = (double)c->n};
	if (results_is_lu_panel(c)) {
		const bool calls =
		        strcmp(c->executor, "host") == 0 && strcmp(c->variant, "host") != 0;
		function = strcmp(c->variant, "host") == 0 ? "getrf" : calls ? "ger" : NULL;
		call->n /= calls && strcmp(c->operation, "ger") != 0 ? 2 : 1;
	} else if (whole_panels_on_host(c->variant)) {
		function = results_factorization(c->operation);
		if (!results_is_panel(c)) {
			call->m -= least / 2;
			call->n = fmin(least, (double)c->nb);
		}
		if (strcmp(function, "potrf") == 0)
			call->m = NAN;
	}
	if (function)
		snprintf(call->name, sizeof call->name, "host.%s.%c", function, (char)c->precision);
	return function;
}

/* A sequence of calls on the GPU; single kernels are no such sequence. */
static bool launch_call(const struct result *c, struct call *call)
{
	*call = (struct call){.name = REFERENCE_LAUNCH, .m = NAN, .n = NAN};
	return strcmp(c->executor, "cuda") == 0 && strcmp(c->operation, "ger") != 0 &&
	       (results_is_panel(c) || results_is_gram(c) || results_is_kerr(c) ||
	               !isnan(model_factor_flops(c->operation, 1, 1)));
}

static double of_row(const struct parameter *row, const char *argument)
{
	return profile_row_argument(row, argument);
}

/* Panels of one thread and of all have rows of their own. */
static bool same_threads(const struct parameter *row, const struct call *call, enum precision p)
{
	const int64_t word = precision_bytes(p);

	return isnan(call->m) ||
	       host_panel_threads((int64_t)(of_row(row, "m") * of_row(row, "n")) * word, 2) ==
	               host_panel_threads((int64_t)(call->m * call->n) * word, 2);
}

static double distance(double x, double of)
{
	return isnan(of) ? 0 : fabs(log(x / of));
}

static const struct parameter *nearest(
        const struct profile *profile, const struct call *call, enum precision precision)
{
	static const double farthest = 3; /* logarithm: two steps of the profile in m */
	const struct parameter *found = NULL;
	double least = farthest;

	EACH_ROW (i, profile, call->name) {
		const struct parameter *row = &profile->row[i];
		const double d =
		        distance(of_row(row, "m"), call->m) + distance(of_row(row, "n"), call->n);
		if (!profile_row_usable(row) || !same_threads(row, call, precision) || !(d < least))
			continue;
		least = d;
		found = row;
	}
	return found;
}

int reference_n(const struct reference *reference)
{
	const double n = of_row(reference->of, "n");
	return isnan(n) ? 0 : (int)n;
}

int reference_m(const struct reference *reference)
{
	const double m = of_row(reference->of, "m");
	return isnan(m) ? reference_n(reference) : (int)m;
}

static void keep_option(struct result *row, const struct result *c, const char *key)
{
	char value[24];

	if (results_option(c->options, key, value, sizeof value))
		results_option_add(row->options, key, value);
}

static struct reference reference_to(const struct result *c, const struct parameter *of)
{
	struct reference r = {
	        .row = result_new(operation, of->name, c->executor, c->precision, c->m, c->n),
	        .moves = of->name,
	        .of = of};
	char size[24];

	results_option_add(
	        r.row.options, "of", results_is_lu_panel(c) ? "panel_getrf" : c->operation);
	snprintf(size, sizeof size, "%dx%d", reference_m(&r), reference_n(&r));
	if (reference_n(&r))
		results_option_add(r.row.options, "row", size);
	keep_option(&r.row, c, "lda");
	keep_option(&r.row, c, "seed");
	return r;
}

/* Gram-Schmidt on the host: all its passes move together. */
static bool gram_reference_of(
        const struct profile *profile, const struct result *of, struct reference *reference)
{
	const struct parameter *row = results_is_host_gram(of)
	                                      ? gram_reference_row(profile, gram_run_of(of).threads)
	                                      : NULL;

	if (!row)
		return false;
	*reference = reference_to(of, row);
	reference->moves = "host.gram.*";
	keep_option(&reference->row, of, "threads");
	return true;
}

size_t references_of(const struct profile *profile, const struct result *of,
        struct reference reference[REFERENCES])
{
	static bool (*const calls[REFERENCES])(const struct result *, struct call *) = {
	        host_call, launch_call};
	size_t count = 0;

	if (gram_reference_of(profile, of, reference))
		return 1;
	for (size_t i = 0; i < REFERENCES; i++) {
		struct call call;
		const struct parameter *row =
		        calls[i](of, &call) ? nearest(profile, &call, of->precision) : NULL;
		if (row)
			reference[count++] = reference_to(of, row);
	}
	return count;
}

bool reference_is(const struct result *row)
{
	return strcmp(row->operation, operation) == 0;
}

void reference_add(struct results *results, struct result row, const struct estimate *now)
{
	const struct result *found = results_find(results, &row);

	if (!found) {
		row.seconds = *now;
		results_add(results, &row);
		return;
	}
	struct estimate *all = &results->row[found - results->row].seconds;
	all->value = fmin(all->value, now->value);
	all->low = fmin(all->low, now->low);
	all->high = fmax(all->high, now->high);
	all->samples += now->samples;
}

double reference_ratio(const struct reference *reference, const struct results *measurements)
{
	const struct result *row = results_find(measurements, &reference->row);
	const struct estimate *then = &reference->of->estimate, *now = row ? &row->seconds : NULL;

	if (!now || !(now->low > then->high || now->high < then->low))
		return 1;
	const double ratio = now->value / then->value;
	return fabs(ratio - 1) > least_change ? ratio : 1;
}
