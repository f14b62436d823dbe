/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's panel in registers, start to start: on columns that are orthonormal already, which
 * takes as long. */
#include "block_kernel_parts.h"

#include "../lib/gram_schmidt.h"

#include <math.h>
#include <stdlib.h>

enum { SHORTEST = 256, TALLEST = 65536, NARROWEST = 16 };

struct gram_bench {
	struct blas_rate *rate;
	struct gram_schmidt g;
};

static void put(void *context)
{
	const struct gram_bench *b = context;
	GPU(gram_schmidt_resident(&b->g, b->rate->stream));
}

static void *room(int64_t bytes)
{
	void *data;
	GPU(cudaMalloc(&data, (size_t)bytes));
	GPU(cudaMemset(data, 0, (size_t)bytes));
	return data;
}

static int64_t work_bytes(enum precision precision)
{
	int64_t most = 16;
	for (int64_t m = SHORTEST; m <= TALLEST; m *= 2)
		for (int64_t n = NARROWEST; n <= GRAM_RESIDENT_COLUMNS; n *= 2) {
			const int64_t bytes = gram_schmidt_resident_bytes(precision, m, n);
			most = bytes > most ? bytes : most;
		}
	return most;
}

static struct gram_bench open_bench(struct blas_rate *rate, enum precision precision)
{
	const int64_t word = precision_bytes(precision), n = GRAM_RESIDENT_COLUMNS;
	struct gram_bench b = {.rate = rate};
	b.g.a = (struct matrix){room(TALLEST * n * word), 0, TALLEST, n, TALLEST, precision};
	b.g.r = (struct matrix){room(n * n * word), 0, n, n, n, precision};
	b.g.norms = (struct matrix){room(n * word), 0, n, 1, n, precision};
	b.g.info = room(sizeof *b.g.info);
	b.g.work = room(work_bytes(precision));
	const uint64_t seed = (uint64_t)rate->run->common.seed;
	GPU(cudaDeviceSynchronize());
	if (precision == SINGLE)
		gpu_fill_float(b.g.a.data, TALLEST * n, seed, rate->stream);
	else
		gpu_fill_double(b.g.a.data, TALLEST * n, seed, rate->stream);
	return b;
}

static void close_bench(struct gram_bench *b)
{
	void *pieces[] = {b->g.a.data, b->g.r.data, b->g.norms.data, b->g.info, b->g.work};
	GPU(cudaStreamSynchronize(b->rate->stream));
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		GPU(cudaFree(pieces[i]));
}

/* A panel whose blocks gave up waiting for each other has a diagonal that is no number. */
static void check(const struct gram_bench *b)
{
	const int64_t n = b->g.a.n, word = precision_bytes(b->g.a.precision);
	double last = 0;
	float single;
	const char *at = (const char *)b->g.r.data + (n * n - 1) * word;
	GPU(cudaStreamSynchronize(b->rate->stream));
	GPU(cudaMemcpy(
	        word == 4 ? (void *)&single : &last, at, (size_t)word, cudaMemcpyDeviceToHost));
	last = word == 4 ? (double)single : last;
	if (!(fabs(last - 1) < 1e-3))
		msg_die(EXIT_MEASURE_FAILED,
		        "Gram-Schmidt's panel of %lld x %lld failed: %g is to be 1",
		        (long long)b->g.a.m, (long long)n, last);
}

void block_kernel_gram(struct blas_rate *rate, enum precision precision, int64_t step)
{
	struct gram_bench b = open_bench(rate, precision);
	char series[] = {'g', 'r', 'a', 'm', '_', (char)precision, '\0'};
	for (int64_t m = SHORTEST; m <= TALLEST; m *= step)
		for (int64_t n = NARROWEST; n <= GRAM_RESIDENT_COLUMNS; n *= 2) {
			const struct arg args[] = {{"m", (double)m}, {"n", (double)n}};
			b.g.a.m = b.g.a.ld = m;
			b.g.a.n = b.g.r.n = b.g.r.m = b.g.r.ld = b.g.norms.m = n;
			if (gram_schmidt_resident_bytes(precision, m, n) < 0)
				continue;
			put(&b); /* makes them orthonormal */
			put(&b);
			check(&b);
			blas_rate_measure(rate, put, &b, 0, series, args, ARRAY_LEN(args));
		}
	close_bench(&b);
}
