/* SPDX-License-Identifier: MIT */
/* Kerr's benchmark predicted: each variant and its phases, the costs of single operations, cases of
 * predictions.tsv, and their timing on the host executor and on the GPU. */
#include "tests/algorithms/factor_test.h"
#include "tests/model/model_profile.h"

#include "factor/model/cost/cost_blocks.h"
#include "factor/model/predictions/model_kerr.h"
#include "factor/validation/papers/kerr_cases.h"
#include "factor/validation/papers/timing_kerr.h"

/* ---- predictions ---- */

static void test_prediction(void)
{
	struct profile *p = synthetic(0.05);
	struct kerr_prediction x;

	add_blocks(p, 0.05);
	for (int v = 0; v < KERR_VARIANTS; v++) {
		bool good = model_kerr(p, (enum kerr_variant)v, 1024, 512, 32, &x);
		double sum = 0;
		for (int i = 0; i < KERR_PHASES; i++)
			sum += x.phase[i];
		ok(good && x.total > 0, "%s is predicted", kerr_variant_name[v]);
		if (!good)
			diag("%s", x.fault.text);
		if (v != KERR_AHEAD)
			ok(sum > 0.9 * x.total && sum < 1.3 * x.total,
			        "the predicted phases are about the whole");
	}
	profile_free(p);
}

/* Seconds that one operation costs between two marks of the model executor. */
static double estimated(struct executor *e, bool product, bool blas_only)
{
	struct matrix c = {NULL, 0, 1024, 1024, 1024, SINGLE},
	              ab = {NULL, 0, 1024, 64, 1024, SINGLE};
	double seconds = 0, norm;

	executor_model_restart(e, false);
	e->blas_only = blas_only;
	e->ops->mark(e, 0);
	if (product)
		ex_gemm(e, PLAIN, TRANSPOSED, 1, ab, ab, 1, c);
	else
		ex_nrm2(e, matrix_view(c, 0, 0, 1024, 1), &norm);
	e->ops->mark(e, 1);
	e->ops->elapsed(e, 0, 1, &seconds);
	return seconds;
}

static void test_costs(void)
{
	struct profile *p = synthetic(0.05);

	add_blocks(p, 0.05);
	add_written(p, "gpu.own_gemm.s[m=1024,n=1024,k=64]", 40e-6, 0.05);
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	/* a round trip of 15 and the host's 0.125 for the second mark */
	is_real(estimated(e, false, false), 15.125e-6, 1e-9,
	        "a norm of one column is a round trip");
	/* the call is queued in 2, which the mark before does not see */
	is_real(estimated(e, true, false), 42e-6, 1e-9, "a product by our own kernel");
	is_real(estimated(e, true, true), 2.75e-6 + 2.0 * 1024 * 1024 * 64 / 1e13, 1e-9,
	        "a product by the library");
	executor_free(e);
	profile_free(p);
}

/* Calls of the library on long columns are two kernels: nrm2 by its rows, gemv transposed by its
 * rows. */
static double host_time(const struct profile *p, struct matrix a)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const struct cost cost = cost_gemv(executor_model_reader(e), TRANSPOSED, a);

	executor_free(e);
	return cost.enqueue;
}

static void test_long_columns(void)
{
	const struct matrix tall = {NULL, 0, 2048, 32, 2048, SINGLE},
	                    shorter = {NULL, 0, 1024, 32, 1024, SINGLE},
	                    wide = {NULL, 0, 2048, 2048, 2048, SINGLE};
	struct profile *p = synthetic(0.05);

	add_blocks(p, 0.05);
	const double one = host_time(p, wide);
	is_real(host_time(p, shorter), one, 1e-12, "sums of a thousand rows are one kernel");
	ok(host_time(p, tall) > one, "of two thousand, in few columns, two");
	add_written(p, "gpu.cublas.gemv_t_rows[rows=32]", 5e-6, 0.05);
	add_written(p, "gpu.cublas.gemv_t_rows[rows=2048]", 9e-6, 0.05);
	is_real(host_time(p, tall), 9e-6, 1e-12, "and by measured rows what they say");
	is_real(host_time(p, wide), one, 1e-12, "which are of tall matrices");
	add_written(p, "gpu.cublas.nrm2_length[bytes=128]", 15e-6, 0.05);
	add_written(p, "gpu.cublas.nrm2_length[bytes=4096]", 21e-6, 0.05);
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	is_real(estimated(e, false, false), 21.125e-6, 1e-9, "a norm by the column's length");
	executor_free(e);
	profile_free(p);
}

