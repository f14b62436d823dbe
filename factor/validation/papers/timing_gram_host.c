/* SPDX-License-Identifier: MIT */
#include "timing_gram_host.h"

#include "lib/base/msg.h"
#include "factor/algorithms/gram_schmidt.h"
#include "factor/executors/host/executor_host_gram.h"
#include "factor/validation/check.h"
#include "factor/validation/matrices.h"

#include <float.h>
#include <inttypes.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { COLUMNS_CHECKED = 6, ALIGNMENT = 64 };

struct fixture {
	struct timing_fixture fixture; /* problem: a, x (R) and info */
	const struct core_noise *noise;
	int threads, core; /* that are bound, and where the first of them is */
};

struct way {
	struct fixture *fixture;
	const struct gram_run *run;
};

/* ---- threads ---- */

/* Again when the calling thread, the first of them, has got another core since: it may be that of
 * one of the others. */
static void bind(struct fixture *s, int threads)
{
	omp_set_num_threads(threads);
	if (!s->noise || threads > s->noise->cores ||
	        (s->threads == threads && s->core == s->noise->order[0]))
		return;
	s->threads = threads;
	s->core = s->noise->order[0];
#pragma omp parallel num_threads(threads)
	{
		char got[128];
#pragma omp critical
		topology_bind(s->noise->topology, -1, s->noise->order[omp_get_thread_num()], got);
	}
}

/* ---- matrices: element i of column j is the i-th number of the column's own sequence ---- */

static double next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 40) + 0.5) / (1 << 23) - 1;
}

static uint64_t sequence(const struct fixture *s, int64_t j)
{
	uint64_t state = s->fixture.plan->seed * 2654435761u + (uint64_t)j;

	next(&state);
	next(&state);
	return state;
}

static void put(struct matrix a, int64_t i, int64_t j, double x)
{
	if (a.precision == SINGLE)
		((float *)a.data)[i + j * a.ld] = (float)x;
	else
		((double *)a.data)[i + j * a.ld] = x;
}

static double get(struct matrix a, int64_t i, int64_t j)
{
	return a.precision == SINGLE ? (double)((const float *)a.data)[i + j * a.ld]
	                             : ((const double *)a.data)[i + j * a.ld];
}

static void fill(struct fixture *s)
{
	const struct matrix a = s->fixture.problem.a;

#pragma omp parallel for schedule(static)
	for (int64_t j = 0; j < a.n; j++) {
		uint64_t state = sequence(s, j);
		for (int64_t i = 0; i < a.m; i++)
			put(a, i, j, next(&state));
	}
}

/* ---- candidates ---- */

static struct matrix r_of(const struct way *way)
{
	const struct timing_problem *p = &way->fixture->fixture.problem;

	return matrix_view(p->x, 0, 0, way->run->k, p->a.n);
}

static bool prepare(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct way *way = candidate->context;
	struct executor *e = way->fixture->fixture.executor;
	int64_t bytes = gram_schmidt_work(e, way->run->form, way->run->nb, problem->a);

	return timing_lift(e, bytes >= 0 && e->ops->alloc(e, bytes, &candidate->work), fault);
}

static bool before(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct way *way = candidate->context;
	struct executor *e = way->fixture->fixture.executor;

	(void)problem;
	bind(way->fixture, way->run->threads);
	host_gram_use(e, way->run->loops);
	fill(way->fixture);
	return timing_lift(e, ex_fill(e, WHOLE, NAN, NAN, r_of(way)), fault);
}

static bool run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct way *way = candidate->context;
	struct executor *e = way->fixture->fixture.executor;
	bool ok = gram_schmidt_first(e, way->run->form, way->run->nb, way->run->k, problem->a,
	        r_of(way), candidate->work, problem->pivots.data);

	return timing_lift(e, ok, fault);
}

static bool restore(struct timing_fixture *fixture, struct fault *fault)
{
	(void)fixture;
	(void)fault;
	return true; /* before does it, with the candidate's threads */
}

/* ---- checks, of some columns ---- */

/* y := Q x - Q has k columns - less what y was */
static void product(const struct fixture *s, int64_t k, const double *x, double *y)
{
	const struct matrix a = s->fixture.problem.a;

#pragma omp parallel for schedule(static)
	for (int64_t i = 0; i < a.m; i++) {
		double sum = 0;
		for (int64_t j = 0; j < k; j++)
			sum += get(a, i, j) * x[j];
		y[i] = sum - y[i];
	}
}

/* The largest |q_j^T y - x_j|. */
static double largest_dot(const struct fixture *s, int64_t k, const double *y, const double *x)
{
	const struct matrix a = s->fixture.problem.a;
	double largest = 0;

#pragma omp parallel for schedule(static) reduction(max : largest)
	for (int64_t j = 0; j < k; j++) {
		double sum = -x[j];
		for (int64_t i = 0; i < a.m; i++)
			sum += get(a, i, j) * y[i];
		largest = sum != sum ? INFINITY : fmax(largest, fabs(sum));
	}
	return largest;
}

static double norm(const double *x, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sqrt(sum);
}

/* Of column c, over its norm: what Q R, and what is left of it, leave of the column; and what is
 * left in the direction of a column of Q. y: m words, x: k */
static void check_column(const struct fixture *s, int64_t k, int64_t c, double *y, double *x,
        struct candidate *candidate)
{
	const struct timing_problem *p = &s->fixture.problem;
	const int64_t m = p->a.m;
	uint64_t state = sequence(s, c);

