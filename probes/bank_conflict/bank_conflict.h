/* SPDX-License-Identifier: MIT */
/* The kernels of the bank_conflict probe. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

/* Accesses are unrolled by BANK_UNROLL, also the side of the tile. A warp's area of shared memory
 * holds a tile of pitch 33, bytes. The chain of global atomics uses lines of BANK_UNROLL *
 * BANK_SPREAD bytes. */
enum { BANK_UNROLL = 32, BANK_AREA = 32 * 33 * 4, BANK_SPREAD = 65536 + 128 };

/* Every lane's place in bytes from the start of its warp's area. */
struct bank_lanes {
	uint16_t offset[32];
};

/* One block's times, in pinned memory. */
struct bank_result {
	struct gpu_span whole; /* filling and warm-up included */
	struct gpu_span timed;
};

enum bank_kind { BANK_PLAIN, BANK_SHARED_ATOMIC, BANK_GLOBAL_ATOMIC };
enum bank_access {
	BANK_CHAIN, /* a load whose address is the value of the load before */
	BANK_LOAD,  /* independent */
	BANK_STORE
};
enum bank_operation { BANK_U32, BANK_F32, BANK_CAS, BANK_U64, BANK_F64 };
enum bank_atomic {
	BANK_DEPENDENT, /* the operand depends on the returned value */
	BANK_ATOM,      /* independent, the value returned is used (global memory only) */
	BANK_RED        /* nothing is returned */
};

/* Plain accesses, and atomics in shared memory (U32, F32, CAS; DEPENDENT, RED): at the lane's
 * place. Atomics in global memory (all but CAS): in round r thread i of the grid's T threads adds
 * to the word at stride * ((i + r * T) % words) bytes, less than 4 GiB in all; DEPENDENT: one
 * thread only, over lines of BANK_UNROLL * BANK_SPREAD bytes. */
struct bank_launch {
	enum bank_kind kind;
	int blocks, threads; /* alone: 1 and 32 (or 1); saturated: a block on every SM */
	int areas;           /* warp w uses area w modulo this */
	int64_t rounds;      /* of BANK_UNROLL instructions by every warp */
	struct bank_result *result;
	struct bank_lanes lanes;
	enum bank_access access;
	int width; /* bytes of a plain access */
	bool tile; /* plain accesses of 4 bytes to 32 neighbouring words in turn */
	enum bank_operation operation;
	enum bank_atomic atomic;
	void *memory;
	uint32_t stride, words;
};

/* In the default stream. Returns the cudaError_t. */
int bank_launch(const struct bank_launch *launch);

C_END
