/* SPDX-License-Identifier: MIT */
/* What is predicted and measured: the hold-out lists, QR's and Cholesky's panels, matrices in host
 * memory by the recorded profile. Of LAWN 202's operations: what two sizes of the documented list
 * mean, the operation counts, and that every way of one has a row of its own. */
#include "tests/tap.h"

#include "factor/validation/cases.h"
#include "factor/validation/papers/paper_operations.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/model/predictions/model_product.h"
#include "factor/programs/predict.h"
#include "factor/validation/products.h"
#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

static bool power_of_two(int64_t n)
{
	return (n & (n - 1)) == 0;
}

static void test_holdout(void)
{
	struct panel_case *cases;
	size_t n = cases_holdout("cuda", false, NULL, &cases), bad = 0;

	for (size_t i = 0; i < n; i++)
		bad += power_of_two(cases[i].m) || power_of_two(cases[i].n) ||
		       cases[i].m < cases[i].n;
	ok(n > 100 && bad == 0, "%zu cases on the GPU, none at a size of the fits", n);
	free(cases);
	struct bench_shape *shapes;
	struct result row[16];
	n = cases_whole(false, NULL, &shapes);
	bad = 0;
	for (size_t i = 0; i < n; i++) {
		bad += power_of_two(shapes[i].m) || power_of_two(shapes[i].n);
		size_t plans = cases_plans(&shapes[i], "cuda", MATH_FP32, row, ARRAY_LEN(row));
		bad += plans < 4 || plans == ARRAY_LEN(row);
	}
	ok(n > 20 && bad == 0, "%zu whole factorizations, each with several plans", n);
	free(shapes);
	n = cases_holdout("host", true, NULL, &cases);
	ok(n > 0 && strcmp(cases[0].executor, "host") == 0, "some on the host");
	free(cases);
	n = cases_holdout("abacus", false, NULL, &cases);
	ok(n == 0, "none elsewhere");
	free(cases);
}

/* Drawn matrices are asked about with the leading dimension that they are measured with. */
static void test_drawn_whole(const struct profile *profile)
{
	const struct draw draw = draw_of(7, true, profile, 1e11);
	struct bench_shape *shape;
	const size_t count = cases_whole(true, &draw, &shape);
	size_t same = 0;

	for (size_t i = 0; i < count; i++)
		same += cases_question(&shape[i], MATH_FP32).ld ==
		        draw_lda(&draw, shape[i].m, shape[i].n);
	ok(count > 0 && same == count, "%zu drawn matrices have their leading dimension", count);
	free(shape);
}

static void test_panels(void)
{
	for (int quick = 0; quick < 2; quick++) {
		struct bench_shape *shape;
		const size_t count = cases_panels(quick, NULL, &shape);
		bool unseen = true, narrow = true;
		size_t of[2][2] = {{0}};
		for (size_t i = 0; i < count; i++) {
			const bool qr = strcmp(shape[i].operation, "panel_geqrf") == 0;
			of[qr][shape[i].precision == DOUBLE]++;
			unseen = unseen && !power_of_two(shape[i].m) && !power_of_two(shape[i].n);
			narrow = narrow &&
			         (qr ? shape[i].m > 3 * shape[i].n : shape[i].m == shape[i].n);
		}
		ok(of[0][0] && of[0][1] && of[1][0] && of[1][1] && narrow,
		        "%zu panels of QR, squares of Cholesky, in both precisions", count);
		ok(unseen, "of sizes that no probe has");
		free(shape);
	}
}

