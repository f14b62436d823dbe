/* SPDX-License-Identifier: MIT */
/* Curve of the peer probe -> link.peer.* by pair, link.nccl.* by number of GPUs: alpha and beta of
 * t = alpha + bytes/beta, the collective operations' times by size, and the latency of a load.
 *
 * beta counts payload: of a copy, load or store the bytes that reached GPU `to`; of both ways at
 * once the sum of both; of a broadcast the message; of an all-reduce among n GPUs the message times
 * 2 (n - 1) / n, which is what each GPU must send at least. A machine without peer access, or
 * without NCCL, lacks those rows. */
#include "lib/base/base.h"
#include "peer.h"

#include "lib/probe/curve.h"
#include "lib/stats/fit.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 2 };

struct rule {
	const char *series, *name, *what;
	const char *key[KEYS]; /* argument columns of the parameter; the second may be NULL */
	bool alpha;
	bool reduce; /* beta counts 2 (n - 1) / n of the bytes */
	bool time;   /* every size, too: the library changes its ways between sizes */
};

static const struct rule rules[] = {
        {.series = "copy",
                .name = "link.peer",
                .what = "cudaMemcpyPeerAsync + cudaStreamSynchronize, peer access",
                .key = {"from", "to"},
                .alpha = true},
        {.series = "copy_staged",
                .name = "link.peer.staged",
                .what = "cudaMemcpyPeerAsync + cudaStreamSynchronize, no peer access",
                .key = {"from", "to"},
                .alpha = true},
        {.series = "both",
                .name = "link.peer.both",
                .what = "copies both ways at once, sum of both",
                .key = {"from", "to"}},
        {.series = "load",
                .name = "link.peer.load",
                .what = "kernel on GPU `to` that loads 16 bytes at a time",
                .key = {"from", "to"}},
        {.series = "store",
                .name = "link.peer.store",
                .what = "kernel on GPU `from` that stores 16 bytes at a time",
                .key = {"from", "to"}},
        {.series = "broadcast",
                .name = "link.nccl.broadcast",
                .what = "ncclBroadcast, one process",
                .key = {"gpus"},
                .alpha = true,
                .time = true},
        {.series = "allreduce",
                .name = "link.nccl.allreduce",
                .what = "ncclAllReduce, one process; beta counts 2 (n - 1) / n of the bytes",
                .key = {"gpus"},
                .alpha = true,
                .reduce = true,
                .time = true},
};

static const struct estimate none = {NAN, NAN, NAN, 0};

/* Bounds: a call takes a fraction of a microsecond at least; no link between two GPUs carries more
 * than a few terabytes or less than some hundred megabytes in a second; a load crosses it twice. */
static const double least_seconds = 1e-7, most_alpha = 1e-2;
static const double least_rate = 1e8, most_rate = 5e12;
static const double most_latency = 1e-4;

static size_t key_count(const struct rule *rule)
{
	return rule->key[1] ? 2 : 1;
}

static void read_keys(const struct table *curve, const struct rule *rule, const struct point *point,
        struct arg key[KEYS])
{
	for (size_t k = 0; k < key_count(rule); k++)
		key[k] = (struct arg){rule->key[k], curve_arg(curve, point, rule->key[k])};
}

static bool same_keys(const struct rule *rule, const struct arg *a, const struct arg *b)
{
	for (size_t k = 0; k < key_count(rule); k++)
		if (!(a[k].value == b[k].value))
			return false;
	return true;
}

static void add(struct profile *profile, const struct rule *rule, const char *suffix,
        struct parameter_spec spec, const struct arg *key, struct estimate estimate, bool busy)
{
	char *name = xasprintf("%s.%s", rule->name, suffix);
	spec.name = name;
	profile_add(profile, &spec, key, key_count(rule), estimate, busy);
	free(name);
}

static struct estimate scaled(struct estimate estimate, double factor)
{
	return (struct estimate){estimate.value * factor, estimate.low * factor,
	        estimate.high * factor, estimate.samples};
}

