/* SPDX-License-Identifier: MIT */
/* The timed transfers of the transfer probe, one sample each. */
#include "transfer_internal.h"

#include "lib/host/clock.h"

#include <cuda_runtime_api.h>

enum { CLOCKED_BYTES = 16 * MIB };

/* Launch of the stamps and last wait in the host's view. */
static const double host_slack = 200e-6;

char *transfer_returning(const struct buffer *buffer)
{
	return buffer->host + buffer->bytes / 2;
}

static void move_pageable(const struct work *work)
{
	const struct transfer *transfer = work->transfer;
	char *host = work->route->buffer->host;
	size_t bytes = (size_t)work->bytes;
	if (work->route->direction == TO_HOST) {
		GPU(cudaMemcpy(host, transfer->source, bytes, cudaMemcpyDeviceToHost));
		return;
	}
	GPU(cudaMemcpy(transfer->target, host, bytes, cudaMemcpyHostToDevice));
	GPU(cudaStreamSynchronize(NULL)); /* a short copy returns once it is staged */
}

static void move_mapped(const struct work *work)
{
	const struct transfer *transfer = work->transfer;
	void *host = work->route->buffer->mapped;
	int blocks = 2 * transfer->gpu.sm_count;
	if (work->route->direction == TO_HOST)
		transfer_copy(host, transfer->source, work->bytes, blocks, transfer->stream);
	else
		transfer_copy(transfer->target, host, work->bytes, blocks, transfer->stream);
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize(transfer->stream));
}

static void move_pinned(const struct work *work)
{
	const struct transfer *transfer = work->transfer;
	const struct buffer *buffer = work->route->buffer;
	enum direction direction = work->route->direction;
	size_t bytes = (size_t)work->bytes;
	if (direction != TO_HOST)
		GPU(cudaMemcpyAsync(transfer->target, buffer->host, bytes, cudaMemcpyHostToDevice,
		        transfer->stream));
	if (direction != TO_DEVICE)
		GPU(cudaMemcpyAsync(direction == BOTH ? transfer_returning(buffer) : buffer->host,
		        transfer->source, bytes, cudaMemcpyDeviceToHost,
		        direction == BOTH ? transfer->other : transfer->stream));
	GPU(cudaStreamSynchronize(transfer->stream));
	if (direction == BOTH)
		GPU(cudaStreamSynchronize(transfer->other));
}

static void move(const struct work *work)
{
	if (work->route->kind == PAGEABLE)
		move_pageable(work);
	else if (work->route->kind == MAPPED)
		move_mapped(work);
	else
		move_pinned(work);
}

static double move_seconds(const struct work *work)
{
	double start = clock_now();
	move(work);
	return clock_now() - start;
}

/* The stamps lie outside the timed call: their span lies between the call's time and the host's
 * time around the stamps. */
static double move_between_stamps(const struct work *work, struct sample *sample)
{
	const struct transfer *transfer = work->transfer;
	double start = clock_now();
	gpu_timer_start(transfer->timer, transfer->stream);
	GPU(cudaStreamSynchronize(transfer->stream));
	double seconds = move_seconds(work);
	gpu_timer_stop(transfer->timer, transfer->stream);
	GPU(cudaStreamSynchronize(transfer->stream));
	double around = clock_now() - start;
	struct gpu_span span;
	gpu_timer_span(transfer->timer, &span);
	gpu_span_sample(&span, 1, around, host_slack, sample);
	if (seconds > 1.002 * sample->span + gpu_timer_resolution())
		sample->agreed = false;
	return seconds;
}

/* Rewrites every line of host memory with its value. */
static void write_again(const struct work *work)
{
	enum { LINE = 64 };
	volatile char *host = work->route->buffer->host;
	for (int64_t i = 0; i < work->bytes; i += LINE)
		host[i] = host[i];
}

bool transfer_sample(void *context, struct sample *sample)
{
	const struct work *work = context;
	if (work->route->kind == WRITTEN)
		write_again(work);
	*sample = (struct sample){.agreed = true};
	sample->seconds = work->bytes >= CLOCKED_BYTES ? move_between_stamps(work, sample)
	                                               : move_seconds(work);
	sample->hz = 0;
	return true;
}
