/* SPDX-License-Identifier: MIT */
/* The operations that are measured by themselves: what two sizes of the documented list mean, the
 * operation counts, and that every way of one has a row of its own. */
#include "../factor/runs/cases.h"
#include "../factor/runs/parts.h"
#include "tap.h"

static void is_problem(
        const char *operation, int64_t m, int64_t n, int64_t want_m, int64_t want_n, int64_t want_k)
{
	enum part part = PARTS;
	const bool known = part_find(operation, &part);
	const struct part_problem p = part_problem(part, m, n);

	ok(known && p.part == part && p.m == want_m && p.n == want_n && p.k == want_k, "%s",
	        operation);
}

static void test_problems(void)
{
	is_problem("gemm", 1024, 1024, 1024, 1024, 1024);
	is_problem("transpose", 1024, 64, 1024, 64, 0);
	is_problem("laswp", 1024, 1024, 1024, 1024, PART_EXCHANGES);
	is_problem("trsm", 64, 4096, 64, 4096, 0);
	is_problem("syrk", 4096, 64, 4096, 4096, 64);
	is_problem("trmm", 2048, 2048, 2048, 2048, 2048);
	is_problem("small_gemm", 128, 128, 128, 128, PART_SMALL_K);
	is_problem("thin_gemm", 16384, 64, 16384, 16384, 64);
}

static void test_flops(void)
{
	struct result row = {.operation = "syrk", .m = 10, .n = 10, .k = 3};

	is_real(results_flops(&row), 330, 0, "syrk: n (n + 1) k");
	strcpy(row.operation, "trmm");
	is_real(results_flops(&row), 1000, 0, "trmm: m^2 n");
	strcpy(row.operation, "small_gemm");
	is_real(results_flops(&row), 600, 0, "small_gemm: 2 m n k");
	strcpy(row.operation, "thin_gemm");
	is_real(results_flops(&row), 600, 0, "thin_gemm: 2 m n k");
}

/* Every part is among what the benchmark measures. */
static void test_cases(void)
{
	struct bench_shape *shapes;
	const size_t count = cases_bench(&shapes);
	enum part part;
	int cases[PARTS] = {0};
	bool all = true;

	for (size_t i = 0; i < count; i++)
		if (part_find(shapes[i].operation, &part))
			cases[part]++;
	for (int p = 0; p < PARTS; p++)
		all &= cases[p] > 0;
	ok(all, "the benchmark has shapes of every one");
	free(shapes);
}

#ifdef FATHOM_CUDA
static void test_ways(void)
{
	const struct part_way *way[PART_WAYS];

	for (int p = 0; p < PARTS; p++) {
		const size_t count = part_ways((enum part)p, way);
		bool good = count > 0 && count <= PART_WAYS;
		for (size_t i = 0; i < count && good; i++)
			for (size_t j = 0; j < i; j++)
				good &= strcmp(way[i]->variant, way[j]->variant) != 0 ||
				        strcmp(way[i]->options, way[j]->options) != 0;
		ok(good, "%s: ways that differ", part_name[p]);
	}
}
#else
static void test_ways(void)
{
	ok(part_ways(PART_GEMM, NULL) == 0, "no ways without the CUDA Toolkit");
}
#endif

int main(void)
{
	test_problems();
	test_flops();
	test_cases();
	test_ways();
	return finish();
}
