/* SPDX-License-Identifier: MIT */
/* Whole factorizations on the model executor, and the choice of their plans, on the synthetic
 * profile. */
#include "tap.h"
#include "model_profile.h"

#include "../factor/model/plan_choice.h"
#include "../factor/plan_default.h"

static const char *const operations[] = {"getrf", "geqrf", "potrf"};

static struct factor_question question(
        const char *operation, const struct plan *plan, int64_t m, int64_t n)
{
	if (strcmp(operation, "potrf") == 0)
		m = n;
	return (struct factor_question){.operation = operation,
	        .plan = plan,
	        .m = m,
	        .n = n,
	        .precision = SINGLE,
	        .uplo = LOWER};
}

static double seconds(const struct profile *p, const char *operation, const struct plan *plan,
        int64_t m, int64_t n, int level)
{
	struct factor_question asked = question(operation, plan, m, n);
	struct prediction out;

	if (!model_factor_predict(p, MODEL_CUDA, &asked, level, &out))
		diag("%s %d x %d: %s", operation, (int)m, (int)n, out.fault.text);
	return out.seconds;
}

static void test_shapes(const struct profile *p)
{
	static const int64_t shape[][2] = {
	        {1, 1}, {100, 100}, {1000, 1000}, {1003, 517}, {517, 1003}, {3000, 64}};
	static const int64_t width[] = {128};

	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int hybrid = 0; hybrid < 2; hybrid++)
			for (int ahead = 0; ahead < 2; ahead++) {
				struct plan plan = {hybrid, "persistent", width, 1, 64, 32, ahead};
				bool good = true, ordered = true;
				for (size_t i = 0; i < ARRAY_LEN(shape); i++) {
					int64_t m = shape[i][0], n = shape[i][1];
					double full = seconds(p, operations[o], &plan, m, n, 2);
					double sums = seconds(p, operations[o], &plan, m, n, 1);
					double bound = seconds(p, operations[o], &plan, m, n, 0);
					good = good && full > 0 && sums > 0;
					ordered = ordered && bound > 0 && bound < full;
				}
				ok(good, "%s hybrid %d look-ahead %d is priced", operations[o],
				        hybrid, ahead);
				ok(ordered, "and not below its bound");
			}
}

static void test_parts(const struct profile *p)
{
	static const int64_t width[] = {256};

	for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
		struct plan with = {false, "persistent", width, 1, 64, 0, 1}, without = with;
		without.lookahead = 0;
		struct factor_question asked = question(operations[o], &with, 8000, 8000);
		struct prediction out;
		bool good = model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
		double phases = 0, terms = 0;
		for (int i = 0; i < PHASE_COUNT; i++)
			phases += out.parts.phase[i];
		for (int i = 0; i < TERM_COUNT; i++)
			terms += out.parts.term[i];
		ok(good && out.low < out.seconds && out.seconds < out.high,
		        "%s has an interval: %.0f .. %.0f us", operations[o], out.low * 1e6,
		        out.high * 1e6);
		is_real(phases, out.seconds, 1e-9, "its phases add up");
		is_real(terms, out.seconds, 1e-9, "its terms add up");
		ok(out.model.surface, "it rests on surfaces");
		double alone = seconds(p, operations[o], &without, 8000, 8000, 2);
		ok(out.seconds < alone, "look-ahead saves %.1f %%",
		        100 * (1 - out.seconds / alone));
	}
}

static double from_host(const struct profile *p, const char *operation, const struct plan *plan,
        int64_t piece, int level)
{
	struct factor_question asked = question(operation, plan, 4000, 4000);
	struct prediction out;

	asked.from_host = true;
	asked.piece = piece;
	model_factor_predict(p, MODEL_CUDA, &asked, level, &out);
	return out.seconds;
}

/* Copies as the synthetic profile has them. */
static void test_from_host(const struct profile *p)
{
	static const int64_t width[] = {256};
	const struct plan plan = {false, "persistent", width, 1, 64, 0, 1};
	const double alpha = 12e-6, beta = 50e9, bytes = 4.0 * 4000 * 4000;
	const double way = 2 * (alpha + bytes / beta);

	is_real(from_host(p, "getrf", &plan, 0, 2), seconds(p, "getrf", &plan, 4000, 4000, 2) + way,
	        0.02, "LU from host memory takes its way there and back longer");
	is_real(from_host(p, "geqrf", &plan, 0, 2), seconds(p, "geqrf", &plan, 4000, 4000, 2) + way,
	        0.02, "so does QR");
	const double resident = seconds(p, "potrf", &plan, 4000, 4000, 2);
	const double whole = from_host(p, "potrf", &plan, 4000, 2);
	const double pieces = from_host(p, "potrf", &plan, 500, 2);
	is_real(whole, resident + way, 0.02, "so does Cholesky in one piece");
	ok(pieces - resident < 0.65 * (whole - resident) && pieces - resident > way / 2,
	        "in eight pieces little more than the triangle goes: %.2f of it",
	        (pieces - resident) / (whole - resident));
	is_real(from_host(p, "potrf", &plan, 0, 2), from_host(p, "potrf", &plan, 256, 2), 1e-12,
	        "which are the blocks' where no width is said");
	ok(from_host(p, "potrf", &plan, 0, 0) >= 2 * bytes / beta * 0.99,
	        "and the bound has the way, too");
}

