/* SPDX-License-Identifier: MIT */
#include "host_transfer.h"

#include "lib/base/msg.h"

#include <inttypes.h>

enum { EVENT_BEFORE = 8, EVENT_MOVED };

typedef bool copy_function(struct executor *, struct matrix from, struct matrix to);

/* Columns j .. j+width-1 of the triangle. */
static struct matrix rectangle(struct matrix a, enum uplo uplo, int64_t j, int64_t width)
{
	int64_t n = a.n - j < width ? a.n - j : width;
	int64_t first = uplo == LOWER ? j : 0, last = uplo == UPPER ? j + n : a.m;

	return matrix_view(a, first, j, last - first, n);
}

static bool copy_rectangles(struct executor *e, copy_function *copy, enum uplo uplo, int64_t width,
        struct matrix from, struct matrix to)
{
	bool ok = true;

	for (int64_t j = 0; ok && j < from.n; j += width)
		ok = copy(e, rectangle(from, uplo, j, width), rectangle(to, uplo, j, width));
	return ok;
}

static bool transfer(struct executor *e, enum queue queue, copy_function *copy, enum uplo uplo,
        int64_t width, struct matrix from, struct matrix to)
{
	if (width < 1 && uplo != WHOLE)
		return fault_refuse(&e->fault,
		        "rectangles of %" PRId64 " columns: 1 and more are possible", width);
	e->queue = QUEUE_MAIN;
	bool ok = ex_record(e, EVENT_BEFORE);
	e->queue = queue;
	ok = ok && ex_wait(e, EVENT_BEFORE) &&
	     (uplo == WHOLE ? copy(e, from, to)
	                    : copy_rectangles(e, copy, uplo, width, from, to)) &&
	     ex_record(e, EVENT_MOVED);
	e->queue = QUEUE_MAIN;
	return ok && ex_wait(e, EVENT_MOVED);
}

bool matrix_to_device(
        struct executor *e, enum uplo uplo, int64_t width, struct matrix host, struct matrix a)
{
	return transfer(e, QUEUE_IN, ex_to_device, uplo, width, host, a);
}

bool matrix_to_host(
        struct executor *e, enum uplo uplo, int64_t width, struct matrix a, struct matrix host)
{
	return transfer(e, QUEUE_OUT, ex_to_host, uplo, width, a, host);
}

/* Panels in place come back as wholes: their other triangle has to be in a rectangle. */
static int64_t piece_of(const struct plan *plan, int64_t piece, int64_t n)
{
	const int64_t widest = max_int64(plan_widest(plan, n), 1);

	if (plan->in_place && plan->count > 1)
		return max_int64(n, 1);
	if (piece < 1)
		return widest;
	return plan->in_place ? (piece + widest - 1) / widest * widest : piece;
}

bool factor_from_host(struct executor *e, const struct plan *plan, enum uplo uplo, int64_t piece,
        struct matrix host, struct matrix a)
{
	e->in_host = plan->in_place ? host : (struct matrix){0};
	return matrix_to_device(e, uplo, piece_of(plan, piece, a.n), host, a);
}

/* QUEUE_OUT may still copy what is final above the last panel. */
bool factor_to_host(struct executor *e, const struct plan *plan, enum uplo uplo, int64_t piece,
        struct matrix a, struct matrix host)
{
	const int64_t steps = min_int64(a.m, a.n), right = a.n - steps;

	e->in_host = (struct matrix){0};
	if (!plan->in_place)
		return matrix_to_host(e, uplo, piece_of(plan, piece, a.n), a, host);
	return matrix_to_host(e, WHOLE, 0, matrix_view(a, 0, steps, a.m, right),
	        matrix_view(host, 0, steps, a.m, right));
}
