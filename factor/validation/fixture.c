/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include "lib/base/msg.h"
#include "matrices.h"
#include "lib/base/random.h"

#include <stdlib.h>
#include <string.h>

bool fixture_alloc(struct timing_fixture *fixture, int64_t bytes, void **data)
{
	if (!fixture->executor->ops->alloc(fixture->executor, bytes > 0 ? bytes : 1, data))
		return false;
	if (fixture->pieces == TIMING_PIECES)
		msg_die(EXIT_MEASURE_FAILED, "a timed problem has more than %d pieces of memory",
		        TIMING_PIECES);
	fixture->piece[fixture->pieces++] = *data;
	return true;
}

bool fixture_matrix(struct timing_fixture *fixture, struct matrix *a, int64_t m, int64_t n,
        int64_t ld, enum precision precision)
{
	*a = (struct matrix){NULL, 0, m, n, ld, precision};
	return fixture_alloc(fixture, ld * n * precision_bytes(precision), &a->data);
}

void fixture_close(struct timing_fixture *fixture)
{
	while (fixture->pieces > 0)
		fixture->executor->ops->release(
		        fixture->executor, fixture->piece[--fixture->pieces]);
}

bool fixture_fill(struct executor *e, struct matrix a, int64_t made, uint64_t seed)
{
	made = a.n < made ? a.n : made;
	void *host = xmalloc((size_t)(a.ld * made * precision_bytes(a.precision)));

	matrix_fill(host, a.ld, a.m, made, a.precision, MATRIX_RANDOM, seed);
	bool ok = e->ops->upload(e, host, a.ld, matrix_view(a, 0, 0, a.m, made));
	for (int64_t there = made, more; ok && there < a.n; there += more) {
		more = a.n - there < there ? a.n - there : there;
		ok = e->ops->duplicate(
		        e, matrix_view(a, 0, 0, a.m, more), matrix_view(a, 0, there, a.m, more));
	}
	free(host);
	return ok;
}

bool fixture_line(struct executor *e, struct matrix line, double *x)
{
	if (!e->ops->download(e, line, x, line.m))
		return false;
	for (int64_t i = line.m * line.n; line.precision == SINGLE && i-- > 0;) {
		float word;
		memcpy(&word, (const char *)x + (size_t)i * sizeof word, sizeof word);
		x[i] = (double)word;
	}
	return true;
}

int64_t fixture_random(uint64_t *state, int64_t below)
{
	return (int64_t)((random_next(state) >> 33) % (uint64_t)below);
}

double fixture_dot(const double *x, const double *y, int64_t m)
{
	double sum = 0;

	for (int64_t i = 0; i < m; i++)
		sum += x[i] * y[i];
	return sum;
}

bool fixture_residual(struct candidate *candidate, double residual)
{
	candidate->residual = residual;
	return residual < CHECK_THRESHOLD ||
	       fault_set(&candidate->fault, "failed: residual ratio %.3g", residual);
}

bool fixture_time(struct timing_fixture *fixture, bool open, struct candidate *candidate,
        size_t count, struct fault *fault)
{
	const bool ok = open && timing_turns(fixture, candidate, count, fault);

	if (!open)
		*fault = fixture->executor->fault;
	fixture_close(fixture);
	return ok;
}
