/* SPDX-License-Identifier: MIT */
/* Question: what does each of our own kernels cost that blocked factorizations use?
 *
 * Method: calls of one kernel follow each other in one stream behind a hold, timed from start to
 * start by stamps of both clocks, in fp32 and fp64, at powers of two; panels also at a few more
 * rows. cold = 0: L2 holds the rows that are swapped; cold = 1: every call finds its columns in
 * DRAM. Panels also run beside products that occupy the rest of the machine
 * (block_kernel_beside.c).
 *
 * What can fool it: repeated factorization of the same data must neither overflow (reflectors of
 * norm below 2, Cholesky of nearly the identity) nor vanish (norms that underflow are found by
 * scaling, in twice the time: panels are filled anew). Data must not be zeros. A call that failed
 * would make the next ones do nothing (info and tau are checked). Pivots must come from all rows:
 * fresh LU panels take turns. Code is loaded at first use: every shape runs once before. The tests,
 * not the probe, check the factors. Panels are warm, as in a factorization, where an update has
 * just written them.
 *
 * Unit: seconds per call. */
#include "factor/calibration/fits.h"
#include "block_kernel_internal.h"

#include <stdlib.h>

static void put(void *context)
{
	struct bench *b = context;
	GPU(b->kernel->run(b));
}

bool block_kernel_fits(const struct bench *b, const struct kernel *k)
{
	return (!k->has || k->has(b->precision, b->m, b->n)) && (!k->fits || k->fits(b));
}

static void measure_point(struct bench *b, const struct kernel *k, size_t count)
{
	struct arg args[BLOCK_KERNEL_ARGS];

	if (!block_kernel_fits(b, k))
		return;
	for (size_t i = 0; i < count; i++)
		args[i] = (struct arg){k->range[i].name, (double)*k->range[i].value};
	b->points++;
	b->kernel = k;
	b->turn = b->column = b->used = 0;
	if (k->fill)
		k->fill(b);
	blas_rate_point(&b->rate, put, b, k->kind, b->precision, args, count);
	if (k->check && !k->check(b))
		msg_die(EXIT_MEASURE_FAILED, "%s of %lld x %lld failed", k->kind, (long long)b->m,
		        (long long)b->n);
}

static int64_t next_value(const struct bench *b, const struct range *r)
{
	if (r->next)
		return r->next(b, *r->value);
	return r->first > r->last ? *r->value / r->factor : *r->value * r->factor;
}

static void measure_range(struct bench *b, const struct kernel *k, size_t depth)
{
	const struct range *r = &k->range[depth];

	if (depth == BLOCK_KERNEL_ARGS || !r->name) {
		measure_point(b, k, depth);
		return;
	}
	for (*r->value = r->first; r->first > r->last ? *r->value >= r->last : *r->value <= r->last;
	        *r->value = next_value(b, r))
		measure_range(b, k, depth + 1);
}

void block_kernel_measure(struct bench *b, const struct kernel *kernels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		b->points = 0;
		measure_range(b, &kernels[i], 0);
		if (b->points > 0 || b->rate.gpu.code >= 90)
			continue;
		char *series = xasprintf("%s_%c", kernels[i].kind, b->precision);
		probe_lacks(b->rate.run, &b->rate.gpu, series, 90);
		free(series);
	}
}

static void measure(struct probe_run *run)
{
	static const enum precision precisions[] = {SINGLE, DOUBLE};
	struct bench bench = {0};
	block_kernel_open(&bench, run);
	for (size_t i = 0; i < ARRAY_LEN(precisions); i++) {
		bench.precision = precisions[i];
		block_kernel_panels(&bench);
		block_kernel_blocks(&bench);
		block_kernel_swaps(&bench);
		block_kernel_sweeps(&bench);
		block_kernel_gram(&bench);
	}
	bench.precision = SINGLE;
	block_kernel_splits(&bench);
	for (size_t i = 0; i < ARRAY_LEN(precisions); i++) {
		bench.precision = precisions[i];
		block_kernel_panels_beside(&bench);
	}
	blas_rate_close(&bench.rate);
}

static const char *const arguments[] = {
        "m", "n", "overlapped", "swaps", "cold", "below", "k", "columns", "p", "rows", "rounds"};

const struct probe block_kernel_probe = {
        .name = "block_kernel",
        .question = "What does each of our own kernels cost that blocked factorizations use?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 2.2, /* of a quick device */
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .fit = block_kernel_fit,
};
