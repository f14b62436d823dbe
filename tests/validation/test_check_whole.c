/* SPDX-License-Identifier: MIT */
/* The estimated residuals of whole factorizations accept right factors and reject wrong ones; plans
 * written as text are read back. */
#include "tests/algorithms/factor_test.h"

#include "factor/validation/check.h"
#include "factor/validation/check_whole.h"
#include "factor/validation/fixture.h"
#include "factor/validation/papers/lawn_errors.h"
#include "factor/validation/timing_whole.h"

#include <inttypes.h>

struct shape {
	int64_t m, n, ld;
};

/* A factorized matrix a and the matrix a0 before. */
struct problem {
	struct timing_fixture memory;
	struct whole whole;
	struct matrix a0, a, tau;
	struct pivots pivots;
};

static const int64_t width = 16;
static const struct plan plan = {.panel = "blas", .widths = &width, .count = 1, .leaf = 16};

static struct problem factorized(
        struct executor *e, struct whole whole, enum precision precision, struct shape s)
{
	int64_t k = s.m < s.n ? s.m : s.n;
	struct problem p = {.memory.executor = e, .whole = whole};
	void *pivots = NULL, *work = NULL;
	bool good = fixture_matrix(&p.memory, &p.a0, s.m, s.n, s.ld, precision) &&
	            fixture_matrix(&p.memory, &p.a, s.m, s.n, s.ld, precision) &&
	            fixture_matrix(&p.memory, &p.tau, k, 1, k, precision) &&
	            fixture_alloc(&p.memory, (k + 1) * 4, &pivots) &&
	            fixture_alloc(&p.memory, whole_work(e, &whole, &plan, p.a), &work);

	if (!good)
		msg_die(EXIT_MEASURE_FAILED, "%s", e->fault.text);
	p.pivots = (struct pivots){pivots, k};
	p.pivots.data[k] = 0;
	ok(whole_fill(e, &whole, p.a0, 5) && e->ops->duplicate(e, p.a0, p.a) &&
	                whole_run(e, &whole, &plan, p.a, work, p.pivots, p.tau, NULL) &&
	                e->ops->sync(e),
	        "%s %c %" PRId64 " x %" PRId64, operation_name[whole.operation], precision, s.m,
	        s.n);
	return p;
}

static struct whole_check checked(struct executor *e, const struct problem *p)
{
	struct whole_check check;
	if (!check_whole(e, &p->whole, p->a0, p->a, p->pivots, p->tau, &check))
		diag("check: %s", e->fault.text);
	return check;
}

static double at(struct matrix a, int64_t i, int64_t j)
{
	return get(a.data, i + j * a.ld, a.precision);
}

static void set(struct matrix a, int64_t i, int64_t j, double x)
{
	put(a.data, i + j * a.ld, a.precision, x);
}

/* Factors with one wrong element are rejected, the right ones are accepted. */
static void test_spoiled(struct executor *e, struct problem *p, int64_t i, int64_t j, double wrong)
{
	double right = at(p->a, i, j);

	set(p->a, i, j, wrong);
	ok(!checked(e, p).passed, "%g at (%" PRId64 ",%" PRId64 ") is seen", wrong, i, j);
	set(p->a, i, j, right);
	ok(checked(e, p).passed, "with the right element the check passes");
}

static double norm_of(struct matrix a, int64_t columns, enum check_norm norm)
{
	double most = 0, squares = 0;

	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < a.m; i++) {
			most = fmax(most, fabs(at(a, i, j)));
			squares += at(a, i, j) * at(a, i, j);
		}
	return norm == FROBENIUS ? sqrt(squares) : most;
}

static double error_of(struct executor *e, const struct problem *p, enum check_norm norm)
{
	double error = -1;

	if (!check_error(e, &p->whole, p->a0, p->a, p->pivots, p->tau, norm, &error))
		diag("check: %s", e->fault.text);
	return error;
}

/* The norm that 1 added to the first element of U, R or the triangle adds to the product of the
 * factors. LU: of L's first column, whose largest element is 1. QR: of Q's first column, which is
 * A's over R's element. Cholesky: of the first row and column. */
static double added(const struct problem *p, enum check_norm norm)
{
	const bool upper = p->whole.operation == POTRF && p->whole.uplo == UPPER;
	const double first = at(p->a, 0, 0);
	double below = 0;

	for (int64_t i = 1; i < (upper ? p->a.n : p->a.m); i++)
		below = hypot(below, upper ? at(p->a, 0, i) : at(p->a, i, 0));
	if (p->whole.operation == GEQRF)
		return norm == FROBENIUS ? 1 : norm_of(p->a0, 1, LARGEST) / fabs(first);
	if (p->whole.operation == GETRF)
		return norm == FROBENIUS ? hypot(1, below) : 1;
	return norm == FROBENIUS ? hypot(2 * first + 1, sqrt(2) * below) : 2 * first + 1;
}

