/* SPDX-License-Identifier: MIT */
/* Of LU and QR: updates of split operands, of matrices that are hard in one way or another, and of
 * larger ones. Include it after struct problem, problem_open, problem_close, run and verdict. */
/* Kinds that leave the updates nothing to round, or no number. */
static bool rounds_nothing(int kind)
{
	static const int kinds[] = {MATRIX_NAN_FIRST, MATRIX_DIAGONAL, MATRIX_LOWER, MATRIX_UPPER,
	        TEST_KAHAN, TEST_ZERO, TEST_IDENTITY, TEST_INF_FIRST, TEST_ALL_NAN};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

/* Kinds that nothing is claimed of: low parts near underflow end in subnormal numbers (factor/kernels/gemm/tf32.h),
 * and growth to 2^399 overflows. */
static bool claimed(enum math math, int kind)
{
	return kind != TEST_WILKINSON && (math != MATH_3XTF32 || kind != MATRIX_TINY);
}

/* By tensor cores, where all that can be split is, QR of 1100 columns was measured to have 2.0 to
 * 2.25 times LAPACK's backward error, and LU of matrices of condition 2, of 401 columns, of which
 * LAPACK's is 4.4 eps, up to 3.6 times that by 3xTF32 and 3.1 by 3xFP16 (in plain single precision
 * 1.5). */
static double off_by(int kind)
{
	return kind == TEST_CONDITION_2 || kind == TEST_NEAR_UNDERFLOW || kind == TEST_NEAR_OVERFLOW
	               ? 2
	               : 1.25;
}

/* In matrices large enough for them, aligned: the same bounds on the host, but other bits. */
static void test_split(
        struct executor *e, enum math math, const struct plan *plan, int kind, int64_t m, int64_t n)
{
	struct problem p = {.shape = {m, n, m + 3}, .precision = SINGLE}, strict = p;

	problem_open(&p, kind);
	problem_open(&strict, kind);
	bool good = run(e, plan, &strict, 0xff);
	e->math = math;
	test_leniency = test_on_gpu ? off_by(kind) : 1;
	const char *wrong = run(e, plan, &p, 0xff) ? verdict(&p, kind) : "refused";
	e->math = MATH_FP32;
	test_leniency = 1;
	if (wrong)
		diag("%s", wrong);
	const bool same = memcmp(p.after, strict.after, (size_t)(n * (m + 3)) * 4) == 0;
	ok(good && !wrong && (rounds_nothing(kind) || !same),
	        "%s%s, %d x %d, nb %d, panels on the %s: %s%s", e->name, math_title[math], (int)m,
	        (int)n, (int)plan->widths[0], plan->hybrid ? "host" : "device",
	        test_kind_name(kind), same ? ", the same bits" : "");
	problem_close(&p);
	problem_close(&strict);
}

/* Four plans, of which the first three are for small matrices. Products of this test's sizes are
 * split, too. */
static void test_splits(struct executor *e, const struct plan *plan)
{
	const struct split_limits *kept = e->splits;
	const struct split_limits small = {
	        .side = 64, .depth = 32, .alignment = 16, .use = 64, .half = kept && kept->half};

	if (!kept) {
		skip("3xTF32", "no TF32 units");
		return;
	}
	e->splits = &small;
	for (enum math math = MATH_3XTF32; math < MATHS && math_possible(e, math); math++) {
		for (int kind = 0; kind < TEST_KINDS; kind++)
			if (claimed(math, kind))
				test_split(e, math, &plan[kind % 3], kind, 401, 401);
		for (size_t i = 0; i < 3; i++) {
			test_split(e, math, &plan[i], MATRIX_RANDOM, 701, 301);
			test_split(e, math, &plan[i], MATRIX_RANDOM, 301, 701);
			test_split(e, math, &plan[i + 1], MATRIX_RANDOM, 1101, 1101);
		}
	}
	e->splits = kept;
}
