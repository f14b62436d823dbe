/* SPDX-License-Identifier: MIT */
/* Whether the blocked factorizations wait for what they need: run in many orders that queues and
 * events allow, each must give the bits of the plain order. */
#include "tests/algorithms/factor_test.h"

#include "deferred.h"

#include "factor/validation/whole.h"

enum { ORDERS = 40, N = 90 };

static const int64_t by_8[] = {8}, by_16[] = {16}, by_30[] = {30}, growing[] = {5, 9, 16, 30};

static const struct plan plans[] = {
        {false, "persistent", by_16, 1, 16, 0, .lookahead = 0},
        {false, "persistent", by_16, 1, 8, 8, .lookahead = 1},
        {false, "persistent", growing, 4, 8, 4, .lookahead = 1},
        {false, "persistent", by_30, 1, 8, 0, .lookahead = 1},
        {false, "persistent", by_16, 1, 8, 0, .lookahead = 2},
        {false, "persistent", growing, 4, 8, 0, .lookahead = 2},
        {true, NULL, by_16, 1, 8, 0, .lookahead = 0},
        {true, NULL, by_16, 1, 8, 8, .lookahead = 1},
        {true, NULL, growing, 4, 8, 0, .lookahead = 1},
        {true, NULL, growing, 4, 8, 5, .lookahead = 1},
};

/* LAWN 202's LU and parts of it. */
static const struct plan lawn[] = {
        {true, NULL, by_8, 1, 8, 8, 1, .coarse = 4, .row_major = true},
        {true, NULL, by_8, 1, 8, 8, 0, .coarse = 2, .row_major = true},
        {true, NULL, growing, 4, 8, 0, 1, .coarse = 2, .row_major = true, .single_swaps = true},
        {true, NULL, by_8, 1, 8, 8, 1, .coarse = 4, .single_swaps = true, .copies_wait = true},
        {false, "persistent", by_8, 1, 4, 4, 1, .coarse = 4, .row_major = true},
        {false, "persistent", by_8, 1, 4, 0, 2, .coarse = 4},
};

/* Panels at their place in host memory. */
static const struct plan in_place[] = {
        {true, NULL, by_8, 1, 8, 0, 1, .in_place = true},
        {true, NULL, by_16, 1, 8, 0, 0, .in_place = true, .copies_wait = true},
        {true, NULL, growing, 4, 8, 0, 1, .in_place = true},
        {true, NULL, by_8, 1, 8, 0, 1, .in_place = true, .coarse = 4},
};

struct shape {
	int64_t m, n;
};

enum what { LU, QR, CHOLESKY_LOWER, CHOLESKY_UPPER, WHATS };
static const struct {
	const char *name;
	enum operation operation;
	enum uplo uplo;
} whats[] = {{"LU", GETRF, LOWER}, {"QR", GEQRF, LOWER}, {"Cholesky lower", POTRF, LOWER},
        {"Cholesky upper", POTRF, UPPER}};

struct result {
	float a[N * N], tau[N];
	int integers[N + 1]; /* pivots and info */
};

/* The matrix comes from host memory and the result goes there, which only QUEUE_MAIN puts in order:
 * symmetric and positive definite for Cholesky; rows that LU has to exchange. */
static bool run(struct executor *e, const struct plan *plan, enum what what, struct shape shape,
        struct result *r)
{
	const struct whole whole = {
	        whats[what].operation, whats[what].uplo, true, e->math, 7, false};
	const bool definite = what >= CHOLESKY_LOWER;
	struct result *inside = xcalloc(1, sizeof *inside);
	struct matrix a = {inside->a, 0, shape.m, shape.n, N, SINGLE}, host = a;
	struct matrix tau = {inside->tau, 0, N, 1, N, SINGLE};
	struct pivots pivots = {inside->integers, shape.m < shape.n ? shape.m : shape.n};
	const int64_t bytes = whole_work(e, &whole, plan, a);
	void *work = xmalloc((size_t)bytes);

	memset(work, 0xff, (size_t)bytes);
	memset(r, 0, sizeof *r);
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++)
			r->a[i + j * N] =
			        (float)(definite ? test_random(1, i + j) + (i == j ? N : 0)
			                         : test_random(1 + (uint64_t)j, i));
	host.data = r->a;
	bool ok = whole_run(e, &whole, plan, a, work, pivots, tau, &host) &&
	          e->queue == QUEUE_MAIN && e->ops->sync(e);
	memcpy(r->tau, inside->tau, sizeof r->tau);
	memcpy(r->integers, inside->integers, sizeof r->integers);
	free(work);
	free(inside);
	if (!ok)
		diag("%s", e->fault.text);
	return ok;
}

