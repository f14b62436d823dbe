/* SPDX-License-Identifier: MIT */
/* What the bench times beside the fastest of ours: which optimizations are left out where, and
 * how the executor is set for them. By the recorded profile, whose plans have optimizations. */
#include "tests/tap.h"

#include "factor/validation/cases.h"
#include "factor/programs/ablations.h"
#include "factor/validation/papers/lawn_plan.h"
#include "factor/validation/whole.h"
#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 2 + ABLATIONS_WITHOUT };

struct fixture {
	struct profile *profile;
	struct executor *e;
	struct results *done;
};

/* The plan that the model chooses, as a trial leaves it. */
static struct result screened(
        const struct fixture *s, const char *operation, int64_t n, bool hybrid, double seconds)
{
	const struct bench_shape shape = {operation, SINGLE, n, n, 0};
	struct result row = {.operation = ""};

	ok(cases_model_plan(s->profile, &shape, hybrid, MATH_FP32, &row), "%s %d: %s", operation,
	        (int)n, row.plan);
	row.seconds = (struct estimate){seconds, seconds, seconds, 1};
	return row;
}

static const struct result *named(
        const struct result *row, size_t count, const char *variant, const char *without)
{
	char name[16];

	for (size_t i = 0; i < count; i++)
		if (strcmp(row[i].variant, variant) == 0 &&
		        results_option(row[i].options, "without", name, sizeof name) &&
		        strcmp(name, without) == 0)
			return &row[i];
	return NULL;
}

static int64_t plan_of(const struct result *row, struct whole_plan *plan)
{
	whole_plan_parse(row->plan, whole_panels_on_host(row->variant), row->nb, plan);
	return plan->plan.count;
}

static void test_lu(struct fixture *s)
{
	enum { N = 8192 };
	struct whole_plan *plan = xmalloc(sizeof *plan), *other = xmalloc(sizeof *other);
	struct result row[ROOM] = {
	        screened(s, "getrf", N, false, 1), screened(s, "getrf", N, true, 2)};
	const size_t count = ablations_without(s->e, s->profile, s->done, row, 2);

	const struct result *rows = named(row, count, "gpu", "rows");
	ok(rows && strcmp(rows->plan, row[0].plan) == 0 && rows->nb == row[0].nb,
	        "large on the device: the same plan without the transpose");
	ok(!named(row, count, "hybrid", "rows"), "which panels on the host do not have");
	ok(named(row, count, "gpu", "lookahead") && named(row, count, "hybrid", "lookahead"),
	        "look-ahead of both");
	ok(plan_of(&row[0], plan) > 1, "a sequence of widths");
	const struct result *widths = named(row, count, "gpu", "widths");
	ok(widths && plan_of(widths, other) == 1 && other->widths[0] == widths->nb &&
	                widths->nb == cases_single_width(s->profile, &row[0]),
	        "has one with a single width beside it");
	ok(widths && other->plan.leaf == plan->plan.leaf &&
	                other->plan.lookahead == plan->plan.lookahead,
	        "and is the same otherwise");
	ok(!named(row, ablations_without(s->e, NULL, s->done, row, 2), "gpu", "widths"),
	        "not without a profile");
	results_add(s->done, rows);
	ok(!named(row, ablations_without(s->e, s->profile, s->done, row, 2), "gpu", "rows"),
	        "what is done is not done again");
	s->e->row_major = 0;
	s->done->count = 0;
	ok(!named(row, ablations_without(s->e, s->profile, s->done, row, 2), "gpu", "rows"),
	        "nor where the executor keeps the columns anyway");
	s->e->row_major = tuning_hopper.layout.row_major;
	free(plan);
	free(other);
}

static void test_others(const struct fixture *s)
{
	struct result row[ROOM] = {
	        screened(s, "geqrf", 2048, false, 1), screened(s, "geqrf", 2048, true, 2)};
	size_t count = ablations_without(s->e, s->profile, s->done, row, 2);

	ok(!named(row, count, "gpu", "rows") && !named(row, count, "gpu", "inverse") &&
	                !named(row, count, "hybrid", "inverse"),
	        "QR has neither layouts nor inverses to leave out");
	row[0] = screened(s, "getrf", 512, false, 1);
	ok(ablations_without(s->e, s->profile, s->done, row, 1) == 1, "small ones stay alone");
	row[0] = screened(s, "getrf", 4096, false, 1);
	ok(!named(row, ablations_without(s->e, s->profile, s->done, row, 1), "gpu", "rows"),
	        "columns stay columns up to some size");
}

