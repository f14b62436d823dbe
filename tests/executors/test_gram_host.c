/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt on the host beyond test_gram_schmidt.c: the first columns alone, the same bits with
 * any number of threads, matrices of low rank, and the loops as other compilers make them. */
#include "tests/algorithms/gram_test.h"

#include "factor/executors/host/executor_host_gram.h"
#include "factor/papers/gram_compilers.h"
#include "factor/kernels/gram_schmidt/gram_threads.h"

#include <omp.h>
#include <unistd.h>

/* A matrix without special columns. */
static struct problem problem_of(
        int64_t m, int64_t n, int64_t nb, enum precision precision, const char *form)
{
	struct problem p = problem_new(&(struct shape){m, n, 3, nb}, precision, form);

	fill_conditioned(&p, 3);
	return p;
}

static void test_first(struct executor *e)
{
	static const struct {
		const char *form;
		int64_t nb;
	} way[] = {{"blas", 0}, {"kernels", 0}, {"fused", 0}, {"blocked", 5}, {"blocked", 64}};
	static const int64_t first[] = {1, 7, 30, 40};

	for (size_t w = 0; w < ARRAY_LEN(way); w++)
		for (size_t f = 0; f < ARRAY_LEN(first); f++) {
			struct problem p = problem_of(
			        203, 40, way[w].nb, w % 2 ? SINGLE : DOUBLE, way[w].form);
			p.first = first[f];
			bool ran = run(e, &p);
			const struct measures found = measure(&p);
			ok(ran && p.info == 0 && found.orthogonality < 10 && found.residual < 10,
			        "%s, %" PRId64 " of 40 columns: orthogonality %.2g, residual %.2g",
			        way[w].form, first[f], found.orthogonality, found.residual);
			problem_free(&p);
		}
	struct matrix a = {NULL, 0, 50, 10, 50, SINGLE};
	ok(!gram_schmidt_first(e, "fused", 0, 11, a, a, NULL, NULL) &&
	                strstr(e->fault.text, "not so many"),
	        "refused: %s", e->fault.text);
	ok(!gram_schmidt_first(e, "twice", 4, 5, a, a, NULL, NULL) &&
	                strstr(e->fault.text, "not by"),
	        "refused: %s", e->fault.text);
}

static void test_threads(struct executor *e)
{
	static const char *const forms[] = {"kernels", "fused", "blocked"};
	const int most = omp_get_max_threads();

	for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
		struct problem p = problem_of(3000, 97, 16, SINGLE, forms[f]);
		const size_t bytes = (size_t)(p.lda * p.n) * sizeof(float);
		bool ran = true, same = true;
		void *first = xmalloc(bytes);
		for (int threads = 1; threads <= 4; threads++) {
			omp_set_num_threads(threads);
			ran = run(e, &p) && ran;
			if (threads == 1)
				memcpy(first, p.q, bytes);
			same = same && memcmp(first, p.q, bytes) == 0;
		}
		omp_set_num_threads(most);
		ok(ran && same, "%s: the same bits by 1 to 4 threads", forms[f]);
		free(first);
		problem_free(&p);
	}
}

/* Loops of which the first thread's take long. */
enum { PINNED = 4, PINNED_COLUMNS = 64 };
static int taken[PINNED];

static float slow_dot(int64_t m, const float *x, const float *y)
{
	const int thread = omp_get_thread_num();

	if (thread == 0)
		usleep(20000);
	taken[thread]++;
	return gram_loops()->s.dot(m, x, y);
}

static void test_help(void)
{
	struct gram_loops slow = *gram_loops();
	slow.s.dot = slow_dot;
	const struct gram_threads pinned = {&slow, PINNED, 0}, one = {gram_loops(), 1, 0};
	struct problem p = problem_of(200, PINNED_COLUMNS, 1, SINGLE, "fused");
	float sums[PINNED_COLUMNS], want[PINNED_COLUMNS];
	struct gram_schmidt g = {.a = {p.before, 0, p.m, p.n, p.lda, SINGLE},
	        .r = {p.r, 0, p.n, p.n, p.ldr, SINGLE},
	        .info = &p.info,
	        .work = sums};

	gram_threads_dots(&pinned, &g, 1);
	g.work = want;
	gram_threads_dots(&one, &g, 1);
	ok(memcmp(sums + 1, want + 1, (PINNED_COLUMNS - 1) * sizeof *sums) == 0,
	        "the same dot products");
	ok(taken[0] + taken[1] + taken[2] + taken[3] == PINNED_COLUMNS - 1,
	        "each by one of the threads");
	ok(taken[0] < PINNED_COLUMNS / PINNED,
	        "the other threads take over columns of a slow one: it has %d", taken[0]);
	problem_free(&p);
}

/* Columns that fit caches, by a call in a thread of a parallel region, where OpenMP has no more
 * threads. */
static void test_fewer_threads(void)
{
	enum { COLUMNS = 64, HELD = 1 << 20 };
	const struct gram_threads pinned = {gram_loops(), 4, HELD}, one = {gram_loops(), 1, HELD};
	struct problem p = problem_of(200, COLUMNS, 1, SINGLE, "fused");
	const struct matrix a = {p.before, 0, p.m, p.n, p.lda, SINGLE};
	float got[COLUMNS] = {0}, want[COLUMNS];
	int threads = 0;

	gram_threads_norms(&one, a, (struct matrix){want, 0, COLUMNS, 1, COLUMNS, SINGLE});
	omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		threads = omp_get_num_threads();
		gram_threads_norms(
		        &pinned, a, (struct matrix){got, 0, COLUMNS, 1, COLUMNS, SINGLE});
	}
	ok(memcmp(got, want, sizeof got) == 0,
	        "all columns by fewer threads than asked for, inside of a region of %d", threads);
	problem_free(&p);
}

