/* SPDX-License-Identifier: MIT */
/* What is predicted and measured of QR's and Cholesky's panels, and of matrices in host memory. By
 * the recorded profile. */
#include "tests/tap.h"

#include "factor/validation/cases.h"
#include "factor/programs/predict.h"
#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool power_of_two(int64_t n)
{
	return (n & (n - 1)) == 0;
}

static void test_panels(void)
{
	for (int quick = 0; quick < 2; quick++) {
		struct bench_shape *shape;
		const size_t count = cases_panels(quick, &shape);
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

static void test_one_block(void)
{
	const struct bench_shape qr = {"panel_geqrf", SINGLE, 3000, 48},
	                         cholesky = {"panel_potrf", DOUBLE, 200, 200};
	const struct result a = cases_panel(&qr, true), b = cases_panel(&cholesky, false);

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
	const struct bench_shape lu = {"getrf", SINGLE, 5555, 5555},
	                         cholesky = {"potrf", SINGLE, 5555, 5555},
	                         small = {"getrf", SINGLE, 1000, 1000},
	                         tall = {"geqrf", SINGLE, 30000, 500};
	struct result row;

	ok(cases_transfers(&lu) && !cases_transfers(&small) && !cases_transfers(&tall),
	        "large squares are looked at from host memory");
	const bool estimated = cases_model_plan(profile, &lu, false, MATH_FP32, &row);
	const struct result whole = cases_from_host(profile, &row);
	ok(estimated && strcmp(whole.options, "l2=warm,plan=model,from=host") == 0,
	        "LU as a whole");
	const bool also = cases_model_plan(profile, &cholesky, false, MATH_FP32, &row);
	const struct result pieces = cases_from_host(profile, &row);
	ok(also && strstr(pieces.options, "from=host,piece="), "Cholesky in rectangles: %s",
	        pieces.options);
	const struct result blocks = cases_from_host(NULL, &row);
	ok(!strstr(blocks.options, "piece="), "without a profile in those of its blocks");
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
	const size_t refused = predict_whole(results, profile, true);

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

int main(void)
{
	struct fault fault = {""};
	struct profile *profile = profile_read("data/nvidia-h200/profile.tsv", &fault);

	if (!profile)
		msg_die(1, "%s", fault.text);
	test_panels();
	test_one_block();
	test_from_host(profile);
	test_predictions(profile);
	profile_free(profile);
	return finish();
}
