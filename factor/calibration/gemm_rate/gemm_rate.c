/* SPDX-License-Identifier: MIT */
/* Question: how long do gemm, trsm and syrk take against shape, by the library and by our own
 * kernels?
 *
 * Method: the calls of enum kind (gemm_rate_internal.h), as factorizations make them, at powers of
 * two and some sizes between, in fp32, tf32 and fp64. Dependent calls follow each other in one
 * stream behind a hold, timed from start to start by stamps of both clocks. Leading dimensions are
 * the matrices' own rows, made even but for unaligned operands.
 *
 * What can fool it: code loaded at first use (every shape runs once before); zeros, which need less
 * power (all data are random, and a small alpha keeps them finite); a clock that power lowers in
 * the longest calls (each point records it, and only steady samples count); a library that computes
 * something else (the first process compares each kind with the host's result). Small operands stay
 * in L2 from call to call, as in a factorization.
 *
 * Lasting load (gemm_rate_lasting.c) lowers the clock on purpose: large updates follow each other
 * for up to two seconds. Its rows have the seconds elapsed instead of a shape.
 *
 * Unit: seconds per call. */
#include "gemm_rate_internal.h"

#include "factor/kernels/gemm/tf32.h"

#include <stdlib.h>

enum { LISTED = 12, LARGEST = 16384 };

static double flops(const struct product *p)
{
	const double m = p->m, n = p->n, k = p->k;
	if (gemm_rate_is_solve(p->kind))
		return m * m * n;
	return gemm_rate_is_symmetric(p->kind) ? n * (n + 1) * k
	       : gemm_rate_is_half(p->kind)    ? 2 * n * n * k
	                                       : 2 * m * n * k;
}

/* ---- the sweep ---- */

/* Values of each argument, ended by 0; an argument that a kind does not have is 1. */
struct surface {
	enum kind kind;
	int m[LISTED], n[LISTED], k[LISTED];
};

/* Efficiency changes little between sizes, since waves of tiles are part of the stated work: sides
 * by four, ranks by four. */
#define RANKS                                                                                      \
	{                                                                                          \
		32, 128, 512                                                                       \
	}
#define SYMMETRIC_RANKS                                                                            \
	{                                                                                          \
		32, 128, 256, 512                                                                  \
	}
/* Of our own triangles: beside others a block has half as many tiles from rank to rank. */
#define OWN_RANKS                                                                                  \
	{                                                                                          \
		32, 64, 128, 256, 512                                                              \
	}
#define SIDES                                                                                      \
	{                                                                                          \
		512, 2048, 8192                                                                    \
	}
#define ORDERS                                                                                     \
	{                                                                                          \
		512, 1024, 2048, 4096, 8192, 16384                                                 \
	}
#define HALF_ORDERS                                                                                \
	{                                                                                          \
		1024, 2048, 4096, 8192, 16384                                                      \
	}

/* Powers of two less 28: no multiples of any tile, but of 16 bytes. */
#define ODD_SIDES                                                                                  \
	{                                                                                          \
		484, 2020, 8164                                                                    \
	}

/* --quick takes every second size, none of the largest. */
static const struct surface updates = {
        GEMM, {32, 128, 2048, 8192, 512}, {32, 128, 2048, 8192, 512}, RANKS};
/* Depths of stacks of three parts each (factor/kernels/gemm/tf32.h). */
#define STACKS                                                                                     \
	{                                                                                          \
		96, 384, 768                                                                       \
	}

static const struct surface updates_tf32 = {
        GEMM, {32, 256, 2048, 8192}, {32, 256, 2048, 8192}, STACKS};
/* Deep products come after small ones, which let the clock rise. Products of odd sizes draw full
 * power and would lower it. GEMM_TN of 64 is also QR's T^T (V^T C), of the 64 or 128 columns of a
 * panel; --quick takes the sizes before and behind. GEMM_TN_ODD: the library changes its kernel
 * between 16 and 64 columns, and between depths of 255 and 511. */
