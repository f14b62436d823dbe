/* SPDX-License-Identifier: MIT */
/* Kernels of the copy probe. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

enum { COPY_THREADS = 256, COPY_UNROLL = 4, COPY_LINE = 128 /* bytes */ };

enum copy_kind {
	COPY_BOTH,    /* target = source, consecutive words */
	COPY_READ,    /* source is read and nothing is written */
	COPY_WRITE,   /* target[i] = copy_pattern(i) */
	COPY_CHANGE,  /* target[i] |= copy_pattern(i) */
	COPY_STRIDED, /* target[i * stride] = source[i * stride], word by word */
	COPY_HEAD     /* as COPY_BOTH: words up to the first line, then 16-byte vectors */
};

/* Words are 4 bytes. source and target point to the first word and have the same offset from a
 * line. */
struct copy_launch {
	enum copy_kind kind;
	const uint32_t *source;
	uint32_t *target;
	int64_t words, stride;
	int width; /* bytes of one access: 4, 8 or 16; words and pointers are multiples of it */
	int blocks, threads;
};

/* Blocks of COPY_THREADS threads of this launch's kernel that an SM holds. */
int copy_blocks_per_sm(const struct copy_launch *launch);

/* Starts one kernel. stream is a cudaStream_t. */
void copy_start(const struct copy_launch *launch, void *stream);

/* The number of wrong target words; `wrong` is one word of device memory. Synchronizes. */
enum { COPY_POISON = 0xa5 }; /* every byte of targets before the first launch */
int64_t copy_wrong_words(const struct copy_launch *launch, unsigned long long *wrong, void *stream);

C_END
