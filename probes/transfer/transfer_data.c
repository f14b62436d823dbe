/* SPDX-License-Identifier: MIT */
/* The data of transfers, and their checks. */
#include "transfer_internal.h"

#include "lib/base/msg.h"

#include <cuda_runtime_api.h>
#include <string.h>

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
	transfer_fill(data, whole_words(bytes), seed, transfer->stream);
	GPU(cudaStreamSynchronize(transfer->stream));
}

void transfer_fill_host(struct transfer *transfer, struct buffer *buffer, int64_t bytes)
{
	buffer->seed = transfer_new_seed(transfer);
	transfer_fill_device(transfer, transfer->source, bytes, buffer->seed);
	GPU(cudaMemcpy(buffer->host, transfer->source, (size_t)bytes, cudaMemcpyDeviceToHost));
}

unsigned long long transfer_wrong_on_device(
        const struct transfer *transfer, const char *data, int64_t bytes, uint32_t seed)
{
	unsigned long long wrong = 0;
	GPU(cudaMemsetAsync(transfer->wrong, 0, sizeof wrong, transfer->stream));
	transfer_compare(data, bytes, seed, transfer->wrong, transfer->stream);
	GPU(cudaMemcpyAsync(
	        &wrong, transfer->wrong, sizeof wrong, cudaMemcpyDeviceToHost, transfer->stream));
	GPU(cudaStreamSynchronize(transfer->stream));
	return wrong;
}

static bool wrong_word(const char *data, int64_t bytes, int64_t index, uint32_t seed)
{
	uint32_t word = transfer_word((uint64_t)index, seed);
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
			index = transfer_word((uint64_t)i, ~seed) % words;
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
	return transfer_wrong_on_device(transfer, transfer->target, bytes, seed);
}

void transfer_require_right(const struct work *work, unsigned long long wrong)
{
	if (wrong)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s: %llu words of a transfer of %lld bytes arrived wrong: no result kept",
		        work->route->series, wrong, (long long)work->bytes);
}
