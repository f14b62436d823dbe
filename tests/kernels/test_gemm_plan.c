/* SPDX-License-Identifier: MIT */
/* How our products are planned: kernels of their precision, square tiles for triangles, splits only
 * with room for their sums and with steps enough; which products count as tall, and which have a
 * line that goes by itself; how V^T C is divided. */
#include "tests/tap.h"

#include "factor/kernels/gemm/gemm.h"
#include "factor/kernels/gemm/double_tall.h"
#include "factor/kernels/gemm/tf32_tall.h"

#include <inttypes.h>

static struct gemm_problem problem(enum precision precision, int64_t m, int64_t n, int64_t k)
{
	return (struct gemm_problem){
	        .precision = precision, .m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = m};
}

static void check_plan(struct gemm_problem p, int sms, int64_t room)
{
	enum { FEWEST_STEPS = 4 };
	const struct tuning tuning = tuning_for(tuning_device_like(90, sms, 0));
	const struct gemm_plan plan = gemm_plan_make(&p, &tuning, room);
	const struct gemm_geometry *g = &gemm_geometry[plan.shape];
	const int64_t steps = (p.k + g->depth - 1) / g->depth;

	ok((p.precision == DOUBLE) == (plan.shape >= GEMM_DOUBLE),
	        "%" PRId64 " x %" PRId64 " x %" PRId64 ": a kernel of its precision, %d x %d", p.m,
	        p.n, p.k, g->rows, g->columns);
	ok(p.part == GEMM_WHOLE || g->rows == g->columns, "a triangle has square tiles");
	ok(plan.splits == 1 ? plan.work_bytes == 0
	                    : plan.work_bytes <= room && steps / plan.splits >= FEWEST_STEPS,
	        "%d splits, %" PRId64 " bytes", plan.splits, plan.work_bytes);
}

static void check_plans(void)
{
	static const int64_t sides[] = {1, 64, 500, 4096, 20000};

	for (size_t i = 0; i < ARRAY_LEN(sides); i++)
		for (size_t j = 0; j < ARRAY_LEN(sides); j++) {
			struct gemm_problem p = problem(SINGLE, sides[i], sides[j], 131072);
			check_plan(p, 132, 0);
			check_plan(p, 132, (int64_t)16 << 20);
			check_plan(problem(DOUBLE, sides[i], sides[j], 40), 78, (int64_t)1 << 20);
			p.part = GEMM_LOWER;
			check_plan(p, 132, 0);
		}
	const struct gemm_problem small = problem(SINGLE, 64, 64, 131072);
	ok(gemm_plan_make(&small, &tuning_hopper, (int64_t)16 << 20).splits > 1,
	        "a small C with a long inner dimension is split over the multiprocessors");
}

static bool tall(bool ta, bool tb, int64_t m, int64_t n, int64_t k)
{
	struct gemm_problem p = problem(SINGLE, m, n, k);

	p.ta = ta;
	p.tb = tb;
	return gemm_is_tall(&p);
}

static void check_tall(void)
{
	ok(tall(true, false, 256, 8000, 1024), "V^T C with four times as many rows as V's columns");
	ok(!tall(true, false, 256, 8000, 1023), "but not with fewer");
	ok(tall(true, false, 512, 8000, 2048),
	        "nor do more columns need more, where C has as many");
	ok(!tall(true, false, 512, 500, 2048) && tall(true, false, 512, 500, 4096),
	        "where C has fewer, twice as many");
	ok(!tall(false, false, 64, 64, 65536) && !tall(true, true, 64, 64, 65536) &&
	                !tall(false, true, 64, 64, 65536),
	        "no other transposition is tall");
}

static void is_edge(enum gemm_edge expected, bool ta, bool tb, int64_t m, int64_t n, int64_t k)
{
	static const char *const names[] = {
	        "all of it at once", "its last row", "its last column", "the last ones summed"};
	struct gemm_problem p = problem(DOUBLE, m, n, k);

	p.ta = ta;
	p.tb = tb;
	ok(gemm_edge(&tuning_hopper, &p) == expected,
	        "op(A) op(B) %d%d of %" PRId64 " x %" PRId64 " x %" PRId64 ": %s", ta, tb, m, n, k,
	        names[expected]);
}

static void check_edges(void)
{
	struct gemm_problem p = problem(SINGLE, 5001, 5001, 257);

	is_edge(GEMM_EVEN, false, false, 5000, 5001, 256);
	is_edge(GEMM_ROW, false, false, 5001, 5001, 256);
	is_edge(GEMM_ROW, false, true, 5001, 5001, 257);
	is_edge(GEMM_COLUMN, false, true, 5000, 5001, 257);
	is_edge(GEMM_EVEN, false, true, 5000, 5000, 257);
	is_edge(GEMM_INNER, true, false, 128, 5001, 5001);
	is_edge(GEMM_INNER, false, false, 5000, 5000, 1025);
	is_edge(GEMM_EVEN, false, false, 5000, 5000, 257);
	is_edge(GEMM_COLUMN, true, true, 4000, 4001, 256);
	is_edge(GEMM_EVEN, true, false, 4000, 4001, 256);
	is_edge(GEMM_EVEN, false, false, 501, 501, 64);
	is_edge(GEMM_EVEN, false, false, 101, 50000, 1024);
	ok(gemm_edge(&tuning_hopper, &p) == GEMM_EVEN, "in single precision all at once");
}

