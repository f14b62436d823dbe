/* SPDX-License-Identifier: MIT */
#include "timing_gram_host.h"
#include "gram_reference.h"

#include "lib/base/msg.h"
#include "factor/algorithms/gram_schmidt.h"
#include "factor/executors/host/executor_host.h"
#include "factor/executors/host/executor_host_gram.h"
#include "factor/validation/fixture.h"
#include "factor/validation/matrices.h"
#include "lib/base/random.h"

#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_CHECKED = 6, ALIGNMENT = 64 };

struct fixture {
	struct timing_fixture fixture; /* problem: a, x (R) and info */
	const struct core_noise *noise;
	int threads, core; /* number of bound threads, core of the first */
};

/* ---- threads ---- */

/* Binds the threads again when the calling thread, which is the first, has changed its core: the
 * new core may be that of another thread. */
static void bind(struct fixture *s, int threads)
{
	omp_set_num_threads(threads);
	host_threads_most(threads);
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
	return ((double)(random_next(state) >> 40) + 0.5) / (1 << 23) - 1;
}

static uint64_t sequence(const struct fixture *s, int64_t j)
{
	uint64_t state = s->fixture.plan->seed * 2654435761u + (uint64_t)j;

	next(&state);
	next(&state);
	return state;
}

static double get(struct matrix a, int64_t i, int64_t j)
{
	return matrix_get(a.data, a.precision, i + j * a.ld);
}

static void fill(struct fixture *s)
{
	const struct matrix a = s->fixture.problem.a;

#pragma omp parallel for schedule(static)
	for (int64_t j = 0; j < a.n; j++) {
		uint64_t state = sequence(s, j);
		for (int64_t i = 0; i < a.m; i++)
			matrix_put(a.data, a.precision, i + j * a.ld, next(&state));
	}
}

/* ---- candidates ---- */

static struct matrix r_of(const struct candidate *candidate)
{
	const struct timing_problem *p = &candidate->fixture->problem;
	const struct gram_run *way = candidate->way;

	return matrix_view(p->x, 0, 0, way->k, p->a.n);
}

/* Whether it is the paper's code, which runs by itself. */
static bool is_plain(const struct gram_run *way)
{
	return strcmp(way->form, "plain") == 0 || strcmp(way->form, "fixed") == 0;
}

static bool run_plain(struct executor *e, const struct timing_problem *p,
        const struct gram_run *way, struct fault *fault)
{
	const struct matrix q = p->a, r = p->x;
	const bool fixed = strcmp(way->form, "fixed") == 0,
	           suits = q.m == GRAM_FIXED && q.n == GRAM_FIXED && q.ld == GRAM_FIXED_LD &&
	                   r.ld == GRAM_FIXED;

	if (!way->plain || q.precision != SINGLE || way->k < q.n ||
	        (fixed && !(way->plain->fixed && suits)))
		return fault_refuse(fault, "the compiler has no such code for this matrix");
	if (!ex_fill(e, WHOLE, 0, 0, r))
		return false;
	if (fixed)
		way->plain->fixed(q.data, r.data);
	else
		way->plain->sized(q.m, q.n, q.data, q.ld, r.data, r.ld);
	*(int *)p->pivots.data = 0;
	return true;
}

static bool prepare(struct candidate *candidate)
{
	const struct gram_run *way = candidate->way;
	struct executor *e = candidate->fixture->executor;

	if (is_plain(way))
		return true;
	return timing_work(candidate, e,
	        gram_schmidt_work(e, way->form, way->nb, candidate->fixture->problem.a));
}

/* Restores the input, by the candidate's threads. */
static bool before(struct candidate *candidate)
{
	const struct gram_run *way = candidate->way;
	struct fixture *s = (struct fixture *)candidate->fixture;
	struct executor *e = candidate->fixture->executor;

	bind(s, way->threads);
	host_gram_use(e, way->loops);
	fill(s);
	return ex_fill(e, WHOLE, NAN, NAN, r_of(candidate));
}

static bool run(struct candidate *candidate)
{
	const struct gram_run *way = candidate->way;
	const struct timing_problem *p = &candidate->fixture->problem;

	if (is_plain(way))
		return run_plain(candidate->fixture->executor, p, way, &candidate->fault);
	return gram_schmidt_first(candidate->fixture->executor, way->form, way->nb, way->k, p->a,
	        r_of(candidate), candidate->work, p->pivots.data);
}

/* ---- checks, of some columns ---- */

/* y := Q x - y; Q has k columns */
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

