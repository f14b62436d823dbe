/* SPDX-License-Identifier: MIT */
/* Finds the call that does not return: a thread beside the calling one sees that calls stopped
 * returning, notes how many did, and undoes what blocks them, which the blocked thread cannot. */
#ifndef FATHOM_WATCHDOG_H
#define FATHOM_WATCHDOG_H

#include "lib/base/base.h"

struct watchdog;

/* A call that takes `seconds` is blocked; release(argument) is then called, once, from the other
 * thread. NULL with a fault when there is no thread to be had. */
struct watchdog *watchdog_start(
        double seconds, void (*release)(void *argument), void *argument, struct fault *fault);

/* After each call. False when a call was found blocked: the calls so far are not all quick. */
bool watchdog_returned(struct watchdog *watch);

/* Ends the watch and frees it. Returns how many calls had returned when the next one was found
 * blocked; -1 when none was. */
int watchdog_stop(struct watchdog *watch);

#endif