static void test_error(struct executor *e, struct problem *p, enum check_norm norm)
{
	const char *name = norm == FROBENIUS ? "Frobenius's" : "the largest";
	const double eps = p->a.precision == SINGLE ? 0x1p-23 : 0x1p-52, first = at(p->a, 0, 0);
	const double of = norm_of(p->a0, p->a0.n, norm);
	const double error = error_of(e, p, norm), more = added(p, norm);

	ok(error >= 0 && error < (double)(p->a.m + p->a.n), "%s error %.3g", name, error);
	set(p->a, 0, 0, first + 1);
	is_real(error_of(e, p, norm) * of * eps, more, 1e-4,
	        "error of 1 more in the first element");
	set(p->a, 0, 0, NAN);
	ok(isnan(error_of(e, p, norm)), "a NaN stays");
	set(p->a, 0, 0, first);
}

static void test_right(
        struct executor *e, struct whole whole, enum precision precision, struct shape s)
{
	struct problem p = factorized(e, whole, precision, s);
	struct whole_check check = checked(e, &p);
	int64_t last = (s.m < s.n ? s.m : s.n) - 1;

	ok(check.passed && check.residual < 3, "residual %.3g", check.residual);
	if (whole.operation == GEQRF)
		ok(check.orthogonality < 3, "orthogonality %.3g", check.orthogonality);
	else
		ok(isnan(check.orthogonality), "orthogonality is checked for QR alone");
	test_error(e, &p, LARGEST);
	test_error(e, &p, FROBENIUS);
	test_spoiled(e, &p, last, last, 3);
	test_spoiled(e, &p, last / 2, last / 2, NAN);
	if (whole.operation == GETRF) {
		int right = p.pivots.data[0];
		p.pivots.data[0] = right == 1 ? 2 : 1;
		ok(!checked(e, &p).passed, "a wrong pivot is seen");
		p.pivots.data[0] = (int)s.m + 1;
		ok(!checked(e, &p).pivots_valid, "a pivot outside of the matrix is seen");
		p.pivots.data[0] = right;
	}
	if (whole.operation == GEQRF) {
		set(p.tau, last / 2, 0, 0.5 * at(p.tau, last / 2, 0));
		check = checked(e, &p);
		ok(!check.passed && check.orthogonality > CHECK_THRESHOLD,
		        "half a tau: Q is not orthogonal (%.3g)", check.orthogonality);
	} else {
		p.pivots.data[p.pivots.n] = 1;
		ok(!checked(e, &p).passed, "an info that is not zero is seen");
	}
	fixture_close(&p.memory);
}

static void test_operations(struct executor *e)
{
	static const enum precision both[] = {SINGLE, DOUBLE};
	static const struct shape shapes[] = {{100, 100, 103}, {150, 60, 150}, {40, 90, 41}},
	                          one = {1, 1, 1};

	for (size_t p = 0; p < ARRAY_LEN(both); p++) {
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			for (int o = GETRF; o <= GEQRF; o++)
				test_right(e, (struct whole){.operation = (enum operation)o},
				        both[p], shapes[i]);
		test_right(e, (struct whole){.operation = POTRF}, both[p], shapes[0]);
		test_right(
		        e, (struct whole){.operation = POTRF, .uplo = UPPER}, both[p], shapes[0]);
		struct problem p1 = factorized(
		        e, (struct whole){.operation = POTRF, .uplo = UPPER}, both[p], one);
		ok(checked(e, &p1).passed, "a single element");
		fixture_close(&p1.memory);
	}
}

/* ---- LAWN 202's matrices ---- */

static void test_lawn_fill(struct executor *e)
{
	enum { N = 5, LD = 7, SEED = 3 };
	const struct whole lu = {.operation = GETRF}, cholesky = {.operation = POTRF};
	double data[LD * N];
	const struct matrix a = {data, 0, N, N, LD, DOUBLE};
	bool right = lawn_fill(e, &cholesky, a, SEED);

	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++) {
			double sum = i == j ? 0.001 : 0;
			for (int64_t k = 0; k < N; k++)
				sum += matrix_uniform(SEED, k, i) * matrix_uniform(SEED, k, j);
			right = right && fabs(data[i + j * LD] - sum) < 1e-14;
		}
	ok(right, "Cholesky: 0.001 I + X^T X, both triangles");
	ok(lawn_fill(e, &lu, a, SEED) && data[1] == matrix_uniform(SEED, 1, 0) &&
	                norm_of(a, N, LARGEST) < 1,
	        "LU: a random matrix");
}

static volatile sig_atomic_t never;

