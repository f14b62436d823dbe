/* SPDX-License-Identifier: MIT */
/* Facts by compute capability, `code` = 10 x major + minor; 7.5 and newer. Source: CUDA C++
 * Programming Guide, technical specifications and throughput of native arithmetic instructions per
 * compute capability; for tensor cores the architectures' white papers, peak rates without sparsity
 * over multiprocessors and boost clock. */
#pragma once

#include "base.h"

C_BEGIN

/* What a multiprocessor holds, in constant expressions for kernels: threads, blocks, and registers
 * of 32 bits. */
#define ARCHITECTURE_IS_LARGE(code) ((code) == 80 || ((code) >= 90 && (code) < 110))
#define ARCHITECTURE_THREADS(code) ((code) < 80 ? 1024 : ARCHITECTURE_IS_LARGE(code) ? 2048 : 1536)
#define ARCHITECTURE_BLOCKS(code)                                                                  \
	((code) < 80 ? 16 : ARCHITECTURE_IS_LARGE(code) ? 32 : (code) < 89 ? 16 : 24)
enum { ARCHITECTURE_REGISTERS = 65536 };
/* Bytes of shared memory, at most, of a block. */
#define ARCHITECTURE_SHARED(code)                                                                  \
	(1024 * ((code) < 80                           ? 64                                        \
	                : (code) == 80 || (code) == 87 ? 163                                       \
	                : (code) >= 90 && (code) < 120 ? 227                                       \
	                                               : 99))

/* What no function of CUDA reports. */
struct architecture {
	int capability;
	/* fused multiply-adds of a multiprocessor in a cycle; 0: its tensor cores have none */
	int fp32, fp64, fp64_tensor, tf32;
	int max_cluster; /* blocks of a cluster; 1: no clusters */
};

/* The architecture itself, or the last known one before it (7.5 for all older ones). */
const struct architecture *architecture_of(int capability);

C_END
