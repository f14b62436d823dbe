/* SPDX-License-Identifier: MIT */
/* The concurrency probe: its fit and its kernels. stream is a cudaStream_t. Errors stay in
 * cudaGetLastError, as a check after every launch would be timed, too. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

/* Every thread does `rounds` rounds of CONCURRENCY_FMAS dependent FMAs; *sink is never written. */
enum { CONCURRENCY_FMAS = 64 };
void concurrency_arithmetic(int blocks, int threads, int64_t rounds, float *sink, void *stream);

/* Copies `bytes` bytes (a multiple of 16) of device memory `passes` times over. */
void concurrency_memory(
        void *to, const void *from, int64_t bytes, int passes, int blocks, void *stream);

/* Every block stays for ns nanoseconds. The first block leaves its clocks in *span (pinned), the
 * start at once. */
void concurrency_stay(int blocks, int threads, uint64_t ns, struct gpu_span *span, void *stream);

/* As above, but calculating all the time. */
void concurrency_busy(int blocks, int threads, uint64_t ns, struct gpu_span *span, void *stream);

/* One block that adds one to *word. */
void concurrency_null(unsigned *word, void *stream);

C_END
