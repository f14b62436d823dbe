/* SPDX-License-Identifier: MIT */
/* What every factorization promises beside right factors: wide plans, large matrices, its verdict,
 * repeats, phases left out, refusals, copies. */
#pragma once

#include "factor_cases.h"

static inline void test_wide_plan(struct executor *e, const struct factorization *f,
        const struct plan *plan, struct problem p)
{
	char name[160];

	p.of = f;
	describe(f, plan, p.uplo, p.precision, name, sizeof name);
	if (is_off_chip(e, plan, &p))
		skip(name, e->fault.text);
	else
		ok(!test_one(e, plan, p, f->large_kind), "%s %s of %d x %d", e->name, name,
		        (int)p.shape.m, (int)p.shape.n);
}

/* Wide plans. The covering set gives every plan one shape in each precision; with `share` one plan
 * runs in double precision, and none with the largest matrix. A small run cuts the shapes, leaves
 * the largest matrix out, and with `share` takes every fourth plan. */
static inline void test_large(struct executor *e, const struct factorization *f, bool share)
{
	const size_t shapes = f->large_count, per_plan = shapes * (size_t)f->uplos;

	for (size_t i = 0; i < f->wide_count; i++) {
		const bool odd = i % 4;
		if (share && !test_turn(i, 4))
			continue;
		for (size_t k = 0; k < 2 * per_plan; k++)
			if (test_meets(i + k % 2, k / 2, per_plan, 1) &&
			        (!share || k % 2 == 0 || test_meets(i, 1, f->wide_count, 1)))
				test_wide_plan(e, f, &f->wide[i],
				        (struct problem){.shape = shape_at_most(
				                                 f->large[k / 2 % shapes], 170),
				                .precision = k % 2 ? DOUBLE : SINGLE,
				                .uplo = k / 2 / shapes ? UPPER : LOWER});
		if (test_on_gpu && !share && i % 2 == 0 && test_fits(f->largest, f->largest))
			test_wide_plan(e, f, &f->wide[i],
			        (struct problem){
			                .shape = {f->largest, f->largest, f->largest + odd},
			                .precision = SINGLE,
			                .uplo = odd ? UPPER : LOWER});
	}
}

/* The verdict must see a wrong answer. */
static inline void test_verdict(struct executor *e, const struct factorization *f)
{
	struct problem p = {.of = f, .shape = f->wrong_shape, .precision = SINGLE, .uplo = LOWER};

	problem_open(&p, f->wrong_kind);
	void *right = xmalloc(problem_bytes(&p));
	ok(run(e, &f->plans[f->wrong_plan], &p, 0xff) && !f->verdict(&p, f->wrong_kind),
	        "a right answer passes");
	memcpy(right, p.after, problem_bytes(&p));
	for (const struct wrong *w = f->wrong; w < f->wrong + f->wrong_count; w++) {
		float *to = (float *)(w->where == IN_TAU ? p.tau : p.after) + w->at;
		int *integer = w->where == IN_PIVOTS ? p.ipiv + w->at : &p.info;
		const bool real = w->where == IN_MATRIX || w->where == IN_TAU;
		const float number = *to;
		const int before = *integer;
		for (int64_t i = 0; real && (i == 0 || i < w->count); i++)
			to[i * w->stride] =
			        (float)(w->scale == 0 ? w->add
			                              : w->scale * to[i * w->stride] + w->add);
		if (!real)
			*integer += (int)w->add;
		ok(f->verdict(&p, f->wrong_kind), "%s is found", w->what);
		memcpy(p.after, right, problem_bytes(&p));
		*integer = before;
		if (w->where == IN_TAU)
			*to = number;
	}
	free(right);
	problem_close(&p);
}

