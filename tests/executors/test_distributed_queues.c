/* SPDX-License-Identifier: MIT */
/* Whether the distributed factorizations and solves wait for what they need: on one rank, all
 * orders that queues and events allow must give the same bits. A panel that its owner packs is
 * written where other ranks receive it, in the same queue. On two process rows the test is the
 * first one; what the second would send is made up, in the queue that receives it. */
#include "tests/algorithms/factor_test.h"

#include "deferred.h"

#include "factor/distributed/distributed.h"

enum { ORDERS = 40, N = 90, NB = 16, NRHS = 3 };

enum what { LU, CHOLESKY, QR, WHATS };
static const char *const what_name[WHATS] = {
        "LU and its solve", "Cholesky and its solve", "QR and least squares"};

/* ---- a process column of two ranks, whose other rank does not exist ---- */

static bool made_up(struct comm *comm, struct executor *e, int slot,
        const struct comm_piece *pieces, int count, const char *what, int64_t index)
{
	bool ok = true;

	(void)slot;
	(void)what;
	(void)index;
	for (int i = 0; ok && i < count; i++) {
		const int64_t n = pieces[i].bytes / 4;
		const struct matrix words = {pieces[i].data, 0, n, 1, n, SINGLE};
		if (pieces[i].root != comm->rank)
			ok = ex_fill(e, WHOLE, 0.25, 1, words);
	}
	return ok;
}

static bool here(struct comm *comm, struct executor *e, int slot)
{
	(void)comm;
	(void)e;
	(void)slot;
	return true;
}

static bool sync_all(struct comm *comm, struct executor *e)
{
	(void)comm;
	return e->ops->sync(e);
}

static bool wait_queue(struct comm *comm, struct executor *e)
{
	(void)comm;
	return deferred_arrive(e);
}

static const struct comm_ops half_ops = {NULL, made_up, here, sync_all, wait_queue, NULL};
static struct comm half = {&half_ops, "half", 0, 2, COMM_SECONDS, 0, 1, 2};

/* ---- runs ---- */

struct result {
	float a[N * N], b[N * NRHS], tau[N];
	int integers[N + 1]; /* pivots and info */
};

static int64_t work_of(struct executor *e, enum what what, const struct distributed *a,
        const struct distributed *b)
{
	if (what == QR)
		return gels_distributed_work(e, a, b);
	return what == LU
	               ? max_int64(getrf_distributed_work(e, a), getrs_distributed_work(e, a, b))
	               : max_int64(potrf_distributed_work(e, a), potrs_distributed_work(e, a, b));
}

static bool calls(struct executor *e, enum what what, const struct distributed *a,
        const struct distributed *b, struct result *r, void *work)
{
	struct matrix tau = {r->tau, 0, N, 1, N, SINGLE};
	struct pivots pivots = {r->integers, N};

	if (what == QR)
		return gels_distributed(e, a, tau, b, work);
	if (what == CHOLESKY)
		return potrf_distributed(e, a, work, r->integers) &&
		       potrs_distributed(e, a, b, work);
	return getrf_distributed(e, a, work, pivots) &&
	       getrs_distributed(e, PLAIN, a, pivots, b, work) &&
	       getrs_distributed(e, TRANSPOSED, a, pivots, b, work);
}

static bool run(struct executor *e, const struct grid *grid, enum what what, struct result *r)
{
	struct distributed a = {
	        *grid, {.m = N, .n = N, .nb = NB, .mb = NB}, {r->a, 0, N, N, N, SINGLE}};
	struct distributed b = {
	        *grid, {.m = N, .n = NRHS, .nb = 1, .mb = NB}, {r->b, 0, N, NRHS, N, SINGLE}};
	a.local.m = b.local.m = distributed_rows_before(&a, N);
	const int64_t bytes = work_of(e, what, &a, &b);
	void *work = xmalloc((size_t)bytes);

	memset(work, 0xff, (size_t)bytes);
	memset(r, 0, sizeof *r);
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++)
			r->a[i + j * N] =
			        (float)(what == CHOLESKY ? test_random(1, i + j) + (i == j ? N : 0)
			                                 : test_random(1 + (uint64_t)j, i));
	for (int64_t i = 0; i < N * NRHS; i++)
		r->b[i] = (float)test_random(N + 1, i);
	bool good = calls(e, what, &a, &b, r, work) && e->queue == QUEUE_MAIN && grid_sync(grid, e);
	free(work);
	if (!good)
		diag("%s", e->fault.text);
	return good;
}

static void test_orders(struct executor *host, const struct grid *grid, enum what what)
{
	struct result *plain = xmalloc(sizeof *plain), *other = xmalloc(sizeof *other);
	const enum math math = host->math;
	bool good = true;

	for (uint64_t seed = 0; good && seed < ORDERS; seed++) {
		struct executor *e = deferred_new(host, seed);
		host->math = MATH_FP32; /* its operations come split already */
		good = run(e, grid, what, seed > 0 ? other : plain) &&
		       (seed == 0 || memcmp(plain, other, sizeof *plain) == 0);
		if (!good)
			diag("not the same in order %d", (int)seed);
		host->math = math;
		executor_free(e);
	}
	if (math != MATH_FP32) { /* split operands give other bits */
		host->math = MATH_FP32;
		struct executor *e = deferred_new(host, 0);
		good = good && run(e, grid, what, other) &&
		       memcmp(plain, other, sizeof *plain) != 0;
		executor_free(e);
		host->math = math;
	}
	ok(good, "%s%s%s, process rows %d: any order gives the same", what_name[what],
	        host->row_major ? " by rows" : "", math_title[math], grid_rows(grid));
	free(plain);
	free(other);
}

int main(void)
{
	struct fault fault = {{0}, false};
	struct executor *host = executor_host_new(&fault);
	struct comm *comm = comm_self_new(&fault);
	const struct split_limits small = {.side = 8,
	        .depth = 4,
	        .alignment = 4,
	        .use = 8,
	        .tall = 64,
	        .across = 8,
	        .half = true};

	if (!ok(host && comm, "the host executor and one rank"))
		return finish();
	const struct grid grids[] = {grid_of_row(comm), {&half, comm, &half}};
	for (size_t i = 0; i < ARRAY_LEN(grids); i++) {
		host->splits = &small;
		host->row_major = 0;
		for (host->math = MATH_FP32; host->math < MATHS; host->math++)
			for (int what = 0; what < WHATS; what++)
				test_orders(host, &grids[i], (enum what)what);
		host->row_major = 1;
		for (host->math = MATH_FP32; host->math < MATHS; host->math++)
			test_orders(host, &grids[i], LU);
	}
	comm_free(comm);
	executor_free(host);
	return finish();
}
