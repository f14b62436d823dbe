/* SPDX-License-Identifier: MIT */
/* Of LU and QR: updates of split operands, of matrices that are hard in one way or another, and of
 * larger ones. Include it after struct problem, problem_open, problem_close, run and verdict. */
/* In matrices large enough for them: the same bounds on the host, but other bits. By tensor cores,
 * where all that can be split is, QR of 1100 columns was measured to have 2.0 to 2.25 times
 * LAPACK's backward error. */
static void test_split(
        struct executor *e, enum math math, const struct plan *plan, int kind, int64_t n)
{
	struct problem p = {.shape = {n, n, n + 3}, .precision = SINGLE}, strict = p;

	problem_open(&p, kind);
	problem_open(&strict, kind);
	bool good = run(e, plan, &strict, 0xff);
	e->math = math;
	test_leniency = test_on_gpu ? 1.25 : 1;
	const char *wrong = run(e, plan, &p, 0xff) ? verdict(&p, kind) : "refused";
	e->math = MATH_FP32;
	test_leniency = 1;
	if (wrong)
		diag("%s", wrong);
	ok(good && !wrong && memcmp(p.after, strict.after, (size_t)(n * (n + 3)) * 4) != 0,
	        "%s%s, nb %d, panels on the %s: %s", e->name, math_title[math],
	        (int)plan->widths[0], plan->hybrid ? "host" : "device", test_kind_name(kind));
	problem_close(&p);
	problem_close(&strict);
}

/* Four plans, of which the first three are for small matrices. Products of this test's sizes are
 * split, too. */
static void test_splits(struct executor *e, const struct plan *plan)
{
	static const int kinds[] = {MATRIX_RANDOM, MATRIX_GRADED_ROWS, MATRIX_GRADED_COLUMNS,
	        MATRIX_RANK_DEFICIENT, MATRIX_NAN_MIDDLE, TEST_CONDITION_BAD, TEST_NEAR_UNDERFLOW,
	        TEST_NEAR_OVERFLOW, TEST_INF_LAST};
	const struct split_limits *kept = e->splits;
	const struct split_limits small = {
	        .side = 64, .depth = 32, .alignment = 4, .use = 64, .half = kept && kept->half};

	if (!kept) {
		skip("3xTF32", "no TF32 units");
		return;
	}
	e->splits = &small;
	for (enum math math = MATH_3XTF32; math < MATHS && math_possible(e, math); math++) {
		for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
			test_split(e, math, &plan[i % 3], kinds[i], 400);
		for (size_t i = 1; i < 4; i++)
			test_split(e, math, &plan[i], MATRIX_RANDOM, 1100);
	}
	e->splits = kept;
}
