/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt on the host beyond test_gram_schmidt.c: the first columns alone, the same bits with
 * any number of threads, matrices of low rank, and the loops as other compilers make them. */
#include "tests/algorithms/factor_test.h"

#include "factor/algorithms/gram_schmidt.h"
#include "factor/executors/host/executor_host_gram.h"
#include "factor/papers/gram_compilers.h"
#include "factor/kernels/gram_schmidt/gram_threads.h"

#include <inttypes.h>
#include <omp.h>
#include <unistd.h>

struct problem {
	struct matrix a, r; /* r: k x n */
	void *before;
	int info;
};

static struct problem problem_new(int64_t m, int64_t n, int64_t k, enum precision precision)
{
	const int64_t ld = m + 3, word = precision_bytes(precision);
	struct problem p = {
	        .a = {NULL, 0, m, n, ld, precision}, .r = {NULL, 0, k, n, k, precision}};

	p.a.data = xcalloc((size_t)(ld * n), (size_t)word);
	p.r.data = xcalloc((size_t)(k * n), (size_t)word);
	p.before = xcalloc((size_t)(ld * n), (size_t)word);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(p.before, i + j * ld, precision, test_random(3 + (uint64_t)j, i));
	return p;
}

static void problem_free(struct problem *p)
{
	free(p->a.data);
	free(p->r.data);
	free(p->before);
}

static bool run(struct executor *e, struct problem *p, const char *form, int64_t nb)
{
	const size_t bytes = (size_t)(p->a.ld * p->a.n * precision_bytes(p->a.precision));
	int64_t room = gram_schmidt_work(e, form, nb, p->a);
	void *work = room >= 0 ? xmalloc((size_t)room + 1) : NULL;

	memcpy(p->a.data, p->before, bytes);
	bool good =
	        room >= 0 && gram_schmidt_first(e, form, nb, p->r.m, p->a, p->r, work, &p->info);
	free(work);
	return good;
}

static double at(struct matrix a, int64_t i, int64_t j)
{
	return get(a.data, i + j * a.ld, a.precision);
}

/* The largest |q_i^T q_j - (i == j)| of the first k columns, and |q_i^T a_j| of the others, over
 * the norm that those had; the largest element of A - Q R - what is left. Dependent columns are
 * zeros. */
static void errors(const struct problem *p, double *orthogonality, double *residual)
{
	const int64_t m = p->a.m, k = p->r.m;

	*orthogonality = *residual = 0;
	for (int64_t j = 0; j < p->a.n; j++) {
		for (int64_t i = 0; i < k && (j >= k || i <= j); i++) {
			bool zero = at(p->r, i, i) == 0;
			double dot = j == i && !zero ? -1 : 0;
			for (int64_t l = 0; l < m; l++)
				dot += at(p->a, l, i) * at(p->a, l, j);
			*orthogonality =
			        worse(*orthogonality, fabs(dot) / (j < k ? 1 : sqrt((double)m)));
		}
		for (int64_t l = 0; l < m; l++) {
			double left = get(p->before, l + j * p->a.ld, p->a.precision);
			for (int64_t i = 0; i < k && i <= j; i++)
				left -= at(p->a, l, i) * at(p->r, i, j);
			*residual = worse(*residual, fabs(j < k ? left : left - at(p->a, l, j)));
		}
	}
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
			struct problem p = problem_new(203, 40, first[f], w % 2 ? SINGLE : DOUBLE);
			const double u = unit_roundoff(p.a.precision);
			double orthogonality, residual;
			bool ran = run(e, &p, way[w].form, way[w].nb);
			errors(&p, &orthogonality, &residual);
			ok(ran && p.info == 0 && orthogonality < 100 * u && residual < 100 * u,
			        "%s, %" PRId64 " of 40 columns: orthogonality %.2g u, residual "
			        "%.2g u",
			        way[w].form, first[f], orthogonality / u, residual / u);
			problem_free(&p);
		}
	struct problem p = problem_new(50, 10, 10, SINGLE);
	p.r.m = 11;
	ok(!run(e, &p, "fused", 0) && strstr(e->fault.text, "not so many"), "refused: %s",
	        e->fault.text);
	p.r.m = 5;
	ok(!run(e, &p, "twice", 4) && strstr(e->fault.text, "not by"), "refused: %s",
	        e->fault.text);
	problem_free(&p);
}

