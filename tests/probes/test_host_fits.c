/* SPDX-License-Identifier: MIT */
/* The fits of the host probes on curves with known answers. */
#include "lib/base/base.h"
#include "lib/probe/probe.h"
#include "lib/profile/profile_row.h"
#include "tests/tap.h"

void host_memory_fit(const struct table *curve, struct profile *profile);
void host_parallel_fit(const struct table *curve, struct profile *profile);
void host_gram_fit(const struct table *curve, struct profile *profile);
void host_rate_fit(const struct table *curve, struct profile *profile);

static void add(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		struct measurement m = {
		        {seconds, 0.99 * seconds, 1.01 * seconds, 10}, 0, NAN, 0, false};
		curve_add(curve, series, args, count, process, &m, false);
	}
}

static const struct parameter *row_of(const struct profile *profile, const char *written)
{
	char *text = strdup(written);
	struct parameter like;
	const struct parameter *found = NULL;

	if (!profile_parse_name(text, &like))
		found = profile_find_row(profile, &like);
	free(text);
	return found;
}

static void is_value(const struct profile *profile, const char *name, double want)
{
	const struct parameter *row = row_of(profile, name);
	if (ok(row != NULL, "%s is there", name)) {
		is_real(row->estimate.value, want, 1e-6, name);
		is_text(row->status, "ok", "its status");
	}
}

static void is_failed(const struct profile *profile, const char *name)
{
	const struct parameter *row = row_of(profile, name);
	is_text(row ? row->status : NULL, "failed", name);
}

static void test_memory(void)
{
	static const char *const columns[] = {"threads", "bytes"};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();

	/* Caches are fast, two threads beyond them get 20 GB/s, four get 30 and eight only 25. */
	for (double threads = 1; threads <= 8; threads *= 2) {
		double beyond = threads == 1   ? 10e9
		                : threads == 2 ? 20e9
		                : threads == 4 ? 30e9
		                               : 25e9;
		add(curve, "copy", (struct arg[]){{"threads", threads}, {"bytes", 65536}}, 2,
		        65536 / (100e9 * threads));
		add(curve, "copy", (struct arg[]){{"threads", threads}, {"bytes", 1e9}}, 2,
		        1e9 / beyond);
		add(curve, "read", (struct arg[]){{"threads", threads}, {"bytes", 1e9}}, 2, 0.05);
	}
	host_memory_fit(curve, profile);
	is_value(profile, "host.memory.copy[threads=2,bytes=1000000000]", 20e9);
	is_value(profile, "host.memory.copy[threads=8,bytes=65536]", 800e9);
	is_value(profile, "host.memory.read[threads=1,bytes=1000000000]", 20e9);
	is_value(profile, "host.memory.copy.peak", 30e9);
	is_failed(profile, "host.memory.write");
	profile_free(profile);
	table_free(curve);

	curve = curve_new(columns, ARRAY_LEN(columns));
	profile = profile_new();
	host_memory_fit(curve, profile);
	is_failed(profile, "host.memory.copy");
	is_failed(profile, "host.memory.read");
	is_failed(profile, "host.memory.copy.peak");
	profile_free(profile);
	table_free(curve);
}

static void test_parallel(void)
{
	static const char *const columns[] = {"threads"};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();

	add(curve, "fork", (struct arg[]){{"threads", 4}}, 1, 2e-6);
	host_parallel_fit(curve, profile);
	is_value(profile, "host.parallel.fork[threads=4]", 2e-6);
	is_failed(profile, "host.parallel.barrier");
	profile_free(profile);
	table_free(curve);
}

