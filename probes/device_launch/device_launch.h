/* SPDX-License-Identifier: MIT */
/* The device_launch probe: its fit and its kernels. Each launcher runs `count` kernels that add one
 * to *word. Errors stay in cudaGetLastError: this is timed. stream is a cudaStream_t. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

enum { LAUNCH_THREADS = 256 }; /* of every kernel that counts */

typedef void device_launcher(unsigned *word, int count, void *stream);

/* Kernels that one kernel puts into its tail stream: they run one after another. */
device_launcher device_launch_tail;

/* Kernels that one kernel launches to run at once. */
device_launcher device_launch_fire;

/* Chains of CHAIN kernels, each of which launches the next as its tail; the host launches the
 * first. CUDA allows 24 kernels in each other. */
enum { CHAIN = 16 };
device_launcher device_launch_chain;

/* Kernels that the host launches, beside the others. */
device_launcher device_launch_host;

C_END
