/* SPDX-License-Identifier: MIT */
/* The host's reference factorizations run on all threads of the BLAS, though host executors, which
 * set it to one thread, exist beside them. A run without its core is disturbed, also where the
 * matrix is in the memory of a GPU. */
#include "tests/tap.h"

#include "factor/executors/host/executor_host.h"
#include "factor/validation/timing_whole.h"

#include <float.h>
#include <lapacke.h>
#include <time.h>

int openblas_get_num_threads(void);

static int threads_seen;
static bool sleeps; /* as when others have the core */
static volatile sig_atomic_t never;

/* In place of the library's: notes the threads; its result is none. */
lapack_int LAPACKE_sgetrf(
        int layout, lapack_int m, lapack_int n, float *a, lapack_int lda, lapack_int *ipiv)
{
	(void)a, (void)lda;
	threads_seen = openblas_get_num_threads();
	if (sleeps)
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	for (lapack_int i = 0; i < (m < n ? m : n); i++)
		ipiv[i] = i + 1;
	return layout == LAPACK_COL_MAJOR ? 0 : -1;
}

/* A host executor in place of a GPU's; on cores that are never shared. */
static void test_held(struct executor *e)
{
	const struct whole whole = {.operation = GETRF};
	struct core_noise unshared = {.cores = 1};
	const struct timing_plan plan = {.max_seconds = 0.01,
	        .target = 0.01,
	        .seed = 3,
	        .ld = 64,
	        .stop = &never,
	        .noise = &unshared};
	struct fault fault = {.text = ""};
	struct whole_entry entry = {.executor = e, .whole = whole};
	struct candidate lapacke = candidate_lapacke(&entry);

	e->on_host = false;
	sleeps = true;
	timing_whole(e, &whole, SINGLE, 64, 64, &plan, &lapacke, 1, &fault);
	ok(lapacke.disturbed, "runs without their core are disturbed");
	sleeps = false;
	e->on_host = true;
}

int main(void)
{
	const int all = openblas_get_num_threads();
	const struct whole whole = {.operation = GETRF};
	const struct timing_plan once = {
	        .max_seconds = 1, .long_seconds = DBL_MIN, .seed = 3, .ld = 64, .stop = &never};
	struct fault fault = {.text = ""};
	struct executor *e = executor_host_new(&fault);
	struct whole_entry entry = {.executor = e, .whole = whole};
	struct candidate lapacke = candidate_lapacke(&entry);

	ok(e && openblas_get_num_threads() == 1, "beside an executor the BLAS has one thread");
	timing_whole(e, &whole, SINGLE, 64, 64, &once, &lapacke, 1, &fault);
	ok(threads_seen == all, "LAPACKE gets all %d, not %d", all, threads_seen);
	ok(openblas_get_num_threads() == 1, "and leaves one");
	test_held(e);
	executor_free(e);
	ok(openblas_get_num_threads() == all, "all are there again");
	return finish();
}
