/* SPDX-License-Identifier: MIT */
/* Lines of a test: rows of a profile and questions to the model executor about the costs of calls,
 * as one table. */
#pragma once

#include "tests/tap.h"
#include "model_profile.h"

#include "factor/kernels/gemm/half_pair.h"
#include "factor/model/simulation/executor_model_internal.h"

/* The stairs of the calls. */
enum { STAIRS_WIDTH = 250, STAIRS_STEP = 500 };

/* "+name": rows that are added to the profile (struct rows). Else a question, "of: call flags
 * sizes", its answer, what it says, and the relative tolerance (0: 1e-9).
 *
 * of: time (microseconds until the host knows of the end), enqueue, first, further, share,
 * lifetime, overlapped, beyond (whether surfaces were extrapolated), a term, or nothing: the sum of
 * the terms of the first operation. Seconds are microseconds.
 *
 * flags: d (double precision), tn, nt, upper, right, diag, triangle (of half), added (rows, of
 * band), off (C off 16 bytes), wide (the paper's Gram-Schmidt kernels), gram (e->gram_double);
 * shared (e->shares), panel (in the panels' queue), ahead (there behind the first block), one
 * (thread of the host; else all).
 */
struct line {
	const char *text;
	double value;
	const char *what;
	double more;
};

struct call {
	struct executor *e;
	const char *text;
	int64_t size[5];
	struct matrix x, y; /* of the first two sizes; of the first size, square */
};

