/* SPDX-License-Identifier: MIT */
/* On a GPU: every barrier orders memory, the same test without the barrier fails, the cluster
 * exchange delivers, and block reductions give a host loop's answers on fresh random data. */
#include "tests/tap.h"
#include "lib/device/gpu.h"

#include "lib/device/barrier_check.h"
#include "lib/base/random.h"
#include <time.h>

enum { VALUES_MAX = 5000, ROUNDS = 300 };

static uint64_t state;

static uint64_t next_random(void)
{
	return random_next(&state) >> 33;
}

/* ---- barriers ---- */

static int rounds(void)
{
	return (int)test_at_most(ROUNDS, 10);
}

static void is_sound(const char *what, int blocks, int threads, const struct barrier_check *check)
{
	char name[96];
	snprintf(name, sizeof name, "%s, %d x %d", what, blocks, threads);
	if (!check->possible) {
		skip(name, "not possible on this device");
		return;
	}
	if (!ok(!check->timed_out && check->wrong == 0, "%s", name))
		diag("%llu of %llu values wrong%s", (unsigned long long)check->wrong,
		        (unsigned long long)check->checks, check->timed_out ? ", timed out" : "");
}

static void test_barrier(enum barrier_kind kind, int blocks, int threads)
{
	struct barrier_check check;
	barrier_check_ring(kind, true, blocks, threads, rounds(), (uint32_t)next_random(), &check);
	is_sound(barrier_name[kind], blocks, threads, &check);
}

static void test_control(enum barrier_kind kind, int blocks, int threads)
{
	struct barrier_check check;
	if (test_small()) {
		skip("the ring without a barrier", "its races are wanted");
		return;
	}
	barrier_check_ring(kind, false, blocks, threads, rounds(), (uint32_t)next_random(), &check);
	if (!check.possible)
		skip("the ring without a barrier", "not possible on this device");
	else
		ok(check.wrong > 0, "the ring notices that the %s barrier is missing",
		        barrier_name[kind]);
}

static void test_barriers(int sm_count)
{
	test_barrier(BARRIER_WARP, sm_count, 64);
	test_barrier(BARRIER_BLOCK, sm_count, 96);
	test_barrier(BARRIER_BLOCK, 1, 1024);
	test_control(BARRIER_BLOCK, sm_count, 256);
	for (int blocks = 2; blocks <= 16; blocks *= 2) {
		struct barrier_check check;
		test_barrier(BARRIER_CLUSTER, blocks, 256);
		barrier_check_exchange(blocks, 256, rounds(), (uint32_t)next_random(), &check);
		is_sound("cluster exchange", blocks, 256, &check);
	}
	test_control(BARRIER_CLUSTER, 8, 256);
	for (int kind = BARRIER_MASTER; kind <= BARRIER_GRID; ++kind) {
		test_barrier((enum barrier_kind)kind, 1, 64);
		test_barrier((enum barrier_kind)kind, 3, 32);
		test_barrier((enum barrier_kind)kind, sm_count, 256);
		test_barrier((enum barrier_kind)kind, 2 * sm_count, 96);
		test_barrier((enum barrier_kind)kind, sm_count, 1024);
	}
	test_control(BARRIER_GRID, sm_count, 256);
}

/* ---- reductions ---- */

/* Larger magnitude wins, a NaN beats every number, the first of equals stays. */
static bool beats(double a, double b)
{
	return !isnan(b) && (isnan(a) || fabs(a) > fabs(b));
}

static void compare(const char *what, const double *x, uint32_t n, int threads, double precision,
        const struct reduce_check *check)
{
	uint32_t best = 0;
	double sum = 0, magnitude = 0;
	for (uint32_t i = 0; i < n; ++i) {
		best = i > 0 && beats(x[i], x[best]) ? i : best;
		sum += x[i];
		magnitude += fabs(x[i]);
	}
	if (n == 0)
		best = UINT32_MAX;
	/* a pairwise sum of partial sums; generous */
	const double tolerance = precision * magnitude * (8 + n / (double)threads);
	const bool same_sum =
	        isfinite(sum) ? fabs(check->sum - sum) <= tolerance : !isfinite(check->sum);
	if (!ok(check->same && check->index == best && same_sum, "%s, %u values, %d threads", what,
	            n, threads))
		diag("index %u for %u, sum %.17g for %.17g, threads %s", check->index, best,
		        check->sum, sum, check->same ? "agree" : "disagree");
}

static void test_reduction(const char *what, const double *x, uint32_t n, int threads)
{
	struct reduce_check check;
	float *single = malloc((n + 1) * sizeof *single);
	double *rounded = malloc((n + 1) * sizeof *rounded);
	for (uint32_t i = 0; i < n; ++i) {
		single[i] = (float)x[i];
		rounded[i] = single[i];
	}
	reduce_check_float(single, n, threads, &check);
	compare(what, rounded, n, threads, 0x1p-24, &check);
	reduce_check_double(x, n, threads, &check);
	compare(what, x, n, threads, 0x1p-53, &check);
	free(single);
	free(rounded);
}

static void fill(double *x, uint32_t n, double scale)
{
	for (uint32_t i = 0; i < n; ++i)
		x[i] = scale * ((double)next_random() * 0x1p-30 - 1);
}

static void test_reductions(void)
{
	static double x[VALUES_MAX];
	const int threads[] = {32, 64, 96, 256, 1024};
	for (size_t t = 0; t < ARRAY_LEN(threads); ++t) {
		const uint32_t n = 1 + (uint32_t)next_random() % VALUES_MAX;
		fill(x, n, 1);
		test_reduction("random", x, n, threads[t]);
		x[n / 2] = -INFINITY;
		test_reduction("an infinity", x, n, threads[t]);
		x[n / 3] = NAN;
		x[n - 1] = -NAN;
		test_reduction("two NaN among numbers and infinity", x, n, threads[t]);
		for (uint32_t i = 0; i < n; ++i)
			x[i] = next_random() % 3 == 0 ? -2 : next_random() % 2 ? 2 : 1;
		test_reduction("ties of either sign", x, n, threads[t]);
		fill(x, n, 1e-310);
		test_reduction("subnormal or zero", x, n, threads[t]);
		memset(x, 0, sizeof x);
		test_reduction("zeros", x, n, threads[t]);
		test_reduction("nothing", x, 0, threads[t]);
	}
}

int main(void)
{
	struct gpu gpu;
	struct fault fault;
	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	state = (uint64_t)time(NULL);
	diag("seed %llu", (unsigned long long)state);
	test_barriers(gpu.sm_count);
	test_reductions();
	return finish();
}
