/* SPDX-License-Identifier: MIT */
/* The operations that are measured by themselves: what two sizes of the documented list mean, the
 * operation counts, and that every way of one has a row of its own. */
#include "factor/validation/cases.h"
#include "factor/validation/papers/paper_operations.h"
#include "tests/tap.h"

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
	test_problems();
	test_flops();
	test_cases();
	test_ways();
	return finish();
}