static inline bool has(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	const size_t n = strlen(word);

	for (; at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

static inline struct matrix shape_of(const struct call *c, int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, m, has(c->text, "d") ? DOUBLE : SINGLE};
}

/* Returns from a function of calls. */
#define CALL(word, operation)                                                                      \
	do {                                                                                       \
		if (has(c->text, word))                                                            \
			return operation;                                                          \
	} while (0)

/* Products and solves: the sizes are those of C and then the inner dimension, or the triangle's
 * order and its right-hand sides. */
static inline bool call_product(const struct call *c)
{
	struct executor *e = c->e;
	const int64_t m = c->size[0], n = c->size[1], k = c->size[2];
	const bool tn = has(c->text, "tn"), upper = has(c->text, "upper"),
	           right = has(c->text, "right");
	const struct matrix a = tn ? shape_of(c, k, m) : shape_of(c, m, k),
	                    b = has(c->text, "nt") ? shape_of(c, n, k) : shape_of(c, k, n);
	const enum side side = right ? RIGHT : LEFT;
	const struct matrix sides = right ? shape_of(c, n, m) : c->x;
	struct matrix to = c->x;

	to.ld += has(c->text, "off");
	CALL("gemm", ex_gemm(e, tn ? TRANSPOSED : PLAIN, has(c->text, "nt") ? TRANSPOSED : PLAIN, 1,
	                     a, b, 1, to));
	CALL("syrk", ex_syrk(e, upper ? UPPER : LOWER, upper ? TRANSPOSED : PLAIN, -1,
	                     upper ? shape_of(c, k, n) : a, 1, c->x));
	CALL("tall", e->ops->gemm_tall(e, shape_of(c, k, m), shape_of(c, k, n), c->x));
	CALL("squares", e->ops->gemm_tf32(e, 1, shape_of(c, k, m), shape_of(c, k, n), 0,
	                        shape_of(c, m, n / 2), (struct products){.count = 2}));
	CALL("half", e->ops->half_update(e,
	                     upper                      ? UPPER
	                     : has(c->text, "triangle") ? LOWER
	                                                : WHOLE,
	                     1, shape_of(c, half_rows(k), m), shape_of(c, half_rows(k), n), c->x));
	CALL("stairs", e->ops->half_stairs(e, (struct stairs){STAIRS_WIDTH, STAIRS_STEP}, 1,
	                       shape_of(c, half_rows(k), m), shape_of(c, half_rows(k), n), c->x));
	CALL("gemv", ex_gemv(e, tn ? TRANSPOSED : PLAIN, 1, c->x, shape_of(c, n, 1), 0,
	                     shape_of(c, m, 1)));
	CALL("trsm", ex_trsm(e, side, LOWER, PLAIN, has(c->text, "diag") ? NON_UNIT : UNIT, 1, c->y,
	                     sides));
	CALL("trsm_guard", ex_trsm_guard(e, LEFT, LOWER, PLAIN, UNIT, c->y, c->y, sides, sides));
	return false;
}

/* Panels of the first two sizes, and what is made from them. */
static inline bool call_panel(const struct call *c)
{
	struct executor *e = c->e;
	const struct matrix tau = shape_of(c, c->size[1], 1),
	                    t = shape_of(c, c->size[1], c->size[1]);
	const struct pivots p = {NULL, c->size[1]};

	e->gram_double = has(c->text, "gram");
	CALL("potrf", ex_potrf_block(e, LOWER, c->x, (struct matrix){0}, 0, NULL));
	CALL("geqrf", ex_panel_geqrf(e, c->x, tau, NULL));
	CALL("reflectors",
	        ex_panel_reflectors(e, c->x, tau, c->x, t, has(c->text, "summed"), NULL));
	CALL("larft", ex_larft(e, c->x, tau, t));
	CALL("trtri", ex_trtri(e, LOWER, UNIT, c->y, c->y));
	CALL("getrf", ex_resident_panel(e, c->x, NULL, p));
	CALL("host_getrf", ex_host_panel_getrf(e, c->x, p, NULL));
	CALL("host_geqrf", ex_host_panel_geqrf(e, c->x, tau));
	CALL("host_potrf", ex_host_panel_potrf(e, LOWER, c->x, 0, NULL));
	return false;
}

/* Row swaps, and kernels of LU that contain them: sizes of the matrix, and the number of swaps. */
static inline bool call_swaps(const struct call *c)
{
	struct executor *e = c->e;
	const struct pivots p = {NULL, c->size[2]}, none = {NULL, 0};
	const struct matrix panel = shape_of(c, c->size[0], c->size[2]);

	CALL("laswp", ex_laswp(e, c->x, p, false));
	CALL("join_halves", ex_join_halves(e, c->x, p, p.n, (struct pivots){NULL, 2 * p.n}));
	CALL("lu_columns", ex_lu_columns(e, panel, p, c->x));
	CALL("swap_rows", ex_lu_rows(e, shape_of(c, 0, 0), p, c->x));
	CALL("lu_rows", ex_lu_rows(e, panel, p, c->x));
	CALL("solve_rows", ex_lu_rows(e, panel, none, c->x));
	CALL("offset_pivots", ex_offset_pivots(e, p, 7, p));
	CALL("check_triangle", ex_check_triangle(e, c->x, (struct matrix){0}, NULL, NULL));
	CALL("clear_info", ex_clear_info(e, NULL));
	return false;
}

static inline bool call_move(const struct call *c)
{
	struct executor *e = c->e;
	struct matrix host;

	CALL("copy", ex_copy(e, WHOLE, c->x, c->x));
	CALL("transpose", ex_transpose(e, c->x, c->x));
	CALL("rotate", ex_rotate(e, shape_of(c, 2, c->size[1] / 2), c->x));
	CALL("make_rotations", ex_make_rotations(e, 0, c->x, shape_of(c, 2, c->size[1] / 2)));
	CALL("explicit_v", ex_explicit_v(e, c->x, c->x));
	CALL("fill", ex_fill(e, WHOLE, 0, 0, c->x));
	e->ops->stage(e, 0, c->x.m, c->x.n, c->x.precision, &host);
	CALL("to_host", ex_to_host(e, c->x, host));
	CALL("to_device", ex_to_device(e, host, c->x));
	return false;
}

/* Gram-Schmidt on a matrix of the first two sizes; the paper's kernels by blocks of the last two.
 */
static inline bool call_gram(const struct call *c)
{
	struct executor *e = c->e;
	const enum gram_access access = has(c->text, "wide") ? GRAM_WIDE : GRAM_OWN;
	const struct gram_schmidt g = {
	        .a = c->x, .shape = {access, (int)c->size[2], (int)c->size[3]}};

	CALL("dots", ex_gram_dots(e, &g, 0));
	CALL("update", ex_gram_update(e, &g, 0));
	CALL("fused", ex_gram_fused(e, &g, 0));
	CALL("scale", ex_gram_scale(e, &g, 0));
	CALL("gram_panel", ex_gram_panel(e, &g));
	CALL("apply", ex_gram_apply(e, shape_of(c, c->x.m, c->size[2]),
	                      shape_of(c, c->size[2], c->x.n), c->x, false));
	return false;
}

/* A sweep of p rows over an n x n matrix, with rows of Q. */
static inline bool call_sweep(const struct call *c)
{
	const int64_t p = c->size[0], n = c->size[1];
	struct band band = {
	        .of = {shape_of(c, n, n), shape_of(c, n, 1), {NULL, 0, 0, n, 1, SINGLE}}, .p = p};

	if (c->size[2])
		band.of.q = shape_of(c, c->size[2], n);
	if (has(c->text, "added"))
		band.added = &band.of;
	return has(c->text, "band") && ex_band_sweep(c->e, &band, NULL);
}

static inline bool make_call(struct executor *e, const char *text)
{
	struct call c = {.e = e, .text = text};
	const char *at = text + strcspn(text, "0123456789");
	char *end;

	for (size_t i = 0; i < ARRAY_LEN(c.size) && *at; i++, at = end)
		c.size[i] = strtoll(at, &end, 10);
	c.x = shape_of(&c, c.size[0], c.size[1]);
	c.y = shape_of(&c, c.size[0], c.size[0]);
	e->shares = has(text, "shared");
	e->queue = has(text, "panel") || has(text, "ahead") ? QUEUE_PANEL : QUEUE_MAIN;
	e->block = has(text, "ahead");
	executor_model_reader(e)->threads = has(text, "one") ? 1 : 0;
	return call_product(&c) || call_panel(&c) || call_swaps(&c) || call_move(&c) ||
	       call_gram(&c) || call_sweep(&c);
}

static inline struct matrix shape(int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, m, SINGLE};
}