/* LAPACK's errors by the paper's measure, for the paper's matrices and for a kind of matrix. */
static void test_errors(struct executor *e, const char *kind)
{
	const struct timing_plan timing = {.max_seconds = 1, .seed = 5, .ld = 200, .stop = &never};
	struct fault fault = {.text = ""};

	for (int o = 0; o < OPERATION_COUNT; o++) {
		struct whole whole = {.operation = (enum operation)o, .uplo = LOWER};
		struct whole_entry entry = {.executor = e, .whole = whole};
		struct candidate lapacke = candidate_lapacke(&entry);
		if (kind && o == POTRF)
			continue;
		bool measured = timing_whole_errors(e, &whole, lawn_errors_fill, kind, SINGLE, 200,
		        &timing, &lapacke, 1, &fault);
		ok(measured && lapacke.residual > 0.1 && lapacke.residual < 200, "%s%s%s: %.3g %s",
		        operation_name[o], kind ? ", " : "", kind ? kind : "", lapacke.residual,
		        lapacke.note);
		ok(isnan(lapacke.seconds.value) && lapacke.seconds.samples == 0, "not timed");
	}
}

/* ---- timing ---- */

static bool wrong_run(struct candidate *candidate)
{
	(void)candidate;
	return true;
}

static void test_timing(struct executor *e)
{
	const struct timing_plan timing = {
	        .max_seconds = 0.01, .target = 0.5, .seed = 3, .ld = 70, .stop = &never};
	struct fault fault = {.text = ""};

	for (int o = 0; o < OPERATION_COUNT; o++) {
		struct whole whole = {.operation = (enum operation)o, .uplo = LOWER};
		struct whole_entry ours = {.executor = e, .whole = whole}, host = ours,
		                   lapacke = ours, upper;
		whole_plan_parse("leaf=16 inverse=0 lookahead=1 panel=blas", false, 32, &ours.plan);
		host.plan = ours.plan;
		host.plan.plan.widths = host.plan.widths;
		host.whole.from_host = true;
		upper = ours;
		upper.plan.plan.widths = upper.plan.widths;
		upper.whole.uplo = UPPER;
		struct candidate candidate[] = {candidate_whole(&ours, "gpu"),
		        candidate_whole(&host, "gpu"), candidate_lapacke(&lapacke),
		        candidate_whole(&upper, "gpu"), {.run = wrong_run, .variant = "nothing"}};
		ok(timing_whole(e, &whole, DOUBLE, 64, 64, &timing, candidate, 5, &fault),
		        "%s is timed: %s", operation_name[o], fault.text);
		/* two samples are enough where runs are long and agree */
		for (int i = 0; i < 4; i++)
			ok(candidate[i].seconds.samples >= 2 && candidate[i].residual < 3,
			        "%s: %zu samples, residual %.3g %s", candidate[i].variant,
			        candidate[i].seconds.samples, candidate[i].residual,
			        candidate[i].note);
		ok(candidate[4].failed && isnan(candidate[4].seconds.value),
		        "a run that does nothing has no time: %s", candidate[4].note);
	}
}

/* ---- plans as text ---- */

static void test_text(void)
{
	static const int64_t sequence[] = {512, 512, 256, 128, 128, 128};
	const struct whole lu = {.operation = GETRF, .uplo = LOWER};
	struct plan one = {.panel = "fused",
	        .widths = sequence,
	        .count = 6,
	        .leaf = 64,
	        .inverse = 32,
	        .lookahead = 1};
	struct whole_plan *back = xmalloc(sizeof *back);
	int64_t *changing = xmalloc(WHOLE_WIDTHS * sizeof *changing);
	char text[WHOLE_PLAN_TEXT];

	ok(whole_plan_text(&lu, &one, text), "a plan becomes text");
	is_text(text, "leaf=64 inverse=32 lookahead=1 panel=fused widths=512x2,256,128x3",
	        "runs of equal widths");
	whole_plan_parse(text, false, 99, back);
	ok(back->plan.count == 6 && memcmp(back->widths, sequence, sizeof sequence) == 0,
	        "the same widths come back");
	ok(back->plan.leaf == 64 && back->plan.inverse == 32 && back->plan.lookahead == 1 &&
	                !back->plan.hybrid && strcmp(back->plan.panel, "fused") == 0,
	        "the rest of the plan comes back");
	one.count = 2;
	one.hybrid = true;
	ok(whole_plan_text(&lu, &one, text), "a plan of equal widths becomes text");
	is_text(text, "leaf=64 inverse=32 lookahead=1", "equal widths are not in the text");
	whole_plan_parse(text, true, 99, back);
	ok(back->plan.hybrid && back->plan.count == 1 && back->widths[0] == 99,
	        "equal widths come from the caller");
	for (int i = 0; i < WHOLE_WIDTHS; i++)
		changing[i] = 100 + i % 2;
	one.widths = changing;
	one.count = WHOLE_WIDTHS;
	ok(!whole_plan_text(&lu, &one, text), "a sequence of too many widths is refused");
	is_text(text, "leaf=64 inverse=32 lookahead=1",
	        "a refused plan leaves no widths in the text");
	free(changing);
	free(back);
}

static void test(struct executor *e)
{
	if (!test_on_gpu) {
		test_operations(e);
		test_lawn_fill(e);
	}
	test_errors(e, NULL);
	test_errors(e, "condition-1e6");
	test_timing(e);
}

int main(void)
{
	test_text();
	return test_on_executors(test);
}
