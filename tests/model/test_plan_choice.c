/* SPDX-License-Identifier: MIT */
/* The choice of plans for whole factorizations, by the synthetic profile and by a recorded one. */
#include "factor_question.h"

#include "factor/model/plan/plan_choice.h"
#include "factor/algorithms/plan_default.h"

static void test_choice(const struct profile *p)
{
	static struct plan_choice choice;

	for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
		struct factor_question asked = question(operations[o], NULL, 2000, 2000);
		bool good = plan_choose(p, &asked, &plan_free, &choice);
		ok(good && choice.seconds <= choice.uniform_seconds,
		        "%s: %.0f us in %d runs, %.0f with blocks of %d", operations[o],
		        choice.seconds * 1e6, (int)choice.runs, choice.uniform_seconds * 1e6,
		        (int)choice.uniform);
		double again = seconds(p, operations[o], &choice.plan, 2000, 2000, 2);
		is_real(again, choice.seconds, 1e-12, "the plan takes the time of the choice");
		bool best = true;
		for (int64_t nb = 32; nb <= 1024; nb *= 2) {
			struct plan plan = choice.plan;
			plan.widths = &nb;
			plan.count = 1;
			best = best && seconds(p, operations[o], &plan, 2000, 2000, 2) >=
			                       choice.seconds * (1 - 1e-9);
		}
		ok(best, "no single width is faster");
	}
	struct factor_question asked = question("getrf", NULL, 2000, 2000);
	struct plan_fixed fixed = plan_free;
	fixed.nb = 100;
	fixed.hybrid = 1;
	ok(plan_choose(p, &asked, &fixed, &choice) && choice.plan.hybrid &&
	                choice.plan.count == 1 && choice.plan.widths[0] == 100,
	        "fixed fields stay");
	fixed.lookahead = 7;
	ok(!plan_choose(p, &asked, &fixed, &choice) && strstr(choice.fault.text, "look-ahead 7"),
	        "refused: %s", choice.fault.text);
	struct profile *empty = profile_new();
	ok(!plan_choose(empty, &asked, &plan_free, &choice) && choice.fault.text[0],
	        "an empty profile: %s", choice.fault.text);
	profile_free(empty);
}

/* Where the width changes at block i, one block more of the wider ones and as many fewer columns of
 * the others; what is moved is written to `moved`. The number of blocks, 0 when that cannot be. */
static int64_t move_border(const struct plan *plan, int64_t i, bool wider, int64_t *moved)
{
	const int64_t *w = plan->widths, many = w[i - 1] / w[i];
	int64_t count = 0, gone = wider ? many : 1;
	int64_t from = wider ? i : i - 1; /* the blocks that make way */

	if (w[i - 1] % w[i] || from + gone > plan->count || w[from + gone - 1] != w[from])
		return 0;
	for (int64_t b = 0; b < from; b++)
		moved[count++] = w[b];
	for (int64_t b = 0; b < (wider ? 1 : many); b++)
		moved[count++] = w[wider ? i - 1 : i];
	for (int64_t b = from + gone; b < plan->count; b++)
		moved[count++] = w[b];
	return count;
}

/* By the recorded profile: costs of the synthetic one are too smooth for several widths. */
static void test_borders(const struct profile *p)
{
	enum { N = 6000 };
	static struct plan_choice choice;
	struct factor_question asked = question("getrf", NULL, N, N);
	struct plan_fixed early = plan_free; /* not the default plan */
	int64_t moved[PLAN_CHOICE_BLOCKS];
	int borders = 0, better = 0, narrower = 0;

	early.lookahead = PLAN_LOOKAHEAD_MAX;
	ok(plan_choose(p, &asked, &early, &choice) && choice.plan.count > 1,
	        "blocks of several widths");
	for (int64_t i = 1; i < choice.plan.count; i++)
		for (int wider = 0; wider < 2; wider++) {
			struct plan plan = choice.plan;
			narrower += plan.widths[i] > plan.widths[i - 1];
			if (plan.widths[i] >= plan.widths[i - 1])
				continue;
			plan.count = move_border(&choice.plan, i, wider, moved);
			plan.widths = moved;
			if (!plan.count)
				continue;
			borders++;
			better += seconds(p, "getrf", &plan, N, N, 2) < choice.seconds * (1 - 1e-3);
		}
	ok(borders > 0 && better == 0, "none of %d borders is better a block further", borders);
	ok(narrower == 0, "no block is narrower than those behind it");
}

