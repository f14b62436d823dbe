/* SPDX-License-Identifier: MIT */
/* The transfer probe's fit: latency and bandwidth come back from known curves; missing ones fail.
 */
#include "tests/fit_test.h"

static const char *const columns[] = {"bytes", "node"};

/* Series, parameter, its alpha and beta, whether alpha and the times are parameters. */
static const struct truth {
	const char *series, *name;
	double alpha, beta;
	bool has_alpha, has_time;
} truths[] = {
        {"h2d_pinned", "link.h2d.pinned", 7e-6, 55e9, true, true},
        {"d2h_pinned", "link.d2h.pinned", 8e-6, 52e9, true, true},
        {"h2d_pageable", "link.h2d.pageable", 5e-6, 12e9, true, false},
        {"d2h_pageable", "link.d2h.pageable", 9e-6, 9e9, true, false},
        {"h2d_wc", "link.h2d.wc", 7e-6, 54e9, true, false},
        {"h2d_mapped", "link.h2d.mapped", 10e-6, 35e9, true, false},
        {"d2h_mapped", "link.d2h.mapped", 9e-6, 50e9, true, false},
        {"both_pinned", "link.both.pinned", 12e-6, 100e9, false, false},
};

enum { SIZES = 16 }; /* powers of four, 1 B to 1 GiB */

/* Three processes, each off by at most `noise`. */
static void put(
        struct table *curve, const struct truth *truth, int sizes, double noise, uint64_t *state)
{
	for (int process = 0; process < FIT_PROCESSES; process++)
		for (int i = 0; i < sizes; i++) {
			const double bytes = ldexp(1, 2 * i);
			const double off = noise * (2 * random_unit(state) - 1);
			char point[64];
			snprintf(point, sizeof point, "%s[bytes=%.0f]", truth->series, bytes);
			add_process(curve, point, process,
			        (truth->alpha + bytes / truth->beta) * (1 + off), 0.01, NAN);
		}
}

/* The parameter name.suffix. */
static void is_value(const struct profile *profile, const char *name, const char *suffix,
        double value, double relative, const char *status)
{
	char full[128];

	snprintf(full, sizeof full, "%s.%s", name, suffix);
	is_status(profile, full, status);
	is_real(row_of(profile, full)->estimate.value, value, relative, full);
}

static void check_truth(const struct profile *profile, const struct truth *truth, double relative)
{
	char name[128];

	is_value(profile, truth->name, "beta", truth->beta, relative, "ok");
	if (!truth->has_alpha) {
		is_value(profile, truth->name, "alpha", NAN, 0, "absent");
		return;
	}
	is_value(profile, truth->name, "alpha", truth->alpha, relative, "ok");
	snprintf(name, sizeof name, "%s.time[bytes=65536]", truth->name);
	is_real(row_of(profile, name)->estimate.value,
	        truth->has_time ? truth->alpha + 65536 / truth->beta : NAN, fmax(relative, 1e-6),
	        name);
}

static void test_known(double noise, double relative)
{
	uint64_t state = 7;
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < ARRAY_LEN(truths); i++)
		put(curve, &truths[i], SIZES, noise, &state);
	struct profile *profile = profile_of(transfer_fit, curve);
	for (size_t i = 0; i < ARRAY_LEN(truths); i++)
		check_truth(profile, &truths[i], relative);
	is_status(profile, "link.node.h2d", "absent");
	profile_free(profile);
}

/* Each process is slower or faster in all its points: no residual tells, the interval does. */
static void test_common(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	const struct truth *truth = &truths[0];

	for (int process = 0; process < FIT_PROCESSES; process++)
		for (int i = 0; i < SIZES; i++) {
			const double bytes = ldexp(1, 2 * i), times = 1 + 0.1 * (process - 1);
			char point[64];
			snprintf(point, sizeof point, "%s[bytes=%.0f]", truth->series, bytes);
			add_process(curve, point, process,
			        times * (truth->alpha + bytes / truth->beta), 1e-3, NAN);
		}
	struct profile *profile = profile_of(transfer_fit, curve);
	const struct estimate alpha = row_of(profile, "link.h2d.pinned.alpha")->estimate,
	                      beta = row_of(profile, "link.h2d.pinned.beta")->estimate;
	ok(alpha.low < 0.95 * truth->alpha && alpha.high > 1.05 * truth->alpha &&
	                beta.low < 0.95 * truth->beta && beta.high > 1.05 * truth->beta,
	        "processes that differ in all points leave a wide interval of the line");
	profile_free(profile);
}

/* Two points make no line. */
static void test_missing(void)
{
	static const struct expected_row rows[] = {{"link.h2d.pinned.alpha", 0, "failed"},
	        {"link.h2d.pinned.beta", 0, "failed"}, {"link.d2h.pinned.time", 0, "failed"},
	        {"link.h2d.pinned.time", 0, "ok"}, {"link.d2h.mapped.beta", 0, "failed"},
	        {"link.both.pinned.beta", 0, "failed"}};
	uint64_t state = 7;
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	put(curve, &truths[0], 2, 0, &state);
	FITS_ROWS(transfer_fit, curve, rows);
}

static void test_implausible(void)
{
	uint64_t state = 7;
	const struct truth fast = {"h2d_pinned", "link.h2d.pinned", 7e-6, 5e13, true, true};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	put(curve, &fast, SIZES, 0, &state);
	struct profile *profile = profile_of(transfer_fit, curve);
	is_value(profile, "link.h2d.pinned", "beta", 5e13, 1e-3, "failed");
	profile_free(profile);
}

int main(void)
{
	static const struct timed_point nodes[] = {{"h2d_node[bytes=64e6,node=0]", 64e6 / 50e9},
	        {"h2d_node[bytes=64e6,node=1]", 64e6 / 20e9}};
	static const struct expected_row rates[] = {
	        {"link.node.h2d[node=0]", 50e9, NULL}, {"link.node.h2d[node=1]", 20e9, NULL}};

	test_known(0, 1e-6);
	test_known(0.03, 0.03);
	test_common();
	test_missing();
	test_implausible();
	CHECK_FIT(transfer_fit, columns, nodes, rates);
	return finish();
}
