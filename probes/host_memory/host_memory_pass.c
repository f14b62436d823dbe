/* SPDX-License-Identifier: MIT */
/* The loops of the host_memory probe, which the compiler vectorizes. */
#include "host_memory_internal.h"

#include <string.h>

/* Vectorized for this processor's unit, chosen at program start; never a call of memcpy. */
#define LOOPS "O3", "no-tree-loop-distribute-patterns"
#if defined(__clang__)
#define VECTORIZED __attribute__((noinline))
#elif defined(__x86_64__) && defined(__gnu_linux__)
#define UNITS "default", "avx2", "avx512f"
#define VECTORIZED __attribute__((noinline, optimize(LOOPS), target_clones(UNITS)))
#else
#define VECTORIZED __attribute__((noinline, optimize(LOOPS)))
#endif

VECTORIZED static uint64_t read_words(const uint64_t *data, size_t n)
{
	uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
	for (size_t i = 0; i < n; i++)
		sum += data[i];
	return sum;
}

VECTORIZED static void write_words(uint64_t *data, size_t n, uint64_t first, uint64_t mask)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		data[i] = (first + i) ^ mask;
}

VECTORIZED static void copy_words(uint64_t *restrict to, const uint64_t *restrict from, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static const uint64_t mask = 0x9e3779b97f4a7c15u;

/* Words that a pass reads, or writes where it reads none. */
static size_t passed_words(const struct bench *bench)
{
	const size_t words = bench->part / sizeof(uint64_t);
	return bench->way == COPY ? words / 2 : words;
}

void host_memory_pass(const struct bench *bench, struct worker *worker)
{
	const size_t all = passed_words(bench), n = all / bench->pieces;
	uint64_t *data = worker->data + worker->at;

	if (bench->way == READ)
		worker->sum = read_words(data, n);
	else if (bench->way == WRITE)
		write_words(data, n, worker->at, mask);
	else
		copy_words(data + all, data, n);
	__asm__ volatile("" ::"r"(worker->data) : "memory"); /* keeps every pass alive */
	worker->last = worker->at;
	worker->at = worker->at + 2 * n > all ? 0 : worker->at + n;
}

bool host_memory_right(const struct bench *bench, const struct worker *worker)
{
	const size_t all = passed_words(bench), n = all / bench->pieces;
	const uint64_t *data = worker->data + worker->last;
	size_t wrong = 0;
	uint64_t sum = 0;

	if (bench->way == COPY)
		return !memcmp(data, data + all, n * sizeof *data);
	for (size_t i = n; i-- > 0;) {
		sum += data[i];
		wrong += data[i] != ((worker->last + i) ^ mask);
	}
	return bench->way == READ ? sum == worker->sum : wrong == 0;
}