/* Where one width is taken throughout, it may be wider than the best one, which then is hardly
 * faster; and none of the wider ones is faster. */
static void test_widest(const struct profile *p)
{
	static struct plan_choice choice;
	struct plan_fixed fixed = plan_free; /* not the default plan */
	int uniform = 0, wider = 0, wrong = 0;

	fixed.lookahead = 1;
	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int64_t n = 300; n <= 1500; n += test_full() ? 150 : 300) {
			struct factor_question asked = question(operations[o], NULL, n, n);
			if (!plan_choose(p, &asked, &fixed, &choice) || choice.plan.count > 1)
				continue;
			uniform++;
			wider += choice.plan.widths[0] > choice.uniform;
			wrong += choice.seconds > choice.uniform_seconds * 1.05;
			for (int64_t nb = 2 * choice.plan.widths[0]; 4 * nb <= n; nb *= 2) {
				struct plan plan = choice.plan;
				plan.widths = &nb;
				wrong += seconds(p, operations[o], &plan, n, n, 2) < choice.seconds;
			}
		}
	ok(uniform > 0 && wider > 0 && wrong == 0,
	        "of %d plans of one width %d have a wider one that takes as long", uniform, wider);
}

/* The default plan is the choice unless a plan clearly faster by the model is found: it is taken in
 * some cases, also where another with its look-ahead is estimated below it. */
static void test_default(
        const struct profile *p, size_t kinds, enum math math, const int64_t *sizes, size_t count)
{
	static struct plan_choice choice, found;
	static struct default_plan own;
	int taken = 0, slower = 0, wrong = 0;

	for (size_t i = 0; i < kinds * count; i++) {
		const enum operation operation = (enum operation)(i % kinds);
		const int64_t n = sizes[i / kinds];
		struct factor_question asked = question(operations[operation], NULL, n, n);
		struct plan_fixed fixed = plan_free;
		asked.math = math;
		struct executor *e = model_factor_executor(p, MODEL_CUDA, &asked, 2);
		plan_default(e, operation, n, n, SINGLE, false, &own);
		executor_free(e);
		fixed.lookahead = own.plan.lookahead;
		const bool good = plan_choose(p, &asked, &plan_free, &choice) &&
		                  plan_choose(p, &asked, &fixed, &found);
		asked.plan = &own.plan;
		const double seconds = question_seconds(p, &asked, 2);
		taken += choice.seconds == seconds;
		slower += choice.seconds == seconds && seconds > found.seconds;
		wrong += !good || !(choice.seconds <= seconds);
	}
	ok(taken > 0 && slower > 0 && wrong == 0,
	        "the default plan is taken in %d of %zu cases, in %d of them another is below it",
	        taken, kinds * count, slower);
}

/* Both where the default plan is taken and beyond; not where the caller says the width. */
static void test_narrow_first(const struct profile *p)
{
	static const int64_t sizes[] = {4096, 16384}, first[] = {32, 64};
	static struct plan_choice choice;
	struct plan_fixed fixed = plan_free;
	int begun = 0, wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct factor_question asked = question("getrf", NULL, sizes[i], sizes[i]);
		asked.math = MATH_3XFP16;
		wrong += !plan_choose(p, &asked, &plan_free, &choice);
		begun += choice.plan.count > 1 && choice.plan.widths[0] == first[i] &&
		         choice.plan.widths[1] > first[i];
		asked.plan = &choice.plan;
		wrong += choice.seconds != question_seconds(p, &asked, 2);
		fixed.nb = 128;
		wrong += !plan_choose(p, &asked, &fixed, &choice) || choice.plan.widths[0] != 128;
	}
	ok(begun == 2 && wrong == 0,
	        "plans of LU by split operands begin with a narrow block, and its time counts");
}

/* LU in double precision has blocks or leaves of less than 64 columns only where one cluster does
 * not hold panels of so many. */
static void test_narrow(const struct profile *p)
{
	static struct plan_choice choice;
	int chosen = 0, needless = 0, wanted = 0;

	for (int64_t n = 2000; n <= 8000; n += 2000) {
		struct factor_question asked = question("getrf", NULL, n, n);
		bool narrow = false;
		asked.precision = DOUBLE;
		chosen += plan_choose(p, &asked, &plan_free, &choice);
		for (int64_t i = 0; i < choice.plan.count; i++)
			narrow |= choice.plan.widths[i] < 64 || choice.plan.leaf < 64;
		needless += narrow && n <= 4096;
		wanted += narrow && n > 4096;
	}
	ok(chosen == 4 && needless == 0 && wanted > 0,
	        "narrow panels in double precision only where one cluster does not hold wider "
	        "ones");
}