/* The same bits whatever the workspace held. */
static inline void test_repeats(struct executor *e, const struct factorization *f)
{
	for (size_t i = 0; i < f->plans_count; i++) {
		struct problem one = {.of = f,
		        .shape = shape_at_most(f->again, 20),
		        .precision = SINGLE,
		        .uplo = i % 2 ? LOWER : UPPER};
		struct problem two = one;
		if (!test_turn(i, f->plans_count))
			continue;
		problem_open(&one, f->random_kind);
		problem_open(&two, f->random_kind);
		bool good = run(e, &f->plans[i], &one, 0xff) && run(e, &f->plans[i], &two, 0x3f);
		/* without pivots or tau both are zeros */
		good = good && memcmp(one.after, two.after, problem_bytes(&one)) == 0 &&
		       memcmp(one.ipiv, two.ipiv, (size_t)steps(&one) * sizeof(int)) == 0 &&
		       memcmp(one.tau, two.tau, (size_t)steps(&one) * sizeof(float)) == 0;
		ok(good, "plan %zu gives the same bits with any workspace", i);
		problem_close(&one);
		problem_close(&two);
	}
}

/* Any phase can be left out, which is how phases are timed: only the result is lost. */
static inline void test_any_phase_left_out(struct executor *e, const struct factorization *f)
{
	for (size_t i = 0; i < f->plans_count; i++) {
		bool good = true;
		if (!test_turn(i, f->plans_count))
			continue;
		for (int phase = 0; phase < PHASE_COUNT; phase++) {
			struct problem p = {
			        .of = f, .shape = shape_at_most(f->again, 20), .precision = SINGLE};
			if (f->phase_needed && f->phase_needed(&f->plans[i], phase))
				continue;
			problem_open(&p, f->random_kind);
			e->skip = 1u << phase;
			bool ran = run(e, &f->plans[i], &p, 0xff);
			e->skip = 0;
			problem_close(&p);
			if (!ran)
				diag("without %s", phase_name[phase]);
			good = good && ran;
		}
		ok(good, "plan %zu runs with any phase left out", i);
	}
}

static inline void test_refused(struct executor *e, const struct factorization *f)
{
	for (const struct refusal *c = f->refusals; c < f->refusals + f->refusals_count; c++) {
		struct run_memory r = {.a = {NULL, 0, c->m, c->n, c->ld, SINGLE}};
		r.tau = r.a;
		e->fault.text[0] = '\0';
		bool refused = factor_work(e, f, &c->plan, UPPER, r.a) == -1;
		ok(refused && strstr(e->fault.text, c->word) &&
		                !factor_run(e, f, &c->plan, UPPER, &r),
		        "refused: %s", e->fault.text);
	}
}

/* Matrices that are not aligned are factorized in copies that are. */
static inline void test_copied(struct executor *e, const struct factorization *f)
{
	const int64_t from = e->aligned_from, bytes = 99 * 99 * (int64_t)sizeof(float);
	const struct matrix odd = {NULL, 0, 99, 99, 99, SINGLE},
	                    even = {NULL, 0, 99, 99, 100, SINGLE};
	const struct plan *plans = f->plans;

	e->aligned_from = 1;
	ok(factor_work(e, f, &plans[0], UPPER, odd) >
	                factor_work(e, f, &plans[0], UPPER, even) + bytes,
	        "%s: a matrix that is not aligned has a copy, another has none", e->name);
	for (int kind = 0; kind < f->kinds; kind++) {
		if (!test_turn((size_t)kind, 13))
			continue;
		if (test_meets(0, (size_t)kind, 2, 1))
			test_kind(e, f, &plans[0], UPPER, SINGLE, kind);
		if (test_meets(1, (size_t)kind, 2, 1))
			test_kind(e, f, &plans[1], UPPER, DOUBLE, kind);
	}
	e->aligned_from = 198;
	bool copied = factor_work(e, f, &plans[0], UPPER, odd) >
	              factor_work(e, f, &plans[0], UPPER, even) + bytes;
	e->math = math_possible(e, MATH_3XTF32) ? MATH_3XTF32 : MATH_FP32;
	ok(!copied && (e->math == MATH_FP32 ||
	                      factor_work(e, f, &plans[0], UPPER, odd) >
	                              factor_work(e, f, &plans[0], UPPER, even) + bytes),
	        "%s: split products alone need copies from half as many columns on", e->name);
	e->math = MATH_FP32;
	e->aligned_from = from;
}

/* What every factorization has to pass in any mode of the executor. */
static inline void test_ends(struct executor *e, const struct factorization *f)
{
	test_repeats(e, f);
	test_any_phase_left_out(e, f);
}