/* Of twelve visits of a point two found others on its cores: the interval is that of the rest. */
static void test_gram(void)
{
	static const char *const columns[] = {"threads", "bytes", "level"};
	const struct arg dots[] = {{"threads", 4}, {"bytes", 1024}, {"level", 2}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();

	for (int repeat = 0; repeat < 12; repeat++) {
		const double seconds = repeat % 6 == 5 ? 9e-7 : (4 + 0.01 * repeat) * 1e-7;
		const struct measurement m = {{seconds, seconds, seconds, 5}, 0, NAN, 0, false};
		curve_add(curve, "dots", dots, ARRAY_LEN(dots), repeat / 4, &m, false);
	}
	add(curve, "handed", (struct arg[]){{"bytes", 4096}}, 1, 1e-6);
	host_gram_fit(curve, profile);
	const char *name = "host.gram.dots[threads=4,bytes=1024,level=2]";
	is_value(profile, name, 4.065e-7);
	const struct parameter *row = row_of(profile, name);
	is_real(row->estimate.low, 4.02e-7, 1e-6, "the third of twelve");
	is_real(row->estimate.high, 4.1e-7, 1e-6, "the third from above");
	ok(row->estimate.samples == 60, "all samples");
	is_value(profile, "host.gram.handed[bytes=4096]", 1e-6);
	is_failed(profile, "host.gram.many");
	profile_free(profile);
	table_free(curve);
}

static void test_rate(void)
{
	static const char *const columns[] = {"m", "n"};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();

	add(curve, "getrf_s", (struct arg[]){{"m", 1024}, {"n", 64}}, 2, 1e-4);
	const struct measurement late = {{1e-2, 0.99e-2, 1.01e-2, 4}, 0, NAN, 0, false};
	const struct arg large[] = {{"m", 16384}, {"n", 64}};
	for (int process = 0; process < 2; process++)
		curve_add(curve, "getrf_s", large, 2, process, &late, false);
	add(curve, "iamax_s", (struct arg[]){{"m", 1024}, {"n", 32}}, 2, 2e-7);
	add(curve, "ger_d", (struct arg[]){{"m", 1024}, {"n", 1}}, 2, 3e-7);
	add(curve, "gemm_d", (struct arg[]){{"m", 512}, {"n", 512}}, 2, 5e-3);
	add(curve, "potrf_d", (struct arg[]){{"m", 256}, {"n", 256}}, 2, 2e-4);
	add(curve, "level1", NULL, 0, 8e-9);
	add(curve, "clock", NULL, 0, 0.25e-9);
	host_rate_fit(curve, profile);
	is_value(profile, "host.getrf.s[m=1024,n=64]", 1e-4);
	ok(!row_of(profile, "host.getrf.s[m=16384,n=64]"),
	        "what the time left to two processes only is no parameter");
	is_value(profile, "host.iamax.s[m=1024,n=32]", 2e-7);
	is_value(profile, "host.ger.d[m=1024,n=1]", 3e-7);
	is_value(profile, "host.gemm.d[n=512]", 5e-3);
	is_value(profile, "host.potrf.d[n=256]", 2e-4);
	is_value(profile, "host.blas.level1", 8e-9);
	is_value(profile, "host.clock", 4e9);
	is_text(row_of(profile, "host.getrf.s[m=1024,n=64]")->regime, "surface",
	        "a panel is a surface");
	is_text(row_of(profile, "host.ger.d[m=1024,n=1]")->regime, "surface",
	        "a BLAS call is one too");
	is_text(row_of(profile, "host.clock")->regime, "hardware", "the clock is hardware");
	is_failed(profile, "host.getrf.d");
	is_failed(profile, "host.geqrf.s");
	is_failed(profile, "host.geqrf.d");
	is_failed(profile, "host.gemm.s");
	is_failed(profile, "host.iamax.d");
	is_failed(profile, "host.scal.s");
	is_failed(profile, "host.swap.d");
	is_failed(profile, "host.blas.level2");
	profile_free(profile);
	table_free(curve);
}

/* One of three processes had two thirds of its core: the interval of an add reaches zero. */
static void test_shared_clock(void)
{
	static const double add_seconds[] = {0.387e-9, 0.387e-9, 0.669e-9};
	static const char *const columns[] = {"m", "n"};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();

	for (int process = 0; process < 3; process++) {
		const double v = add_seconds[process];
		const struct measurement m = {{v, v, v, 20}, 0, NAN, 0, false};
		curve_add(curve, "clock", NULL, 0, process, &m, false);
	}
	host_rate_fit(curve, profile);
	const struct parameter *clock = row_of(profile, "host.clock");
	is_real(clock->estimate.value, 1 / 0.387e-9, 1e-9, "a shared core's clock");
	is_text(clock->status, "noisy", "is noisy, not failed");
	profile_free(profile);
	table_free(curve);
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
