/* SPDX-License-Identifier: MIT */
/* LAWN 202's numbers through the code that predicts real machines, fed with the paper's GeForce
 * 8800 GTX (data/papers/8800gtx). Section 3.8: sscal, the estimate of an LU panel and what a faster
 * barrier promises. Advice on panels. Products at the rate of Table 2, and whole factorizations
 * from and to host memory against Table 3, whose panels ran on the CPU and here run on the GPU. */
#include "tests/tap.h"

#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/product.h"
#include "factor/model/predictions/advice.h"
#include "factor/model/predictions/model_factor.h"
#include "lib/base/msg.h"

static const double launch = 5e-6, bandwidth = 75e9;

/* ---- section 3.8 ---- */

static double scal_rate(const struct profile *p, int64_t m)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const struct matrix x = {NULL, 0, m, 1, m, SINGLE};
	const double seconds = ex_scal(e, 2, x) ? executor_model_seconds(e) : NAN;

	executor_free(e);
	return (double)m / seconds;
}

static void test_scal(const struct profile *p)
{
	is_real(scal_rate(p, 1000000000), 9.375e9, 1e-3, "sscal tends to 9.375 Gflop/s");
	is_real(scal_rate(p, 46875), 9.375e9 / 2, 1e-9, "half of it with 46,875 elements");
}

/* sgetf2 on the device: the fetch of the pivot and the copy of ipiv left out. */
static double panel(const struct profile *p, int level, int64_t m, int64_t n)
{
	struct prediction made;

	model_predict_without(p, MODEL_CUDA, "blas", m, n, SINGLE, level, 1u << PHASE_FETCH, &made);
	return made.seconds;
}

/* n calls each of isamax, sswap and sscal, n - 1 of sger, every operand read and written once. */
static double by_hand(double m, double n, double start)
{
	double words = 0, calls = 0;

	for (double j = 0; j < n; j++) {
		const double rows = m - j - 1, columns = n - j - 1;
		words += m - j + 4 * n + 2 * rows;
		words += columns > 0 ? 2 * rows * columns + rows + columns : 0;
		calls += columns > 0 ? 4 : 3;
	}
	return calls * start + 4 * words / bandwidth;
}

static void test_panel(const struct profile *p)
{
	static const int64_t rows[] = {65, 1000, 8192, 100000};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int level = 1; level <= 2; level++) {
			char what[64];
			snprintf(what, sizeof what, "level %d: the estimate of %d x 64", level,
			        (int)rows[i]);
			is_real(panel(p, level, rows[i], 64), by_hand((double)rows[i], 64, launch),
			        1e-9, what);
		}
	const double m = 1e8, asymptote = model_flops_getrf(m, 64) / panel(p, 2, (int64_t)m, 64);
	is_real(asymptote, 17.9e9, 3e-3, "its rate tends to 17.9 Gflop/s");
}

/* The start of a step is a barrier of 1.4 us instead of a launch. */
static void test_barrier(const struct profile *p, struct profile *barrier)
{
	struct fault fault = {.text = ""};

	ok(profile_set(barrier, "gpu.launch.stream=1.4us", &fault), "what if a barrier did");
	is_real(panel(p, 2, 64, 64) / panel(barrier, 2, 64, 64), 3.50, 2e-3,
	        "3.50 times as fast with 64 rows");
	is_real(panel(p, 2, 450, 64) / panel(barrier, 2, 450, 64), 3.01, 2e-3,
	        "3.01 times with 450");
}

/* ---- advice ---- */

static const struct answer *answer_of(const struct answer *answer, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(answer[i].variant, name) == 0)
			return &answer[i];
	return NULL;
}

static void test_advice(const struct profile *p)
{
	static const char *const possible[] = {"blas", "optimized", "fused"};
	const struct question question = {8192, 64, SINGLE, false};
	struct answer answer[ADVICE_ANSWERS];
	const size_t count = advice_ask(p, &question, true, answer);

	for (size_t i = 0; i < ARRAY_LEN(possible); i++) {
		const struct answer *a = answer_of(answer, count, possible[i]);
		ok(a && a->possible && a->prediction.low < a->prediction.seconds &&
		                a->prediction.seconds < a->prediction.high,
		        "%s has a time and an interval", possible[i]);
		ok(a && a->prediction.model.simpler_count > 0, "and names its simpler costs");
	}
	const struct answer *a = answer_of(answer, count, "persistent");
	ok(a && !a->possible && strstr(a->prediction.fault.text, "does not fit on chip"),
	        "16 KB of shared memory do not hold the panel");
	a = answer_of(answer, count, "host");
	ok(a && !a->possible && strstr(a->prediction.fault.text, "host.getrf"),
	        "the paper states no time of the CPU's panel");
	is_text(answer[0].variant, "fused", "two launches a column win");
}

/* ---- products and factorizations ---- */

static void test_products(const struct profile *p)
{
	const struct product product = {
	        .precision = SINGLE, .m = 4096, .n = 4096, .k = 4096, .calls = 1};
	const struct product_data shapes = product_shapes(&product);
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const bool good = product_run(e, &product, &shapes, 1);
	const double rate = 2 * pow(4096, 3) / executor_model_seconds(e);

	ok(good, "sgemm of 4096 is predicted");
	is_real(rate, 206e9, 1e-3, "at 206 Gflop/s (Table 2)");
	executor_free(e);
}

/* The largest multiple of 512 of which 768 MB hold a matrix. */
enum { LARGEST = 13824 };

static double factor_rate(const struct profile *p, enum operation operation, const char *name)
{
	struct factor_question asked = {.operation = name,
	        .m = LARGEST,
	        .n = LARGEST,
	        .precision = SINGLE,
	        .uplo = LOWER,
	        .from_host = true};
	struct executor *e = model_factor_executor(p, MODEL_CUDA, &asked, 2);
	struct default_plan *plan = xmalloc(sizeof *plan);
	struct prediction made;

	plan_default(e, operation, LARGEST, LARGEST, SINGLE, false, plan);
	executor_free(e);
	asked.plan = &plan->plan;
	if (!model_factor_predict(p, MODEL_CUDA, &asked, 2, &made))
		diag("%s: %s", name, made.fault.text);
	free(plan);
	return model_factor_flops(name, LARGEST, LARGEST) / made.seconds;
}

static void test_factorizations(const struct profile *p)
{
	is_real(factor_rate(p, GETRF, "getrf"), 179e9, 0.08, "LU: 179 Gflop/s within 8 %");
	is_real(factor_rate(p, GEQRF, "geqrf"), 192e9, 0.08, "QR: 192 Gflop/s within 8 %");
	is_real(factor_rate(p, POTRF, "potrf"), 183e9, 0.08, "Cholesky: 183 Gflop/s within 8 %");
}

int main(void)
{
	struct profile *p = profile_open("data/papers/8800gtx"),
	               *barrier = profile_open("data/papers/8800gtx");

	test_scal(p);
	test_panel(p);
	test_barrier(p, barrier);
	test_advice(p);
	test_products(p);
	test_factorizations(p);
	profile_free(p);
	profile_free(barrier);
	return finish();
}
