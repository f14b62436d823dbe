/* SPDX-License-Identifier: MIT */
/* CPU quotas of made-up control groups, of both versions; a measurement that meets the quota is
 * marked, from the sample to the row of the curve; threads that the environment asks for. */
#include "scratch.h"

#include "lib/host/allowance.h"
#include "lib/host/sample.h"
#include "lib/probe/curve.h"

static void is_quota(const char *groups, double processors, int64_t throttled, const char *what)
{
	struct cpu_quota quota = cpu_quota_read(put_text("groups", groups), scratch);

	is_real(quota.processors, processors, 0, what);
	ok(cpu_quota_throttled(&quota) == throttled, "%s: %lld periods in which it was used up",
	        what, (long long)throttled);
	cpu_quota_free(&quota);
}

static void test_version_2(void)
{
	put_text("outer/cpu.max", "100000 100000\n");
	put_text("outer/cpu.stat", "usage_usec 5\nnr_periods 389\nnr_throttled 300\n");
	put_text("outer/inner/cpu.max", "max 100000\n");
	put_text("outer/inner/cpu.stat", "nr_periods 0\nnr_throttled 7\n");
	is_quota("0::/outer/inner\n", 1, 300, "the quota of the group around counts");
	put_text("outer/inner/cpu.max", "50000 100000\n");
	is_quota("0::/outer/inner\n", 0.5, 307, "the tightest quota counts");
	is_quota("0::/outer/not/there\n", 1, 300, "a group that a container cannot see");
	is_quota("0::/\n", INFINITY, 0, "no quota");
	const struct cpu_quota none = cpu_quota_read("/nowhere/groups", "/nowhere");
	is_real(none.processors, INFINITY, 0, "no control groups");
}

static void test_version_1(void)
{
	put_text("cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
	put_text("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
	put_text("cpu,cpuacct/job/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 1\n");
	put_text("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put_text("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	is_quota("5:cpuset:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/x\n", 1.5, 4,
	        "version 1: quota over period");
}

static bool stops, once;

/* The quota runs out while this sample is taken. */
static bool take(void *context, struct sample *sample)
{
	(void)context;
	if (stops && !once)
		put_text("outer/cpu.stat", "nr_throttled 301\n");
	once = true;
	*sample = (struct sample){.seconds = 1e-6, .agreed = true, .span = 1e-6};
	return true;
}

static bool row_is_busy(void)
{
	const struct sample_plan plan = {.max_samples = 3, .min_samples = 3, .max_seconds = 0.1};
	struct measurement m;
	struct table *curve = curve_new(NULL, 0);

	once = false;
	sample_run(take, NULL, &plan, 0, &m);
	curve_add(curve, "made_up", NULL, 0, 0, &m, false);
	const bool busy = curve_at(curve, "made_up", NULL, 0).busy;
	table_free(curve);
	return busy;
}

static void test_measurement(void)
{
	host_quota_from(put_text("groups", "0::/outer\n"), scratch);
	is_real(host_quota()->processors, 1, 0, "a quota of one processor");
	ok(!row_is_busy(), "a row measured within the quota");
	stops = true;
	ok(row_is_busy(), "a row that met the quota becomes noisy");
	ok(!row_is_busy(), "the next one does not");
	const struct measurement good = {.seconds = {1, 0.9, 1.1, 5}},
	                         met = {.seconds = {1, 0.9, 1.1, 5}, .throttled = true},
	                         slow = {.seconds = {2, 1.9, 2.1, 5}, .throttled = true};
	ok(sample_merge(good, met).throttled, "two measurements as one: either counts");
	ok(!sample_merge(good, slow).throttled, "a slower one that is discarded does not");
	host_quota_from(NULL, NULL);
}

static void test_threads(void)
{
	const int threads = host_threads();

	ok(threads >= 1, "threads of host probes: %d", threads);
	setenv("OMP_NUM_THREADS", "1", 1);
	unsetenv("OPENBLAS_NUM_THREADS");
	ok(host_threads() == threads, "OMP_NUM_THREADS does not change them");
	if (threads > 1)
		is_text(host_threads_asked(), "OMP_NUM_THREADS=1", "but is known");
	setenv("OMP_NUM_THREADS", "1000000", 1);
	is_text(host_threads_asked(), NULL, "more threads than there are is no limit");
	ok(strspn(host_processors(), "0123456789,-") == strlen(host_processors()), "processors: %s",
	        host_processors());
}

int main(void)
{
	scratch_open();
	test_version_2();
	test_version_1();
	test_measurement();
	test_threads();
	scratch_close();
	return finish();
}
