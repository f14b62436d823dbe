/* SPDX-License-Identifier: MIT */
#include "timing_gram_host.h"

#include "../../lib/msg.h"
#include "../gram_schmidt.h"
#include "../host/executor_host_gram.h"
#include "check.h"
#include "matrices.h"

#include <float.h>
#include <inttypes.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { COLUMNS_CHECKED = 6, ALIGNMENT = 64 };

struct scene {
	struct timing_scene scene; /* problem: a, x (R) and info */
	const struct quiet *quiet;
	int threads, core; /* that are bound, and where the first of them is */
};

struct way {
	struct scene *scene;
	const struct gram_run *run;
};

/* ---- threads ---- */

/* Again when the calling thread, the first of them, has got another core since: it may be that of
 * one of the others. */
static void bind(struct scene *s, int threads)
{
	omp_set_num_threads(threads);
	if (!s->quiet || threads > s->quiet->cores ||
	        (s->threads == threads && s->core == s->quiet->order[0]))
		return;
	s->threads = threads;
	s->core = s->quiet->order[0];
#pragma omp parallel num_threads(threads)
	{
		char got[128];
#pragma omp critical
		topology_bind(s->quiet->topology, -1, s->quiet->order[omp_get_thread_num()], got);
	}
}

/* ---- matrices: element i of column j is the i-th number of the column's own sequence ---- */

static double next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 40) + 0.5) / (1 << 23) - 1;
}

static uint64_t sequence(const struct scene *s, int64_t j)
{
	uint64_t state = s->scene.plan->seed * 2654435761u + (uint64_t)j;

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

static void fill(struct scene *s)
{
	const struct matrix a = s->scene.problem.a;

#pragma omp parallel for schedule(static)
	for (int64_t j = 0; j < a.n; j++) {
		uint64_t state = sequence(s, j);
		for (int64_t i = 0; i < a.m; i++)
			put(a, i, j, next(&state));
	}
}

/* ---- contenders ---- */

static struct matrix r_of(const struct way *way)
{
	const struct timing_problem *p = &way->scene->scene.problem;

	return matrix_view(p->x, 0, 0, way->run->k, p->a.n);
}

static bool prepare(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	const struct way *way = contender->context;
	struct executor *e = way->scene->scene.executor;
	int64_t bytes = gram_schmidt_work(e, way->run->form, way->run->nb, problem->a);

	return timing_lift(e, bytes >= 0 && e->ops->alloc(e, bytes, &contender->work), fault);
}

static bool before(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	const struct way *way = contender->context;
	struct executor *e = way->scene->scene.executor;

	(void)problem;
	bind(way->scene, way->run->threads);
	host_gram_use(e, way->run->loops);
	fill(way->scene);
	return timing_lift(e, ex_fill(e, WHOLE, NAN, NAN, r_of(way)), fault);
}

static bool run(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	const struct way *way = contender->context;
	struct executor *e = way->scene->scene.executor;
	bool ok = gram_schmidt_first(e, way->run->form, way->run->nb, way->run->k, problem->a,
	        r_of(way), contender->work, problem->pivots.data);

	return timing_lift(e, ok, fault);
}

static bool restore(struct timing_scene *scene, struct fault *fault)
{
	(void)scene;
	(void)fault;
	return true; /* before does it, with the contender's threads */
}

/* ---- checks, of some columns ---- */

/* y := Q x - Q has k columns - less what y was */
static void product(const struct scene *s, int64_t k, const double *x, double *y)
{
	const struct matrix a = s->scene.problem.a;

#pragma omp parallel for schedule(static)
	for (int64_t i = 0; i < a.m; i++) {
		double sum = 0;
		for (int64_t j = 0; j < k; j++)
			sum += get(a, i, j) * x[j];
		y[i] = sum - y[i];
	}
}

/* The largest |q_j^T y - x_j|. */
static double largest_dot(const struct scene *s, int64_t k, const double *y, const double *x)
{
	const struct matrix a = s->scene.problem.a;
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
static void check_column(const struct scene *s, int64_t k, int64_t c, double *y, double *x,
        struct contender *contender)
{
	const struct timing_problem *p = &s->scene.problem;
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
	contender->residual = fmax(contender->residual, norm(y, m) / whole);
	for (int64_t i = 0; i < m; i++)
		y[i] = get(p->a, i, c);
	for (int64_t j = 0; j < k; j++)
		x[j] = j == c;
	contender->orthogonality =
	        fmax(contender->orthogonality, largest_dot(s, k, y, x) / (c < k ? 1 : whole));
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
static double most_lost(const struct scene *s, int64_t k)
{
	const struct timing_problem *p = &s->scene.problem;
	const double condition = 1 / reciprocal_condition(p->x, (lapack_int)k);

	return fmax(CHECK_THRESHOLD, 10 * sqrt((double)k) * condition / (double)p->a.m);
}

static bool check(struct timing_scene *scene, struct contender *contender, struct fault *fault)
{
	const struct scene *s = (const struct scene *)scene;
	const struct matrix a = scene->problem.a;
	const double u = (a.precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
	double *y = xmalloc((size_t)a.m * sizeof *y);
	const int64_t k = ((const struct way *)contender->context)->run->k;
	double *x = xmalloc((size_t)k * sizeof *x);
	int info = *(const int *)scene->problem.pivots.data;

	contender->residual = contender->orthogonality = 0;
	for (int i = 0; i < COLUMNS_CHECKED; i++)
		check_column(s, k, i * (a.n - 1) / (COLUMNS_CHECKED - 1), y, x, contender);
	free(x);
	free(y);
	contender->residual /= (double)a.m * u;
	contender->orthogonality /= (double)a.m * u;
	return (contender->residual < CHECK_THRESHOLD &&
	               contender->orthogonality < most_lost(s, k) && info == 0) ||
	       fault_set(fault, "failed: residual ratio %.3g, orthogonality %.3g, info %d",
	               contender->residual, contender->orthogonality, info);
}

/* ---- the scene ---- */

/* Columns begin at lines, and not at equal places of pages. */
static bool open(struct scene *s, enum precision precision, int64_t m, int64_t n, int64_t k,
        void **memory, struct fault *fault)
{
	const int64_t word = precision_bytes(precision);
	const int64_t step = ALIGNMENT / word, ld = (m + step - 1) / step * step + 2 * step;
	struct timing_problem *p = &s->scene.problem;

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

bool timing_gram_host(struct executor *host, const struct quiet *quiet, enum precision precision,
        int64_t m, int64_t n, const struct gram_run *runs, const struct timing_plan *plan,
        struct contender *contender, size_t count, struct fault *fault)
{
	struct scene s = {.scene = {host, plan, {.x = {0}}, restore, check}, .quiet = quiet};
	struct way *way = xmalloc(count * sizeof *way);
	void *memory[3] = {NULL, NULL, NULL};
	const int threads = omp_get_max_threads();
	int64_t k = 1;

	for (size_t i = 0; i < count; i++) {
		way[i] = (struct way){&s, &runs[i]};
		contender[i] = (struct contender){.variant = runs[i].form,
		        .run = run,
		        .prepare = prepare,
		        .before = before,
		        .context = &way[i]};
		k = runs[i].k > k ? runs[i].k : k;
	}
	host->queue = QUEUE_MAIN;
	bool ok = open(&s, precision, m, n, k, memory, fault) &&
	          timing_turns(&s.scene, contender, count, fault);
	for (size_t i = 0; i < ARRAY_LEN(memory); i++)
		free(memory[i]);
	free(way);
	host_gram_use(host, NULL);
	omp_set_num_threads(threads);
	return ok;
}
