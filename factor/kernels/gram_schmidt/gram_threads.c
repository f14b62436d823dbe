/* SPDX-License-Identifier: MIT */
#include "gram_threads.h"

#include "lib/base/msg.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- whose turn it is ---- */

/* A thread's items: the first, and others `step` apart. One word says which are left: the number
 * of the next item, and above it the number after the last item. The thread takes the next item,
 * helpers the last. */
struct turns {
	struct {
		_Alignas(64) uint64_t left;
		int64_t first;
	} of[GRAM_THREADS];
	int64_t step;
	int threads;
	bool help; /* threads help others */
};

static const uint64_t one_gone = (uint64_t)1 << 32;

static int64_t next_of(uint64_t left)
{
	return (int64_t)(left & (one_gone - 1));
}

static int64_t end_of(uint64_t left)
{
	return (int64_t)(left >> 32);
}

static int usable(int threads)
{
	return threads < GRAM_THREADS ? threads : GRAM_THREADS;
}

static void give(struct turns *t, int thread, int64_t first, int64_t count)
{
	t->of[thread].first = first;
	t->of[thread].left = (uint64_t)count << 32;
}

/* Neighbouring items a thread. At most `held` of them fit its cache; cached items are not given
 * away, because they cost less than a transfer to another thread. */
static void turns_in_rows(struct turns *t, int threads, int64_t first, int64_t end, int64_t held)
{
	const int64_t count = end > first ? end - first : 0;

	t->threads = usable(threads);
	t->step = 1;
	t->help = count > t->threads * held;
	for (int i = 0; i < t->threads; i++) {
		const int64_t mine = count / t->threads + (i < count % t->threads);
		give(t, i, first, mine);
		first += mine;
	}
}

/* Every threads-th item for each thread. */
static void turns_around(struct turns *t, int threads, int64_t count)
{
	t->threads = usable(threads);
	t->step = t->threads;
	t->help = true;
	for (int i = 0; i < t->threads; i++)
		give(t, i, i, (count + t->threads - 1 - i) / t->threads);
}

/* The thread with most items left. */
static int find_behind(const struct turns *t, int64_t *most)
{
	int behind = 0;

	*most = 0;
	for (int i = 0; i < t->threads; i++) {
		const uint64_t left = __atomic_load_n(&t->of[i].left, __ATOMIC_RELAXED);
		if (end_of(left) - next_of(left) > *most) {
			*most = end_of(left) - next_of(left);
			behind = i;
		}
	}
	return behind;
}

/* The last item of the thread with most items left, or -1. */
static int64_t turns_help(struct turns *t)
{
	int64_t most;

	for (int behind = find_behind(t, &most); most > 0; behind = find_behind(t, &most)) {
		uint64_t left = __atomic_load_n(&t->of[behind].left, __ATOMIC_RELAXED);
		if (end_of(left) > next_of(left) &&
		        __atomic_compare_exchange_n(&t->of[behind].left, &left, left - one_gone,
		                false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return t->of[behind].first + (end_of(left) - 1) * t->step;
	}
	return -1;
}

/* The next item of a thread, or -1. */
static int64_t turns_take(struct turns *t, int thread)
{
	if (t->threads == 1) {
		const uint64_t left = t->of[0].left++;
		return next_of(left) < end_of(left) ? t->of[0].first + next_of(left) : -1;
	}
	uint64_t left = __atomic_load_n(&t->of[thread].left, __ATOMIC_RELAXED);
	while (next_of(left) < end_of(left))
		if (__atomic_compare_exchange_n(&t->of[thread].left, &left, left + 1, true,
		            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return t->of[thread].first + next_of(left) * t->step;
	/* OpenMP may start fewer threads: nobody else would take the items of the others */
	return t->help || omp_get_num_threads() < t->threads ? turns_help(t) : -1;
}

#define REAL float
#define NAME(x) x##_s
#define ROOT sqrtf
#define LOOPS gram_loops_s
#include "gram_threads_template.h"

#define REAL double
#define NAME(x) x##_d
#define ROOT sqrt
#define LOOPS gram_loops_d
#include "gram_threads_template.h"

/* Calls a function in the precision of a matrix. */
#define CALL(a, pinned, name, ...)                                                                 \
	((a).precision == SINGLE ? name##_s(&(pinned)->loops->s, (pinned), __VA_ARGS__)            \
	                         : name##_d(&(pinned)->loops->d, (pinned), __VA_ARGS__))

void gram_threads_norms(const struct gram_threads *pinned, struct matrix a, struct matrix norms)
{
	CALL(a, pinned, norms, a, norms);
}

void gram_threads_dots(const struct gram_threads *pinned, const struct gram_schmidt *g, int64_t j)
{
	CALL(g->a, pinned, dots, g, j);
}

void gram_threads_update(const struct gram_threads *pinned, const struct gram_schmidt *g, int64_t j)
{
	CALL(g->a, pinned, update, g, j);
}

void gram_threads_fused(const struct gram_threads *pinned, const struct gram_schmidt *g, int64_t j)
{
	CALL(g->a, pinned, fused, g, j);
}

void gram_threads_apply(
        const struct gram_threads *pinned, struct matrix q, struct matrix r, struct matrix a)
{
	CALL(a, pinned, apply, q, r, a);
}