static void test_upper(const struct fixture *s)
{
	struct result row[ROOM] = {
	        screened(s, "potrf", 4096, false, 2), screened(s, "potrf", 4096, true, 1)};
	size_t count = ablations_without(s->e, s->profile, s->done, row, 2);

	ok(ablations_upper(s->done, row, count) == count + 1 &&
	                strcmp(row[count].variant, "hybrid") == 0 &&
	                strcmp(row[count].options, "l2=warm,uplo=u,plan=model") == 0,
	        "the fastest Cholesky, as it is, with the other triangle");
	results_add(s->done, &row[count]);
	ok(ablations_upper(s->done, row, count) == count, "once");
	row[0] = screened(s, "potrf", 5555, false, 1);
	ok(ablations_upper(s->done, row, 1) == 1, "powers of two only");
	row[0] = screened(s, "getrf", 4096, false, 1);
	ok(ablations_upper(s->done, row, 1) == 1, "LU has no triangle");
}

/* The executor's own setting is back after either call. */
static void test_told(struct executor *e)
{
	static const int64_t nb = 16;
	const struct plan plan = {
	        .panel = "blas", .widths = &nb, .count = 1, .leaf = nb, .lookahead = 1};
	const struct whole transposed = {.operation = GETRF},
	                   kept = {.operation = GETRF, .column_major = true};
	float *data = xcalloc(64 * 64, sizeof *data);
	int ipiv[65];
	const struct matrix a = {data, 0, 64, 64, 64, SINGLE};

	for (int i = 0; i < 64; i++)
		data[i + (63 - i) * 64] = (float)(i + 1);
	e->row_major = 32;
	int64_t bytes = whole_work(e, &kept, &plan, a);
	ok(bytes >= 0 && whole_work(e, &transposed, &plan, a) > bytes,
	        "the transpose takes memory, the columns do not");
	void *work = xmalloc((size_t)bytes + 1);
	ok(whole_run(e, &kept, &plan, a, work, (struct pivots){ipiv, 64}, a, NULL) &&
	                e->ops->sync(e) && ipiv[0] == 64 && ipiv[64] == 0,
	        "which is enough for them");
	ok(e->row_major == 32, "the executor is as before");
	free(work);
	free(data);
}

static void test_from_host(const struct fixture *s)
{
	struct result row[ROOM] = {
	        screened(s, "potrf", 4096, false, 2), screened(s, "potrf", 4096, true, 1)};
	char piece[16] = "";

	ok(ablations_from_host(s->profile, row, 2) == 3 && strcmp(row[2].variant, "gpu") == 0 &&
	                results_option(row[2].options, "from", NULL, 0) &&
	                results_option(row[2].options, "piece", piece, sizeof piece) &&
	                atoi(piece) >= 32 && atoi(piece) < 4096,
	        "from host memory with panels on the device, in rectangles of %s columns", piece);
	ok(ablations_from_host(NULL, row, 2) == 3 &&
	                !results_option(row[2].options, "piece", NULL, 0),
	        "in the blocks' without a profile");
	row[0] = screened(s, "getrf", 4096, false, 1);
	ok(ablations_from_host(s->profile, row, 1) == 2 &&
	                !results_option(row[1].options, "piece", NULL, 0),
	        "LU's is no triangle");
	row[0] = screened(s, "getrf", 32, false, 1);
	ok(ablations_from_host(s->profile, row, 1) == 2, "small ones too");
}

/* QR's widths are multiples of 64, one or a sequence. */
static void test_lawn_widths(const struct fixture *s)
{
	struct whole_plan *plan = xmalloc(sizeof *plan);
	bool good = true;
	int64_t most = 0;

	for (int64_t n = 512; n <= 8192; n *= 2) {
		const struct bench_shape shape = {"geqrf", SINGLE, n, n, 0};
		const struct result row = lawn_plan_row(s->profile, &shape, "cuda");
		most = max_int64(most, plan_of(&row, plan));
		for (int64_t i = 0; i < plan->plan.count; i++)
			good = good && plan->widths[i] % 64 == 0;
	}
	ok(good, "LAWN 202's QR: multiples of 64 columns, up to %d of them", (int)most);
	free(plan);
}

