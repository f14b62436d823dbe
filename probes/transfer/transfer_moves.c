/* SPDX-License-Identifier: MIT */
/* Data of the transfer probe, and the timed transfers, one sample each. */
#include "transfer_internal.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <cuda_runtime_api.h>
#include <string.h>

/* ---- data and their checks ---- */

enum { CHECKED_WORDS = 4096 }; /* of a large transfer to the host; small ones are checked whole */

static int64_t whole_words(int64_t bytes)
{
	return (bytes + 3) / 4 * 4;
}

uint32_t transfer_new_seed(struct transfer *transfer)
{
	return ++transfer->seed;
}

void transfer_fill_device(const struct transfer *transfer, char *data, int64_t bytes, uint32_t seed)
{
	words_fill(data, whole_words(bytes), seed, transfer->stream);
	GPU(cudaStreamSynchronize(transfer->stream));
}

void transfer_fill_host(struct transfer *transfer, struct buffer *buffer, int64_t bytes)
{
	buffer->seed = transfer_new_seed(transfer);
	transfer_fill_device(transfer, transfer->source, bytes, buffer->seed);
	GPU(cudaMemcpy(buffer->host, transfer->source, (size_t)bytes, cudaMemcpyDeviceToHost));
}

static bool wrong_word(const char *data, int64_t bytes, int64_t index, uint32_t seed)
{
	uint32_t word = word_of((uint64_t)index, seed);
	int64_t left = bytes - 4 * index;
	return memcmp(data + 4 * index, &word, left < 4 ? (size_t)left : 4) != 0;
}

unsigned long long transfer_wrong_on_host(const char *data, int64_t bytes, uint32_t seed)
{
	int64_t words = whole_words(bytes) / 4, checked = words;
	if (bytes > MIB)
		checked = CHECKED_WORDS;
	unsigned long long wrong = wrong_word(data, bytes, words - 1, seed);
	for (int64_t i = 0; i < checked; i++) {
		int64_t index = i;
		if (checked < words && i > 0)
			index = word_of((uint64_t)i, ~seed) % words;
		wrong += wrong_word(data, bytes, index, seed);
	}
	return wrong;
}

/* Brings the data back in the stream that compares: a copy from pageable memory in another stream
 * may return too early. */
unsigned long long transfer_wrong_returned(
        const struct transfer *transfer, const char *host, int64_t bytes, uint32_t seed)
{
	transfer_fill_device(transfer, transfer->target, bytes, ~seed);
	GPU(cudaMemcpyAsync(
	        transfer->target, host, (size_t)bytes, cudaMemcpyHostToDevice, transfer->stream));
	return words_wrong(transfer->target, bytes, seed, transfer->wrong, transfer->stream);
}

void transfer_require_right(const struct work *work, unsigned long long wrong)
{
	if (wrong)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s: %llu words of a transfer of %lld bytes arrived wrong: no result kept",
		        work->series, wrong, (long long)work->bytes);
}

enum { CLOCKED_BYTES = 16 * MIB };

/* ---- timed transfers ---- */

/* Launch of the stamps and last wait in the host's view. */
static const double host_slack = 200e-6;

char *transfer_returning(const struct buffer *buffer)
{
	return buffer->host + buffer->bytes / 2;
}

static void move_pageable(const struct work *work)
{
	const struct transfer *transfer = work->transfer;
	char *host = work->buffer->host;
	size_t bytes = (size_t)work->bytes;
	if (work->direction == TO_HOST) {
		GPU(cudaMemcpy(host, transfer->source, bytes, cudaMemcpyDeviceToHost));
		return;
	}
	GPU(cudaMemcpy(transfer->target, host, bytes, cudaMemcpyHostToDevice));
	GPU(cudaStreamSynchronize(NULL)); /* a short copy returns once it is staged */
}

static void move_mapped(const struct work *work)
{
	const struct transfer *transfer = work->transfer;
	void *host = work->buffer->mapped;
	int blocks = 2 * transfer->gpu.sm_count;
	if (work->direction == TO_HOST)
		transfer_copy(host, transfer->source, work->bytes, blocks, transfer->stream);
	else
		transfer_copy(transfer->target, host, work->bytes, blocks, transfer->stream);
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize(transfer->stream));
}

static void move_pinned(const struct work *work)
{
	const struct transfer *transfer = work->transfer;
	const struct buffer *buffer = work->buffer;
	enum direction direction = work->direction;
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
	if (work->kind == PAGEABLE)
		move_pageable(work);
	else if (work->kind == MAPPED)
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
	volatile char *host = work->buffer->host;
	for (int64_t i = 0; i < work->bytes; i += LINE)
		host[i] = host[i];
}

bool transfer_sample(void *context, struct sample *sample)
{
	const struct work *work = context;
	if (work->kind == WRITTEN)
		write_again(work);
	*sample = (struct sample){.agreed = true};
	sample->seconds = work->bytes >= CLOCKED_BYTES ? move_between_stamps(work, sample)
	                                               : move_seconds(work);
	sample->hz = 0;
	return true;
}