static const struct surface others[] = {
        {GEMM, {65536}, {32, 512}, RANKS},
        {GEMM_TN, {32, 64, 128, 256}, {32, 64, 4096, 512, 128, 16384}, {1024, 64, 262144, 16384}},
        {GEMM_ODD, {127, 1023, 4095, 16383}, {128, 1024, 4096, 16384}, {64, 256, 1024}},
        {GEMM_TN_ODD, {32, 64, 128, 512}, {64, 16, 4096, 512}, {127, 383, 511, 2047, 255}},
        {GEMM_UNALIGNED, {255, 1023, 4095}, {256, 1024, 4096}, {64, 512}},
        {GEMM_SHARED, {256, 2048, 8192}, {256, 2048, 8192}, {384, 768}},
        {GEMM_BATCHED, {256, 1024}, {1024, 8192}, {192, 768}},
        {TRSM, RANKS, SIDES, {1}},
        {TRSM_RIGHT, RANKS, SIDES, {1}},
        {TRSM_FEW, {64, 256, 512, 1024, 2048, 4096}, {1, 8, 64, 256}, {1}},
        {GEMM_NT, {2048, 8192}, {2048, 8192}, {768, 2048}},
        {SYRK, {1}, ORDERS, SYMMETRIC_RANKS},
        {OWN_GEMM, {32, 512, 2048, 8192}, {32, 512, 2048, 8192}, RANKS},
        {OWN_GEMM, {65536, 262144}, {32, 64, 512}, {32, 128}},
        {OWN_GEMM_TN, {32, 64, 128, 256}, {32, 64, 128, 256, 512, 1024}, {16384, 262144}},
        {OWN_SYRK, {1}, ORDERS, OWN_RANKS},
        {OWN_SYRK_UNALIGNED, {1}, {1023, 4095}, {64, 256}},
        {DOUBLE_TALL, {64, 128}, {64, 128, 256}, {16384, 131072, 524288}},
        {DOUBLE_TALL_UPDATE, {16384, 131072, 524288}, {64, 128, 256}, {64, 128}},
        {OWN_GEMM_SHARED, SIDES, SIDES, RANKS},
        {OWN_SYRK_SHARED, {1}, {1024, 2048, 4096, 8192, 16384}, OWN_RANKS},
        {OWN_GEMM_EDGE, ODD_SIDES, ODD_SIDES, {64, 128, 256}},
        {OWN_GEMM_EDGE_SHARED, ODD_SIDES, ODD_SIDES, {64, 128, 256}},
        {TALL, {64, 128, 256}, {128, 256, 512, 2048, 8192, 16384}, {1024, 4096, 16384, 65536}},
        {TALL_SHARED, {64, 128, 256}, {512, 2048, 8192, 16384}, {1024, 4096, 16384, 65536}},
        {HALF_SYRK, {1}, HALF_ORDERS, {64, 128, 256}},
        {HALF_SYRK_SHARED, {1}, HALF_ORDERS, {64, 128, 256}},
        {HALF_GEMM, {1}, HALF_ORDERS, {64, 128, 256}},
        {HALF_GEMM_SHARED, {1}, HALF_ORDERS, {64, 128, 256}},
};
static const struct surface more_double[] = {
        {SYRK, {1}, ORDERS, {2048}}, {OWN_SYRK_SHARED, {1}, {1024, 4096, 16384}, {64, 256}}};

/* Between powers of two the last round of tiles is seldom full, and C outgrows L2. Squares of each
 * of these depths show the effect, which is small in fp64. */
static const struct between {
	enum kind kind;
	enum math math;
	int k[LISTED];
} between[] = {{GEMM, FP32, RANKS}, {OWN_GEMM_EDGE, FP32, {64, 128, 256}},
        {OWN_GEMM_EDGE_SHARED, FP32, {64, 128, 256}}, {GEMM, TF32, STACKS}};
static const int between_sides[] = {1448, 2896, 5792, 11584};

/* Whether its shape is n and k. */
static bool is_square(enum kind kind)
{
	return gemm_rate_is_symmetric(kind) || gemm_rate_is_half(kind);
}

static bool fits(const struct product *p)
{
	const int64_t room = p->bench->elements, m = p->m, n = p->n, k = p->k;
	if (is_square(p->kind) || p->kind == GEMM_BATCHED)
		return n * n <= room && n * k <= room;
	return m * n <= room && m * (k + 1) <= room && (k + 1) * n <= room;
}

/* Whether its shape is m, n and k. */
static bool has_depth(enum kind kind)
{
	return !gemm_rate_is_solve(kind) && !is_square(kind);
}

static void measure_product(struct product *p)
{
	struct bench *bench = p->bench;
	const struct arg args[] = {{"m", p->m}, {"n", p->n}, {"k", p->k}};
	if (!fits(p))
		return;
	if (gemm_rate_is_solve(p->kind))
		gemm_rate_fill_triangle(p);
	if (gemm_rate_is_half(p->kind))
		gemm_rate_fill_pair(p);
	char *series =
	        xasprintf("%s_%s", gemm_rate_kind_name[p->kind], gemm_rate_math_name[p->math]);
	const double expected = bench->best > 0 ? flops(p) / bench->best : 0;
	const double seconds = blas_rate_measure(&bench->rate, gemm_rate_put, p, expected, series,
	        args + is_square(p->kind), has_depth(p->kind) ? 3 : 2);
	bench->best = fmax(bench->best, flops(p) / seconds);
	free(series);
}

