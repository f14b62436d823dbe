/* SPDX-License-Identifier: MIT */
/* Whole factorizations on the model executor and their transfers, on the synthetic profile. */
#include "factor_question.h"

#include "factor/model/predictions/model_transfer.h"

#include <inttypes.h>

static const int64_t default_width[] = {256};
static const struct plan default_plan = {
        false, "persistent", default_width, 1, 64, 0, .lookahead = 1};

static void test_shapes(const struct profile *p)
{
	static const int64_t shape[][2] = {
	        {1, 1}, {100, 100}, {1000, 1000}, {1003, 517}, {517, 1003}, {3000, 64}};
	static const int64_t width[] = {128};

	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int hybrid = 0; hybrid < 2; hybrid++)
			for (int ahead = 0; ahead < 2; ahead++) {
				struct plan plan = {
				        hybrid, "persistent", width, 1, 64, 32, .lookahead = ahead};
				bool good = true, ordered = true;
				for (size_t i = 0; i < ARRAY_LEN(shape); i++) {
					int64_t m = shape[i][0], n = shape[i][1];
					double full = seconds(p, operations[o], &plan, m, n, 2);
					double sums = seconds(p, operations[o], &plan, m, n, 1);
					double bound = seconds(p, operations[o], &plan, m, n, 0);
					good = good && full > 0 && sums > 0;
					ordered = ordered && bound > 0 && bound < full;
				}
				ok(good, "%s hybrid %d look-ahead %d is estimated", operations[o],
				        hybrid, ahead);
				ok(ordered, "and not below its bound");
			}
}

static void test_parts(const struct profile *p)
{
	struct plan without = default_plan;

	without.lookahead = 0;
	for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
		struct factor_question asked = question(operations[o], &default_plan, 8000, 8000);
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
		ok(regime_is_timing(out.model.regime), "it rests on timings");
		const double alone = seconds(p, operations[o], &without, 8000, 8000, 2);
		ok(out.seconds < alone, "look-ahead saves %.1f %%",
		        100 * (1 - out.seconds / alone));
	}
}

static double from_host(const struct profile *p, const char *operation, int64_t piece, int level)
{
	struct factor_question asked = question(operation, &default_plan, 4000, 4000);

	asked.from_host = true;
	asked.piece = piece;
	return question_seconds(p, &asked, level);
}

/* Columns off boundaries of 16 bytes: these factorizations work in a copy. */
static void test_leading_dimension(const struct profile *p)
{
	for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
		struct factor_question asked = question(operations[o], &default_plan, 4000, 4000);
		const double usual = question_seconds(p, &asked, 2);
		asked.ld = 4096;
		is_real(question_seconds(p, &asked, 2), usual, 1e-12,
		        "any leading dimension of whole lines is one");
		asked.ld = 4001;
		ok(question_seconds(p, &asked, 2) > 1.001 * usual,
		        "an odd one costs copies there and back");
	}
}

/* Copies as the synthetic profile has them. */
static void test_from_host(const struct profile *p)
{
	const double alpha = 12e-6, beta = 50e9, bytes = 4.0 * 4000 * 4000;
	const double way = 2 * (alpha + bytes / beta);
	double resident = 0;

	for (size_t o = 0; o < ARRAY_LEN(operations); o++) { /* the last one is Cholesky */
		resident = seconds(p, operations[o], &default_plan, 4000, 4000, 2);
		is_real(from_host(p, operations[o], 4000, 2), resident + way, 0.02,
		        "from host memory it takes its way there and back longer");
	}
	const double pieces = from_host(p, "potrf", 500, 2),
	             part = (pieces - resident) / (from_host(p, "potrf", 4000, 2) - resident);
	ok(part < 0.65 && pieces - resident > way / 2,
	        "in eight pieces little more than the triangle goes: %.2f of it", part);
	is_real(from_host(p, "potrf", 0, 2), from_host(p, "potrf", 256, 2), 1e-12,
	        "which are the blocks' where no width is said");
	ok(from_host(p, "potrf", 0, 0) >= bytes / beta * 0.99,
	        "and the bound has the triangle's way, there and back");
}

static void test_views(void)
{
	const struct matrix a = {NULL, 0, 8, 8, 8, SINGLE};

	ok(matrix_is_aligned(matrix_view(a, 4, 1, 4, 4)) &&
	                !matrix_is_aligned(matrix_view(a, 3, 1, 4, 4)),
	        "a view without data is aligned as it would be in aligned data");
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
static void test_refusals(const struct profile *p)
{
	struct plan plan = default_plan;
	struct factor_question asked = question("getrf", &plan, 100, 100);
	struct prediction out;

	plan.panel = "magic";
	ok(!model_factor_predict(p, MODEL_CUDA, &asked, 2, &out) && out.fault.text[0] &&
	                isnan(out.seconds),
	        "refused: %s", out.fault.text);
	asked.operation = "magic";
	ok(!model_factor_predict(p, MODEL_CUDA, &asked, 2, &out) && strstr(out.fault.text, "magic"),
	        "refused: %s", out.fault.text);
}

static double by_math(const struct profile *p, const char *operation, const struct plan *plan,
        int64_t n, enum math math, int level)
{
	struct factor_question asked = question(operation, plan, n, n);

	asked.math = math;
	return question_seconds(p, &asked, level);
}

/* Products in TF32 six times as fast as the others: 3xTF32 then takes half of their time, and twice
 * as many operations a second are its bound. */
static void test_split(struct profile *p)
{
	const struct plan *plan = &default_plan;

	ok(isnan(by_math(p, "getrf", plan, 8000, MATH_3XTF32, 2)),
	        "3xTF32 is refused without its rates");
	ADD(p, 0.01, {"gpu.gemm.tf32[m=32/8192,n=32/8192,k=32/2048]", 2 / 6e13, "mnk"},
	        {"gpu.gemm.tf32.peak", 6e13});
	for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
		const double strict = by_math(p, operations[o], plan, 8000, MATH_FP32, 2),
		             split = by_math(p, operations[o], plan, 8000, MATH_3XTF32, 2);
		ok(split < 0.9 * strict && split > 0.4 * strict,
		        "%s by 3xTF32 takes %.2f of the time", operations[o], split / strict);
		ok(by_math(p, operations[o], plan, 8000, MATH_3XTF32, 0) <= split,
		        "and not less than its bound");
	}
}