/* Each part of LAWN 202's plans is one change of the plan's text. */
static void test_lawn(const struct fixture *s)
{
	enum { N = 4096, MOST = 12 };
	static const struct {
		const char *operation, *without, *plan;
	} wanted[] = {{"getrf", "inverse", "leaf=64 inverse=0 lookahead=1 coarse=8 layout=rows"},
	        {"getrf", "lookahead", "leaf=64 inverse=64 lookahead=0 coarse=8 layout=rows"},
	        {"getrf", "rows", "leaf=64 inverse=64 lookahead=1 coarse=8"},
	        {"getrf", "levels", "leaf=64 inverse=64 lookahead=1 layout=rows"},
	        {"getrf", "transfers",
	                "leaf=64 inverse=64 lookahead=1 coarse=8 layout=rows copies=wait"},
	        {"getrf", "batches",
	                "leaf=64 inverse=64 lookahead=1 coarse=8 layout=rows swaps=single"},
	        {"geqrf", "lookahead", "leaf=64 inverse=0 lookahead=0 panels=place"},
	        {"geqrf", "transfers", "leaf=64 inverse=0 lookahead=1 copies=wait panels=place"},
	        {"potrf", "lookahead", "leaf=64 inverse=0 lookahead=0 coarse=8 panels=place"},
	        {"potrf", "levels", "leaf=64 inverse=0 lookahead=1 panels=place"},
	        {"potrf", "transfers",
	                "leaf=64 inverse=0 lookahead=1 coarse=8 copies=wait panels=place"}};
	struct result row[MOST];
	size_t count = 0, found = 0;

	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		if (i == 0 || strcmp(wanted[i].operation, wanted[i - 1].operation) != 0) {
			const struct bench_shape shape = {wanted[i].operation, SINGLE, N, N, 0};
			ok(found == count, "nothing else is left out");
			row[0] = lawn_plan_row(NULL, &shape, "cuda");
			row[0].seconds.value = 1;
			count = ablations_without(s->e, NULL, s->done, row, 1) - 1;
			found = 0;
		}
		const struct result *without =
		        named(row, count + 1, LAWN_VARIANT, wanted[i].without);
		found++;
		ok(without && strcmp(without->plan, wanted[i].plan) == 0, "%s without %s: %s",
		        wanted[i].operation, wanted[i].without, without ? without->plan : "none");
	}
	ok(found == count, "nothing else is left out");
	const struct bench_shape shape = {"getrf", SINGLE, N, N, 0};
	row[0] = lawn_plan_row(s->profile, &shape, "cuda");
	ok(strstr(row[0].plan, "coarse=") && row[0].nb == 64 &&
	                ablations_from_host(s->profile, row, 1) == 2 &&
	                strcmp(row[1].variant, LAWN_VARIANT) == 0,
	        "with a profile, and from host memory: %s", row[0].plan);
}

static void test_gram(void)
{
	const struct bench_shape tall = {"geqrf", DOUBLE, 65536, 256, 0},
	                         square = {"geqrf", DOUBLE, 4096, 4096, 0};
	struct whole_plan *plan = xmalloc(sizeof *plan);
	struct result row[4 * ROOM];
	size_t count = cases_plans(&tall, "cuda", MATH_FP32, row, 2 * ROOM), of_gpu = 0, right = 0;

	for (size_t i = 0; i < count; i++)
		of_gpu += strcmp(row[i].variant, "gpu") == 0;
	const size_t more = ablations_gram(row, count);
	for (size_t i = count; i < more; i++) {
		plan_of(&row[i], plan);
		right += plan_by_gram(&plan->plan) && result_has_value(&row[i], "panel", PLAN_GRAM);
	}
	ok(of_gpu > 0 && more == count + of_gpu && right == of_gpu,
	        "tall QR in double precision: %d plans by the Gram matrix", (int)of_gpu);
	count = cases_plans(&square, "cuda", MATH_FP32, row, 2 * ROOM);
	ok(ablations_gram(row, count) == count, "no square");
	free(plan);
}

int main(void)
{
	struct fault fault = {.text = ""};
	struct fixture s = {.profile = profile_read(RECORDED "/profile.tsv", &fault),
	        .e = executor_host_new(&fault),
	        .done = results_new()};

	if (!ok(s.profile && s.e, "a profile and an executor %s", fault.text))
		return finish();
	s.e->row_major = tuning_hopper.layout.row_major;
	test_lu(&s);
	test_others(&s);
	test_upper(&s);
	test_from_host(&s);
	test_lawn(&s);
	test_lawn_widths(&s);
	test_told(s.e);
	test_gram();
	executor_free(s.e);
	profile_free(s.profile);
	results_free(s.done);
	return finish();
}