/* Whether every order gives the bits of the host's. */
static bool same_in_orders(
        struct executor *host, const struct plan *plan, enum what operation, struct shape shape)
{
	struct result *plain = xmalloc(sizeof *plain), *other = xmalloc(sizeof *other);
	bool good = run(host, plan, operation, shape, plain);

	for (uint64_t seed = 0; good && seed < ORDERS; seed++) {
		struct executor *e = deferred_new(host, seed);
		host->math = MATH_FP32; /* its operations come split already */
		good = run(e, plan, operation, shape, other) &&
		       memcmp(plain, other, sizeof *plain) == 0;
		if (!good)
			diag("not the same in order %d", (int)seed);
		host->math = e->math;
		executor_free(e);
	}
	free(plain);
	free(other);
	return good;
}

static void test_orders(struct executor *host, const struct plan *plan, enum what operation)
{
	ok(same_in_orders(host, plan, operation, (struct shape){N, N}),
	        "%s %s nb %d%s inverse %d look-ahead %d: any order gives the same",
	        whats[operation].name, plan->hybrid ? "hybrid" : "device", (int)plan->widths[0],
	        plan->count > 1 ? ".." : "", (int)plan->inverse, plan->lookahead);
}

/* Whole and, without the parts that are LU's alone, Cholesky. */
static void test_lawn(struct executor *host, const struct plan *plan)
{
	static const struct shape shapes[] = {{N, N}, {N, 70}, {70, N}};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		ok(same_in_orders(host, plan, LU, shapes[i]),
		        "LU of %d x %d, coarse blocks of %d%s%s%s, inverse %d, look-ahead %d: any "
		        "order gives the same",
		        (int)shapes[i].m, (int)shapes[i].n, (int)plan->coarse,
		        plan->row_major ? ", row-major" : "",
		        plan->single_swaps ? ", single swaps" : "",
		        plan->copies_wait ? ", copies wait" : "", (int)plan->inverse,
		        plan->lookahead);
	for (enum what what = CHOLESKY_LOWER; what < WHATS; what++)
		test_orders(host, plan, what);
}

/* The same bits as without, in any order: R and the other triangle, too. */
static void test_in_place(struct executor *host, const struct plan *plan)
{
	static const struct shape shapes[] = {{N, N}, {N, 70}, {70, N}};
	struct result *with = xmalloc(sizeof *with), *without = xmalloc(sizeof *without);
	struct plan other = *plan;

	other.in_place = false;
	for (enum what what = plan->coarse ? CHOLESKY_LOWER : QR; what < WHATS; what++)
		for (size_t i = 0; i < (what == QR ? ARRAY_LEN(shapes) : 1); i++)
			ok(run(host, plan, what, shapes[i], with) &&
			                run(host, &other, what, shapes[i], without) &&
			                memcmp(with, without, sizeof *with) == 0 &&
			                same_in_orders(host, plan, what, shapes[i]),
			        "%s of %d x %d, nb %d%s, panels in place: as in a stage, in any "
			        "order",
			        whats[what].name, (int)shapes[i].m, (int)shapes[i].n,
			        (int)plan->widths[0], plan->count > 1 ? ".." : "");
	free(with);
	free(without);
}

/* On the transpose to the end, and back from it with 50 columns left, or with all of them. */
static void test_row_major(struct executor *host, const struct plan *plan)
{
	static const struct shape shapes[] = {{N, N}, {N, 70}, {70, N}};
	static const int64_t column_major[] = {0, 50, N};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (size_t k = 0; k < ARRAY_LEN(column_major); k++) {
			host->row_major = 1;
			host->column_major = column_major[k];
			ok(same_in_orders(host, plan, LU, shapes[i]),
			        "LU of %d x %d by rows, %d columns not, nb %d%s look-ahead %d: any "
			        "order gives the same",
			        (int)shapes[i].m, (int)shapes[i].n, (int)column_major[k],
			        (int)plan->widths[0], plan->count > 1 ? ".." : "", plan->lookahead);
		}
	host->row_major = 0;
}

/* Whether other bits come out than in fp32. */
static bool splits_any(struct executor *host, const struct plan *plan, enum what operation)
{
	struct result *split = xmalloc(sizeof *split), *strict = xmalloc(sizeof *strict);
	const enum math math = host->math;
	const struct shape shape = {N, N};
	bool good = run(host, plan, operation, shape, split);

	host->math = MATH_FP32;
	good = good && run(host, plan, operation, shape, strict) &&
	       memcmp(split, strict, sizeof *split) != 0;
	host->math = math;
	free(split);
	free(strict);
	return good;
}

/* Products of split operands, whose stacks and pairs have one room; LU by columns and on the
 * transpose. */