/* Products beside a panel, on the multiprocessors that it leaves, have times of their own. */
static void test_shared_products(struct profile *p)
{
	struct plan alone = default_plan;
	const double before = by_math(p, "getrf", &default_plan, 8000, MATH_3XTF32, 2);

	alone.lookahead = 0;
	ADD(p, 0.01, {"gpu.gemm_shared.tf32[m=32/8192,n=32/8192,k=32/2048]", 2 / 2e13, "mnk"});
	const double after = by_math(p, "getrf", &default_plan, 8000, MATH_3XTF32, 2);
	ok(after > 1.5 * before, "products beside a panel: %.2f of the time", after / before);
	ok(by_math(p, "getrf", &alone, 8000, MATH_3XTF32, 2) <
	                by_math(p, "getrf", &alone, 8000, MATH_FP32, 2),
	        "and not without look-ahead");
}

/* Updates by 3xFP16, at the rates of their kernel. */
static void test_halves(struct profile *p)
{
	static const int64_t width[] = {256};
	const struct plan plan = {false, NULL, width, 1, 128, 0, .lookahead = 0};

	ok(isnan(by_math(p, "potrf", &plan, 8000, MATH_3XFP16, 2)), "not without their rates");
	ADD(p, 0.01, {"gpu.half_gemm.s.peak", 1.2e14},
	        {"gpu.half_syrk.s[n=256/8192,k=64/256]", 1 / 1.2e14, "nnk"},
	        {"gpu.half_gemm.s[n=256/8192,k=64/256]", 2 / 1.2e14, "nnk"},
	        {"gpu.half_syrk_shared.s[n=256/8192,k=64/256]", 1 / 1.2e14, "nnk"},
	        {"gpu.half_gemm_shared.s[n=256/8192,k=64/256]", 2 / 1.2e14, "nnk"});
	const double halves = by_math(p, "potrf", &plan, 8000, MATH_3XFP16, 2),
	             several = by_math(p, "potrf", &plan, 8000, MATH_3XTF32, 2);
	ok(halves < several, "Cholesky takes %.2f of the time by 3xTF32", halves / several);
	ok(by_math(p, "potrf", &plan, 20000, MATH_3XFP16, 2) > 8 * halves,
	        "and beyond what was measured as much more");
}

/* V^T C without stacks, at the rate of products of stacks, on all multiprocessors or on those that
 * a panel leaves. */
static void test_tall(struct profile *p)
{
	static const int64_t width[] = {128};
	struct plan plan = default_plan;

	plan.widths = width;
	const double before = by_math(p, "geqrf", &plan, 8000, MATH_3XTF32, 2);
	ADD(p, 0.01, {"gpu.tf32_tall.s[m=64/256,n=512/8192,k=1024/16384]", 6 / 6e13, "mnk", 2e-6},
	        {"gpu.tf32_tall_shared.s[m=64/256,n=512/8192,k=1024/16384]", 1.15 * 6 / 6e13, "mnk",
	                1.15 * 2e-6});
	const double tall = by_math(p, "geqrf", &plan, 8000, MATH_3XTF32, 2);
	ok(tall < 0.9 * before, "tall products without stacks: %.2f of the time", tall / before);
	ok(by_math(p, "geqrf", &plan, 8000, MATH_3XTF32, 0) <= tall, "and not less than its bound");
}

/* Of alpha n / w + n (n + w) / 2 words at beta the least is at w = sqrt(2 alpha beta / word),
 * whatever n is; alpha and beta as the synthetic profile has them. */
static void check_large(const struct profile *profile, int64_t n, enum precision precision)
{
	const double alpha = 12e-6, beta = 50e9, word = (double)precision_bytes(precision);
	const double best = sqrt(2 * alpha * beta / word);
	const int64_t width = model_triangle_width(profile, n, precision);

	ok((double)width > best / 3 && (double)width < best * 3,
	        "n = %" PRId64 ", %c: %" PRId64 " columns, %.0f by the formula", n, (char)precision,
	        width, best);
}

/* The rectangles in which a triangle is transferred: about as wide as LAWN 202's sum of copies and
 * elements says is best, a small one at once. */
static void test_rectangles(const struct profile *p)
{
	struct profile *none = profile_new();

	ok(model_triangle_width(none, 1000, SINGLE) == 0, "without copies in the profile none");
	check_large(p, 4096, SINGLE);
	check_large(p, 16384, SINGLE);
	check_large(p, 16384, DOUBLE);
	ok(model_triangle_width(p, 100, SINGLE) == 128, "a small triangle at once");
	profile_free(none);
}

int main(void)
{
	struct profile *p = synthetic(0.01);

	add_blocks(p, 0.01);
	test_shapes(p);
	test_parts(p);
	test_leading_dimension(p);
	test_from_host(p);
	test_views();
	test_counts();
	test_refusals(p);
	test_rectangles(p);
	test_split(p);
	test_shared_products(p);
	test_halves(p);
	test_tall(p);
	profile_free(p);
	return finish();
}