static void test_counts(void)
{
	is_real(model_factor_flops("getrf", 1000, 1000),
	        2e9 / 3 - 1000.0 * 1000 / 2 + 5 * 1000.0 / 6, 1e-12, "operations of LU");
	is_real(model_factor_flops("geqrf", 2000, 1000),
	        2 * 2e9 - 2e9 / 3 + 2e6 + 1e6 + 14 * 1000.0 / 3, 1e-12, "of QR");
	is_real(model_factor_flops("geqrf", 1000, 1000), model_factor_flops("geqrf", 1000, 1000.0),
	        0, "of a square");
	is_real(model_factor_flops("potrf", 1000, 1000), 1e9 / 3 + 1e6 / 2 + 1000.0 / 6, 1e-12,
	        "of Cholesky");
	ok(isnan(model_factor_flops("magic", 1, 1)), "nothing else");
}

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
		is_real(again, choice.seconds, 1e-12, "the plan takes what was promised");
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
	        "what is fixed stays");
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

/* By the recorded profile: prices of the synthetic one are too smooth for several widths. */
static void test_borders(void)
{
	enum { N = 9000 };
	static struct plan_choice choice;
	struct factor_question asked = question("getrf", NULL, N, N);
	struct plan_fixed early = plan_free; /* and not the library's own plan */
	int64_t moved[PLAN_CHOICE_BLOCKS];
	int borders = 0, better = 0, narrower = 0;
	struct fault fault;
	struct profile *p = profile_read("data/nvidia-h200/profile.tsv", &fault);

	if (!ok(p != NULL, "data/nvidia-h200/profile.tsv is read")) {
		diag("%s", fault.text);
		return;
	}
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
	profile_free(p);
}

/* Where one width is taken throughout, none of the wider ones takes as long to a percent. */
static void test_widest(const struct profile *p)
{
	static struct plan_choice choice;
	struct plan_fixed fixed = plan_free; /* and not the library's own plan */
	int uniform = 0, wider = 0, wrong = 0;

	fixed.lookahead = 1;
	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int64_t n = 300; n <= 1500; n += 150) {
			struct factor_question asked = question(operations[o], NULL, n, n);
			if (!plan_choose(p, &asked, &fixed, &choice) || choice.plan.count > 1)
				continue;
			uniform++;
			wider += choice.plan.widths[0] > choice.uniform;
			wrong += choice.seconds > choice.uniform_seconds * 1.01;
			for (int64_t nb = 2 * choice.plan.widths[0]; nb < n; nb *= 2) {
				struct plan plan = choice.plan;
				plan.widths = &nb;
				wrong += seconds(p, operations[o], &plan, n, n, 2) <=
				         choice.uniform_seconds * 1.01;
			}
		}
	ok(uniform > 0 && wider > 0 && wrong == 0,
	        "of %d plans of one width %d have a wider one that takes as long", uniform, wider);
}

/* The default plan is chosen where it takes as long to 1.5 percent, LU's up to 14000 columns. */
static void test_own(void)
{
	static const int64_t sizes[] = {1500, 3000, 6500, 8192, 10007, 16384};
	static struct plan_choice choice;
	static struct default_plan own;
	int taken = 0, dearer = 0, wrong = 0, beyond = 0;
	struct fault fault;
	struct profile *p = profile_read("data/nvidia-h200/profile.tsv", &fault);

	for (size_t i = 0; p && i < OPERATION_COUNT * ARRAY_LEN(sizes); i++) {
		const enum operation operation = (enum operation)(i % OPERATION_COUNT);
		const int64_t n = sizes[i / OPERATION_COUNT];
		struct factor_question asked = question(operations[operation], NULL, n, n);
		struct executor *e = model_factor_executor(p, MODEL_CUDA, &asked, 2);
		plan_default(e, operation, n, n, SINGLE, false, &own);
		executor_free(e);
		const double price = seconds(p, asked.operation, &own.plan, n, n, 2);
		if (!plan_choose(p, &asked, &plan_free, &choice)) {
			wrong++;
		} else if (price == choice.seconds) {
			taken++;
			dearer += price > choice.uniform_seconds;
		} else {
			const bool as_long = price <= choice.seconds * 1.015;
			const bool exempt = operation == GETRF && n > 14000;
			wrong += as_long && !exempt;
			beyond += as_long && exempt;
		}
	}
	ok(p && taken > 0 && wrong == 0,
	        "the default plan is taken where it takes as long: %d of %zu", taken,
	        OPERATION_COUNT * ARRAY_LEN(sizes));
	ok(dearer > 0, "also where another is priced below it");
	ok(beyond > 0, "but not of large matrices for LU");
	profile_free(p);
}

