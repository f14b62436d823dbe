/* SPDX-License-Identifier: MIT */
/* The launch fit must give back what synthetic curves were made of, and fail what they lack. */
#include "lib/base/base.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/launch/launch.h"
#include "tests/tap.h"

static const char *const scalars[][2] = {
        {"enqueue", "gpu.launch.enqueue"},
        {"enqueue_driver", "gpu.launch.enqueue_driver"},
        {"enqueue_cooperative", "gpu.launch.enqueue_cooperative"},
        {"dependent", "gpu.launch.dependent"},
        {"cooperative", "gpu.launch.cooperative"},
        {"stream", "gpu.launch.stream"},
        {"sync", "gpu.launch.sync"},
        {"pdl", "gpu.launch.pdl"},
        {"graph_node", "gpu.launch.graph_node"},
        {"graph", "gpu.launch.graph"},
        {"graph_sync", "gpu.launch.graph_sync"},
        {"first", "gpu.launch.first"},
        {"event_record", "gpu.event.record"},
        {"event_sync", "gpu.event.sync"},
        {"event_mark", "gpu.event.mark"},
        {"flag_sync", "gpu.flag.sync"},
        {"copy_enqueue", "gpu.copy.enqueue"},
        {"scal", "gpu.cublas.level1"},
        {"scal_device", "gpu.cublas.level1_device"},
        {"swap", "gpu.cublas.swap"},
        {"swap_device", "gpu.cublas.swap_device"},
        {"ger", "gpu.cublas.level2"},
        {"gemv", "gpu.cublas.gemv"},
        {"gemv_t", "gpu.cublas.gemv_t"},
        {"gemm", "gpu.cublas.gemm"},
        {"gemm_t", "gpu.cublas.gemm_t"},
        {"nrm2", "gpu.cublas.nrm2"},
        {"ger_device", "gpu.cublas.level2_device"},
};
static const double bytes[] = {8, 256, 1024, 4000}, blocks[] = {1, 132, 1056};

static struct table *new_curve(void)
{
	static const char *const arguments[] = {"bytes", "blocks", "accesses", "kernels"};
	return curve_new(arguments, ARRAY_LEN(arguments));
}

/* Three processes whose medians lie 1 % around the value. */
static void put(struct table *curve, const char *series, const char *name, double at, double value)
{
	struct arg arg = {name, at};
	for (int process = 0; process < 3; process++) {
		double v = value * (1 + 0.01 * (process - 1));
		struct measurement m = {.seconds = {v, 0.99 * v, 1.01 * v, 20}, .hz = NAN};
		curve_add(curve, series, &arg, name != NULL, process, &m, false);
	}
}

/* The i-th scalar's true value. */
static double scalar(size_t i)
{
	return 2e-6 + 1e-7 * (double)i;
}

static struct table *full_curve(void)
{
	struct table *curve = new_curve();
	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		put(curve, scalars[i][0], NULL, NAN, scalar(i));
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		put(curve, "argument", "bytes", bytes[i], 2e-6 + 1e-10 * bytes[i]);
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		put(curve, "grid", "blocks", blocks[i], 1e-6 + 1e-9 * blocks[i]);
	put(curve, "iamax", "bytes", 128, 15e-6);
	put(curve, "event_wait", NULL, NAN, 4e-6);
	put(curve, "access", "accesses", 8, 3e-6);
	put(curve, "copy_sync", NULL, NAN, 17e-6);
	put(curve, "copy_behind", "kernels", 4, 27e-6);
	return curve;
}

static const struct parameter *find(const struct profile *profile, const char *name, double at)
{
	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		bool here = row->arg_count == 0 ? isnan(at) : row->arg[0] == at;
		if (strcmp(row->name, name) == 0 && here)
			return row;
	}
	return NULL;
}

static void is_parameter(const struct profile *profile, const char *name, double at, double value,
        const char *status)
{
	const struct parameter *row = find(profile, name, at);
	if (!ok(row != NULL, "%s is there", name))
		return;
	is_real(row->estimate.value, value, 1e-6, name);
	is_text(row->status, status, name);
}

