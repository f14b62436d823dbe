/* SPDX-License-Identifier: MIT */
/* Rows that name a number of threads have no more, though the host executor gives large products
 * all threads of the BLAS: Gram-Schmidt on the host, and changes by serial libraries. */
#include "tests/tap.h"

#include "factor/executors/host/executor_host.h"
#include "factor/papers/qr_update_serial.h"
#include "factor/validation/matrices.h"
#include "factor/validation/papers/timing_gram_host.h"

#include <float.h>
#include <signal.h>

enum { ALL = 8 };

static int most_asked;
static volatile sig_atomic_t never;

void openblas_set_num_threads(int threads);
int openblas_get_num_threads(void);

/* In place of the library's: note what is asked for. */
void openblas_set_num_threads(int threads)
{
	most_asked = threads > most_asked ? threads : most_asked;
}

int openblas_get_num_threads(void)
{
	return ALL;
}

/* ---- Gram-Schmidt ---- */

/* gemv of the first column, and products of the blocks, are large enough for all threads. */
static void test_gram(struct executor *e, const char *form, int64_t nb, int threads)
{
	enum { M = 3000, COLUMNS = 3000, BLOCK_COLUMNS = 128 };
	const int64_t n = nb ? BLOCK_COLUMNS : COLUMNS;
	const struct gram_run run = {.form = form, .nb = nb, .k = nb ? n : 2, .threads = threads};
	const struct timing_plan once = {
	        .max_seconds = 1, .long_seconds = DBL_MIN, .seed = 3, .ld = M, .stop = &never};
	struct fault fault = {.text = ""};
	struct candidate candidate;

	most_asked = 0;
	const bool timed =
	        timing_gram_host(e, NULL, NULL, SINGLE, M, n, &run, &once, &candidate, 1, &fault);
	ok(timed && candidate.seconds.value > 0 && most_asked == threads,
	        "%s by %d threads: the BLAS has %d", form, threads, most_asked);
	host_threads_begin(true);
	host_threads_end();
	ok(most_asked == ALL, "all %d are there again, not %d", ALL, most_asked);
}

/* ---- serial libraries ---- */

static struct matrix new_matrix(struct executor *e, int64_t m, int64_t n)
{
	struct matrix a = {NULL, 0, m, n, m, SINGLE};

	e->ops->alloc(e, m * n * (int64_t)sizeof(float), &a.data);
	ex_fill(e, WHOLE, 0, 0, a);
	return a;
}

/* Q is the unit matrix. */
static void test_serial(struct executor *e, enum serial_library library)
{
	enum { M = 600, N = 300, P = 24 };
	struct qr_factors f = {.m = M,
	        .n = N,
	        .kept = Q_FULL,
	        .q = new_matrix(e, M, M),
	        .r = new_matrix(e, M, N + P),
	        .d = new_matrix(e, M, 1)};
	struct matrix u = new_matrix(e, M, P), b = new_matrix(e, M, 1);
	int info = -1;

	ex_fill(e, WHOLE, 0, 1, f.q);
	ex_fill(e, WHOLE, 0, 1, f.r);
	matrix_fill(u.data, M, M, P, SINGLE, MATRIX_RANDOM, 5);
	const int64_t bytes = qr_serial_work(e, &f, QR_ADD_COLUMNS, P, library);
	void *work = NULL;
	if (bytes < 0) {
		ok(library == SERIAL_QRUPDATE, "%s", e->fault.text);
	} else {
		e->ops->alloc(e, bytes, &work);
		most_asked = 0;
		const bool done =
		        qr_serial_change(e, &f, QR_ADD_COLUMNS, N, P, u, b, work, &info, library);
		ok(done && most_asked <= 1, "columns added by %s: the BLAS has %d threads",
		        serial_library_name[library], most_asked);
		e->ops->release(e, work);
	}
	e->ops->release(e, f.q.data);
	e->ops->release(e, f.r.data);
	e->ops->release(e, f.d.data);
	e->ops->release(e, u.data);
	e->ops->release(e, b.data);
}

int main(void)
{
	struct fault fault = {.text = ""};
	struct executor *e = executor_host_new(&fault);

	test_gram(e, "blas", 0, 1);
	test_gram(e, "block", 32, 1);
	test_gram(e, "twice", 32, 2);
	test_serial(e, SERIAL_LAPACK);
	test_serial(e, SERIAL_QRUPDATE);
	executor_free(e);
	return finish();
}
