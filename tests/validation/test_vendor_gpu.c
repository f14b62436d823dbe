/* SPDX-License-Identifier: MIT */
/* Backward errors of whole factorizations on the GPU by all plans of the bench for which it has
 * room: at most twice cuSOLVER's on the same matrix, as the check of the measured times estimates
 * both. (LAPACK's and hard matrices: test_getrf.c, test_geqrf.c, test_potrf.c.) */
#include "tests/tap.h"
#include "tests/algorithms/panel_room.h"

#include "factor/validation/cases.h"
#include "factor/validation/timing_whole.h"
#include "factor/validation/vendor.h"
#include "lib/base/msg.h"

#include <float.h>

enum { MOST = 12 };

static volatile sig_atomic_t never;

/* Ours, then cuSOLVER's. */
struct contest {
	struct whole_entry ours[MOST];
	struct vendor_entry vendor;
	struct candidate candidate[MOST + 1];
	size_t count;
};

static void enter(struct contest *c, struct executor *e, struct vendor *vendor,
        const struct whole *whole, const struct bench_shape *shape)
{
	struct result row[MOST];

	c->count = cases_plans(shape, "cuda", MATH_FP32, row, MOST);
	for (size_t i = 0; i < c->count; i++) {
		c->ours[i] = (struct whole_entry){.executor = e, .whole = *whole};
		whole_plan_parse(row[i].plan, strcmp(row[i].variant, "hybrid") == 0, row[i].nb,
		        &c->ours[i].plan);
		c->candidate[i] = candidate_whole(&c->ours[i], "ours");
	}
	c->vendor =
	        (struct vendor_entry){vendor, whole->operation, whole->uplo, VENDOR_PLAIN, false};
	c->candidate[c->count] = candidate_vendor(&c->vendor);
}

static void test_whole(struct executor *e, struct vendor *vendor, struct whole whole,
        enum precision precision, int64_t m, int64_t n)
{
	const struct bench_shape shape = {operation_name[whole.operation], precision, m, n, 0};
	const struct timing_plan once = {.max_seconds = 1,
	        .long_seconds = DBL_MIN, /* any first run is the only one */
	        .seed = 11,
	        .ld = m,
	        .stop = &never};
	struct contest *c = xcalloc(1, sizeof *c);
	struct fault fault = {.text = ""};
	double worst = 0;
	size_t off = 0; /* plans without room for their panels */

	enter(c, e, vendor, &whole, &shape);
	bool good =
	        timing_whole(e, &whole, precision, m, n, &once, c->candidate, c->count + 1, &fault);
	const double theirs = c->candidate[c->count].residual;
	for (size_t i = 0; i < c->count; i++) {
		const struct candidate *x = &c->candidate[i];
		if (whole.operation == GETRF && x->refused &&
		        panel_is_off_chip(x->note, m, c->ours[i].plan.plan.leaf, precision)) {
			off++;
			continue;
		}
		good = good && x->residual <= 2 * theirs;
		worst = fmax(worst, x->residual);
	}
	ok(good && c->count > off, "%s %c %d x %d%s, %d plans: at most %.3g, cuSOLVER's %.3g %s",
	        shape.operation, (char)precision, (int)m, (int)n,
	        whole.uplo == UPPER ? ", upper" : "", (int)(c->count - off), worst, theirs,
	        fault.text);
	free(c);
}

int main(void)
{
	static const enum precision both[] = {SINGLE, DOUBLE};
	struct fault fault = {.text = ""};
	if (test_small())
		skip_all("a small run does not compare large matrices with cuSOLVER's");
	struct executor *e = executor_cuda_new("0", &fault);
	struct vendor *vendor = e ? vendor_new(&fault) : NULL;

	if (!vendor)
		skip("errors beside cuSOLVER's", fault.text);
	for (size_t p = 0; p < ARRAY_LEN(both) && vendor; p++)
		for (int64_t n = 500; n <= 2000; n *= 2) {
			test_whole(e, vendor, (struct whole){.operation = GETRF}, both[p], n, n);
			test_whole(e, vendor, (struct whole){.operation = GETRF}, both[p], 4 * n,
			        n / 2);
			test_whole(e, vendor, (struct whole){.operation = GEQRF}, both[p], n, n);
			test_whole(e, vendor, (struct whole){.operation = GEQRF}, both[p], 4 * n,
			        n / 2);
			test_whole(e, vendor, (struct whole){.operation = POTRF}, both[p], n, n);
			test_whole(e, vendor, (struct whole){.operation = POTRF, .uplo = UPPER},
			        both[p], n, n);
		}
	vendor_free(vendor);
	executor_free(e);
	return finish();
}
