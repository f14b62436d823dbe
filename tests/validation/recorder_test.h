/* SPDX-License-Identifier: MIT */
/* What the recorder's tests share: factorizations on any executor, every bit of what comes out. */
#pragma once

#include "tests/algorithms/factor_test.h"

#include "factor/validation/fixture.h"
#include "factor/validation/recorder.h"
#include "factor/validation/whole.h"

struct factored {
	void *a, *tau; /* on the host */
	size_t bytes, tau_bytes;
	int *ipiv, info;
	bool ran;
};

static inline void factored_free(struct factored *f)
{
	free(f->a);
	free(f->tau);
	free(f->ipiv);
}

static inline bool same_bits(const struct factored *a, const struct factored *b)
{
	return a->ran && b->ran && a->bytes == b->bytes && memcmp(a->a, b->a, a->bytes) == 0 &&
	       a->info == b->info && memcmp(a->tau, b->tau, a->tau_bytes) == 0;
}

/* Symmetric and positive definite for Cholesky. */
static inline void recorder_matrix(
        void *a, enum operation operation, enum precision precision, int64_t m, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double definite = test_random(1, i + j) + (i == j ? 2 * (double)n : 0);
			double any = test_random(2 + (uint64_t)j, i);
			put(a, i + j * m, precision, operation == POTRF ? definite : any);
		}
}

/* Of an m x n matrix on e, whose clock a recorder has to start itself. */
static inline struct factored recorder_factorize(struct executor *e, enum operation operation,
        const struct plan *plan, enum precision precision, int64_t m, int64_t n)
{
	int64_t k = m < n ? m : n, w = precision_bytes(precision);
	struct factored f = {.bytes = (size_t)(m * n * w), .tau_bytes = (size_t)(k * w)};
	struct whole whole = {.operation = operation, .uplo = LOWER};
	struct timing_fixture memory = {.executor = e};
	struct matrix a, tau;
	void *work = NULL, *integers = NULL;

	f.a = xmalloc(f.bytes);
	f.tau = xcalloc(1, f.tau_bytes);
	f.ipiv = xcalloc((size_t)k, sizeof *f.ipiv);
	recorder_matrix(f.a, operation, precision, m, n);
	f.ran = fixture_matrix(&memory, &a, m, n, m, precision) &&
	        fixture_matrix(&memory, &tau, k, 1, k, precision) &&
	        fixture_alloc(&memory, (k + 1) * (int64_t)sizeof(int), &integers) &&
	        fixture_alloc(&memory, whole_work(e, &whole, plan, a), &work) &&
	        e->ops->upload(e, f.a, m, a) && e->ops->upload(e, f.tau, k, tau);
	struct pivots p = {integers, k}, none = {integer_at(integers, k), 0};
	f.ran = f.ran && whole_run(e, &whole, plan, a, work, p, tau, NULL) && e->ops->sync(e) &&
	        e->ops->download(e, a, f.a, m) && e->ops->download(e, tau, f.tau, k) &&
	        (operation == GEQRF ||
	                e->ops->read_pivots(e, operation == GETRF ? p : none, f.ipiv, &f.info));
	if (!f.ran)
		diag("%s", e->fault.text);
	fixture_close(&memory);
	return f;
}

/* Entries end after they begin, those of a lane follow each other, the whole covers all. */
static inline bool timeline_in_order(const struct timeline *t)
{
	double last[LANE_COUNT] = {0};
	bool good = true;

	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_entry *e = &t->entry[i];
		good = good && e->begin >= 0 && e->begin < e->end && e->end <= t->seconds;
		if (e->begin < last[e->lane] - 1e-12) {
			diag("%s %s begins %.3f us before the one before it ends",
			        lane_name[e->lane], e->operation, (last[e->lane] - e->begin) * 1e6);
			good = false;
		}
		last[e->lane] = e->end;
	}
	return good;
}