/* The host takes part when its products are fast, and not when they are slow. */
static void test_share(void)
{
	struct profile *p = synthetic(0.05);
	struct fault fault;

	add_blocks(p, 0.05);
	const int64_t slow = model_kerr_share(p, 4096, 2048, 64);
	ok(slow >= 0 && slow < 2048, "a share of the columns: %d", (int)slow);
	const double none = model_kerr_balance(p, 4096, 2048, 64, 0),
	             half = model_kerr_balance(p, 4096, 2048, 64, 1024);
	ok(none > 0 && half > none, "half of the columns are too many for the host");
	ok(profile_scale(p, "host.gemm.s=0.001", &fault),
	        "a host that is a thousand times as fast");
	ok(model_kerr_balance(p, 4096, 2048, 64, 1024) < half, "has them done sooner");
	ok(model_kerr_share(p, 4096, 2048, 64) >= slow, "and takes no less");
	profile_free(p);
}

/* ---- as cases ---- */

static void test_cases(void)
{
	struct profile *p = synthetic(0.05);
	struct results *results = results_new();
	struct draw draw = draw_of(11, false, p, 0);
	const double peak = 1e13; /* of products in the profile */
	size_t named = 0, possible = 0;
	enum kerr_variant variant;

	add_blocks(p, 0.05);
	ok(predict_kerr(results, p, true, NULL) == 0 && results->count > 0, "fixed cases");
	const size_t fixed = results->count;
	ok(predict_kerr(results, p, false, &draw) == 0 && results->count >= fixed + DRAW_LEAST,
	        "drawn cases");
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		named += results_is_kerr(row) && kerr_variant_of(row, &variant) &&
		         (variant == KERR_ONE) == (row->nb == 0);
		possible += row->m >= 2 * row->n && row->seconds.value > 0 &&
		            results_flops(row) / row->seconds.value <= 1.01 * peak;
	}
	ok(named == results->count, "each has its variant, and those with blocks a width");
	ok(possible == results->count, "none is faster than the highest rate of products");
	results_free(results);
	profile_free(p);
}

static bool leave_undone(struct candidate *candidate)
{
	(void)candidate;
	return true;
}

static void test_timing(struct executor *e)
{
	static const volatile sig_atomic_t stop = 0;
	const struct timing_plan plan = {
	        .max_seconds = 0.01, .target = 0.5, .seed = 3, .ld = 71, .stop = &stop};
	struct kerr_entry entry[] = {
	        {e, KERR_BLAS, 16}, {e, KERR_KERNELS, 16}, {e, KERR_ONE, 1}, {e, KERR_BLAS, 16}};
	struct candidate candidate[ARRAY_LEN(entry)];
	struct fault fault;
	size_t timed = 0;

	for (size_t i = 0; i < ARRAY_LEN(entry); i++)
		candidate[i] = candidate_kerr(&entry[i]);
	candidate[3].run = leave_undone;
	ok(timing_kerr(e, SINGLE, 70, 35, &plan, candidate, ARRAY_LEN(entry), &fault),
	        "%s: candidates are timed", e->name);
	for (size_t i = 0; i < 3; i++)
		timed += candidate[i].seconds.samples > 0 && candidate[i].seconds.value > 0 &&
		         candidate[i].residual > 0;
	ok(timed == 3, "and pass");
	ok(candidate[3].failed && candidate[3].seconds.samples == 0,
	        "one that does nothing fails, and has no time");
}

int main(void)
{
	test_prediction();
	test_costs();
	test_long_columns();
	test_share();
	test_cases();
	return test_on_executors(test_timing);
}
