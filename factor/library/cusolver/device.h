/* SPDX-License-Identifier: MIT */
/* The few things that the client library itself asks of CUDA. Streams are cudaStream_t of the
 * current device. Functions that may fail return false. Those that put work into a stream do not
 * wait. Tests have another device.c, whose device is the host. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

struct CUstream_st;

/* Whether the stream is under capture, or cannot be asked because others are. */
bool device_captured(struct CUstream_st *stream);

/* A stream that waits for no other one. */
bool device_stream_new(struct CUstream_st **stream);
void device_stream_free(struct CUstream_st *stream);

/* Memory, also while other streams are under capture. A free waits for work that uses it. */
void *device_new(int64_t bytes); /* NULL: none */
void device_free(void *memory);

/* Bytes that are free on the device; 0 where CUDA does not say. */
int64_t device_free_bytes(void);

/* *info := 0 */
bool device_zero(int *info, struct CUstream_st *stream);

/* Pivots, count in device memory, from int to 64 bits and back. */
bool device_widen(const int *from, int64_t count, int64_t *to, struct CUstream_st *stream);
bool device_narrow(const int64_t *from, int64_t count, int *to, struct CUstream_st *stream);

C_END