/* Products are predicted with the leading dimension that they are measured with. */
static void test_drawn_products(const struct profile *recorded)
{
	struct profile *profile = profile_copy(recorded);

	const struct draw draw = draw_of(7, true, profile, 1e11);
	struct results *results = results_new();
	struct result *rows;
	const size_t count = cases_products(true, &draw, &rows);
	size_t marked = 0, odd = 0;

	for (size_t i = 0; i < count; i++)
		marked += result_seed(&rows[i]) == 7 &&
		          product_of(&rows[i]).lda == draw_lda(&draw, rows[i].m, rows[i].n);
	free(rows);
	efficiency_prepare(profile);
	ok(count > 0 && marked == count, "drawn products have their leading dimension");
	predict_products(results, profile, true, &draw);
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		struct product product = product_of(row);
		struct prediction made = {0}, aligned = {0};
		if (row->precision != DOUBLE || !product.gemv || product.lda % 2 == 0 ||
		        results_level(row) != LEVEL_FULL)
			continue;
		model_product_predict(profile, &product, LEVEL_FULL, &made);
		product.lda++;
		model_product_predict(profile, &product, LEVEL_FULL, &aligned);
		odd += made.seconds == row->seconds.value && aligned.seconds != made.seconds;
	}
	ok(odd > 0, "which the prediction of some depends on");
	results_free(results);
	profile_free(profile);
}

static void test_one_block(void)
{
	const struct bench_shape qr = {"panel_geqrf", SINGLE, 3000, 48, 0},
	                         cholesky = {"panel_potrf", DOUBLE, 200, 200, 0};
	const struct result a = cases_width(&qr, true, qr.n),
	                    b = cases_width(&cholesky, false, cholesky.n);

	ok(strcmp(a.operation, "panel_geqrf") == 0 && strcmp(a.variant, "hybrid") == 0 &&
	                a.nb == 48 && a.m == 3000,
	        "a panel of QR on the host: one block, %s", a.plan);
	ok(strcmp(b.variant, "gpu") == 0 && b.nb == 200 && strstr(b.options, "uplo=l"),
	        "one of Cholesky on the GPU: %s, %s", b.options, b.plan);
	is_real(results_flops(&a),
	        2.0 * 3000 * 48 * 48 - 2.0 * 48 * 48 * 48 / 3 + 3000.0 * 48 + 48 * 48 +
	                14 * 48.0 / 3,
	        1e-12, "its operations are those of QR");
	ok(results_is_panel(&a) && !results_is_lu_panel(&a), "a panel, and none of LU");
	ok(strcmp(results_factorization("panel_geqrf"), "geqrf") == 0 &&
	                strcmp(results_factorization("error_potrf"), "potrf") == 0 &&
	                strcmp(results_factorization("getrf"), "getrf") == 0,
	        "names of what is factorized");
}

static void test_from_host(const struct profile *profile)
{
	const struct bench_shape lu = {"getrf", SINGLE, 5555, 5555, 0},
	                         small = {"getrf", SINGLE, 32, 32, 0},
	                         tall = {"geqrf", SINGLE, 30000, 500, 0};
	struct result row;

	ok(cases_transfers(&lu) && cases_transfers(&small) && !cases_transfers(&tall),
	        "squares are looked at from host memory");
	const bool estimated = cases_model_plan(profile, &lu, false, MATH_FP32, &row);
	const struct result whole = cases_from_host(profile, &row);
	ok(estimated && strcmp(whole.options, "l2=warm,plan=model,from=host") == 0,
	        "LU as a whole");
}

/* The row of the resident matrix for a row from host memory. */
static const struct result *resident_of(const struct results *results, const struct result *row)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result *other = &results->row[i];
		if (strcmp(other->operation, row->operation) == 0 &&
		        strcmp(other->variant, row->variant) == 0 && other->n == row->n &&
		        other->precision == row->precision && other->math == row->math &&
		        results_level(other) == results_level(row) &&
		        results_option(other->options, "plan", NULL, 0) &&
		        !results_option(other->options, "from", NULL, 0))
			return other;
	}
	return NULL;
}

static void test_predictions(const struct profile *profile)
{
	struct results *results = results_new();
	size_t from_host = 0, longer = 0, panels = 0, ordered = 0;
	const size_t refused = predict_whole(results, profile, true, NULL);

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		const struct result *resident;
		if (results_is_panel(row) && results_level(row) == 2) {
			panels++;
			ordered += row->seconds.value > 0;
		}
		if (!results_option(row->options, "from", NULL, 0))
			continue;
		from_host++;
		resident = resident_of(results, row);
		longer += resident &&
		          (row->seconds.value > resident->seconds.value || results_level(row) == 0);
	}
	ok(refused == 0, "%zu predictions, none refused", results->count);
	ok(panels == 8 && ordered == panels, "%zu of panels, each of two places", panels);
	ok(from_host == 18 && longer == from_host,
	        "%zu from host memory: LU, QR and Cholesky, panels in two places, three levels; "
	        "%zu take longer than resident ones",
	        from_host, longer);
	results_free(results);
}