	for (int64_t j = 0; j < k; j++)
		x[j] = get(p->x, j, c);
	for (int64_t i = 0; i < m; i++)
		y[i] = p->a.precision == SINGLE ? (double)(float)next(&state) : next(&state);
	const double whole = norm(y, m);
	for (int64_t i = 0; i < m && c >= k; i++)
		y[i] -= get(p->a, i, c);
	product(s, k, x, y);
	candidate->residual = fmax(candidate->residual, norm(y, m) / whole);
	for (int64_t i = 0; i < m; i++)
		y[i] = get(p->a, i, c);
	for (int64_t j = 0; j < k; j++)
		x[j] = j == c;
	candidate->orthogonality =
	        fmax(candidate->orthogonality, largest_dot(s, k, y, x) / (c < k ? 1 : whole));
}

/* 1 over the condition of R, k x k: 0 when it is singular. */
static double reciprocal_condition(struct matrix r, lapack_int k)
{
	enum { ROOM = 3 };
	void *work = xmalloc((size_t)(ROOM * k) * sizeof(double));
	lapack_int *integers = xmalloc((size_t)k * sizeof *integers);
	float single = 0;
	double condition = 0;
	lapack_int info = r.precision == SINGLE
	                          ? LAPACKE_strcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', k, r.data,
	                                    (lapack_int)r.ld, &single, work, integers)
	                          : LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', k, r.data,
	                                    (lapack_int)r.ld, &condition, work, integers);
	free(work);
	free(integers);
	return info != 0 ? 0 : r.precision == SINGLE ? (double)single : condition;
}

/* What the column forms may lose of orthogonality, over m u: 10 n^(1/2) u times the condition
 * (Bjorck 1967); no less than the checks of other factorizations allow. */
static double most_lost(const struct fixture *s, int64_t k)
{
	const struct timing_problem *p = &s->fixture.problem;
	const double condition = 1 / reciprocal_condition(p->x, (lapack_int)k);

	return fmax(CHECK_THRESHOLD, 10 * sqrt((double)k) * condition / (double)p->a.m);
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	const struct fixture *s = (const struct fixture *)fixture;
	const struct matrix a = fixture->problem.a;
	const double u = (a.precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
	double *y = xmalloc((size_t)a.m * sizeof *y);
	const int64_t k = ((const struct way *)candidate->context)->run->k;
	double *x = xmalloc((size_t)k * sizeof *x);
	int info = *(const int *)fixture->problem.pivots.data;

	candidate->residual = candidate->orthogonality = 0;
	for (int i = 0; i < COLUMNS_CHECKED; i++)
		check_column(s, k, i * (a.n - 1) / (COLUMNS_CHECKED - 1), y, x, candidate);
	free(x);
	free(y);
	candidate->residual /= (double)a.m * u;
	candidate->orthogonality /= (double)a.m * u;
	return (candidate->residual < CHECK_THRESHOLD &&
	               candidate->orthogonality < most_lost(s, k) && info == 0) ||
	       fault_set(fault, "failed: residual ratio %.3g, orthogonality %.3g, info %d",
	               candidate->residual, candidate->orthogonality, info);
}

/* ---- the fixture ---- */

/* Columns begin at lines, and not at equal places of pages. */
static bool open(struct fixture *s, enum precision precision, int64_t m, int64_t n, int64_t k,
        void **memory, struct fault *fault)
{
	const int64_t word = precision_bytes(precision);
	const int64_t step = ALIGNMENT / word, ld = (m + step - 1) / step * step + 2 * step;
	struct timing_problem *p = &s->fixture.problem;

	p->a = (struct matrix){NULL, 0, m, n, ld, precision};
	p->x = (struct matrix){NULL, 0, k, n, k, precision};
	if (posix_memalign(&memory[0], 4096, (size_t)(ld * n * word)) ||
	        posix_memalign(&memory[1], 4096, (size_t)(k * n * word)) ||
	        posix_memalign(&memory[2], ALIGNMENT, sizeof(int)))
		return fault_set(fault, "no memory for %" PRId64 " x %" PRId64, m, n);
	p->a.data = memory[0];
	p->x.data = memory[1];
	p->pivots = (struct pivots){memory[2], 0};
	return true;
}

bool timing_gram_host(struct executor *host, const struct core_noise *noise, enum precision precision,
        int64_t m, int64_t n, const struct gram_run *runs, const struct timing_plan *plan,
        struct candidate *candidate, size_t count, struct fault *fault)
{
	struct fixture s = {.fixture = {host, plan, {.x = {0}}, restore, check}, .noise = noise};
	struct way *way = xmalloc(count * sizeof *way);
	void *memory[3] = {NULL, NULL, NULL};
	const int threads = omp_get_max_threads();
	int64_t k = 1;

	for (size_t i = 0; i < count; i++) {
		way[i] = (struct way){&s, &runs[i]};
		candidate[i] = (struct candidate){.variant = runs[i].form,
		        .run = run,
		        .prepare = prepare,
		        .before = before,
		        .context = &way[i]};
		k = runs[i].k > k ? runs[i].k : k;
	}
	host->queue = QUEUE_MAIN;
	bool ok = open(&s, precision, m, n, k, memory, fault) &&
	          timing_turns(&s.fixture, candidate, count, fault);
	for (size_t i = 0; i < ARRAY_LEN(memory); i++)
		free(memory[i]);
	free(way);
	host_gram_use(host, NULL);
	omp_set_num_threads(threads);
	return ok;
}
