/* SPDX-License-Identifier: MIT */
#include "watchdog.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "lib/base/msg.h"

/* Seconds between two looks, and the part of a blocked call's seconds. */
static const double shortest_look = 200e-6, longest_look = 1, look_share = 1e-3;

struct watchdog {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t stopped; /* by `stop`, under the mutex */
	double seconds;
	void (*release)(void *argument);
	void *argument;
	/* between the threads */
	int returned; /* calls */
	int blocked;  /* calls returned when the next was found blocked; -1: none was */
	bool stop;
};

/* Under the mutex: until the next look, or the end of the watch. */
static void wait_for_look(struct watchdog *watch)
{
	const double between = fmin(fmax(look_share * watch->seconds, shortest_look), longest_look);
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	const double nanoseconds = (double)until.tv_nsec + between * 1e9;
	until.tv_sec += (time_t)(nanoseconds / 1e9);
	until.tv_nsec = (long)fmod(nanoseconds, 1e9);
	pthread_cond_timedwait(&watch->stopped, &watch->mutex, &until);
}

static void *look(void *argument)
{
	struct watchdog *watch = argument;
	int last = -1;
	double since = clock_now();

	pthread_mutex_lock(&watch->mutex);
	while (!watch->stop) {
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
		wait_for_look(watch);
	}
	pthread_mutex_unlock(&watch->mutex);
	return NULL;
}

static void destroy(struct watchdog *watch)
{
	pthread_cond_destroy(&watch->stopped);
	pthread_mutex_destroy(&watch->mutex);
	free(watch);
}

struct watchdog *watchdog_start(
        double seconds, void (*release)(void *argument), void *argument, struct fault *fault)
{
	struct watchdog *watch = xcalloc(1, sizeof *watch);

	watch->seconds = seconds;
	watch->release = release;
	watch->argument = argument;
	watch->blocked = -1;
	pthread_mutex_init(&watch->mutex, NULL);
	pthread_cond_init(&watch->stopped, NULL);
	const int error = pthread_create(&watch->thread, NULL, look, watch);
	if (error == 0)
		return watch;
	destroy(watch);
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
	pthread_mutex_lock(&watch->mutex);
	watch->stop = true;
	pthread_cond_signal(&watch->stopped);
	pthread_mutex_unlock(&watch->mutex);
	pthread_join(watch->thread, NULL);
	const int blocked = watch->blocked;
	destroy(watch);
	return blocked;
}