/* Columns from the fifth on are sums of the first four; the ninth is zero. */
static void test_low_rank(struct executor *e, const char *form)
{
	struct problem p = problem_of(120, 20, 6, DOUBLE, form);
	struct matrix a = {NULL, 0, 120, 20, 123, DOUBLE};
	int zeros = 0;

	for (int64_t j = 4; j < 20; j++)
		for (int64_t i = 0; i < 120; i++) {
			double sum = 0;
			for (int64_t c = 0; c < 4 && j != 8; c++)
				sum += test_random(60 + (uint64_t)j, c) *
				       get_at(p.before, p.lda, i, c, DOUBLE);
			put(p.before, i + j * p.lda, DOUBLE, sum);
		}
	if (gram_schmidt_work(e, form, 6, a) >= 0) { /* a form of the host */
		bool ran = run(e, &p);
		const struct measures found = measure(&p);
		for (int64_t j = 0; j < 20; j++)
			zeros += get_at(p.r, p.ldr, j, j, DOUBLE) == 0;
		ok(ran && p.info == 5 && zeros == 16 && found.orthogonality < 100 &&
		                found.residual < 100,
		        "%s, rank 4 of 20 columns: info %d, %d columns of zeros, orthogonality "
		        "%.1e, residual %.1e",
		        form, p.info, zeros, found.orthogonality, found.residual);
	}
	problem_free(&p);
}

static void test_compilers(struct executor *e)
{
	static const char *const forms[] = {"blocked", "kernels"};

	for (const char *const *c = gram_compilers; *c; c++) {
		const struct gram_loops *loops = gram_loops_by(*c);
		if (!loops) {
			skip(*c, "not there when this was built");
			continue;
		}
		host_gram_use(e, loops);
		for (int64_t m = 37; m < 5000; m += 2311)
			for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
				struct problem p = problem_of(m, 30, 7, SINGLE, forms[f]);
				bool ran = run(e, &p);
				const struct measures found = measure(&p);
				ok(ran && found.orthogonality < 30 && found.residual < 30,
				        "%s %.20s, %s, %" PRId64
				        " rows: orthogonality %.1e, residual %.1e",
				        *c, loops->compiler, forms[f], m, found.orthogonality,
				        found.residual);
				problem_free(&p);
			}
		host_gram_use(e, NULL);
	}
	ok(gram_loops_by("nobody") == NULL && gram_plain_by("nobody") == NULL,
	        "an unknown compiler has none");
}

/* The paper's code into p, with sizes at run time or fixed ones. */
static void run_plain(struct problem *p, const struct gram_plain *plain, bool fixed)
{
	const int64_t ld = fixed ? GRAM_FIXED_LD : p->lda;
	float *q = xcalloc((size_t)(ld * p->n), sizeof *q);
	float *r = xcalloc((size_t)(p->n * p->n), sizeof *r);

	for (int64_t j = 0; j < p->n; j++)
		for (int64_t i = 0; i < p->m; i++)
			q[i + j * ld] = (float)get_at(p->before, p->lda, i, j, SINGLE);
	if (fixed)
		plain->fixed((float(*)[GRAM_FIXED_LD])q, (float(*)[GRAM_FIXED])r);
	else
		plain->sized(p->m, p->n, q, ld, r, p->n);
	for (int64_t j = 0; j < p->n; j++) {
		for (int64_t i = 0; i < p->m; i++)
			put(p->q, i + j * p->lda, SINGLE, q[i + j * ld]);
		for (int64_t i = 0; i < p->n; i++)
			put(p->r, i + j * p->ldr, SINGLE, r[i + j * p->n]);
	}
	free(q);
	free(r);
}

static void test_plain(void)
{
	for (const char *const *c = gram_compilers; *c; c++) {
		const struct gram_plain *plain = gram_plain_by(*c);
		for (int fixed = 0; plain && fixed <= (plain->fixed != NULL); fixed++) {
			const int64_t m = fixed ? GRAM_FIXED : 203, n = fixed ? GRAM_FIXED : 40;
			struct problem p = problem_of(m, n, 1, SINGLE, "kernels");
			run_plain(&p, plain, fixed);
			const struct measures found = measure(&p);
			ok(found.orthogonality < 30 && found.residual < 30,
			        "%s, the paper's code, %s sizes: orthogonality %.1e, residual %.1e",
			        *c, fixed ? "fixed" : "any", found.orthogonality, found.residual);
			problem_free(&p);
		}
	}
}

int main(void)
{
	struct fault fault;
	struct executor *e = executor_host_new(&fault);

	test_first(e);
	test_threads(e);
	test_help();
	test_fewer_threads();
	for (size_t f = 0; gram_schmidt_forms[f]; f++)
		test_low_rank(e, gram_schmidt_forms[f]);
	test_compilers(e);
	test_plain();
	executor_free(e);
	return finish();
}