/* How V^T C is divided: tiles cover the product, all blocks run at once, there is room for their
 * partial sums, and each block has enough rows. */
static void check_tall_plans(void)
{
	static const struct {
		int64_t k, n, rows;
		int multiprocessors;
	} cases[] = {{1, 1, 1, 132}, {64, 256, 32, 132}, {64, 4096, 4096, 132},
	        {128, 7808, 8064, 116}, {512, 32768, 32768, 132}, {100, 300, 100000, 7},
	        {128, 128, 131072, 132}, {256, 16384, 16384, 1000}};
	enum { STAGE = 32, FEWEST = 2, KEPT = 2 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const int64_t k = cases[i].k, n = cases[i].n, rows = cases[i].rows;
		const struct tf32_tall_plan plan =
		        tf32_tall_plan_make(k, n, rows, cases[i].multiprocessors);
		const int64_t blocks = (int64_t)plan.pinned_sets * plan.groups;
		const int64_t stages = plan.across * ((rows + STAGE - 1) / STAGE);
		const int64_t kept = KEPT * blocks * plan.side * plan.width * 4;

		ok(plan.groups * plan.side >= k && (plan.groups - 1) * plan.side < k &&
		                plan.across * plan.width >= n && (plan.across - 1) * plan.width < n,
		        "%" PRId64 " x %" PRId64 ": %d x %d tiles", k, n, plan.groups, plan.across);
		ok(plan.pinned_sets == 1 || blocks <= cases[i].multiprocessors,
		        "%d teams on %d multiprocessors", plan.pinned_sets,
		        cases[i].multiprocessors);
		ok(plan.pinned_sets == 1 || kept <= TF32_TALL_SCRATCH, "%" PRId64 " bytes kept",
		        kept);
		ok(plan.pinned_sets >= 1 &&
		                (plan.pinned_sets == 1 || plan.pinned_sets * FEWEST <= stages),
		        "of %" PRId64 " times 32 rows", stages);
	}
}

/* The same in double precision; V^T C and the update. */
static void check_double_tall(void)
{
	static const struct {
		int64_t k, n, rows;
		int multiprocessors;
	} cases[] = {{1, 1, 1, 132}, {64, 64, 131072, 132}, {128, 448, 131072, 132},
	        {256, 256, 131072, 132}, {512, 512, 40000, 132}, {100, 2, 1000000, 132},
	        {128, 128, 131072, 1000}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const int64_t k = cases[i].k, n = cases[i].n, rows = cases[i].rows;
		const int sms = cases[i].multiprocessors;
		const struct double_tall_plan p = double_tall_plan_make(k, n, rows, sms),
		                              u = double_tall_update_plan_make(
		                                      k < 128 ? k : 128, n, rows, sms);
		const int blocks = p.teams * p.groups * p.across;

		ok(p.groups * p.side >= k && p.across * p.width >= n && u.across * u.width >= n,
		        "%" PRId64 " x %" PRId64 ": %d x %d tiles", k, n, p.groups, p.across);
		ok((p.teams == 1 || blocks <= sms) && (u.teams == 1 || u.teams * u.across <= sms),
		        "%d and %d teams on %d multiprocessors", p.teams, u.teams, sms);
		ok(p.teams == 1 || (int64_t)blocks * p.side * p.width * 8 <= DOUBLE_TALL_SCRATCH,
		        "their sums have room");
	}
	const struct gemm_problem product = {.precision = DOUBLE,
	                                  .ta = true,
	                                  .m = 64,
	                                  .n = 64,
	                                  .k = 131072},
	                          update = {.precision = DOUBLE, .m = 131072, .n = 64, .k = 64},
	                          deep = {.precision = DOUBLE, .m = 131072, .n = 256, .k = 256},
	                          narrow = {.precision = DOUBLE, .m = 131072, .n = 2, .k = 128},
	                          square = {.precision = DOUBLE, .m = 4096, .n = 4096, .k = 64};
	ok(double_tall_is_ahead(&tuning_hopper, &product, true) &&
	                double_tall_is_ahead(&tuning_hopper, &update, true) &&
	                !double_tall_is_ahead(&tuning_hopper, &square, false),
	        "tall products are for the tall kernels");
	ok(!double_tall_is_ahead(&tuning_hopper, &deep, true) &&
	                double_tall_is_ahead(&tuning_hopper, &deep, false),
	        "deep ones where columns are not aligned");
	ok(!double_tall_is_ahead(&tuning_hopper, &narrow, false),
	        "updates of few columns are the library's");
	ok(double_tall_gram_takes(64, 128, 64, true) &&
	                double_tall_gram_takes(128, 33, 128, true) &&
	                !double_tall_gram_takes(128, 65, 128, true) &&
	                !double_tall_gram_takes(64, 129, 64, true) &&
	                !double_tall_gram_takes(48, 48, 48, true),
	        "C^T C of one tile of columns and whole slabs of rows");
	ok(double_tall_gram_takes(64, 64, 64, false) && !double_tall_gram_takes(64, 65, 64, false),
	        "where columns are not aligned, of 64 columns");
	const struct double_tall_plan gram = double_tall_gram_plan_make(64, 2, 100);
	ok(gram.width == 64 && gram.across == 1 && gram.teams == 100,
	        "with a team for each of the panel's blocks");
}

int main(void)
{
	check_double_tall();
	check_tall_plans();
	check_plans();
	check_tall();
	check_edges();
	return finish();
}
