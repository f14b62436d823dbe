/* SPDX-License-Identifier: MIT */
/* What the tests of getrf, geqrf and potrf share: a problem, its run by a plan between poisoned
 * margins, LAPACK's result, and the tests that every factorization has to pass. */
#pragma once

#include "factor_test.h"
#include "panel_room.h"

#include "factor/validation/whole.h"

#include <lapacke.h>

struct shape {
	int64_t m, n, lda;
};

/* Sizes 0, 1, 2, around the blocks' edges, tall and wide, with padding and without. */
static const struct shape general_shapes[] = {{0, 0, 1}, {0, 3, 1}, {3, 0, 3}, {1, 1, 1}, {1, 4, 3},
        {2, 2, 2}, {7, 7, 9}, {8, 8, 8}, {9, 9, 11}, {15, 17, 15}, {17, 15, 20}, {16, 16, 16},
        {31, 31, 31}, {33, 33, 40}, {70, 20, 71}, {20, 70, 20}, {63, 64, 65}, {65, 65, 65}};

/* Widths of the blocks of plans. */
static const int64_t by_0[] = {0}, by_1[] = {1}, by_8[] = {8}, by_16[] = {16}, by_32[] = {32},
                     by_64[] = {64}, by_128[] = {128}, by_256[] = {256}, by_300[] = {300},
                     by_512[] = {512}, uneven[] = {24, 7, 16, 9}, falling[] = {256, 128, 128, 64};

struct problem {
	const struct factorization *of;
	struct shape shape;
	enum precision precision;
	enum uplo uplo;          /* of Cholesky */
	const struct plan *plan; /* of the last run */
	void *before, *after;    /* m x n with leading dimension lda */
	void *tau;               /* of QR */
	int *ipiv, info;         /* of LU; info of Cholesky, too */
};

/* The memory of one run on an executor. */
struct run_memory {
	struct matrix a, tau;
	struct pivots pivots; /* info behind them; no pivots: info alone */
	void *work;
};

/* A plan and a shape that are refused by a sentence with this word in it. */
struct refusal {
	struct plan plan;
	int64_t m, n, ld;
	const char *word;
};

/* What a verdict has to find: `count` numbers from `at` on (0: one), `stride` apart, of a right
 * result are multiplied and added to; scale 0 replaces them. */
struct wrong {
	const char *what;
	enum { IN_MATRIX, IN_TAU, IN_PIVOTS, IN_INFO } where;
	int64_t at;
	double scale, add;
	int64_t count, stride;
};

/* A factorization under test. `uplos` is 2 where both triangles are tested. */
struct factorization {
	const char *name;
	enum operation operation; /* work and run: NULL, or what takes its place */
	const struct plan *plans;
	size_t plans_count;
	const struct shape *shapes;
	size_t shapes_count;
	/* blocks as wide as a factorization of some size has them; every second plan with one
	 * matrix of `largest` columns on the GPU */
	const struct plan *wide;
	size_t wide_count;
	const struct shape *large;
	size_t large_count;
	int64_t largest;
	int large_kind;
	const struct refusal *refusals;
	size_t refusals_count;
	const struct wrong *wrong; /* in plans[wrong_plan]'s result */
	size_t wrong_count, wrong_plan;
	struct shape wrong_shape;
	int wrong_kind;
	struct shape again; /* of runs that only have to end, or to give the same bits */
	int kinds, uplos, random_kind;
	bool has_pivots, has_tau;
	const char *(*kind_name)(int kind); /* both NULL: general matrices */
	void *(*matrix)(const struct problem *, int kind);
	int64_t (*work)(struct executor *, const struct plan *, struct matrix);
	bool (*run)(struct executor *, const struct plan *, const struct run_memory *);
	const char *(*verdict)(const struct problem *, int kind); /* the first fault, or NULL */
	bool (*phase_needed)(const struct plan *, int phase);     /* NULL: no phase is */
};

/* A field of a factorization that is an array of this file, and its length. */
#define TABLE(name) .name = name, .name##_count = ARRAY_LEN(name)

/* In a small run cut to at most so many rows and columns; the padding stays. */
static inline struct shape shape_at_most(struct shape s, int64_t most)
{
	const int64_t padding = s.lda - s.m;

	s.m = test_at_most(s.m, most);
	s.n = test_at_most(s.n, most);
	s.lda = s.m + padding;
	return s;
}

static inline const char *kind_name(const struct factorization *f, int kind)
{
	return f->kind_name ? f->kind_name(kind) : test_kind_name(kind);
}

static inline int64_t steps(const struct problem *p)
{
	return p->shape.m < p->shape.n ? p->shape.m : p->shape.n;
}

static inline size_t problem_bytes(const struct problem *p)
{
	return (size_t)(p->shape.lda * p->shape.n * precision_bytes(p->precision));
}

static inline struct whole whole_of(
        const struct executor *e, const struct factorization *f, enum uplo uplo)
{
	return (struct whole){.operation = f->operation, .uplo = uplo, .math = e->math};
}