/* LU in double precision has blocks or leaves of less than 64 columns only where one cluster does
 * not hold panels of so many. */
static void test_narrow(void)
{
	static struct plan_choice choice;
	int chosen = 0, needless = 0, wanted = 0;
	struct fault fault;
	struct profile *p = profile_read("data/nvidia-h200/profile.tsv", &fault);

	for (int64_t n = 1000; p && n <= 8000; n += 1000) {
		struct factor_question asked = question("getrf", NULL, n, n);
		bool narrow = false;
		asked.precision = DOUBLE;
		chosen += plan_choose(p, &asked, &plan_free, &choice);
		for (int64_t i = 0; i < choice.plan.count; i++)
			narrow |= choice.plan.widths[i] < 64 || choice.plan.leaf < 64;
		needless += narrow && n <= 4096;
		wanted += narrow && n > 4096;
	}
	ok(chosen == 8 && needless == 0 && wanted > 0,
	        "narrow panels in double precision only where one cluster does not hold wider "
	        "ones");
	profile_free(p);
}

/* Panels of the usual 64 columns do not fit on chip there, of 32 they do. */
static void test_tall_panels(void)
{
	static struct plan_choice choice, fused;
	struct factor_question asked = question("getrf", NULL, 65536, 256);
	struct plan_fixed two_a_column = plan_free;
	struct fault fault;
	struct profile *p = profile_read("data/nvidia-h200/profile.tsv", &fault);

	asked.precision = DOUBLE;
	two_a_column.panel = "fused";
	ok(p && plan_choose(p, &asked, &plan_free, &choice) &&
	                strcmp(choice.plan.panel, "persistent") == 0 && choice.plan.leaf <= 32 &&
	                plan_choose(p, &asked, &two_a_column, &fused) &&
	                choice.seconds < fused.seconds / 2,
	        "a tall LU has narrow panels of one kernel, not wide ones of two a column");
	profile_free(p);
}

static void test_refusals(const struct profile *p)
{
	static const int64_t width[] = {64};
	struct plan plan = {false, "magic", width, 1, 64, 0, 1};
	struct factor_question asked = question("getrf", &plan, 100, 100);
	struct prediction out;

	ok(!model_factor_predict(p, MODEL_CUDA, &asked, 2, &out) && out.fault.text[0] &&
	                isnan(out.seconds),
	        "refused: %s", out.fault.text);
	asked.operation = "magic";
	ok(!model_factor_predict(p, MODEL_CUDA, &asked, 2, &out) && strstr(out.fault.text, "magic"),
	        "refused: %s", out.fault.text);
}

/* A surface of products at so many operations a second. */
static void add_products(struct profile *p, const char *name, double rate)
{
	static const double sides[] = {32, 8192}, inner[] = {32, 2048};

	for (int i = 0; i < 8; i++) {
		struct arg args[] = {
		        {"m", sides[i & 1]}, {"n", sides[i >> 1 & 1]}, {"k", inner[i >> 2]}};
		add(p, name, "s", args, 3, 2 * args[0].value * args[1].value * args[2].value / rate,
		        0.01);
	}
}

/* Products in TF32 six times as fast as the others: 3xTF32 then takes half of their time, and twice
 * as many operations a second are its bound. */
static void add_tf32(struct profile *p)
{
	add_products(p, "gpu.gemm.tf32", 6e13);
	add(p, "gpu.gemm.tf32.peak", "flop/s", NULL, 0, 6e13, 0.01);
}

static void test_split(struct profile *p)
{
	static const int64_t width[] = {256};
	struct plan plan = {false, "persistent", width, 1, 64, 0, 1};
	struct factor_question asked = question("getrf", &plan, 8000, 8000);
	struct prediction out;

	asked.math = MATH_3XTF32;
	ok(!model_factor_predict(p, MODEL_CUDA, &asked, 2, &out) && strstr(out.fault.text, "TF32"),
	        "without its rates 3xTF32 is refused: %s", out.fault.text);
	add_tf32(p);
	for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
		asked = question(operations[o], &plan, 8000, 8000);
		bool good = model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
		double strict = out.seconds;
		asked.math = MATH_3XTF32;
		good = good && model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
		double split = out.seconds;
		ok(good && split < 0.9 * strict && split > 0.4 * strict,
		        "%s by 3xTF32 takes %.2f of the time", operations[o], split / strict);
		good = model_factor_predict(p, MODEL_CUDA, &asked, 0, &out);
		ok(good && out.seconds <= split, "and not less than its bound");
	}
}

