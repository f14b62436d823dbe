/* SPDX-License-Identifier: MIT */
/* Finds a call that does not return. A second thread sees that calls stopped returning, notes how
 * many did return, and releases the blocked call, as the blocked thread cannot. */
#pragma once

#include "lib/base/base.h"

struct watchdog;

/* A call that takes `seconds` is blocked; release(argument) is then called, once, from the other
 * thread. NULL with a fault when no thread can be started. */
struct watchdog *watchdog_start(
        double seconds, void (*release)(void *argument), void *argument, struct fault *fault);

/* To be called after each call. False when one of the calls so far was blocked. */
bool watchdog_returned(struct watchdog *watch);

/* Ends the watch and frees it. Returns how many calls had returned when the next one was found
 * blocked; -1 when none was. */
int watchdog_stop(struct watchdog *watch);
