/* SPDX-License-Identifier: MIT */
/* What the tests of getrf, geqrf and potrf share: a problem, its run by a plan between poisoned
 * margins, LAPACK's result, and the tests that every factorization has to pass. */
#pragma once

#include "factor_test.h"

struct shape {
	int64_t m, n, lda;
};

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

/* A factorization under test. `uplos` is 2 where both triangles are tested. */
struct factorization {
	const char *name;
	const struct plan *plans;
	size_t plan_count;
	const struct shape *shapes;
	size_t shape_count;
	struct shape again; /* of runs that only have to end, or to give the same bits */
	int kinds, uplos, random_kind;
	bool has_pivots, has_tau;
	const char *(*kind_name)(int kind);
	void *(*matrix)(const struct problem *, int kind);
	int64_t (*work)(struct executor *, const struct plan *, enum uplo, struct matrix);
	bool (*run)(struct executor *, const struct plan *, enum uplo, const struct run_memory *);
	void (*lapack)(struct problem *);                         /* `before` into `after` */
	const char *(*verdict)(const struct problem *, int kind); /* the first fault, or NULL */
	bool (*phase_needed)(const struct plan *, int phase);     /* NULL: no phase is */
};

static inline int64_t steps(const struct problem *p)
{
	return p->shape.m < p->shape.n ? p->shape.m : p->shape.n;
}

static inline size_t problem_bytes(const struct problem *p)
{
	return (size_t)(p->shape.lda * p->shape.n * precision_bytes(p->precision));
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
	p->before = p->of->matrix(p, kind);
	problem_results(p);
}

static inline void problem_close(struct problem *p)
{
	free(p->before);
	free(p->after);
	free(p->tau);
	free(p->ipiv);
}

/* The same problem as LAPACK solves it; problem_close frees it. */
static inline struct problem problem_by_lapack(const struct problem *p)
{
	struct problem reference = *p;

	reference.before = test_copy(p->before, p->shape.lda, p->shape.n, p->precision);
	problem_results(&reference);
	if (steps(p))
		p->of->lapack(&reference);
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
	r.work = room_bytes(&room, p->of->work(e, plan, p->uplo, r.a));
	return room_close(&room, room.good && e->ops->upload(e, p->before, s->lda, whole) &&
	                                 p->of->run(e, plan, p->uplo, &r) && e->ops->sync(e) &&
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

static inline void describe(const struct factorization *f, const struct plan *plan, enum uplo uplo,
        enum precision precision, char *text, size_t size)
{
	snprintf(text, size, "%c%s%s %s nb %d%s leaf %d inverse %d look-ahead %d", precision,
	        f->name,
	        f->uplos == 1   ? ""
	        : uplo == LOWER ? " lower"
	                        : " upper",
	        plan->hybrid  ? "hybrid"
	        : plan->panel ? plan->panel
	                      : "device",
	        (int)plan->widths[0], plan->count > 1 ? ".." : "", (int)plan->leaf,
	        (int)plan->inverse, plan->lookahead);
}

/* One kind of matrix in every shape. */
static inline void test_kind(struct executor *e, const struct factorization *f,
        const struct plan *plan, enum uplo uplo, enum precision precision, int kind)
{
	char name[120];
	bool good = true;

	for (size_t i = 0; i < f->shape_count; i++) {
		struct problem p = {
		        .of = f, .shape = f->shapes[i], .precision = precision, .uplo = uplo};
		problem_open(&p, kind);
		const char *wrong = fault_of(e, plan, &p, kind);
		if (wrong)
			diag("%d x %d, lda %d: %s, info %d", (int)p.shape.m, (int)p.shape.n,
			        (int)p.shape.lda, wrong, p.info);
		good = good && !wrong;
		problem_close(&p);
	}
	describe(f, plan, uplo, precision, name, sizeof name);
	ok(good, "%s %s: %s", e->name, name, f->kind_name(kind));
}

/* The wanted plans (NULL: all) with matrices of all kinds. The covering set gives every plan three
 * kinds or more, and every kind `times` plans or more, in both precisions. */
static inline void test_plans(struct executor *e, const struct factorization *f,
        bool (*wanted)(const struct executor *, const struct plan *), size_t times)
{
	const size_t kinds = (size_t)f->kinds, uplos = (size_t)f->uplos;
	size_t rows = 0, row = 0;

	for (size_t i = 0; i < f->plan_count; i++)
		rows += !wanted || wanted(e, &f->plans[i]) ? uplos : 0;
	const size_t per_row = test_per_row(rows, kinds, times, 3);
	for (size_t i = 0; i < f->plan_count; i++) {
		if (wanted && !wanted(e, &f->plans[i]))
			continue;
		for (size_t uplo = 0; uplo < uplos; uplo++, row++)
			for (size_t k = 0; k < kinds; k++) {
				if (test_meets(row, k, kinds, per_row))
					test_kind(e, f, &f->plans[i], (enum uplo)uplo, SINGLE,
					        (int)k);
				if (test_meets(row + rows / 2, k, kinds, per_row))
					test_kind(e, f, &f->plans[i], (enum uplo)uplo, DOUBLE,
					        (int)k);
			}
	}
}

/* ---- further promises ---- */

/* Plans with blocks as wide as those of large factorizations. The covering set gives every plan one
 * shape in each precision; with `share` one plan runs in double precision. */
static inline void test_large(struct executor *e, const struct factorization *f,
        const struct plan *wide, size_t count, const struct shape *shapes, size_t shape_count,
        int kind, bool share)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < 2 * shape_count * (size_t)f->uplos; k++) {
			struct problem p = {.of = f,
			        .shape = shapes[k / 2 % shape_count],
			        .precision = k % 2 ? DOUBLE : SINGLE,
			        .uplo = k / 2 / shape_count ? UPPER : LOWER};
			char name[120];
			if (!test_meets(i + k % 2, k / 2, shape_count * (size_t)f->uplos, 1) ||
			        (share && k % 2 && !test_meets(i, 1, count, 1)))
				continue;
			problem_open(&p, kind);
			const char *wrong = fault_of(e, &wide[i], &p, kind);
			describe(f, &wide[i], p.uplo, p.precision, name, sizeof name);
			ok(!wrong, "%s %s of %d x %d", e->name, name, (int)p.shape.m,
			        (int)p.shape.n);
			if (wrong)
				diag("%s, info %d", wrong, p.info);
			problem_close(&p);
		}
}

