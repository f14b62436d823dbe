/* SPDX-License-Identifier: MIT */
/* The watchdog finds a call that blocks, counts the calls before it and releases it; calls that all
 * return are left alone. */
#include "tests/tap.h"
#include "lib/host/watchdog.h"

static void set(void *flag)
{
	__atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
}

/* 400 calls, of which the one after `quick` returns when *flag is set. Returns what the watch saw.
 */
static int watched(int quick, int *flag, int *calls)
{
	struct fault fault;
	struct watchdog *watch = watchdog_start(20e-3, set, flag, &fault);
	if (!watch)
		return -2;
	bool on = true;
	for (*calls = 0; on && *calls < 400; ++*calls) {
		while (*calls == quick && !__atomic_load_n(flag, __ATOMIC_ACQUIRE))
			;
		on = watchdog_returned(watch);
	}
	return watchdog_stop(watch);
}

int main(void)
{
	int flag = 0, calls;
	ok(watched(300, &flag, &calls) == 300, "the calls before the blocked one are counted");
	ok(flag == 1 && calls == 301, "the blocked one was released, and was the last");
	flag = 0;
	ok(watched(1000, &flag, &calls) == -1, "no call is blocked");
	ok(flag == 0 && calls == 400, "nothing is released, all calls were made");
	return finish();
}