static void test_threads(struct executor *e)
{
	static const char *const forms[] = {"kernels", "fused", "blocked"};
	const int most = omp_get_max_threads();

	for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
		struct problem p = problem_new(3000, 97, 97, SINGLE);
		const size_t words = (size_t)(p.a.ld * p.a.n);
		bool ran = true, same = true;
		float *first = xmalloc(words * sizeof *first);
		for (int threads = 1; threads <= 4; threads++) {
			omp_set_num_threads(threads);
			ran = run(e, &p, forms[f], 16) && ran;
			if (threads == 1)
				memcpy(first, p.a.data, words * sizeof *first);
			same = same && memcmp(first, p.a.data, words * sizeof *first) == 0;
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
	struct problem p = problem_new(200, PINNED_COLUMNS, PINNED_COLUMNS, SINGLE);
	float sums[PINNED_COLUMNS], want[PINNED_COLUMNS];
	struct gram_schmidt g = {.a = p.a, .r = p.r, .info = &p.info, .work = sums};

	memcpy(p.a.data, p.before, (size_t)(p.a.ld * p.a.n) * sizeof(float));
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

/* Columns from the fifth on are sums of the first four; the ninth is zero. */
static void test_low_rank(struct executor *e)
{
	for (size_t f = 0; gram_schmidt_forms[f]; f++) {
		const char *form = gram_schmidt_forms[f];
		struct problem p = problem_new(120, 20, 20, DOUBLE);
		double orthogonality, residual;
		int zeros = 0;
		for (int64_t j = 4; j < 20; j++)
			for (int64_t i = 0; i < 120; i++) {
				double sum = 0;
				for (int64_t c = 0; c < 4 && j != 8; c++)
					sum += test_random(60 + (uint64_t)j, c) *
					       get(p.before, i + c * p.a.ld, DOUBLE);
				put(p.before, i + j * p.a.ld, DOUBLE, sum);
			}
		if (gram_schmidt_work(e, form, 6, p.a) < 0) {
			problem_free(&p);
			continue; /* not a form of the host */
		}
		bool ran = run(e, &p, form, 6);
		errors(&p, &orthogonality, &residual);
		for (int64_t j = 0; j < 20; j++)
			zeros += at(p.r, j, j) == 0;
		ok(ran && p.info == 5 && zeros == 16 && orthogonality < 1e-13 && residual < 1e-13,
		        "%s, rank 4 of 20 columns: info %d, %d columns of zeros, orthogonality "
		        "%.1e, residual %.1e",
		        form, p.info, zeros, orthogonality, residual);
		problem_free(&p);
	}
}

static void test_compilers(struct executor *e)
{
	for (const char *const *c = gram_compilers; *c; c++) {
		const struct gram_loops *loops = gram_loops_by(*c);
		if (!loops) {
			ok(true, "%s # SKIP not there when this was built", *c);
			continue;
		}
		host_gram_use(e, loops);
		for (int64_t m = 37; m < 5000; m += 2311) {
			struct problem p = problem_new(m, 30, 30, SINGLE);
			double orthogonality, residual;
			bool blocked = run(e, &p, "blocked", 7);
			errors(&p, &orthogonality, &residual);
			bool good = orthogonality < 1e-5 && residual < 1e-5;
			bool unblocked = run(e, &p, "kernels", 0);
			errors(&p, &orthogonality, &residual);
			ok(blocked && unblocked && good && orthogonality < 1e-5 && residual < 1e-5,
			        "%s %.20s, %" PRId64 " rows: orthogonality %.1e, residual %.1e", *c,
			        loops->compiler, m, orthogonality, residual);
			problem_free(&p);
		}
		host_gram_use(e, NULL);
	}
	ok(gram_loops_by("nobody") == NULL, "an unknown compiler has none");
}

int main(void)
{
	struct fault fault;
	struct executor *e = executor_host_new(&fault);

	test_first(e);
	test_threads(e);
	test_help();
	test_low_rank(e);
	test_compilers(e);
	executor_free(e);
	return finish();
}
