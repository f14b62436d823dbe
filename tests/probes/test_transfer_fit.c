/* SPDX-License-Identifier: MIT */
/* The transfer fit must give back the alpha and beta synthetic curves were made of, and fail what
 * they lack. */
#include "lib/base/base.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/transfer/transfer.h"
#include "tests/tap.h"

/* Series, parameter, its alpha and beta, whether alpha and the times are parameters. */
static const struct truth {
	const char *series, *name;
	double alpha, beta;
	bool has_alpha, has_time;
} truths[] = {
        {"h2d_pinned", "link.h2d.pinned", 7e-6, 55e9, true, true},
        {"d2h_pinned", "link.d2h.pinned", 8e-6, 52e9, true, true},
        {"h2d_pageable", "link.h2d.pageable", 5e-6, 12e9, true, true},
        {"d2h_pageable", "link.d2h.pageable", 9e-6, 9e9, true, true},
        {"h2d_wc", "link.h2d.wc", 7e-6, 54e9, true, false},
        {"h2d_mapped", "link.h2d.mapped", 10e-6, 35e9, true, true},
        {"d2h_mapped", "link.d2h.mapped", 9e-6, 50e9, true, true},
        {"both_pinned", "link.both.pinned", 12e-6, 100e9, false, false},
};

enum { SIZES = 16 }; /* powers of four, 1 B to 1 GiB */

static double next_uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) * 0x1p-53;
}

static struct table *new_curve(void)
{
	static const char *const arguments[] = {"bytes", "node"};
	return curve_new(arguments, ARRAY_LEN(arguments));
}

/* Three processes, each off by at most `noise`. */
static void put(
        struct table *curve, const struct truth *truth, int sizes, double noise, uint64_t *state)
{
	for (int process = 0; process < 3; process++)
		for (int i = 0; i < sizes; i++) {
			struct arg bytes = {"bytes", ldexp(1, 2 * i)};
			double exact = truth->alpha + bytes.value / truth->beta;
			double v = exact * (1 + noise * (2 * next_uniform(state) - 1));
			struct measurement m = {.seconds = {v, 0.99 * v, 1.01 * v, 9}, .hz = NAN};
			curve_add(curve, truth->series, &bytes, 1, process, &m, false);
		}
}

static struct estimate value_of(
        const struct profile *profile, const char *name, const char *suffix, char *status)
{
	char full[128];
	snprintf(full, sizeof full, "%s.%s", name, suffix);
	for (size_t i = 0; i < profile->count; i++)
		if (strcmp(profile->row[i].name, full) == 0) {
			strcpy(status, profile->row[i].status);
			return profile->row[i].estimate;
		}
	strcpy(status, "absent");
	return (struct estimate){NAN, NAN, NAN, 0};
}

static void is_value(const struct profile *profile, const char *name, const char *suffix,
        double value, double relative, const char *status)
{
	char got[16], what[128];
	struct estimate estimate = value_of(profile, name, suffix, got);
	snprintf(what, sizeof what, "%s.%s (%s)", name, suffix, status);
	is_real(estimate.value, value, relative, what);
	is_text(got, status, what);
}

static void check_truth(const struct profile *profile, const struct truth *truth, double relative)
{
	is_value(profile, truth->name, "beta", truth->beta, relative, "ok");
	if (!truth->has_alpha) {
		is_value(profile, truth->name, "alpha", NAN, 0, "absent");
		return;
	}
	is_value(profile, truth->name, "alpha", truth->alpha, relative, "ok");
	is_value(profile, truth->name, "n_half", truth->alpha * truth->beta, 2 * relative, "ok");
	struct arg size = {"bytes", 65536};
	char name[128];
	snprintf(name, sizeof name, "%s.time", truth->name);
	struct lookup time = profile_get(profile, name, &size, 1);
	ok(time.found == truth->has_time, "%s: times are %sthere", truth->name,
	        truth->has_time ? "" : "not ");
	if (time.found)
		is_real(time.estimate.value, truth->alpha + size.value / truth->beta,
		        fmax(relative, 1e-6), "and right");
}

static void test_known(double noise, double relative)
{
	uint64_t state = 7;
	struct table *curve = new_curve();
	for (size_t i = 0; i < ARRAY_LEN(truths); i++)
		put(curve, &truths[i], SIZES, noise, &state);
	struct profile *profile = profile_new();
	transfer_fit(curve, profile);
	for (size_t i = 0; i < ARRAY_LEN(truths); i++)
		check_truth(profile, &truths[i], relative);
	is_value(profile, "link.node", "h2d", NAN, 0, "absent");
	profile_free(profile);
	table_free(curve);
}

static void test_missing(void)
{
	uint64_t state = 7;
	struct table *curve = new_curve();
	put(curve, &truths[0], 2, 0, &state); /* two points make no line */
	struct profile *profile = profile_new();
	transfer_fit(curve, profile);
	is_value(profile, "link.h2d.pinned", "alpha", NAN, 0, "failed");
	is_value(profile, "link.h2d.pinned", "beta", NAN, 0, "failed");
	is_value(profile, "link.h2d.pinned", "n_half", NAN, 0, "failed");
	is_value(profile, "link.h2d.pinned", "time", truths[0].alpha, 1e-3, "ok");
	is_value(profile, "link.d2h.mapped", "beta", NAN, 0, "failed");
	is_value(profile, "link.d2h.mapped", "time", NAN, 0, "failed");
	is_value(profile, "link.both.pinned", "beta", NAN, 0, "failed");
	profile_free(profile);
	table_free(curve);
}

static void test_implausible(void)
{
	uint64_t state = 7;
	struct truth fast = {"h2d_pinned", "link.h2d.pinned", 7e-6, 5e13, true, true};
	struct table *curve = new_curve();
	put(curve, &fast, SIZES, 0, &state);
	struct profile *profile = profile_new();
	transfer_fit(curve, profile);
	is_value(profile, "link.h2d.pinned", "beta", 5e13, 1e-3, "failed");
	profile_free(profile);
	table_free(curve);
}

static void test_nodes(void)
{
	struct table *curve = new_curve();
	for (int node = 0; node < 2; node++) {
		struct arg args[] = {{"bytes", 64e6}, {"node", node}};
		double v = 64e6 / (node ? 20e9 : 50e9);
		struct measurement m = {.seconds = {v, 0.98 * v, 1.02 * v, 3}, .hz = NAN};
		curve_add(curve, "h2d_node", args, 2, 0, &m, false);
	}
	struct profile *profile = profile_new();
	transfer_fit(curve, profile);
	struct arg far = {"node", 1};
	struct lookup rate = profile_get(profile, "link.node.h2d", &far, 1);
	ok(rate.found, "there is a rate for each node");
	is_real(rate.estimate.value, 20e9, 1e-6, "and it is bytes over seconds");
	ok(rate.estimate.low < 20e9 && 20e9 < rate.estimate.high, "with its interval around it");
	profile_free(profile);
	table_free(curve);
}

int main(void)
{
	test_known(0, 1e-6);
	test_known(0.03, 0.03);
	test_missing();
	test_implausible();
	test_nodes();
	return finish();
}
