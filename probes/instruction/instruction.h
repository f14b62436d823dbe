/* SPDX-License-Identifier: MIT */
/* The kernels of the instruction probe. Launches go to the default stream; each returns the
 * cudaError_t. Every block writes its own span: span has room for blocks x SMs. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

/* Instructions of one warp in the body of the timed loop, over all its chains. */
enum {
	INSTRUCTION_BODY = 512,
	INSTRUCTION_SHORT_BODY = 128, /* for the loop's own cost */
	INSTRUCTION_SLOW_BODY = 32,   /* division and square root, many instructions each */
	INSTRUCTION_MMA_BODY = 16,
	INSTRUCTION_FED_BODY = 128
};

struct instruction {
	const char *name; /* of the series and the parameters: gpu.<name>.latency, .rate */
	double flops;     /* of one warp-wide instruction; 0: 32 operations are counted */
	int body;         /* instructions of one turn of the loop */
	int capability;   /* least compute capability, 10 x major + minor */
};

/* The table of instructions; count entries. */
const struct instruction *instruction_table(size_t *count);

/* Kernels: chains of an instruction of the table; chains of single-precision FMA in the short body;
 * FMAs with one operand from elsewhere (a load of 4, 8 or 16 bytes from shared memory feeds one,
 * two or four of them); asynchronous tensor-core products of warpgroups (sm_90a), m64n128 with k =
 * 8 (tf32) or 16 (bf16), both operands in shared memory. */
enum instruction_kind { CHAIN, SHORT_CHAIN, FED, WARPGROUP };

enum fed_source {
	FED_REGISTER,  /* nothing is loaded: the reference */
	FED_LANE,      /* every lane its own word(s), no conflicts */
	FED_BROADCAST, /* all lanes the same */
	FED_CONFLICT,  /* two lanes to a bank */
	/* operand of the constant bank; code for sm_90 loads it into a uniform register before the
	   loop */
	FED_CONSTANT,
	FED_SOURCES
};
enum wgmma_kind { WGMMA_TF32, WGMMA_BF16 };

struct instruction_launch {
	enum instruction_kind kind;
	size_t index;  /* into the table, or enum fed_source, or enum wgmma_kind */
	int chains;    /* 1, 2, 4 or 8 independent chains of a warp; SHORT_CHAIN: 1 or 8 */
	int warps;     /* of a block; WARPGROUP: 8 */
	int blocks;    /* of an SM */
	int width;     /* FED: bytes of a load */
	int64_t turns; /* of the loop */
	int sm_count;
	struct gpu_span *span; /* pinned, one of each block */
	uint32_t *sink;        /* on the device; never written */
};

/* WARPGROUP kernels: only where gpu.warpgroups. */
int instruction_launch(const struct instruction_launch *launch);

C_END
