/* SPDX-License-Identifier: MIT */
/* Curve of the transfer probe -> link.*: time[bytes], and alpha, beta and n_half of t = alpha +
 * bytes/beta over all sizes of a direction and kind of memory. */
#include "lib/base/base.h"
#include "transfer.h"

#include "lib/probe/curve.h"
#include "lib/stats/fit.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct rule {
	const char *series, *name, *what;
	bool alpha, beta, time; /* which rows: n_half with alpha */
};

static const char pinned[] = "cudaMemcpyAsync + cudaStreamSynchronize, pinned";
static const char pageable[] = "cudaMemcpy, pageable";
static const char mapped[] = "kernel with 16-byte accesses to mapped memory";

/* What a core has just written comes from its caches, or from memory, at rates of their own: times,
 * and no line through them. */
static const struct rule rules[] = {
        {"h2d_pinned", "link.h2d.pinned", pinned, true, true, true},
        {"d2h_pinned", "link.d2h.pinned", pinned, true, true, true},
        {"h2d_written", "link.h2d.written",
                "cudaMemcpyAsync + cudaStreamSynchronize, pinned, just written by the calling core",
                false, false, true},
        {"h2d_pageable", "link.h2d.pageable", pageable, true, true, true},
        {"d2h_pageable", "link.d2h.pageable", pageable, true, true, true},
        {"h2d_wc", "link.h2d.wc", "cudaMemcpyAsync + cudaStreamSynchronize, write-combined", true,
                true, false},
        {"h2d_mapped", "link.h2d.mapped", mapped, true, true, true},
        {"d2h_mapped", "link.d2h.mapped", mapped, true, true, true},
        {"both_pinned", "link.both.pinned", "both directions at once, sum of both, pinned", false,
                true, false},
};

static const struct estimate none = {NAN, NAN, NAN, 0};

/* Bounds: a call costs at least a microsecond's fraction, and no link between a host and a device
 * carries more than a terabyte or less than some hundred megabytes in a second. */
static const double least_seconds = 1e-7, most_alpha = 1e-3, most_seconds = 100;
static const double least_rate = 1e8, most_rate = 1e12;

static void add(struct profile *profile, const struct rule *rule, const char *suffix,
        struct parameter_spec spec, const struct arg *arg, struct estimate estimate, bool busy)
{
	char *name = xasprintf("%s.%s", rule->name, suffix);
	spec.name = name;
	profile_add(profile, &spec, arg, arg != NULL, estimate, busy);
	free(name);
}

static void add_times(const struct table *curve, struct profile *profile, const struct rule *rule,
        const struct point *points, size_t n)
{
	char *method = xasprintf("%s; host clock, call to completion", rule->what);
	struct parameter_spec spec = {
	        .unit = "s", .method = method, .low = least_seconds, .high = most_seconds};
	for (size_t i = 0; i < n; i++) {
		struct arg bytes = {"bytes", curve_arg(curve, &points[i], "bytes")};
		add(profile, rule, "time", spec, &bytes, points[i].seconds, points[i].busy);
	}
	if (n == 0)
		add(profile, rule, "time", spec, NULL, none, false);
	free(method);
}

/* alpha and beta vary on their own: relative half-widths add in squares. */
static struct estimate n_half(const struct fit_line *fit)
{
	double alpha = (fit->alpha.high - fit->alpha.low) / (2 * fit->alpha.value);
	double beta = (fit->beta.high - fit->beta.low) / (2 * fit->beta.value);
	double half = fabs(fit->n_half) * hypot(alpha, beta);
	return (struct estimate){
	        fit->n_half, fit->n_half - half, fit->n_half + half, fit->alpha.samples};
}

static void add_line(const struct table *curve, struct profile *profile, const struct rule *rule,
        const struct point *points, size_t n)
{
	double *bytes = xcalloc(2 * n + 1, sizeof *bytes), *seconds = bytes + n;
	bool busy = false;
	for (size_t i = 0; i < n; i++) {
		bytes[i] = curve_arg(curve, &points[i], "bytes");
		seconds[i] = points[i].seconds.value;
		busy = busy || points[i].busy;
	}
	struct fit_line fit = {.alpha = none, .beta = none, .n_half = NAN};
	bool fitted = fit_line(bytes, seconds, n, &fit);
	char residuals[64] = "not fitted";
	if (fitted)
		snprintf(residuals, sizeof residuals, "residuals median %.2g%% worst %.2g%%",
		        100 * fit.median_residual, 100 * fit.worst_residual);
	char *method = xasprintf("%s; alpha + bytes/beta, %s", rule->what, residuals);
	struct parameter_spec alpha = {
	        .unit = "s", .method = method, .low = least_seconds, .high = most_alpha};
	struct parameter_spec beta = {
	        .unit = "B/s", .method = method, .low = least_rate, .high = most_rate};
	struct parameter_spec half = {
	        .unit = "B", .method = method, .low = 1, .high = most_alpha * most_rate};
	if (rule->alpha)
		add(profile, rule, "alpha", alpha, NULL, fit.alpha, busy);
	add(profile, rule, "beta", beta, NULL, fit.beta, busy);
	if (rule->alpha)
		add(profile, rule, "n_half", half, NULL, fitted ? n_half(&fit) : none, busy);
	free(method);
	free(bytes);
}

/* There are rows only where the machine has several nodes. */
static void add_nodes(const struct table *curve, struct profile *profile)
{
	struct parameter_spec spec = {"link.node.h2d", "B/s",
	        "bytes over seconds of a large transfer from pinned memory of the node", NULL,
	        least_rate, most_rate};
	struct point *points;
	size_t n = curve_points(curve, "h2d_node", &points);
	for (size_t i = 0; i < n; i++) {
		double bytes = curve_arg(curve, &points[i], "bytes");
		struct arg node = {"node", curve_arg(curve, &points[i], "node")};
		struct estimate seconds = points[i].seconds;
		struct estimate rate = {bytes / seconds.value, bytes / seconds.high,
		        bytes / seconds.low, seconds.samples};
		profile_add(profile, &spec, &node, 1, rate, points[i].busy);
	}
	free(points);
}

void transfer_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		struct point *points;
		size_t n = curve_points(curve, rules[i].series, &points);
		if (rules[i].beta)
			add_line(curve, profile, &rules[i], points, n);
		if (rules[i].time)
			add_times(curve, profile, &rules[i], points, n);
		free(points);
	}
	add_nodes(curve, profile);
}