static inline int64_t factor_work(struct executor *e, const struct factorization *f,
        const struct plan *plan, enum uplo uplo, struct matrix a)
{
	const struct whole whole = whole_of(e, f, uplo);

	return f->work ? f->work(e, plan, a) : whole_work(e, &whole, plan, a);
}

static inline bool factor_run(struct executor *e, const struct factorization *f,
        const struct plan *plan, enum uplo uplo, const struct run_memory *r)
{
	const struct whole whole = whole_of(e, f, uplo);

	return f->run ? f->run(e, plan, r)
	              : whole_run(e, &whole, plan, r->a, r->work, r->pivots, r->tau, NULL);
}

/* With room for results and a copy of the matrix in `after`. */
static inline void problem_results(struct problem *p)
{
	p->after = test_copy(p->before, p->shape.lda, p->shape.n, p->precision);
	p->tau = xcalloc((size_t)steps(p) + 1, sizeof(double));
	p->ipiv = xcalloc((size_t)steps(p) + 1, sizeof *p->ipiv);
	p->info = -1;
}

static inline void problem_open(struct problem *p, int kind)
{
	p->before = p->of->matrix
	                    ? p->of->matrix(p, kind)
	                    : test_matrix(p->shape.lda, p->shape.m, p->shape.n, p->precision, kind);
	problem_results(p);
}

static inline void problem_close(struct problem *p)
{
	free(p->before);
	free(p->after);
	free(p->tau);
	free(p->ipiv);
}

/* LAPACK's factors in `after`. */
static inline void problem_lapack(struct problem *p)
{
	const lapack_int m = (lapack_int)p->shape.m, n = (lapack_int)p->shape.n,
	                 lda = (lapack_int)p->shape.lda;
	const char uplo = p->uplo == LOWER ? 'L' : 'U';
	const bool single = p->precision == SINGLE;
	enum { COLUMNS = LAPACK_COL_MAJOR };

	switch (p->of->operation) {
	case GETRF:
		p->info = (single ? LAPACKE_sgetrf_work(COLUMNS, m, n, p->after, lda, p->ipiv)
		                  : LAPACKE_dgetrf_work(COLUMNS, m, n, p->after, lda, p->ipiv));
		break;
	case GEQRF:
		p->info = (single ? LAPACKE_sgeqrf(COLUMNS, m, n, p->after, lda, p->tau)
		                  : LAPACKE_dgeqrf(COLUMNS, m, n, p->after, lda, p->tau));
		break;
	default:
		p->info = (single ? LAPACKE_spotrf_work(COLUMNS, uplo, n, p->after, lda)
		                  : LAPACKE_dpotrf_work(COLUMNS, uplo, n, p->after, lda));
	}
}

/* The same problem as LAPACK solves it; problem_close frees it. */
static inline struct problem problem_by_lapack(const struct problem *p)
{
	struct problem reference = *p;

	reference.before = test_copy(p->before, p->shape.lda, p->shape.n, p->precision);
	problem_results(&reference);
	if (steps(p))
		problem_lapack(&reference);
	return reference;
}

/* Factorizes `before` into `after` with a workspace full of `fill`. */
static inline bool run(struct executor *e, const struct plan *plan, struct problem *p, int fill)
{
	const struct shape *s = &p->shape;
	const int64_t k = p->of->has_tau ? steps(p) : 0;
	struct test_room room = room_new(e);

	room.fill = fill;
	p->plan = plan;
	struct matrix whole = room_matrix(&room, s->lda, s->n, s->lda, p->precision);
	struct run_memory r = {.a = matrix_view(whole, 0, 0, s->m, s->n),
	        .tau = room_matrix(&room, k, 1, k ? k : 1, p->precision),
	        .pivots = room_pivots(&room, p->of->has_pivots ? steps(p) : 0)};
	r.work = room_bytes(&room, factor_work(e, p->of, plan, p->uplo, r.a));
	return room_close(&room, room.good && e->ops->upload(e, p->before, s->lda, whole) &&
	                                 factor_run(e, p->of, plan, p->uplo, &r) &&
	                                 e->ops->sync(e) &&
	                                 e->ops->download(e, whole, p->after, s->lda) &&
	                                 e->ops->download(e, r.tau, p->tau, r.tau.ld) &&
	                                 e->ops->read_pivots(e, r.pivots, p->ipiv, &p->info));
}

/* Runs the plan for a matrix of the kind: the first fault, or NULL. */
static inline const char *fault_of(
        struct executor *e, const struct plan *plan, struct problem *p, int kind)
{
	return run(e, plan, p, 0xff) ? p->of->verdict(p, kind) : "refused";
}

/* ---- plans ---- */

/* Whether the executor refuses the plan beforehand because this GPU has no room for a panel; its
 * fault says so. */