/* --quick takes every other value. */
static void measure_surface(struct bench *bench, const struct surface *surface, enum math math)
{
	const int step = bench->rate.run->common.quick ? 2 : 1;
	bench->best = 0;
	for (int i = 0; i < LISTED && surface->m[i]; i += step)
		for (int j = 0; j < LISTED && surface->n[j]; j += step)
			for (int l = 0; l < LISTED && surface->k[l]; l += step) {
				struct product p = {bench, surface->kind, math, surface->m[i],
				        surface->n[j], surface->k[l]};
				measure_product(&p);
			}
}

static bool lists(const int *list, int value)
{
	for (int i = 0; i < LISTED && list[i]; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* Squares that the surface of updates does not have. Larger ones would take long and lower the
 * clock.
 */
static void measure_squares(struct bench *bench, const struct surface *surface, enum math math)
{
	static const int side[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 11584};
	const size_t step = bench->rate.run->common.quick ? 3 : 1;
	for (size_t i = 0; i < ARRAY_LEN(side); i += step) {
		const int n = side[i];
		struct product p = {bench, GEMM, math, n, n, n};
		if (!lists(surface->m, n) || !lists(surface->k, n))
			measure_product(&p);
	}
}

/* Half way between the sides of the surfaces, where interpolation is worst. Not with --quick. */
static void measure_between(struct bench *bench, enum math math)
{
	bench->best = 0;
	for (size_t i = 0; i < ARRAY_LEN(between) && !bench->rate.run->common.quick; i++) {
		const struct between *b = &between[i];
		if (b->math != math || !gemm_rate_has(bench, b->kind, math))
			continue;
		for (size_t s = 0; s < ARRAY_LEN(between_sides); s++)
			for (int l = 0; l < LISTED && b->k[l]; l++) {
				struct product p = {bench, b->kind, math, between_sides[s],
				        between_sides[s], b->k[l]};
				measure_product(&p);
			}
	}
}

/* The cost model of fp64 reads our own products only alone and of whole tiles; of symmetric updates
 * beside others' work a few (more_double). */
static bool is_read(enum kind kind, enum math math)
{
	return math != FP64 || kind <= DOUBLE_TALL_UPDATE;
}

/* Whether the kind exists with code for 9.0 or 9.0a. */
static bool needs_code(enum kind kind, enum math math)
{
	return (math == FP32 && kind >= TALL) ||
	       (math == FP64 && kind >= OWN_GEMM && kind != OWN_GEMM_TN && is_read(kind, math));
}

static void note_lacking(struct bench *bench, enum kind kind, enum math math)
{
	char *series = xasprintf("%s_%s", gemm_rate_kind_name[kind], gemm_rate_math_name[math]);
	probe_lacks(bench->rate.run, &bench->rate.gpu, series, 90);
	free(series);
}

static void measure_math(struct bench *bench, enum math math)
{
	const struct surface *update = math == TF32 ? &updates_tf32 : &updates;
	if (!gemm_rate_has(bench, GEMM, math))
		return;
	if (bench->rate.run->process == 0 && !gemm_rate_verify(bench, math, false))
		msg_die(EXIT_MEASURE_FAILED,
		        "a result differs from the host's: nothing is recorded");
	gemm_rate_fill(bench, math);
	if (!bench->rate.run->common.quick)
		blas_rate_rest(&bench->rate);
	const double begun = clock_now();
	measure_surface(bench, update, math);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (gemm_rate_has(bench, others[i].kind, math) && is_read(others[i].kind, math))
			measure_surface(bench, &others[i], math);
		else if (needs_code(others[i].kind, math))
			note_lacking(bench, others[i].kind, math);
	for (size_t i = 0; i < ARRAY_LEN(more_double) && math == FP64; i++)
		if (gemm_rate_has(bench, more_double[i].kind, math))
			measure_surface(bench, &more_double[i], math);
	measure_squares(bench, update, math);
	measure_between(bench, math);
	msg_note("%s took %.2f s", gemm_rate_math_name[math], clock_now() - begun);
}

/* tf32 needs most power and comes last of the surfaces; lasting load lowers the clock and follows.
 * Then a rest, for the next probe: the clock stays low for a while. */
static void measure(struct probe_run *run)
{
	struct bench bench = {0};
	gemm_rate_open(&bench, run, run->common.quick ? LARGEST / 4 : LARGEST);
	measure_math(&bench, FP32);
	measure_math(&bench, FP64);
	measure_math(&bench, TF32);
	if (run->common.quick) {
		msg_note("--quick leaves out lasting load");
	} else {
		gemm_rate_lasting(&bench);
		blas_rate_rest(&bench.rate);
	}
	gemm_rate_close(&bench);
}

static const char *const columns[] = {"m", "n", "k", "elapsed"};

const struct probe gemm_rate_probe = {
        .name = "gemm_rate",
        .question =
                "How long do the library's gemm, trsm and syrk, and our own, take against shape?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .seconds = 3.8,
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .check = gemm_rate_check,
        .fit = gemm_rate_fit,
};