/* Products beside a panel, on the multiprocessors that it leaves, have times of their own. */
static void test_shared_products(struct profile *p)
{
	static const int64_t width[] = {256};
	struct plan plan = {false, "persistent", width, 1, 64, 0, 1}, alone = plan;
	struct factor_question asked = question("getrf", &plan, 8000, 8000);
	struct prediction out;

	alone.lookahead = 0;
	asked.math = MATH_3XTF32;
	bool good = model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	const double before = out.seconds;
	add_products(p, "gpu.gemm_shared.tf32", 2e13);
	good = good && model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	ok(good && out.seconds > 1.5 * before, "products beside a panel: %.2f of the time",
	        out.seconds / before);
	asked.plan = &alone;
	const double without = seconds(p, "getrf", &alone, 8000, 8000, 2);
	good = good && model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	ok(good && out.seconds < without, "and not without look-ahead");
}

/* Updates by 3xFP16, at the rates of their kernel. */
static void test_halves(struct profile *p)
{
	static const char *const names[] = {"gpu.half_syrk.s", "gpu.half_gemm.s",
	        "gpu.half_syrk_shared.s", "gpu.half_gemm_shared.s"};
	static const double sides[] = {256, 8192}, inner[] = {64, 256};
	static const int64_t width[] = {256};
	struct plan plan = {false, NULL, width, 1, 128, 0, 0};
	struct factor_question asked = question("potrf", &plan, 8000, 8000);
	struct prediction out;

	asked.math = MATH_3XFP16;
	ok(!model_factor_predict(p, MODEL_CUDA, &asked, 2, &out), "not without their rates");
	asked.math = MATH_3XTF32;
	bool good = model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	double several = out.seconds;
	add(p, "gpu.half_gemm.s.peak", "flop/s", NULL, 0, 1.2e14, 0.01);
	for (int i = 0; i < 16; i++) {
		struct arg args[] = {{"n", sides[i & 1]}, {"k", inner[i >> 1 & 1]}};
		add(p, names[i >> 2], "s", args, 2,
		        (i >> 2 & 1 ? 2 : 1) * args[0].value * args[0].value * args[1].value /
		                1.2e14,
		        0.01);
	}
	asked.math = MATH_3XFP16;
	good = good && model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	ok(good && out.seconds < several, "Cholesky takes %.2f of the time by 3xTF32",
	        out.seconds / several);
	asked = question("potrf", &plan, 20000, 20000);
	asked.math = MATH_3XFP16;
	double smaller = out.seconds;
	good = model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	ok(good && out.seconds > 8 * smaller, "and beyond what was measured as much more");
}

/* V^T C without stacks, at the rate of products of stacks, on all multiprocessors or on those that
 * a panel leaves. */
static void test_tall(struct profile *p)
{
	static const double sides[] = {64, 256}, across[] = {512, 8192}, rows[] = {1024, 16384};
	static const int64_t width[] = {128};
	struct plan plan = {false, "persistent", width, 1, 64, 0, 1};
	struct factor_question asked = question("geqrf", &plan, 8000, 8000);
	struct prediction out;

	asked.math = MATH_3XTF32;
	bool good = model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	const double before = out.seconds;
	for (int i = 0; i < 8; i++) {
		struct arg args[] = {
		        {"m", sides[i & 1]}, {"n", across[i >> 1 & 1]}, {"k", rows[i >> 2]}};
		const double seconds =
		        6 * args[0].value * args[1].value * args[2].value / 6e13 + 2e-6;
		add(p, "gpu.tf32_tall.s", "s", args, 3, seconds, 0.01);
		add(p, "gpu.tf32_tall_shared.s", "s", args, 3, 1.15 * seconds, 0.01);
	}
	good = good && model_factor_predict(p, MODEL_CUDA, &asked, 2, &out);
	ok(good && out.seconds < 0.9 * before, "tall products without stacks: %.2f of the time",
	        out.seconds / before);
	const double tall = out.seconds;
	good = good && model_factor_predict(p, MODEL_CUDA, &asked, 0, &out);
	ok(good && out.seconds <= tall, "and not less than its bound");
}

int main(void)
{
	struct profile *p = synthetic(0.01);

	add_blocks(p, 0.01);
	test_shapes(p);
	test_parts(p);
	test_from_host(p);
	test_counts();
	test_choice(p);
	test_widest(p);
	test_own();
	test_narrow();
	test_borders();
	test_tall_panels();
	test_refusals(p);
	test_split(p);
	test_shared_products(p);
	test_halves(p);
	test_tall(p);
	profile_free(p);
	return finish();
}