static void test_splits(struct executor *host, const struct plan *plan)
{
	const struct split_limits *kept = host->splits;
	const struct split_limits small = {.side = 8,
	        .depth = 4,
	        .alignment = 4,
	        .use = 8,
	        .tall = 64,
	        .across = 8,
	        .half = true};

	host->splits = &small;
	for (host->math = MATH_3XTF32; host->math < MATHS; host->math++)
		for (int operation = 0; operation <= WHATS; operation++) {
			const bool row_major = operation == WHATS;
			const enum what what = row_major ? LU : (enum what)operation;
			host->row_major = row_major;
			host->column_major = row_major ? N / 2 : 0;
			ok(splits_any(host, plan, what) &&
			                same_in_orders(host, plan, what, (struct shape){N, N}),
			        "%s%s%s nb %d%s inverse %d look-ahead %d: any order gives the same",
			        whats[what].name, row_major ? " by rows" : "",
			        math_title[host->math], (int)plan->widths[0],
			        plan->count > 1 ? ".." : "", (int)plan->inverse, plan->lookahead);
		}
	host->row_major = host->column_major = 0;
	host->math = MATH_FP32;
	host->splits = kept;
}

/* Matrices that are not aligned, in copies that are. */
static void test_aligned(struct executor *host, const struct plan *plan)
{
	const int64_t from = host->aligned_from;

	host->aligned_from = 1;
	for (int operation = 0; operation < WHATS; operation++)
		ok(same_in_orders(host, plan, (enum what)operation, (struct shape){N, N}),
		        "%s in a copy, look-ahead %d: any order gives the same",
		        whats[operation].name, plan->lookahead);
	host->aligned_from = from;
}

/* The orders must differ where nothing forbids it: two queues write one number. */
static void test_deferred(struct executor *host)
{
	bool seen[3] = {false};

	for (int waits = 0; waits < 2; waits++) {
		memset(seen, 0, sizeof seen);
		for (uint64_t seed = 0; seed < ORDERS; seed++) {
			struct executor *e = deferred_new(host, seed);
			float x = 0;
			struct matrix a = {&x, 0, 1, 1, 1, SINGLE};
			bool good = ex_fill(e, WHOLE, 0, 1, a) && ex_record(e, 0);
			e->queue = QUEUE_PANEL;
			good = good && (!waits || ex_wait(e, 0)) && ex_fill(e, WHOLE, 0, 2, a) &&
			       e->ops->sync(e);
			seen[good ? (int)x : 0] = true;
			executor_free(e);
		}
		ok(!seen[0] && seen[2] && seen[1] == !waits,
		        waits ? "a wait leaves one order" : "without a wait both orders occur");
	}
}

/* Panels that fit in a core's cache are one thread's, however many OpenBLAS has. */
static void test_threads(void)
{
	enum { ROWS = 4000, COLUMNS = 64, MOST = 4 };
	struct fault fault;
	float *a[2][MOST], tau[COLUMNS];
	int ipiv[COLUMNS + 1];
	const int kept = openblas_get_num_threads();
	bool good = true;

	for (int threads = 0; threads < MOST; threads++) {
		openblas_set_num_threads(threads + 1);
		struct executor *host = executor_host_new(&fault);
		for (int i = 0; i < 2; i++)
			a[i][threads] = test_matrix(ROWS, ROWS, COLUMNS, SINGLE, MATRIX_RANDOM);
		struct matrix lu = {a[0][threads], 0, ROWS, COLUMNS, ROWS, SINGLE}, qr = lu;
		qr.data = a[1][threads];
		good = ex_host_panel_getrf(host, lu, (struct pivots){ipiv, COLUMNS}, NULL) &&
		       ex_host_panel_geqrf(
		               host, qr, (struct matrix){tau, 0, COLUMNS, 1, COLUMNS, SINGLE}) &&
		       good;
		executor_free(host);
	}
	openblas_set_num_threads(kept);
	for (int i = 0; i < 2; i++)
		for (int threads = 0; threads < MOST; threads++) {
			good = good &&
			       !memcmp(a[i][0], a[i][threads], sizeof(float) * ROWS * COLUMNS);
			if (threads > 0)
				free(a[i][threads]);
		}
	free(a[0][0]);
	free(a[1][0]);
	ok(good, "host panels of %d x %d: the same bits by 1 to %d threads", ROWS, COLUMNS, MOST);
}

int main(void)
{
	test_threads();

	struct fault fault;
	struct executor *host = executor_host_new(&fault);

	test_deferred(host);
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		for (int operation = 0; operation < WHATS; operation++)
			test_orders(host, &plans[i], (enum what)operation);
		if (!plans[i].hybrid && !plans[i].inverse)
			test_row_major(host, &plans[i]);
		test_splits(host, &plans[i]);
		test_aligned(host, &plans[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(lawn); i++)
		test_lawn(host, &lawn[i]);
	for (size_t i = 0; i < ARRAY_LEN(in_place); i++)
		test_in_place(host, &in_place[i]);
	executor_free(host);
	return finish();
}
