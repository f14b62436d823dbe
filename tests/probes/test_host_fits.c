/* SPDX-License-Identifier: MIT */
/* The fits of the host's memory, parallel, Gram-Schmidt and library probes on known curves. */
#include "tests/fit_test.h"

/* Caches are fast; beyond them two threads reach 20 GB/s, four 30 and eight only 25. */
static void test_memory(void)
{
	static const char *const columns[] = {"threads", "bytes"};
	static const double beyond[] = {10e9, 20e9, 30e9, 25e9};
	static const struct expected_row rows[] = {
	        {"host.memory.copy[threads=2,bytes=1000000000]", 20e9, NULL},
	        {"host.memory.copy[threads=8,bytes=65536]", 800e9, NULL},
	        {"host.memory.read[threads=1,bytes=1000000000]", 20e9, NULL},
	        {"host.memory.copy.peak", 30e9, NULL},
	        {"host.memory.write[threads=2,bytes=1000000000]", 10e9, NULL}};
	static const struct expected_row none[] = {{"host.memory.copy", 0, "failed"},
	        {"host.memory.read", 0, "failed"}, {"host.memory.write", 0, "failed"},
	        {"host.memory.copy.peak", 0, "failed"}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (int i = 0; i < 4; i++) {
		const int threads = 1 << i;
		add_point(
		        curve, 65536 / (100e9 * threads), "copy[threads=%d,bytes=65536]", threads);
		add_point(curve, 1e9 / beyond[i], "copy[threads=%d,bytes=1e9]", threads);
		add_point(curve, 0.05, "read[threads=%d,bytes=1e9]", threads);
		add_point(curve, 0.1, "write[threads=%d,bytes=1e9]", threads);
	}
	FITS_ROWS(host_memory_fit, curve, rows);

	FITS_ROWS(host_memory_fit, curve_new(columns, ARRAY_LEN(columns)), none);
}

static void test_parallel(void)
{
	static const char *const columns[] = {"threads"};
	static const struct timed_point points[] = {
	        {"fork[threads=4]", 2e-6}, {"fma_s[threads=4]", 2e-12}};
	static const struct expected_row rows[] = {{"host.parallel.fork[threads=4]", 2e-6, NULL},
	        {"host.parallel.barrier", 0, "failed"}, {"host.fma.s[threads=4]", 5e11, NULL},
	        {"host.fma.d", 0, "absent"}};

	CHECK_FIT(host_parallel_fit, columns, points, rows);
}

/* Two of a point's twelve repeats were disturbed: the interval is that of the others. */
static void test_gram(void)
{
	static const char *const columns[] = {"threads", "bytes", "level"};
	static const struct expected_row rows[] = {
	        {"host.gram.dots[threads=4,bytes=1024,level=2]", 4.065e-7, NULL},
	        {"host.gram.handed[bytes=4096]", 1e-6, NULL}, {"host.gram.many", 0, "failed"}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (int repeat = 0; repeat < 12; repeat++)
		add_process(curve, "dots[threads=4,bytes=1024,level=2]", repeat / 4,
		        repeat % 6 == 5 ? 9e-7 : (4 + 0.01 * repeat) * 1e-7, 0, NAN);
	add_point(curve, 1e-6, "handed[bytes=4096]");
	struct profile *profile = profile_of(host_gram_fit, curve);
	const struct estimate dots = row_of(profile, rows[0].name)->estimate;
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_real(dots.low, 4.02e-7, 1e-6, "the third of twelve");
	is_real(dots.high, 4.1e-7, 1e-6, "the third from above");
	ok(dots.samples == 12 * 20, "all samples count");
	profile_free(profile);
}

static void test_rate(void)
{
	static const char *const columns[] = {"m", "n"};
	static const struct timed_point points[] = {{"getrf_s[m=1024,n=64]", 1e-4},
	        {"iamax_s[m=1024,n=32]", 2e-7}, {"ger_d[m=1024,n=1]", 3e-7},
	        {"gemm_d[m=512,n=512]", 5e-3}, {"potrf_d[m=256,n=256]", 2e-4},
	        {"potrf_rows_d[m=1024,n=64]", 3e-4}, {"level1", 8e-9}, {"clock", 0.25e-9}};
	static const struct expected_row rows[] = {{"host.getrf.s[m=1024,n=64]", 1e-4, NULL},
	        {"host.iamax.s[m=1024,n=32]", 2e-7, NULL}, {"host.ger.d[m=1024,n=1]", 3e-7, NULL},
	        {"host.gemm.d[n=512]", 5e-3, NULL}, {"host.potrf.d[n=256]", 2e-4, NULL},
	        {"host.potrf_rows.d[m=1024,n=64]", 3e-4, NULL}, {"host.potrf_rows.s", 0, "absent"},
	        {"host.blas.level1", 8e-9, NULL}, {"host.clock", 4e9, NULL},
	        /* two of three processes had time for it */
	        {"host.getrf.s[m=16384,n=64]", 0, "absent"}, {"host.getrf.d", 0, "failed"},
	        {"host.geqrf.s", 0, "failed"}, {"host.geqrf.d", 0, "failed"},
	        {"host.gemm.s", 0, "failed"}, {"host.iamax.d", 0, "failed"},
	        {"host.scal.s", 0, "failed"}, {"host.swap.d", 0, "failed"},
	        {"host.blas.level2", 0, "failed"}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	add_points(curve, points, ARRAY_LEN(points));
	for (int process = 0; process < 2; process++)
		add_process(curve, "getrf_s[m=16384,n=64]", process, 1e-2, 0.01, NAN);
	struct profile *profile = profile_of(host_rate_fit, curve);
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_text(row_of(profile, "host.getrf.s")->regime, "library", "a panel is a call of LAPACK");
	is_text(row_of(profile, "host.ger.d")->regime, "library", "a rank-1 update is one of BLAS");
	is_text(row_of(profile, "host.clock")->regime, "hardware", "the clock is hardware");
	profile_free(profile);
}

/* One of three processes had two thirds of its core. */
static void test_shared_clock(void)
{
	static const double seconds[FIT_PROCESSES] = {0.387e-9, 0.387e-9, 0.669e-9};
	static const char *const columns[] = {"m", "n"};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (int process = 0; process < FIT_PROCESSES; process++)
		add_process(curve, "clock", process, seconds[process], 0, NAN);
	struct profile *profile = profile_of(host_rate_fit, curve);
	is_row(profile, (struct expected_row){"host.clock", 1 / 0.387e-9, "noisy"});
	profile_free(profile);
}

int main(void)
{
	test_memory();
	test_parallel();
	test_gram();
	test_rate();
	test_shared_clock();
	return finish();
}
