/* SPDX-License-Identifier: MIT */
/* The host's share of calls that put work into a stream, behind a hold: the device does not make
 * the host wait. The launch probe times its calls so, and gpu.launch.enqueue is measured again
 * so. */
#pragma once

#include "gpu.h"

/* Puts some calls and then times as many more; waits for the end of their work. False when the hold
 * timed out. stream is a cudaStream_t. */
enum { HELD_FIRST = 8, HELD_CALLS = 64 };
bool held_calls(struct gpu_hold *hold, void *stream, void (*put)(void *context, int calls),
        void *context, struct sample *sample);

/* A launch of a null kernel, one block of 256 threads with an argument of 8 bytes: a
 * sample_function with the launches as its context. NULL without a device. */
struct null_launches;
struct null_launches *null_launches_new(void);
void null_launches_free(struct null_launches *launches);
bool null_launches_sample(void *context, struct sample *sample);
