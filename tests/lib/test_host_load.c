/* SPDX-License-Identifier: MIT */
/* Processors that other programs keep busy: by made-up counters, and by the kernel's. */
#include "scratch.h"

#include "lib/host/clock.h"
#include "lib/host/host_load.h"

#include <sys/wait.h>

static struct host_load at(const char *counters, double own, double when)
{
	host_load_from(put_text("stat", counters));
	const struct host_load now = host_load_now();

	return (struct host_load){now.all, own, when};
}

static void test_counters(void)
{
	const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	const struct host_load from = at("cpu  100 10 30 5000 700 7 3 900 0 0\ncpu0 1 1\n", 1, 10),
	                       to = at("cpu  300 20 60 9000 900 9 7 990 0 0\n", 1.5, 12);

	is_real(from.all, 150 * tick, 1e-9, "time at work, without idle, waiting and stolen time");
	is_real(host_load_others(from, to), (246 * tick - 0.5) / 2, 1e-9,
	        "what others used is all but this process's, over the time");
	is_real(host_load_others(to, (struct host_load){to.all, 2, 14}), 0, 0, "never below 0");
	ok(isnan(host_load_others(from, from)), "no time has passed");
	ok(isnan(at("intr 5\n", 0, 0).all) && isnan(at("cpu  1 2\n", 0, 0).all) &&
	                isnan(host_load_others(at("", 0, 0), to)) && !host_load_is_high(NAN),
	        "counters that do not say: unknown, which is not high");
	ok(host_load_is_high(0.6 * (double)sysconf(_SC_NPROCESSORS_ONLN)) &&
	                !host_load_is_high(0.4 * (double)sysconf(_SC_NPROCESSORS_ONLN)),
	        "more than half of the processors are many");
}

/* A child at work counts as another program, and this process's own work does not. */
static void test_kernel(void)
{
	enum { TICKS = 3 };
	const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK), span = 0.3;

	host_load_from("/proc/stat");
	const struct host_load from = host_load_now();
	const pid_t child = fork();
	for (const double start = clock_now(); clock_now() - start < span;)
		;
	if (child == 0)
		_exit((int)(clock_thread() / tick));
	int status = 0;
	ok(child > 0 && waitpid(child, &status, 0) == child, "a child that works");
	const struct host_load to = host_load_now();
	const double used = WEXITSTATUS(status) * tick,
	             others = host_load_others(from, to) * (to.when - from.when);
	ok(to.own > from.own, "this process's own work is known");
	if (to.all == from.all) {
		skip("a child among others", "this system's counters stand still");
		return;
	}
	ok(others >= used - TICKS * tick, "the child's %g s are among %g s of others", used,
	        others);
}

int main(void)
{
	scratch_open();
	test_counters();
	test_kernel();
	scratch_close();
	return finish();
}
