/* SPDX-License-Identifier: MIT */
#include "gemv.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Elements of the widest load that every column allows. */
static int vector_of(const struct gemv_call *call)
{
	const int64_t bytes = precision_bytes(call->precision);
	int vector = (int)(16 / bytes);
	while (call->lda * bytes % (vector * bytes) != 0)
		vector /= 2;
	return vector;
}

int gemv_shift(const struct gemv_call *call, int vector)
{
	const int64_t bytes = precision_bytes(call->precision);
	return call->alpha == 0 ? 0
	                        : (int)((uintptr_t)call->a / (uintptr_t)bytes % (uintptr_t)vector);
}

struct gemv_plan gemv_plan(const struct gemv_call *call, const struct gemv_device *device)
{
	struct gemv_plan p = {.vector = vector_of(call), .splits = 1};
	const int64_t wanted = 2 * device->sm_count;
	const int64_t length = call->transposed ? call->n : call->m + gemv_shift(call, p.vector);
	if (call->transposed) {
		p.columns = 4;
		p.unroll = 2;
		p.lanes = 8;
		p.width = 8 / p.lanes * p.columns;
	} else {
		p.unroll = 8;
		p.lanes = 32;
		while (p.lanes > 8 && ceil_div(length, p.lanes * p.vector) < wanted)
			p.lanes /= 2;
		p.width = p.lanes * p.vector;
	}
	p.tiles = ceil_div(length, p.width);
	while (p.splits < GEMV_CLUSTER && p.tiles * p.splits < wanted)
		p.splits *= 2;
	p.cluster = device->clusters && p.splits > 1;
	return p;
}

int64_t gemv_work(const struct gemv_plan *plan, enum precision precision)
{
	if (plan->splits == 1 || plan->cluster)
		return 0;
	return ceil_div(plan->tiles * 4, 16) * 16 +
	       plan->tiles * plan->splits * plan->width * precision_bytes(precision);
}