static void test_known(void)
{
	struct table *curve = full_curve();
	struct profile *profile = profile_new();
	launch_fit(curve, profile);
	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		is_parameter(profile, scalars[i][1], NAN, scalar(i), "ok");
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		is_parameter(
		        profile, "gpu.launch.argument", bytes[i], 2e-6 + 1e-10 * bytes[i], "ok");
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		is_parameter(profile, "gpu.launch.grid", blocks[i], 1e-6 + 1e-9 * blocks[i], "ok");
	is_parameter(profile, "gpu.cublas.iamax", 128, 15e-6, "ok");

	is_parameter(profile, "gpu.event.wait", NAN, 4e-6, "ok");
	is_parameter(profile, "gpu.launch.access", 8, 3e-6, "ok");
	is_parameter(profile, "gpu.copy.sync", NAN, 17e-6, "ok");
	is_parameter(profile, "gpu.copy.behind", 4, 27e-6, "ok");
	profile_free(profile);
	table_free(curve);
}

static void test_empty(void)
{
	struct table *curve = new_curve();
	struct profile *profile = profile_new();
	launch_fit(curve, profile);
	size_t failed = 0;
	for (size_t i = 0; i < profile->count; i++)
		failed += strcmp(profile->row[i].status, "failed") == 0;
	ok(profile->count == ARRAY_LEN(scalars) + 8, "an empty curve names every parameter");
	ok(failed == profile->count, "and all have failed");
	ok(isnan(profile->row[0].estimate.value), "without a value");
	profile_free(profile);
	table_free(curve);
}

/* Starts that take one of two times, by chance: the middle, whichever more processes had. */
static void test_two_states(void)
{
	const double quick = 1.6e-6, slow = 1.8e-6;

	for (int slow_ones = 1; slow_ones < 5; slow_ones++) {
		struct table *curve = new_curve();
		for (int process = 0; process < 5; process++) {
			const double v = process < slow_ones ? slow : quick;
			struct measurement m = {.seconds = {v, 0.99 * v, 1.01 * v, 20}, .hz = NAN};
			curve_add(curve, "dependent", NULL, 0, process, &m, false);
		}
		struct profile *profile = profile_new();
		launch_fit(curve, profile);
		is_parameter(profile, "gpu.launch.dependent", NAN, 1.7e-6, "ok");
		const struct parameter *row = find(profile, "gpu.launch.dependent", NAN);
		ok(row->estimate.low <= quick && row->estimate.high >= slow,
		        "its interval has both");
		profile_free(profile);
		table_free(curve);
	}
}

static void test_unavailable(void)
{
	struct table *curve = new_curve();
	put(curve, "dependent", NULL, NAN, 2e-6);
	table_meta_set(curve, "unavailable.pdl", "needs compute capability 9.0");
	struct profile *profile = profile_new();
	launch_fit(curve, profile);
	ok(!find(profile, "gpu.launch.pdl", NAN), "what the device lacks is absent");
	is_parameter(profile, "gpu.launch.dependent", NAN, 2e-6, "ok");
	is_parameter(profile, "gpu.launch.cooperative", NAN, NAN, "failed");
	is_parameter(profile, "gpu.event.wait", NAN, NAN, "failed");
	profile_free(profile);
	table_free(curve);
}

static void test_implausible(void)
{
	struct table *curve = new_curve();
	put(curve, "enqueue", NULL, NAN, 1e-9);
	put(curve, "sync", NULL, NAN, 1);
	struct measurement wide = {.seconds = {2e-6, 1e-6, 3e-6, 20}, .hz = NAN};
	curve_add(curve, "dependent", NULL, 0, 0, &wide, false);
	struct measurement good = {.seconds = {2e-6, 1.99e-6, 2.01e-6, 20}, .hz = NAN};
	curve_add(curve, "graph", NULL, 0, 0, &good, true);
	struct profile *profile = profile_new();
	launch_fit(curve, profile);
	is_parameter(profile, "gpu.launch.enqueue", NAN, 1e-9, "failed");
	is_parameter(profile, "gpu.launch.sync", NAN, 1, "failed");
	is_parameter(profile, "gpu.launch.dependent", NAN, 2e-6, "noisy");
	is_parameter(profile, "gpu.launch.graph", NAN, 2e-6, "noisy");
	profile_free(profile);
	table_free(curve);
}

int main(void)
{
	test_known();
	test_empty();
	test_two_states();
	test_unavailable();
	test_implausible();
	return finish();
}
