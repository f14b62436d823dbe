/* SPDX-License-Identifier: MIT */
/* A device that is the host, for tests of the client library: work is done at once. */
#include "factor/library/cusolver/device.h"

#include <stdio.h>
#include <stdlib.h>

/* This stream is always under capture. */
static struct CUstream_st *const captured = (struct CUstream_st *)0x770;

bool device_captured(struct CUstream_st *stream)
{
	return stream == captured;
}

bool device_stream_new(struct CUstream_st **stream)
{
	*stream = malloc(16);
	return *stream != NULL;
}

/* With STANDIN_GONE nothing of a handle that ends exists any more. */
static void is_there(const char *what)
{
	if (getenv("STANDIN_GONE"))
		printf("%s of a context that is gone is freed\n", what);
}

void device_stream_free(struct CUstream_st *stream)
{
	is_there("a stream");
	free(stream);
}

void *device_new(int64_t bytes)
{
	return malloc((size_t)bytes);
}

void device_free(void *memory)
{
	is_there("memory");
	free(memory);
}

int64_t device_free_bytes(void)
{
	return INT64_C(1) << 30;
}

bool device_zero(int *info, struct CUstream_st *stream)
{
	(void)stream;
	*info = 0;
	return true;
}

bool device_widen(const int *from, int64_t count, int64_t *to, struct CUstream_st *stream)
{
	(void)stream;
	for (int64_t i = 0; i < count; i++)
		to[i] = from[i];
	return true;
}

bool device_narrow(const int64_t *from, int64_t count, int *to, struct CUstream_st *stream)
{
	(void)stream;
	for (int64_t i = 0; i < count; i++)
		to[i] = (int)from[i];
	return true;
}
