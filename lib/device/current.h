/* SPDX-License-Identifier: MIT */
/* The current device as launchers see it: what the device has, and what the code that was loaded
 * for it may use. The one place where a launcher learns either. Only in builds with the CUDA
 * Toolkit. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

struct current {
	uint64_t context; /* differs between contexts (driver.h) and between limits; 0: no device */
	int device;
	int code;   /* compute capability that the loaded code was compiled for, 10 x major +
	               minor: at most the device's; 0: there is no code for the device */
	int binary; /* compute capability of the machine code that runs, compiled now or before */
	bool warpgroups; /* the loaded code has products by warpgroups: compiled for 9.0a */
	int sm_count;    /* of the context: a green context has some of the device's */
	int64_t shared_per_sm, shared_per_block; /* bytes; a block's is the opt-in maximum */
	bool cooperative;
	int max_cluster; /* most blocks of a cluster: 1 where device or code has none, 8 or 16 */
};

/* Queried once in a context by each thread. Without a device all members are 0. */
const struct current *gpu_current(void);

/* From now on the calling thread launches into streams of that many multiprocessors. 0: of all that
 * the context has. */
void gpu_limit_sms(int sms);

/* Allows the kernel all the shared memory that a block may have. Every thread asks for the same, so
 * that no call takes memory from another. Returns the cudaError_t. */
int kernel_allow_shared(const void *kernel);

/* The same, and whether as many bytes of dynamic shared memory are among it. */
bool kernel_takes_shared(const void *kernel, int64_t bytes);

C_END
