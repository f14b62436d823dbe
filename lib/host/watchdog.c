/* SPDX-License-Identifier: MIT */
#include "watchdog.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "lib/base/msg.h"

enum { SHORTEST_LOOK = 200 }; /* microseconds between two looks */

struct watchdog {
	pthread_t thread;
	double seconds;
	void (*release)(void *argument);
	void *argument;
	/* between the threads */
	int returned; /* calls */
	int blocked;  /* calls returned when the next was found blocked; -1: none was */
	int stop;
};

static void *look(void *argument)
{
	struct watchdog *watch = argument;
	int last = -1;
	double since = clock_now();
	const double between = fmin(fmax(1e-3 * watch->seconds, SHORTEST_LOOK * 1e-6), 0.1);

	while (!__atomic_load_n(&watch->stop, __ATOMIC_ACQUIRE)) {
		const int returned = __atomic_load_n(&watch->returned, __ATOMIC_ACQUIRE);
		const double now = clock_now();
		if (returned != last) {
			last = returned;
			since = now;
		} else if (now - since > watch->seconds) {
			__atomic_store_n(&watch->blocked, returned, __ATOMIC_RELEASE);
			watch->release(watch->argument);
			break;
		}
		usleep((useconds_t)(between * 1e6));
	}
	return NULL;
}

struct watchdog *watchdog_start(
        double seconds, void (*release)(void *argument), void *argument, struct fault *fault)
{
	struct watchdog *watch = xcalloc(1, sizeof *watch);

	watch->seconds = seconds;
	watch->release = release;
	watch->argument = argument;
	watch->blocked = -1;
	const int error = pthread_create(&watch->thread, NULL, look, watch);
	if (error == 0)
		return watch;
	free(watch);
	fault_set(fault, "cannot start a thread: %s", strerror(error));
	return NULL;
}

bool watchdog_returned(struct watchdog *watch)
{
	__atomic_add_fetch(&watch->returned, 1, __ATOMIC_RELEASE);
	return __atomic_load_n(&watch->blocked, __ATOMIC_ACQUIRE) < 0;
}

int watchdog_stop(struct watchdog *watch)
{
	__atomic_store_n(&watch->stop, 1, __ATOMIC_RELEASE);
	pthread_join(watch->thread, NULL);
	const int blocked = watch->blocked;
	free(watch);
	return blocked;
}
