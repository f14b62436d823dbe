/* SPDX-License-Identifier: MIT */
/* Curve of the transfer probe -> link.*: time[bytes]; alpha, beta and n_half of t = alpha +
 * bytes/beta over all sizes of a direction and kind of memory; link.node.h2d[node]. */
#include "lib/base/base.h"
#include "transfer.h"

#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

#include <stdlib.h>

struct rule {
	const char *series, *name, *what;
	bool alpha, beta, time; /* which rows: n_half with alpha */
};

static const char pinned[] = "cudaMemcpyAsync + cudaStreamSynchronize, pinned";
static const char pageable[] = "cudaMemcpy, pageable";
static const char mapped[] = "kernel with 16-byte accesses to mapped memory";

/* Freshly written memory comes from the core's caches or from DRAM, at different rates: no line. */
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

/* Bounds: a call costs at least a fraction of a microsecond; no link between a host and a device
 * carries more than a terabyte or less than some hundred megabytes a second. */
#define LEAST_SECONDS 1e-7
#define MOST_ALPHA 1e-3
#define LEAST_RATE 1e8
#define MOST_RATE 1e12

static void add_times(const struct table *curve, struct profile *profile, const struct rule *rule)
{
	char *name = xasprintf("%s.time", rule->name);
	char *method = xasprintf("%s; host clock, call to completion", rule->what);
	const struct curve_rows rows = {
	        rule->series, {name, "s", method, NULL, LEAST_SECONDS, 100}, .column = {"bytes"}};

	curve_fit_rows(curve, profile, &rows, 1, true);
	free(method);
	free(name);
}

/* alpha and beta vary independently: relative half-widths add in squares. */
static struct estimate n_half(const struct fit_line *fit)
{
	const double alpha = estimate_half_width(fit->alpha) / fit->alpha.value;
	const double beta = estimate_half_width(fit->beta) / fit->beta.value;

	return estimate_around(
	        fit->n_half, fabs(fit->n_half) * hypot(alpha, beta), fit->alpha.samples);
}

static void add(struct profile *profile, const struct rule *rule, const char *suffix,
        struct parameter_spec spec, struct estimate estimate, bool busy)
{
	char *name = xasprintf("%s.%s", rule->name, suffix);

	spec.name = name;
	profile_add(profile, &spec, NULL, 0, estimate, busy);
	free(name);
}

static void add_line(const struct table *curve, struct profile *profile, const struct rule *rule)
{
	struct point *points;
	const size_t n = curve_points(curve, rule->series, &points);
	const struct curve_line line = curve_fit_line(curve, points, n, NULL);
	char *method = xasprintf("%s; alpha + bytes/beta, %s", rule->what, line.residuals);
	const struct parameter_spec alpha = {NULL, "s", method, NULL, LEAST_SECONDS, MOST_ALPHA},
	                            beta = {NULL, "B/s", method, NULL, LEAST_RATE, MOST_RATE},
	                            half = {NULL, "B", method, NULL, 1, MOST_ALPHA * MOST_RATE};

	if (rule->alpha)
		add(profile, rule, "alpha", alpha, line.fit.alpha, line.busy);
	add(profile, rule, "beta", beta, line.fit.beta, line.busy);
	if (rule->alpha)
		add(profile, rule, "n_half", half, line.fitted ? n_half(&line.fit) : estimate_none,
		        line.busy);
	free(method);
	free(points);
}

void transfer_fit(const struct table *curve, struct profile *profile)
{
	/* only on machines with several nodes */
	static const struct curve_rows nodes = {"h2d_node",
	        {"link.node.h2d", "B/s",
	                "bytes over seconds of a large transfer from pinned memory of the node",
	                NULL, LEAST_RATE, MOST_RATE},
	        .column = {"node"}, .value = curve_rate};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (rules[i].beta)
			add_line(curve, profile, &rules[i]);
		if (rules[i].time)
			add_times(curve, profile, &rules[i]);
	}
	curve_fit_rows(curve, profile, &nodes, 1, false);
}
