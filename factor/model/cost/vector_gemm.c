/* SPDX-License-Identifier: MIT */
#include "vector_gemm.h"

#include <math.h>

enum { WARP = 32, WARPS = VECTOR_ROWS / WARP, WARP_FLOPS = 2 * WARP };

double vector_reduction(double rows, double columns)
{
	return 2 / (1 / rows + 1 / columns);
}

double vector_loop_cycles(const struct vector_loop *loop, const struct vector_cycles *cycles)
{
	const double rest = loop->instructions - loop->fma - loop->half_width;

	return cycles->fma * loop->fma + cycles->half_width * loop->half_width +
	       cycles->rest * rest;
}

double vector_loop_rate(const struct vector_loop *loop, double cycles, double cores, double hz)
{
	return cores * hz * WARP_FLOPS * loop->fma / cycles;
}

/* A round of the inner loop, for a warp: all instructions, multiply-adds, loads of 16 bytes from
 * shared memory that all threads share, stores of 4 bytes to it, fetches of 4 bytes; and the
 * columns of A that it covers. */
struct turn {
	int instructions, fma, loads, stores, fetches, columns;
};

/* Counted in the machine code (cuobjdump -sass, CUDA 13.0, sm_90a). In A B the compiler loads the
 * padding of B's rows as well: 68 loads for 16 x 17 words. */
static const struct turn turns[2][VOLKOV_WAYS] = {
        {[VOLKOV_COMPLETE] = {414, 256, 68, 4, 20, 16},
                [VOLKOV_NO_FETCH] = {353, 256, 68, 4, 0, 16},
                [VOLKOV_NO_PREFETCH] = {415, 256, 68, 4, 20, 16}},
        {[VOLKOV_COMPLETE] = {106, 64, 16, 1, 5, 4},
                [VOLKOV_NO_FETCH] = {96, 64, 16, 1, 0, 4},
                [VOLKOV_NO_PREFETCH] = {103, 64, 16, 1, 5, 4}}};

struct vector_estimate vector_estimate(struct model *model, bool tb, enum volkov_without without)
{
	const struct turn *t = &turns[tb][without];
	const double sms = model_scalar(model, "gpu.sm.count");
	/* a warp's multiply-add at the full rate takes one issue slot, as does everything else */
	const double slot = sms * WARP_FLOPS / model_scalar(model, "gpu.fma.s.rate");
	const double load =
	        model_at2(model, "gpu.bank.saturated.broadcast", "words", 1, "width", 16);
	const double store = model_at2(model, "gpu.bank.saturated.store", "ways", 1, "width", 4);
	const double fetch = model_at2(model, "gpu.bank.saturated.load", "ways", 1, "width", 4);
	const double words =
	        t->fetches ? t->columns * (VECTOR_ROWS + VECTOR_COLUMNS) / (double)WARPS : 0;
	const double flops = sms * WARP_FLOPS * t->fma;
	struct vector_estimate e = {.issue = flops / (slot * t->instructions),
	        .shared = flops / (load * t->loads + store * t->stores + fetch * t->fetches),
	        .l2 = WARP_FLOPS * t->fma * model_scalar(model, "gpu.l2.read") / (4 * words)};

	e.rate = model->missing ? NAN : fmin(e.issue, fmin(e.shared, e.l2));
	return e;
}
