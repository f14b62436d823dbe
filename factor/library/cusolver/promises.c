/* SPDX-License-Identifier: MIT */
#include "promises.h"

#include <pthread.h>

/* A promise stays for good: a program may keep the workspace of its first query. Sizes that find
 * their places taken are never noted, so their calls are passed on. */
enum { PLACES = 1 << 16, TRIES = 64 };

struct promise {
	enum precision precision; /* 0: none */
	int64_t m, n, lda, bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct promise promises[PLACES];

static bool is_for(
        const struct promise *p, enum precision precision, int64_t m, int64_t n, int64_t lda)
{
	return p->precision == precision && p->m == m && p->n == n && p->lda == lda;
}

/* The promise for these sizes, or a free place; NULL: neither. */
static struct promise *find(enum precision precision, int64_t m, int64_t n, int64_t lda)
{
	uint64_t hash = (uint64_t)precision;

	hash = (hash + (uint64_t)m) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash + (uint64_t)n) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash + (uint64_t)lda) * UINT64_C(0x9e3779b97f4a7c15);
	for (uint64_t i = 0; i < TRIES; i++) {
		struct promise *p = &promises[((hash >> 32) + i) % PLACES];
		if (!p->precision || is_for(p, precision, m, n, lda))
			return p;
	}
	return NULL;
}

void promise_note(enum precision precision, int64_t m, int64_t n, int64_t lda, int64_t bytes)
{
	pthread_mutex_lock(&lock);
	struct promise *p = find(precision, m, n, lda);
	if (p && p->precision)
		p->bytes = min_int64(p->bytes, bytes);
	else if (p)
		*p = (struct promise){precision, m, n, lda, bytes};
	pthread_mutex_unlock(&lock);
}

int64_t promise_bytes(enum precision precision, int64_t m, int64_t n, int64_t lda)
{
	pthread_mutex_lock(&lock);
	const struct promise *p = find(precision, m, n, lda);
	const int64_t bytes = p && p->precision ? p->bytes : -1;
	pthread_mutex_unlock(&lock);
	return bytes;
}