/* Panels of the usual 64 columns do not fit on chip there, of 32 they do. */
static void test_tall_panels(const struct profile *p)
{
	static struct plan_choice choice, fused;
	struct factor_question asked = question("getrf", NULL, 65536, 256);
	struct plan_fixed two_a_column = plan_free;

	asked.precision = DOUBLE;
	two_a_column.panel = "fused";
	ok(plan_choose(p, &asked, &plan_free, &choice) &&
	                strcmp(choice.plan.panel, "persistent") == 0 && choice.plan.leaf <= 32 &&
	                plan_choose(p, &asked, &two_a_column, &fused) &&
	                choice.seconds < fused.seconds / 2,
	        "a tall LU has narrow panels of one kernel, not wide ones of two a column");
}

/* Tall QR: the default plan's last leaf may have few columns, which other plans are refused for. */
static void test_tall_qr(const struct profile *p)
{
	static const int64_t shapes[][2] = {
	        {131072, 130}, {131072, 191}, {1000000, 256}, {50021, 77}, {20000, 520}};
	static struct plan_choice choice;
	static struct default_plan own;
	int slower = 0;

	for (size_t i = 0; i < 2 * ARRAY_LEN(shapes); i++) {
		const int64_t m = shapes[i / 2][0], n = shapes[i / 2][1];
		struct factor_question asked = question("geqrf", NULL, m, n);
		asked.precision = i % 2 ? DOUBLE : SINGLE;
		struct executor *e = model_factor_executor(p, MODEL_CUDA, &asked, 2);
		plan_default(e, GEQRF, m, n, asked.precision, false, &own);
		executor_free(e);
		const bool good = plan_choose(p, &asked, &plan_free, &choice);
		asked.plan = &own.plan;
		const double seconds = question_seconds(p, &asked, 2);
		if (good && choice.seconds <= seconds)
			continue;
		slower++;
		diag("%d x %d: %.1f us, the default plan %.1f", (int)m, (int)n,
		        choice.seconds * 1e6, seconds * 1e6);
	}
	ok(slower == 0, "of tall QR no choice is slower than the default plan");
}

/* A quick profile without QR's panels of more than 64 columns, whose kernel is slower by a step. */
static void test_widest_measured(void)
{
	static struct plan_choice choice;
	struct fault fault;
	struct profile *p = profile_read(RECORDED "-sms-64/profile.tsv", &fault);
	struct factor_question asked = question("geqrf", NULL, 3000, 3000);
	struct plan_fixed wide = plan_free;

	if (!ok(p != NULL, "a quick profile is read")) {
		diag("%s", fault.text);
		return;
	}
	ok(plan_choose(p, &asked, &plan_free, &choice) && choice.plan.leaf <= 64,
	        "QR's panels have no more columns than were measured: %d", (int)choice.plan.leaf);
	wide.leaf = 128;
	ok(plan_choose(p, &asked, &wide, &choice) && choice.plan.leaf == 128,
	        "but as many as the caller says");
	profile_free(p);
}

int main(void)
{
	static const int64_t sizes[] = {1500, 3000, 6500, 8192, 10007, 16384},
	                     by_splits[] = {3000, 5555, 8192, 4096, 6500};
	struct fault fault;
	struct profile *p = synthetic(0.01);
	struct profile *recorded = profile_read(RECORDED "/profile.tsv", &fault);

	add_blocks(p, 0.01);
	test_choice(p);
	test_widest(p);
	profile_free(p);
	if (!ok(recorded != NULL, RECORDED "/profile.tsv is read")) {
		diag("%s", fault.text);
		return finish();
	}
	test_default(recorded, OPERATION_COUNT, MATH_FP32, sizes, test_full() ? 6 : 4);
	/* by split operands the model underestimates plans of more narrow blocks */
	test_default(recorded, 1, MATH_3XFP16, by_splits, test_full() ? 5 : 3);
	test_narrow_first(recorded);
	test_narrow(recorded);
	test_borders(recorded);
	test_tall_panels(recorded);
	test_tall_qr(recorded);
	test_widest_measured();
	profile_free(recorded);
	return finish();
}