static inline double us(struct executor *e)
{
	return executor_model_result(e).seconds * 1e6;
}

static inline double asked_of(struct executor *e, const char *of)
{
	const struct cost *cost = &model_self(e)->charged[0].cost;
	double sum = 0;

	if (has(of, "time"))
		return us(e);
	for (int t = 0; t < TERM_COUNT; t++) {
		if (has(of, term_name[t]))
			return cost->term[t] * 1e6;
		sum += cost->term[t];
	}
	return has(of, "enqueue")      ? cost->enqueue * 1e6
	       : has(of, "first")      ? cost->first * 1e6
	       : has(of, "lifetime")   ? cost->block_lifetime * 1e6
	       : has(of, "further")    ? cost->further
	       : has(of, "share")      ? cost->share
	       : has(of, "overlapped") ? cost->overlapped
	       : has(of, "beyond")     ? executor_model_reader(e)->model.extrapolated
	                               : sum * 1e6;
}

/* What is asked, on the executor as if it were new. */
static inline double answer(struct executor *e, const char *text)
{
	const char *colon = strchr(text, ':');
	char of[16] = "";

	if (colon)
		snprintf(of, sizeof of, "%.*s", (int)(colon - text), text);
	executor_model_restart(e, false);
	executor_model_reader(e)->model.extrapolated = false;
	if (!make_call(e, colon ? colon + 2 : text))
		ok(false, "no such call: %s", text);
	return asked_of(e, of);
}

/* Plays the lines on the profile, and frees it. */
static inline void play(
        struct profile *p, enum model_target target, const struct line *line, size_t count)
{
	struct executor *e = NULL;

	for (size_t i = 0; i < count; i++, line++) {
		if (line->text[0] == '+') {
			const struct rows rows = {
			        line->text + 1, line->value, line->what, line->more};
			add_all(p, &rows, 1, 0.1);
			executor_free(e);
			e = NULL;
			continue;
		}
		if (!e)
			e = executor_model_new(p, target, 2);
		is_real(answer(e, line->text), line->value, line->more > 0 ? line->more : 1e-9,
		        line->what);
	}
	executor_free(e);
	profile_free(p);
}

#define PLAY(profile, lines) play(profile, MODEL_CUDA, lines, ARRAY_LEN(lines))

static inline struct profile *synthetic_blocks(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	return p;
}
