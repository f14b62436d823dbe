/* SPDX-License-Identifier: MIT */
/* The kernels of the loaded_latency probe. Launches go to the default stream; each returns the
 * cudaError_t. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

enum {
	LOADED_NODE_BYTES = 128,
	LOADED_UNROLL = 32,
	LOADED_THREADS = 512,
	LOADED_STAGES = 4 /* of bulk copies under way */
};

/* Ways of data to an SM. */
enum loaded_engine {
	ENGINE_PLAIN = 1, /* 16-byte loads (ld.global.cg) into registers */
	ENGINE_ASYNC,     /* cp.async, 16 bytes each, into shared memory (sm_80) */
	ENGINE_BULK,      /* cp.async.bulk into shared memory (sm_90) */
	ENGINE_STORE      /* 16-byte stores */
};

/* Pinned, written by the kernels. */
struct loaded_block {
	struct gpu_span span;
	uint64_t bytes;
};

/* Lives in device memory, zero before every launch. */
struct loaded_shared {
	uint32_t ready, stop;
};

/* Block 0 waits until the others stream, follows `steps` pointers from *last, and stops them. The
 * others read `region` (a multiple of 64 KiB) by 16-byte loads, with `pause` cycles after every 32
 * KiB. Cooperative; every wait ends. block[0] has the chase's span. With one block nothing streams.
 */
struct loaded_chase {
	int blocks;
	int64_t steps, pause;
	const void *region;
	int64_t region_bytes;
	uint64_t *last; /* pinned: start of the chase, then its end */
	struct loaded_shared *shared;
	struct loaded_block *block; /* pinned */
	uint32_t *sink;
};
int loaded_chase_launch(const struct loaded_chase *chase);

/* Writes the cycle: the node at place[i] points to the node at place[next[i]]. */
int loaded_build(void *nodes, const uint32_t *place, const uint32_t *next, int64_t count);

/* Every block moves `turns` pieces of its own out of (or into) the region, with depth x 16 bytes of
 * every thread under way. ENGINE_BULK: as many bytes, in 4 stages of each of `issuers` warps, whose
 * first threads start the copies. */
struct loaded_stream {
	enum loaded_engine engine;
	int blocks, threads;
	int depth;   /* 1, 2, 4 or 8 */
	int issuers; /* of ENGINE_BULK; 1 to 32 */
	int64_t turns;
	char *region;
	int64_t region_bytes, offset; /* offset in pieces */
	struct loaded_block *block;
	uint32_t *sink;
};

/* Pieces of a block in one turn, and the bytes of a piece. */
static inline int loaded_pieces(const struct loaded_stream *s)
{
	return s->engine == ENGINE_ASYNC ? s->depth : s->engine == ENGINE_BULK ? s->issuers : 1;
}
static inline int loaded_piece_bytes(const struct loaded_stream *s)
{
	const int stages = s->engine == ENGINE_BULK ? LOADED_STAGES : 1;
	return 16 * s->threads * s->depth / stages / loaded_pieces(s);
}

/* Bytes of a region well inside L2: a third of it in coarse steps, in fine ones where it is small.
 * No region has no bytes. */
static inline int64_t loaded_inside_l2(int64_t l2_bytes)
{
	const int64_t coarse = 256 << 10, fine = 64 << 10, third = l2_bytes / 3;
	const int64_t step = third < coarse ? fine : coarse;
	return third < step ? step : third / step * step;
}

/* SMs of the k-th of 4 points between half of them and all, where the knee lies between the last
 * powers of two; 0 where the point before has as many. */
static inline int loaded_upper_sms(int sms, int k)
{
	const int here = sms * (4 + k) / 7, before = k > 0 ? sms * (3 + k) / 7 : 0;
	return here > before ? here : 0;
}

int loaded_stream_launch(const struct loaded_stream *stream);

C_END
