/* SPDX-License-Identifier: MIT */
/* The launch probe's fit: every parameter comes back from known curves, and a missing one fails. */
#include "tests/fit_test.h"

static const char *const columns[] = {"bytes", "blocks", "accesses", "kernels", "rows"};

/* Series and parameter. */
static const char *const scalars[][2] = {
        {"enqueue", "gpu.launch.enqueue"},
        {"enqueue_driver", "gpu.launch.enqueue_driver"},
        {"enqueue_cooperative", "gpu.launch.enqueue_cooperative"},
        {"enqueue_pdl", "gpu.launch.enqueue_pdl"},
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
        {"gemm_d", "gpu.cublas.gemm.d"},
        {"gemm_t_d", "gpu.cublas.gemm_t.d"},
        {"gemm_odd_d", "gpu.cublas.gemm_odd.d"},
        {"gemm_t_odd_d", "gpu.cublas.gemm_t_odd.d"},
        {"nrm2", "gpu.cublas.nrm2"},
        {"ger_device", "gpu.cublas.level2_device"},
        {"copy_sync", "gpu.copy.sync"},
};
static const struct timed_point points[] = {{"argument[bytes=8]", 2e-6},
        {"argument[bytes=4000]", 2.4e-6}, {"grid[blocks=1]", 1e-6}, {"grid[blocks=1056]", 2e-6},
        {"iamax[bytes=128]", 15e-6}, {"access[accesses=8]", 3e-6},
        {"copy_behind[kernels=4]", 27e-6}, {"copy_running[accesses=64]", 8e-6},
        {"nrm2_length[bytes=8192]", 19e-6}, {"gemv_t_rows[rows=2048]", 9e-6},
        {"gemv_rows[rows=2048]", 7e-6}};
static const struct expected_row rows[] = {{"gpu.launch.argument[bytes=8]", 2e-6, NULL},
        {"gpu.launch.argument[bytes=4000]", 2.4e-6, NULL},
        {"gpu.launch.grid[blocks=1]", 1e-6, NULL}, {"gpu.launch.grid[blocks=1056]", 2e-6, NULL},
        {"gpu.cublas.iamax[bytes=128]", 15e-6, NULL}, {"gpu.launch.access[accesses=8]", 3e-6, NULL},
        {"gpu.copy.behind[kernels=4]", 27e-6, NULL}, {"gpu.copy.running[accesses=64]", 8e-6, NULL},
        {"gpu.cublas.nrm2_length[bytes=8192]", 19e-6, NULL},
        {"gpu.cublas.gemv_t_rows[rows=2048]", 9e-6, NULL},
        {"gpu.cublas.gemv_rows[rows=2048]", 7e-6, NULL}};

static struct table *new_curve(void)
{
	return curve_new(columns, ARRAY_LEN(columns));
}

static void test_known(void)
{
	struct table *curve = new_curve();

	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		add_point(curve, 2e-6 + 1e-7 * (double)i, "%s", scalars[i][0]);
	add_points(curve, points, ARRAY_LEN(points));
	struct profile *profile = profile_of(launch_fit, curve);
	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		is_within(profile, scalars[i][1], 2e-6 + 1e-7 * (double)i, 1e-6);
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_text(row_of(profile, "gpu.cublas.level1")->regime, "library", "a call of the library");
	is_text(row_of(profile, "gpu.launch.enqueue")->regime, "hardware", "a launch");
	profile_free(profile);
}

static void test_empty(void)
{
	struct profile *profile = profile_of(launch_fit, new_curve());

	ok(profile->count >= ARRAY_LEN(scalars) && profile_failed(profile) == profile->count,
	        "an empty curve names every parameter, and all have failed");
	ok(isnan(profile->row[0].estimate.value), "without a value");
	profile_free(profile);
}

/* A launch takes one of two times, by chance: the value is the midrange, however many processes
 * had the one or the other. */
static void test_two_states(void)
{
	const double quick = 1.6e-6, slow = 1.8e-6;

	for (int slow_ones = 1; slow_ones < 5; slow_ones++) {
		struct table *curve = new_curve();
		for (int process = 0; process < 5; process++)
			add_process(curve, "dependent", process, process < slow_ones ? slow : quick,
			        0.01, NAN);
		struct profile *profile = profile_of(launch_fit, curve);
		const struct estimate e = row_of(profile, "gpu.launch.dependent")->estimate;
		is_within(profile, "gpu.launch.dependent", 1.7e-6, 1e-6);
		ok(e.low <= quick && e.high >= slow, "its interval holds both");
		profile_free(profile);
	}
}

static void test_unavailable(void)
{
	static const struct expected_row expected[] = {{"gpu.launch.pdl", 0, "absent"},
	        {"gpu.launch.dependent", 2e-6, NULL}, {"gpu.launch.cooperative", 0, "failed"},
	        {"gpu.event.sync", 0, "failed"}};
	struct table *curve = new_curve();

	add_point(curve, 2e-6, "dependent");
	table_meta_set(curve, "unavailable.pdl", "needs compute capability 9.0");
	FITS_ROWS(launch_fit, curve, expected);
}

static void test_implausible(void)
{
	static const struct expected_row expected[] = {{"gpu.launch.enqueue", 1e-9, "failed"},
	        {"gpu.launch.sync", 1, "failed"}, {"gpu.launch.dependent", 2e-6, "noisy"},
	        {"gpu.launch.graph", 2e-6, "noisy"}};
	struct table *curve = new_curve();
	const struct measurement busy = {.seconds = {2e-6, 1.99e-6, 2.01e-6, 20}, .hz = NAN};

	add_point(curve, 1e-9, "enqueue");
	add_point(curve, 1, "sync");
	add_process(curve, "dependent", 0, 2e-6, 0.5, NAN);
	curve_add(curve, "graph", NULL, 0, 0, &busy, true);
	FITS_ROWS(launch_fit, curve, expected);
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
