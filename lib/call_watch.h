/* SPDX-License-Identifier: MIT */
/* Finds the call that does not return: a thread beside the calling one sees that calls stopped
 * returning, notes how many did, and undoes what blocks them, which the blocked thread cannot. */
#ifndef FATHOM_CALL_WATCH_H
#define FATHOM_CALL_WATCH_H

#include "base.h"

struct call_watch;

/* A call that takes `seconds` is blocked; release(argument) is then called, once, from the other
 * thread. NULL with a fault when there is no thread to be had. */
struct call_watch *call_watch_start(
        double seconds, void (*release)(void *argument), void *argument, struct fault *fault);

/* After each call. False when a call was found blocked: the calls so far are not all quick. */
bool call_watch_returned(struct call_watch *watch);

/* Ends the watch and frees it. Returns how many calls had returned when the next one was found
 * blocked; -1 when none was. */
int call_watch_stop(struct call_watch *watch);

#endif
