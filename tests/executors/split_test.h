/* SPDX-License-Identifier: MIT */
/* Products of split operands in LU and QR: matrices that are hard in one way or another, and larger
 * matrices. */
#pragma once

#include "tests/algorithms/factor_cases.h"

#include "factor/kernels/gemm/tf32.h"

/* Kinds whose updates round nothing, or have no number. */
static inline bool rounds_nothing(int kind)
{
	static const int kinds[] = {MATRIX_NAN_FIRST, MATRIX_DIAGONAL, MATRIX_LOWER, MATRIX_UPPER,
	        TEST_KAHAN, TEST_ZERO, TEST_IDENTITY, TEST_INF_FIRST, TEST_ALL_NAN};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

/* Not for growth to 2^399, which overflows; nor by 3xTF32 for numbers near underflow, whose low
 * parts are subnormal (factor/kernels/gemm/tf32.h). */
static inline bool split_promised(enum math math, int kind)
{
	return kind != TEST_WILKINSON && (math != MATH_3XTF32 || kind != MATRIX_TINY);
}

/* On the GPU, where everything that can be split is split, backward errors are somewhat larger,
 * above all those of well-conditioned matrices, for which LAPACK's error is small. */
static inline double split_leniency(int kind)
{
	return kind == TEST_CONDITION_2 || kind == TEST_NEAR_UNDERFLOW || kind == TEST_NEAR_OVERFLOW
	               ? 2
	               : 1.25;
}

/* The eps that sums of TF32_PIECE products of one sign lose in the mean when units cut them after
 * every 8 products. QR's products are such sums one after the other. Which of its kernels cuBLAS
 * takes depends on the number of multiprocessors, and some cut less often
 * (docs/experiments/truncation.md). */
static inline double split_loss(const struct factorization *f, enum math math)
{
	enum { EACH = 8 };

	return test_on_gpu && f->operation == GEQRF && math == MATH_3XTF32
	               ? 2 * (TF32_PIECE / EACH + 1) / (8 * log(2))
	               : 0;
}

/* Whether a second run with another content of the workspace gives the same bits, but for NaN. */
static inline bool split_repeats(
        struct executor *e, const struct plan *plan, const struct problem *p)
{
	struct problem again = *p;

	again.before = test_copy(p->before, p->shape.lda, p->shape.n, p->precision);
	problem_results(&again);
	bool same = run(e, plan, &again, 0x3f) &&
	            memcmp(p->ipiv, again.ipiv, (size_t)steps(p) * sizeof(int)) == 0;
	if (!any_nan(p->after, p->shape.lda, p->shape.m, p->shape.n, p->precision))
		same = same && memcmp(p->after, again.after, problem_bytes(p)) == 0 &&
		       memcmp(p->tau, again.tau, (size_t)steps(p) * sizeof(float)) == 0;
	problem_close(&again);
	return same;
}

/* Split products keep the bounds of plain ones, but give other bits, on the GPU the same in every
 * run. */
static inline void test_split(struct executor *e, const struct factorization *f, enum math math,
        const struct plan *plan, enum uplo uplo, int kind, int64_t m, int64_t n)
{
	struct problem p = {.of = f, .shape = {m, n, m + 3}, .precision = SINGLE, .uplo = uplo};
	struct problem strict = p;
	char name[120];

	problem_open(&p, kind);
	problem_open(&strict, kind);
	bool good = run(e, plan, &strict, 0xff);
	e->math = math;
	test_leniency = test_on_gpu && f->uplos == 1 ? split_leniency(kind) : 1;
	test_loss = split_loss(f, math);
	const char *wrong = fault_of(e, plan, &p, kind);
	if (!wrong && test_on_gpu && !split_repeats(e, plan, &p))
		wrong = "other bits in another run";
	e->math = MATH_FP32;
	test_leniency = 1;
	test_loss = 0;
	if (wrong)
		diag("%s, info %d", wrong, p.info);
	const bool same = memcmp(p.after, strict.after, problem_bytes(&p)) == 0;
	describe(f, plan, uplo, SINGLE, name, sizeof name);
	ok(good && !wrong && (!same || (f->uplos == 1 && rounds_nothing(kind))),
	        "%s%s, %s, %d x %d: %s%s", e->name, math_title[math], name, (int)m, (int)n,
	        kind_name(f, kind), same ? ", the same bits" : "");
	problem_close(&p);
	problem_close(&strict);
}

/* Four plans; the first three are for small matrices. Products of this test's sizes are split. With
 * `share` the covering set leaves out every other kind. A small run takes two kinds, and leaves
 * out larger matrices. */
static inline void test_splits(
        struct executor *e, const struct factorization *f, const struct plan *plan, bool share)
{
	const struct split_limits *kept = e->splits;
	const struct split_limits small = {
	        .side = 64, .depth = 32, .alignment = 16, .use = 64, .half = kept && kept->half};
	const int64_t side = test_full() ? 401 : 261, large = test_full() ? 1101 : 661;

	if (!kept) {
		skip("3xTF32", "no TF32 units");
		return;
	}
	e->splits = &small;
	for (enum math math = MATH_3XTF32; math < MATHS && math_possible(e, math); math++) {
		for (int kind = 0; kind < TEST_KINDS; kind++)
			if (split_promised(math, kind) && test_turn((size_t)kind, 13) &&
			        (!share || test_meets((size_t)math, (size_t)kind, 2, 1)))
				test_split(e, f, math, &plan[kind % 3], LOWER, kind, side, side);
		for (size_t i = 0; i < 3 && test_fits(large, large); i++) {
			test_split(e, f, math, &plan[i], LOWER, MATRIX_RANDOM, 501, 301);
			test_split(e, f, math, &plan[i], LOWER, MATRIX_RANDOM, 301, 501);
			const int64_t n = i < 2 ? large : 1101; /* wide blocks need more columns */
			test_split(e, f, math, &plan[i + 1], LOWER, MATRIX_RANDOM, n, n);
		}
	}
	e->splits = kept;
}
