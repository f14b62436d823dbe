/* SPDX-License-Identifier: MIT */
/* Random cases of LU, QR, Cholesky and their solves, on the host executor and on the GPU: shapes,
 * places in an array, kinds of matrices, plans. Residuals are small; a power of two scales results
 * bit by bit; the order of rows changes no bit of LU's factors; repeated runs give the same bits;
 * nothing is written beside the matrix. A case that fails is made smaller, and printed with the
 * words that repeat it.
 *
 * FATHOM_TEST_SEED: other cases. FATHOM_TEST_CASE="m=3 n=2 ...": this case alone. */
#include "property_checks.h"
#include "property_bits.h"

enum {
	CASES_HOST = 10000,
	CASES_GPU = 1000,
	CASES_SMALL = 20, /* of at most 64 rows and columns */
	FULL_HOST = 100000,
	FULL_GPU = 10000,
	DEFAULT_SEED = 64
};

/* ---- one case ---- */

/* As a case asks for: LU on the transpose, deferred swaps, aligned copies. */
static void set_modes(struct executor *e, const struct property_case *c)
{
	e->row_major = c->row_major > 0;
	e->column_major = c->row_major == 2 ? 30 : 0;
	e->deferred_from = c->deferred;
	e->deferred_most[0] = e->deferred_most[1] = 5000;
	e->aligned_from = c->aligned_copy;
}

static const char *fault_of_problem(
        struct executor *e, const struct property_problem *p, struct property_result *first)
{
	struct property_result second = {0};
	const char *wrong = NULL;

	if (!property_run(e, p, 0xff, first))
		return "refused or out of bounds";
	if (!property_beside_intact(p, first))
		wrong = "written beside the matrix";
	wrong = wrong ? wrong : property_check(p, first);
	if (!wrong && !property_run(e, p, 0x3f, &second))
		wrong = "refused when repeated";
	else if (!wrong && !property_same_bits(p, first, &second))
		wrong = "other bits when repeated";
	property_result_free(&second);
	return wrong;
}

/* The first property that the case violates, or NULL. */
static const char *fault_of(const struct property_case *c, void *executor)
{
	struct executor *e = executor;
	const struct executor kept = *e;
	struct property_problem p;
	struct property_result result = {0}, scaled = {0};

	set_modes(e, c);
	property_open(&p, c);
	/* by the plan, or in row-major LU's kernel (factor/kernels/lu/lu_rows.cu) */
	p.inverts = c->inverse || c->chosen || (c->row_major && strcmp(e->name, "cuda") == 0);
	const char *wrong = fault_of_problem(e, &p, &result);
	if (!wrong && property_in_range(c)) {
		property_scale(&p);
		if (!property_run(e, &p, 0xff, &scaled))
			wrong = "refused when scaled";
		else
			wrong = property_scaled_fault(&p, &result, &scaled);
	}
	property_result_free(&result);
	property_result_free(&scaled);
	property_close(&p);
	e->row_major = kept.row_major;
	e->column_major = kept.column_major;
	e->deferred_from = kept.deferred_from;
	memcpy(e->deferred_most, kept.deferred_most, sizeof kept.deferred_most);
	e->aligned_from = kept.aligned_from;
	return wrong;
}

static void show(const char *wrong, struct property_case c)
{
	char text[PROPERTY_TEXT];

	property_text(c, text);
	diag("%s; repeat with %sFATHOM_TEST_CASE=\"%s\"", wrong,
	        test_on_gpu ? "FATHOM_TEST_ON=gpu " : "", text);
}

/* ---- all cases ---- */

static uint64_t seed_of_cases(void)
{
	const char *text = getenv("FATHOM_TEST_SEED");

	return text ? strtoull(text, NULL, 10) : DEFAULT_SEED;
}

static void test_cases(struct executor *e)
{
	const uint64_t seed = seed_of_cases();
	const int cases = test_small()  ? CASES_SMALL
	                  : test_full() ? (test_on_gpu ? FULL_GPU : FULL_HOST)
	                                : (test_on_gpu ? CASES_GPU : CASES_HOST);
	int failed = 0;

	for (int i = 0, ran = 0; ran < cases && failed < 3; i++) {
		struct property_case c = property_draw(seed, i);
		if (test_small() && (c.m > 64 || c.n > 64))
			continue;
		const char *wrong = fault_of(&c, e);
		ran++;
		if (!wrong)
			continue;
		failed++;
		property_shrink(fault_of, e, wrong, &c);
		diag("seed %llu, case %d:", (unsigned long long)seed, i);
		show(wrong, c);
	}
	ok(failed == 0, "%s: %d random cases, seed %llu", e->name, cases, (unsigned long long)seed);
}

/* Without updates factors are wrong wherever there is one; the smallest matrix with one is found,
 * and its text repeats it. */
static void test_finds(struct executor *e)
{
	char text[PROPERTY_TEXT];
	struct property_case c, again;
	const char *wrong = NULL;
	int i = 0;

	e->skip = 1u << PHASE_UPDATE;
	for (; i < 100 && !wrong; i++) {
		c = property_draw(1, i);
		wrong = c.operation == GETRF && c.kind == KIND_EXACT ? fault_of(&c, e) : NULL;
	}
	if (wrong)
		property_shrink(fault_of, e, wrong, &c);
	property_text(c, text);
	ok(wrong && c.m <= 3 && c.n <= 3, "%s: left-out updates are found: %s", e->name, text);
	ok(property_read(text, &again) && memcmp(&again, &c, sizeof c) == 0 && fault_of(&again, e),
	        "the text of the case repeats it");
	e->skip = 0;
	ok(!fault_of(&again, e), "with updates it passes");
	ok(!property_read("m=3 colour=4", &again), "no text of a case");
}

static void test_all(struct executor *e)
{
	const char *text = getenv("FATHOM_TEST_CASE");
	struct property_case c;

	if (!text) {
		if (!test_small()) /* a search takes hundreds of runs */
			test_finds(e);
		test_cases(e);
		return;
	}
	const bool read = property_read(text, &c);
	const char *wrong = read ? fault_of(&c, e) : "FATHOM_TEST_CASE is no case";
	ok(!wrong, "%s: %s", e->name, text);
	if (wrong)
		diag("%s", wrong);
}

int main(void)
{
	return test_on_executors(test_all);
}