/* Updates the residual (column c less Q R and less its rest) and the orthogonality (its largest
 * component along another column of Q), both over the column's norm. y: m words, x: k. */
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
	const double whole = sqrt(fixture_dot(y, y, m));
	for (int64_t i = 0; i < m && c >= k; i++)
		y[i] -= get(p->a, i, c);
	product(s, k, x, y);
	candidate->residual = check_worse(candidate->residual, sqrt(fixture_dot(y, y, m)) / whole);
	for (int64_t i = 0; i < m; i++)
		y[i] = get(p->a, i, c);
	for (int64_t j = 0; j < k; j++)
		x[j] = j == c;
	candidate->orthogonality = check_worse(
	        candidate->orthogonality, largest_dot(s, k, y, x) / (c < k ? 1 : whole));
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

/* Limit of orthogonality over m u for column forms: 10 n^(1/2) u times the condition (Bjorck 1967);
 * at least the threshold of the other checks. */
static double most_lost(const struct fixture *s, int64_t k)
{
	const struct timing_problem *p = &s->fixture.problem;
	const double condition = 1 / reciprocal_condition(p->x, (lapack_int)k);

	return fmax(CHECK_THRESHOLD, 10 * sqrt((double)k) * condition / (double)p->a.m);
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	const struct fixture *s = (const struct fixture *)fixture;
	const struct matrix a = fixture->problem.a;
	const double u = check_eps(a.precision);
	double *y = xmalloc((size_t)a.m * sizeof *y);
	const int64_t k = ((const struct gram_run *)candidate->way)->k;
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
	       fault_set(&candidate->fault,
	               "failed: residual ratio %.3g, orthogonality %.3g, info %d",
	               candidate->residual, candidate->orthogonality, info);
}

/* ---- the fixture ---- */

/* Columns begin at cache lines, at different places of pages, unless the run has an lda. */
static bool open(struct fixture *s, enum precision precision, int64_t m, int64_t n,
        const struct gram_run *run, int64_t k)
{
	const int64_t step = ALIGNMENT / precision_bytes(precision);
	const int64_t ld = run->lda ? run->lda : (m + step - 1) / step * step + 2 * step;
	struct timing_problem *p = &s->fixture.problem;
	void *info = NULL;
	bool ok = fixture_matrix(&s->fixture, &p->a, m, n, ld, precision) &&
	          fixture_matrix(&s->fixture, &p->x, k, n, k, precision) &&
	          fixture_alloc(&s->fixture, sizeof(int), &info);

	p->pivots = (struct pivots){info, 0};
	return ok;
}

/* The profile's passes by each run's number of threads. */
static void take_references(struct fixture *s, const struct profile *profile,
        const struct gram_run *runs, size_t count, double *ratio)
{
	for (size_t i = 0; i < count && profile; i++) {
		size_t same = 0;
		while (runs[same].threads != runs[i].threads)
			same++;
		if (same == i)
			bind(s, runs[i].threads);
		ratio[i] = same < i ? ratio[same] : gram_reference(profile, runs[i].threads);
	}
}

bool timing_gram_host(struct executor *host, const struct profile *profile,
        const struct core_noise *noise, enum precision precision, int64_t m, int64_t n,
        const struct gram_run *runs, const struct timing_plan *plan, struct candidate *candidate,
        size_t count, struct fault *fault)
{
	struct fixture s = {
	        .fixture = {.executor = host, .plan = plan, .check = check}, .noise = noise};
	const int threads = omp_get_max_threads();
	int64_t k = 1;

	for (size_t i = 0; i < count; i++) {
		candidate[i] = (struct candidate){.variant = runs[i].form,
		        .run = run,
		        .prepare = prepare,
		        .before = before,
		        .way = &runs[i]};
		k = runs[i].k > k ? runs[i].k : k;
	}
	host->queue = QUEUE_MAIN;
	double *before = xcalloc(2 * count, sizeof *before), *after = before + count;
	take_references(&s, profile, runs, count, before);
	bool ok = fixture_time(
	        &s.fixture, open(&s, precision, m, n, runs, k), candidate, count, fault);
	take_references(&s, profile, runs, count, after);
	for (size_t i = 0; i < count && profile && !isnan(before[i] + after[i]); i++) {
		candidate[i].reference[0] = before[i];
		candidate[i].reference[1] = after[i];
		if (gram_reference_slow(before[i], after[i]))
			candidate[i].disturbed = "the profile's passes took longer before or after";
	}
	free(before);
	host_gram_use(host, NULL);
	host_threads_most(0);
	omp_set_num_threads(threads);
	return ok;
}
