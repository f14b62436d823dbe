/* SPDX-License-Identifier: MIT */
/* The memory of the host_rate probe, and its random numbers. */
#include "host_rate_internal.h"

#include "lib/base/msg.h"
#include "lib/host/pages.h"

#include <stdlib.h>
#include <string.h>

enum { RANDOM = 100003 /* numbers, over and over: no column repeats another */ };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13; /* xorshift64 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Random numbers of a precision in the master. */
static void fill_master(struct rates *rates, bool is_double)
{
	static const double scale = 0x1p-63;
	size_t used = RANDOM * (is_double ? sizeof(double) : sizeof(float));

	for (size_t i = 0; i < RANDOM; i++) {
		double random = scale * (double)(int64_t)next_random(&rates->state);
		if (is_double)
			((double *)rates->master)[i] = random;
		else
			((float *)rates->master)[i] = (float)random;
	}
	for (size_t left; used < rates->bytes; used += left < used ? left : used) {
		left = rates->bytes - used;
		memcpy(rates->master + used, rates->master, left < used ? left : used);
	}
}

void rates_fill(struct rates *rates, bool is_double)
{
	if (!rates->filled || rates->double_filled != is_double)
		fill_master(rates, is_double);
	rates->filled = true;
	rates->double_filled = is_double;
	memcpy(rates->a, rates->master, rates->bytes);
}

void rates_use(struct rates *rates, int m, int n, bool is_double)
{
	const size_t wanted = PLACES * pages_rounded(panel_bytes(m, n, is_double)),
	             bytes = wanted < rates->room ? wanted : rates->room;

	if (rates->filled && rates->double_filled == is_double && bytes <= rates->bytes)
		return;
	rates->filled = false;
	rates->bytes = bytes;
	rates_fill(rates, is_double);
}

/* Room for two factors of the largest gemm in double precision; everything else is smaller. */
bool rates_open(struct rates *rates, int edge, uint64_t seed)
{
	rates->room = rates->bytes = pages_rounded(2 * panel_bytes(edge, edge, true));
	rates->a = aligned_alloc(pages_small(), rates->room);
	rates->master = aligned_alloc(pages_small(), rates->room);
	rates->tau = xmalloc(WIDE_N * sizeof(double));
	rates->work = xmalloc(WIDE_N * QR_BLOCK * sizeof(double));
	rates->ipiv = xmalloc(WIDE_N * sizeof(lapack_int));
	rates->state = seed * 0x9e3779b97f4a7c15u | 1;
	if (rates->a && rates->master)
		return true;
	rates_close(rates);
	return false;
}

void rates_close(struct rates *rates)
{
	free(rates->ipiv);
	free(rates->work);
	free(rates->tau);
	free(rates->master);
	free(rates->a);
}
