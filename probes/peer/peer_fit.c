/* SPDX-License-Identifier: MIT */
/* Curve of the peer probe -> link.peer.* by pair, link.nccl.* by number of GPUs: alpha and beta of
 * t = alpha + bytes/beta, the collective operations' times by size, and the latency of a load.
 *
 * beta counts payload: of a copy, load or store the bytes that reached GPU `to`; of both directions
 * at once their sum; of a broadcast the message; of an all-reduce among n GPUs the message times
 * 2 (n - 1) / n, the least that each GPU must send. A machine without peer access, or without NCCL,
 * lacks these rows. */
#include "lib/base/base.h"
#include "peer.h"

#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

#include <stdlib.h>

enum { KEYS = 2 };

struct rule {
	const char *series, *name, *what;
	const char *key[KEYS]; /* argument columns of the parameter; the second may be NULL */
	bool alpha;
	bool reduce;                    /* beta counts 2 (n - 1) / n of the bytes */
	const struct curve_rows *times; /* every size, too: the library changes its algorithm */
};

/* Bounds: a call takes at least a fraction of a microsecond; no link between two GPUs carries more
 * than a few terabytes or less than some hundred megabytes a second; a load crosses it twice. */
#define LEAST_SECONDS 1e-7
#define MOST_ALPHA 1e-2
#define LEAST_RATE 1e8
#define MOST_RATE 5e12

static const struct curve_rows allreduce_times = {"allreduce",
        {"link.nccl.allreduce.time", "s",
                "ncclAllReduce, one process; beta counts 2 (n - 1) / n of the bytes; host clock, "
                "call to completion",
                NULL, LEAST_SECONDS, 10},
        .column = {"bytes", "gpus"}};
static const struct curve_rows broadcast_times = {"broadcast",
        {"link.nccl.broadcast.time", "s",
                "ncclBroadcast, one process; host clock, call to completion", NULL, LEAST_SECONDS,
                10},
        .column = {"bytes", "gpus"}};
static const struct curve_rows latency = {"latency",
        {"link.peer.latency", "s",
                "dependent loads of GPU `to` around a random cycle in GPU `from`, whose L2 holds "
                "it",
                NULL, LEAST_SECONDS, 1e-4},
        .column = {"from", "to"}};

static const struct rule rules[] = {
        {"copy", "link.peer", "cudaMemcpyPeerAsync + cudaStreamSynchronize, peer access",
                {"from", "to"}, .alpha = true},
        {"copy_staged", "link.peer.staged",
                "cudaMemcpyPeerAsync + cudaStreamSynchronize, no peer access", {"from", "to"},
                .alpha = true},
        {"both", "link.peer.both", "copies both ways at once, sum of both", .key = {"from", "to"}},
        {"load", "link.peer.load", "kernel on GPU `to` that loads 16 bytes at a time",
                .key = {"from", "to"}},
        {"store", "link.peer.store", "kernel on GPU `from` that stores 16 bytes at a time",
                .key = {"from", "to"}},
        {"broadcast", "link.nccl.broadcast", "ncclBroadcast, one process", {"gpus"}, .alpha = true,
                .times = &broadcast_times},
        {"allreduce", "link.nccl.allreduce",
                "ncclAllReduce, one process; beta counts 2 (n - 1) / n of the bytes", {"gpus"},
                .alpha = true, .reduce = true, .times = &allreduce_times},
};

static size_t key_count(const struct rule *rule)
{
	return rule->key[1] ? 2 : 1;
}

static bool same_keys(const struct table *curve, const struct rule *rule, const struct point *a,
        const struct point *b)
{
	for (size_t k = 0; k < key_count(rule); k++)
		if (!(curve_arg(curve, a, rule->key[k]) == curve_arg(curve, b, rule->key[k])))
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

/* The n points of one pair or group. */
static void fit_keys(const struct table *curve, struct profile *profile, const struct rule *rule,
        const struct point *points, size_t n)
{
	const struct curve_line line = curve_fit_line(curve, points, n, NULL);
	char *method = xasprintf("%s; alpha + bytes/beta, %s", rule->what, line.residuals);
	const struct parameter_spec alpha = {NULL, "s", method, NULL, LEAST_SECONDS, MOST_ALPHA},
	                            beta = {NULL, "B/s", method, NULL, LEAST_RATE, MOST_RATE};
	struct arg key[KEYS];

	for (size_t k = 0; k < key_count(rule); k++)
		key[k] = (struct arg){rule->key[k], curve_arg(curve, points, rule->key[k])};
	const double gpus = key[0].value, share = rule->reduce ? 2 * (gpus - 1) / gpus : 1;
	if (rule->alpha)
		add(profile, rule, "alpha", alpha, key, line.fit.alpha, line.busy);
	add(profile, rule, "beta", beta, key, estimate_times(line.fit.beta, share), line.busy);
	free(method);
}

/* Each pair or group once, in the order of their first points. */
static void fit_rule(const struct table *curve, struct profile *profile, const struct rule *rule)
{
	struct point *points;
	const size_t n = curve_points(curve, rule->series, &points);
	struct point *own = xcalloc(n + 1, sizeof *own);

	for (size_t i = 0; i < n; i++) {
		size_t first = 0, count = 0;
		while (!same_keys(curve, rule, &points[first], &points[i]))
			first++;
		if (first < i)
			continue;
		for (size_t j = i; j < n; j++)
			if (same_keys(curve, rule, &points[j], &points[i]))
				own[count++] = points[j];
		fit_keys(curve, profile, rule, own, count);
	}
	if (rule->times)
		curve_fit_rows(curve, profile, rule->times, 1, false);
	free(own);
	free(points);
}

void peer_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		fit_rule(curve, profile, &rules[i]);
	curve_fit_rows(curve, profile, &latency, 1, false);
}