/* One large square matrix on the GPU, by every second wide plan. */
static inline void test_large_on_gpu(struct executor *e, const struct factorization *f,
        const struct plan *wide, size_t count, int64_t n, int kind)
{
	for (size_t i = 0; test_on_gpu && i < count; i += 2) {
		struct problem p = {.of = f,
		        .shape = {n, n, n + (i % 4 ? 1 : 0)},
		        .precision = SINGLE,
		        .uplo = i % 4 ? UPPER : LOWER};
		char name[120];
		problem_open(&p, kind);
		const char *wrong = fault_of(e, &wide[i], &p, kind);
		describe(f, &wide[i], p.uplo, SINGLE, name, sizeof name);
		ok(!wrong, "%s of %d x %d", name, (int)n, (int)n);
		if (wrong)
			diag("%s, info %d", wrong, p.info);
		problem_close(&p);
	}
}

/* The same bits whatever the workspace held. */
static inline void test_repeats(struct executor *e, const struct factorization *f)
{
	for (size_t i = 0; i < f->plan_count; i++) {
		struct problem one = {.of = f,
		        .shape = f->again,
		        .precision = SINGLE,
		        .uplo = i % 2 ? LOWER : UPPER};
		struct problem two = one;
		problem_open(&one, f->random_kind);
		problem_open(&two, f->random_kind);
		bool good = run(e, &f->plans[i], &one, 0xff) && run(e, &f->plans[i], &two, 0x3f);
		/* without pivots or tau both are zeros */
		good = good && memcmp(one.after, two.after, problem_bytes(&one)) == 0 &&
		       memcmp(one.ipiv, two.ipiv, (size_t)steps(&one) * sizeof(int)) == 0 &&
		       memcmp(one.tau, two.tau, (size_t)steps(&one) * sizeof(float)) == 0;
		ok(good, "plan %zu gives the same bits with any workspace", i);
		problem_close(&one);
		problem_close(&two);
	}
}

/* Any phase can be left out, which is how phases are timed: only the result is lost. */
static inline void test_any_phase_left_out(struct executor *e, const struct factorization *f)
{
	for (size_t i = 0; i < f->plan_count; i++) {
		bool good = true;
		for (int phase = 0; phase < PHASE_COUNT; phase++) {
			struct problem p = {.of = f, .shape = f->again, .precision = SINGLE};
			if (f->phase_needed && f->phase_needed(&f->plans[i], phase))
				continue;
			problem_open(&p, f->random_kind);
			e->skip = 1u << phase;
			bool ran = run(e, &f->plans[i], &p, 0xff);
			e->skip = 0;
			problem_close(&p);
			if (!ran)
				diag("without %s", phase_name[phase]);
			good = good && ran;
		}
		ok(good, "plan %zu runs with any phase left out", i);
	}
}

/* A plan and a shape that are refused by a sentence with this word in it. */
struct refusal {
	struct plan plan;
	int64_t m, n, ld;
	const char *word;
};

static inline void test_refused(struct executor *e, const struct factorization *f,
        const struct refusal *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct run_memory r = {.a = {NULL, 0, cases[i].m, cases[i].n, cases[i].ld, SINGLE}};
		r.tau = r.a;
		e->fault.text[0] = '\0';
		bool refused = f->work(e, &cases[i].plan, UPPER, r.a) == -1;
		ok(refused && strstr(e->fault.text, cases[i].word) &&
		                !f->run(e, &cases[i].plan, UPPER, &r),
		        "refused: %s", e->fault.text);
	}
}

/* Matrices that are not aligned are factorized in copies that are. */
static inline void test_copied(struct executor *e, const struct factorization *f)
{
	const int64_t from = e->aligned_from, bytes = 99 * 99 * (int64_t)sizeof(float);
	const struct matrix odd = {NULL, 0, 99, 99, 99, SINGLE},
	                    even = {NULL, 0, 99, 99, 100, SINGLE};
	const struct plan *plans = f->plans;

	e->aligned_from = 1;
	ok(f->work(e, &plans[0], UPPER, odd) > f->work(e, &plans[0], UPPER, even) + bytes,
	        "%s: a matrix that is not aligned has a copy, another has none", e->name);
	for (int kind = 0; kind < f->kinds; kind++) {
		if (test_meets(0, (size_t)kind, 2, 1))
			test_kind(e, f, &plans[0], UPPER, SINGLE, kind);
		if (test_meets(1, (size_t)kind, 2, 1))
			test_kind(e, f, &plans[1], UPPER, DOUBLE, kind);
	}
	e->aligned_from = 198;
	bool copied =
	        f->work(e, &plans[0], UPPER, odd) > f->work(e, &plans[0], UPPER, even) + bytes;
	e->math = MATH_3XTF32;
	ok(!copied && f->work(e, &plans[0], UPPER, odd) >
	                        f->work(e, &plans[0], UPPER, even) + bytes,
	        "%s: split products need copies from half as many columns on", e->name);
	e->math = MATH_FP32;
	e->aligned_from = from;
}