/* One pair or group: its points among all of the series. */
static void fit_keys(const struct table *curve, struct profile *profile, const struct rule *rule,
        const struct point *points, size_t n, const struct arg *key)
{
	double *bytes = xcalloc(2 * n, sizeof *bytes), *seconds = bytes + n;
	size_t count = 0;
	bool busy = false;
	for (size_t i = 0; i < n; i++) {
		struct arg its[KEYS];
		read_keys(curve, rule, &points[i], its);
		if (!same_keys(rule, its, key))
			continue;
		bytes[count] = curve_arg(curve, &points[i], "bytes");
		seconds[count++] = points[i].seconds.value;
		busy = busy || points[i].busy;
	}
	struct fit_line fit = {.alpha = none, .beta = none};
	char residuals[64] = "not fitted";
	if (fit_line(bytes, seconds, count, &fit))
		snprintf(residuals, sizeof residuals, "residuals median %.2g%% worst %.2g%%",
		        100 * fit.median_residual, 100 * fit.worst_residual);
	char *method = xasprintf("%s; alpha + bytes/beta, %s", rule->what, residuals);
	const struct parameter_spec alpha = {
	        .unit = "s", .method = method, .low = least_seconds, .high = most_alpha};
	const struct parameter_spec beta = {
	        .unit = "B/s", .method = method, .low = least_rate, .high = most_rate};
	const double gpus = key[0].value;
	if (rule->alpha)
		add(profile, rule, "alpha", alpha, key, fit.alpha, busy);
	add(profile, rule, "beta", beta, key,
	        rule->reduce ? scaled(fit.beta, 2 * (gpus - 1) / gpus) : fit.beta, busy);
	free(method);
	free(bytes);
}

static void fit_times(const struct table *curve, struct profile *profile, const struct rule *rule,
        const struct point *points, size_t n)
{
	char *name = xasprintf("%s.time", rule->name);
	char *method = xasprintf("%s; host clock, call to completion", rule->what);
	const struct parameter_spec spec = {
	        .name = name, .unit = "s", .method = method, .low = least_seconds, .high = 10};
	for (size_t i = 0; i < n; i++) {
		const struct arg args[] = {{"bytes", curve_arg(curve, &points[i], "bytes")},
		        {"gpus", curve_arg(curve, &points[i], "gpus")}};
		profile_add(
		        profile, &spec, args, ARRAY_LEN(args), points[i].seconds, points[i].busy);
	}
	free(method);
	free(name);
}

/* Each pair or group once, where its first point stands. */
static void fit_rule(const struct table *curve, struct profile *profile, const struct rule *rule)
{
	struct point *points;
	const size_t n = curve_points(curve, rule->series, &points);
	for (size_t i = 0; i < n; i++) {
		struct arg key[KEYS], earlier[KEYS];
		bool seen = false;
		read_keys(curve, rule, &points[i], key);
		for (size_t j = 0; j < i && !seen; j++) {
			read_keys(curve, rule, &points[j], earlier);
			seen = same_keys(rule, earlier, key);
		}
		if (!seen)
			fit_keys(curve, profile, rule, points, n, key);
	}
	if (rule->time)
		fit_times(curve, profile, rule, points, n);
	free(points);
}

static void fit_latency(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {.name = "link.peer.latency",
	        .unit = "s",
	        .method =
	                "dependent loads of GPU `to` around a random cycle in GPU `from`, whose L2 "
	                "holds it",
	        .low = least_seconds,
	        .high = most_latency};
	struct point *points;
	const size_t n = curve_points(curve, "latency", &points);
	for (size_t i = 0; i < n; i++) {
		const struct arg pair[] = {{"from", curve_arg(curve, &points[i], "from")},
		        {"to", curve_arg(curve, &points[i], "to")}};
		profile_add(
		        profile, &spec, pair, ARRAY_LEN(pair), points[i].seconds, points[i].busy);
	}
	free(points);
}

void peer_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		fit_rule(curve, profile, &rules[i]);
	fit_latency(curve, profile);
}