static inline bool is_off_chip(struct executor *e, const struct plan *plan, const struct problem *p)
{
	const struct shape *s = &p->shape;
	const struct matrix a = {NULL, 0, s->m, s->n, s->lda, p->precision};
	const int64_t columns = p->of->work ? s->n /* the panel alone */
	                                    : min_int64(plan_widest(plan, steps(p)), plan->leaf);

	return test_on_gpu && p->of->has_pivots && factor_work(e, p->of, plan, p->uplo, a) < 0 &&
	       panel_is_off_chip(e->fault.text, s->m, columns, p->precision);
}

static inline void describe(const struct factorization *f, const struct plan *plan, enum uplo uplo,
        enum precision precision, char *text, size_t size)
{
	snprintf(text, size, "%c%s%s %s nb %d%s leaf %d inverse %d look-ahead %d%s%s%s%s",
	        precision, f->name,
	        f->uplos == 1   ? ""
	        : uplo == LOWER ? " lower"
	                        : " upper",
	        plan->hybrid  ? "hybrid"
	        : plan->panel ? plan->panel
	                      : "device",
	        (int)plan->widths[0], plan->count > 1 ? ".." : "", (int)plan->leaf,
	        (int)plan->inverse, plan->lookahead, plan->coarse ? ", two levels" : "",
	        plan->row_major ? ", row-major" : "", plan->single_swaps ? ", single swaps" : "",
	        plan->copies_wait ? ", copies wait" : "");
}

/* The first fault of one problem, or NULL. */
static inline const char *test_one(
        struct executor *e, const struct plan *plan, struct problem p, int kind)
{
	problem_open(&p, kind);
	const char *wrong = fault_of(e, plan, &p, kind);
	if (wrong)
		diag("%d x %d, lda %d: %s, info %d", (int)p.shape.m, (int)p.shape.n,
		        (int)p.shape.lda, wrong, p.info);
	problem_close(&p);
	return wrong;
}

/* In a small run each kind has one shape, of the last third, where blocks follow each other. Whole
 * factorizations are cut to 40 rows and columns. */
static inline bool shape_runs(const struct factorization *f, size_t i, int kind)
{
	return !test_small() || i + 1 + (size_t)kind % (f->shapes_count / 3) == f->shapes_count;
}

/* One kind of matrix in every shape. */
static inline void test_kind(struct executor *e, const struct factorization *f,
        const struct plan *plan, enum uplo uplo, enum precision precision, int kind)
{
	char name[160];
	bool good = true;
	int ran = 0, off = 0;

	for (size_t i = 0; i < f->shapes_count; i++) {
		const struct problem p = {.of = f,
		        .shape = f->work ? f->shapes[i] : shape_at_most(f->shapes[i], 40),
		        .precision = precision,
		        .uplo = uplo};
		if (!shape_runs(f, i, kind))
			continue;
		if (is_off_chip(e, plan, &p)) {
			off++;
			continue;
		}
		good = !test_one(e, plan, p, kind) && good;
		ran++;
	}
	describe(f, plan, uplo, precision, name, sizeof name);
	ok(good && ran > 0, "%s %s: %s%s", e->name, name, kind_name(f, kind),
	        off ? ", but for shapes without room on chip" : "");
}

/* A small run takes each plan in one precision, in turns, and of some wanted plans a third; plans
 * of a panel alone in both. */
static inline bool plan_runs(
        const struct factorization *f, bool some, size_t i, size_t row, enum precision precision)
{
	const size_t turn = i + row % (size_t)f->uplos + (precision == DOUBLE);

	return f->work || (test_turn(turn, 2) && (!some || test_turn(row / (size_t)f->uplos, 3)));
}

/* The wanted plans (NULL: all) with matrices of all kinds. The covering set gives every plan three
 * kinds or more, and every kind `times` plans or more, in both precisions. */
static inline void test_plans(struct executor *e, const struct factorization *f,
        bool (*wanted)(const struct executor *, const struct plan *), size_t times)
{
	const size_t kinds = (size_t)f->kinds, uplos = (size_t)f->uplos;
	size_t rows = 0, row = 0;

	for (size_t i = 0; i < f->plans_count; i++)
		rows += !wanted || wanted(e, &f->plans[i]) ? uplos : 0;
	const size_t per_row = test_per_row(rows, kinds, times, 3);
	for (size_t i = 0; i < f->plans_count; i++) {
		if (wanted && !wanted(e, &f->plans[i]))
			continue;
		for (size_t uplo = 0; uplo < uplos; uplo++, row++)
			for (size_t k = 0; k < kinds; k++) {
				if (test_meets(row, k, kinds, per_row) &&
				        plan_runs(f, wanted, i, row, SINGLE))
					test_kind(e, f, &f->plans[i], (enum uplo)uplo, SINGLE,
					        (int)k);
				if (test_meets(row + rows / 2, k, kinds, per_row) &&
				        plan_runs(f, wanted, i, row, DOUBLE))
					test_kind(e, f, &f->plans[i], (enum uplo)uplo, DOUBLE,
					        (int)k);
			}
	}
}