/* ---- LAWN 202's operations ---- */

static void is_problem(
        const char *operation, int64_t m, int64_t n, int64_t want_m, int64_t want_n, int64_t want_k)
{
	enum paper_op part = PARTS;
	const bool known = paper_op_find(operation, &part);
	const struct paper_op_problem p = paper_op_problem(part, m, n);

	ok(known && p.part == part && p.m == want_m && p.n == want_n && p.k == want_k, "%s",
	        operation);
}

static void test_problems(void)
{
	is_problem("gemm", 1024, 1024, 1024, 1024, 1024);
	is_problem("transpose", 1024, 64, 1024, 64, 0);
	is_problem("laswp", 1024, 1024, 1024, 1024, PAPER_OP_EXCHANGES);
	is_problem("trsm", 64, 4096, 64, 4096, 0);
	is_problem("syrk", 4096, 64, 4096, 4096, 64);
	is_problem("trmm", 2048, 2048, 2048, 2048, 2048);
	is_problem("small_gemm", 128, 128, 128, 128, PAPER_OP_SMALL_K);
	is_problem("thin_gemm", 16384, 64, 16384, 16384, 64);
	is_problem("scopy", 1 << 18, 8, 1 << 18, 8, 0);
}

static void test_flops(void)
{
	static const struct {
		const char *operation, *what;
		double flops;
	} counts[] = {{"syrk", "syrk: n (n + 1) k", 330}, {"trmm", "trmm: m^2 n", 1000},
	        {"small_gemm", "small_gemm: 2 m n k", 600},
	        {"thin_gemm", "thin_gemm: 2 m n k", 600}};

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		struct result row = result_new(counts[i].operation, "", "cuda", SINGLE, 10, 10);
		row.k = 3;
		is_real(results_flops(&row), counts[i].flops, 0, counts[i].what);
	}
}

/* Every part is among what the benchmark measures. */
static void test_parts(void)
{
	struct bench_shape *shapes;
	const size_t count = cases_bench(&shapes);
	enum paper_op part;
	int cases[PARTS] = {0};
	bool all = true;

	for (size_t i = 0; i < count; i++)
		if (paper_op_find(shapes[i].operation, &part))
			cases[part]++;
	for (int p = 0; p < PARTS; p++)
		all &= cases[p] > 0;
	ok(all, "the benchmark has shapes of every one");
	free(shapes);
}

#ifdef FATHOM_CUDA
static void test_ways(void)
{
	const struct paper_op_way *way[PAPER_OP_WAYS];

	for (int p = 0; p < PARTS; p++) {
		const size_t count = paper_op_ways((enum paper_op)p, way);
		bool good = count > 0 && count <= PAPER_OP_WAYS;
		for (size_t i = 0; i < count && good; i++)
			for (size_t j = 0; j < i; j++)
				good &= strcmp(way[i]->variant, way[j]->variant) != 0 ||
				        strcmp(way[i]->options, way[j]->options) != 0;
		ok(good, "%s: ways that differ", paper_op_name[p]);
	}
}
#else
static void test_ways(void)
{
	ok(paper_op_ways(PAPER_OP_GEMM, NULL) == 0, "no ways without the CUDA Toolkit");
}
#endif

int main(void)
{
	struct fault fault = {.text = ""};
	struct profile *profile = profile_read(RECORDED "/profile.tsv", &fault);

	if (!profile)
		msg_die(1, "%s", fault.text);
	test_holdout();
	test_panels();
	test_one_block();
	test_from_host(profile);
	test_predictions(profile);
	test_drawn_products(profile);
	test_drawn_whole(profile);
	profile_free(profile);
	test_problems();
	test_flops();
	test_parts();
	test_ways();
	return finish();
}
