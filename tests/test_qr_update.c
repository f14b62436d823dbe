/* SPDX-License-Identifier: MIT */
/* Every change of a QR factorization, with what of Q is kept, on the host executor and on the GPU:
 * residual, orthogonality, right-hand sides, R against a fresh one, rows and columns at every end,
 * long sequences, dependent columns, rows that may not go, and what is refused. */
#include "factor_test.h"

#include "../factor/qr_update.h"

#include <inttypes.h>
#include <lapacke.h>

enum { SIDES = 2 };

/* A factorization in executor memory, and its matrix and right-hand sides in double on the host. */
struct scene {
	struct executor *e;
	enum precision precision;
	struct qr_factors f;
	struct test_memory q, r, d;
	double *a, *b; /* f.m x f.n, f.m x SIDES */
	uint64_t seed;
};

static double *random_doubles(struct scene *s, int64_t m, int64_t n)
{
	double *x = xmalloc((size_t)(m * n + 1) * sizeof *x);

	s->seed++;
	for (int64_t i = 0; i < m * n; i++) {
		double value = test_random(s->seed, i);
		x[i] = s->precision == SINGLE ? (double)(float)value : value;
	}
	return x;
}

static void *to_precision(const double *x, int64_t count, enum precision precision)
{
	void *out = xmalloc((size_t)(count * precision_bytes(precision)) + 1);

	for (int64_t i = 0; i < count; i++)
		put(out, i, precision, x[i]);
	return out;
}

/* x (m x n) into the top left of `to`, or the other way round. */
static bool send(struct scene *s, const double *x, int64_t m, int64_t n, struct matrix to)
{
	void *host = to_precision(x, m * n, s->precision);
	bool good =
	        m == 0 || n == 0 || s->e->ops->upload(s->e, host, m, matrix_view(to, 0, 0, m, n));

	free(host);
	return good;
}

static double *fetch(struct scene *s, struct matrix from, int64_t m, int64_t n)
{
	void *host = xcalloc((size_t)(m * n) + 1, (size_t)precision_bytes(s->precision));

	if (m && n && !s->e->ops->download(s->e, matrix_view(from, 0, 0, m, n), host, m))
		diag("%s", s->e->fault.text);
	double *x = to_doubles(host, m, m, n, s->precision);
	free(host);
	return x;
}

static struct matrix open_matrix(struct scene *s, struct test_memory *memory, int64_t m, int64_t n)
{
	int64_t ld = m + 3;

	if (!test_open(s->e, memory, ld * n * precision_bytes(s->precision), 0xff))
		diag("%s", s->e->fault.text);
	return (struct matrix){memory->data, 0, m, n, ld, s->precision};
}

/* R by LAPACK in double, and Q (m x m) where it is asked for. */
static void factorize(const double *a, int64_t m, int64_t n, double *wanted, double *r)
{
	double *q = wanted ? wanted : xmalloc((size_t)(m * n) * sizeof *q);
	double *tau = xmalloc((size_t)n * sizeof *tau);

	if (wanted) /* LAPACKE looks for NaN in all of it */
		memset(q, 0, (size_t)(m * m) * sizeof *q);
	memcpy(q, a, (size_t)(m * n) * sizeof *a);
	LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)n, q, (lapack_int)m, tau);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			r[i + j * n] = i <= j ? q[i + j * m] : 0;
	if (wanted)
		LAPACKE_dorgqr(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)m, (lapack_int)n, q,
		        (lapack_int)m, tau);
	else
		free(q);
	free(tau);
}

static int64_t q_columns(const struct scene *s)
{
	return s->f.kept == Q_FULL ? s->f.m : s->f.kept == Q_THIN ? s->f.n : 0;
}

static int64_t d_rows(const struct scene *s)
{
	return s->f.kept == Q_FULL ? s->f.m : s->f.n;
}

/* With room for `rows` x `columns`. */
static struct scene scene_new(struct executor *e, enum precision precision, enum q_kept kept,
        int64_t m, int64_t n, int64_t rows, int64_t columns, uint64_t seed)
{
	struct scene s = {.e = e, .precision = precision, .seed = seed * 1000};
	double *q = xmalloc((size_t)(m * m) * sizeof *q), *r = xmalloc((size_t)(n * n) * sizeof *r);
	double *d = xmalloc((size_t)(m * SIDES) * sizeof *d);

	s.f = (struct qr_factors){.m = m, .n = n, .kept = kept};
	s.a = random_doubles(&s, m, n);
	s.b = random_doubles(&s, m, SIDES);
	factorize(s.a, m, n, q, r);
	multiply(CblasTrans, CblasNoTrans, m, SIDES, m, 1, q, s.b, 0, d);
	s.f.q = open_matrix(&s, &s.q, kept ? rows : 0, kept ? rows : 0);
	s.f.r = open_matrix(&s, &s.r, rows, columns);
	s.f.d = open_matrix(&s, &s.d, rows, SIDES);
	double *top = xmalloc((size_t)(m * SIDES) * sizeof *top);
	for (int64_t j = 0; j < SIDES; j++)
		memcpy(top + j * d_rows(&s), d + j * m, (size_t)d_rows(&s) * sizeof *d);
	if (!send(&s, q, m, q_columns(&s), s.f.q) || !send(&s, r, n, n, s.f.r) ||
	        !send(&s, top, d_rows(&s), SIDES, s.f.d))
		diag("%s", e->fault.text);
	free(top);
	free(q);
	free(r);
	free(d);
	return s;
}

static bool scene_close(struct scene *s)
{
	bool intact = test_close(s->e, &s->q);

	intact = test_close(s->e, &s->r) && intact;
	intact = test_close(s->e, &s->d) && intact;
	free(s->a);
	free(s->b);
	return intact;
}

/* ---- the changes, of the host's matrix ---- */

/* a (m x n) with the p rows x before row k; NULL: without rows k .. k+p-1. */
static double *change_rows(double *a, int64_t m, int64_t n, int64_t k, int64_t p, const double *x)
{
	int64_t rows = x ? m + p : m - p;
	double *out = xmalloc((size_t)(rows * n + 1) * sizeof *out);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < rows; i++)
			out[i + j * rows] = i < k       ? a[i + j * m]
			                    : !x        ? a[i + p + j * m]
			                    : i < k + p ? x[i - k + j * p]
			                                : a[i - p + j * m];
	free(a);
	return out;
}

static double *change_columns(
        double *a, int64_t m, int64_t n, int64_t k, int64_t p, const double *x)
{
	int64_t columns = x ? n + p : n - p;
	double *out = xmalloc((size_t)(m * columns + 1) * sizeof *out);

	for (int64_t j = 0; j < columns; j++) {
		const double *from = j < k ? a + j * m : x ? a + (j - p) * m : a + (j + p) * m;
		if (x && j >= k && j < k + p)
			from = x + (j - k) * m;
		memcpy(out + j * m, from, (size_t)m * sizeof *out);
	}
	free(a);
	return out;
}

struct outcome {
	bool ran;
	int info;
};

/* What a change reads: matrices in executor memory, its workspace, info. */
struct given {
	struct test_memory u, v, b, work, info;
	struct matrix mu, mv, mb;
};

static struct given given_new(struct scene *s, enum qr_change change, int64_t p, const double *u,
        int64_t um, int64_t un, const double *b, int64_t bm)
{
	struct given g = {0};
	int64_t bytes = qr_update_work(s->e, &s->f, change, p);

	g.mu = open_matrix(s, &g.u, um, un);
	g.mb = open_matrix(s, &g.b, bm, SIDES);
	if (bytes < 0 || !test_open(s->e, &g.work, bytes, 0xff) ||
	        !test_open(s->e, &g.info, 4, 0xff) || !send(s, u, um, un, g.mu) ||
	        !send(s, b, bm, SIDES, g.mb))
		diag("%s", s->e->fault.text);
	return g;
}

static bool given_close(struct scene *s, struct given *g)
{
	bool intact = test_close(s->e, &g->u);

	intact = test_close(s->e, &g->b) && intact;
	intact = test_close(s->e, &g->work) && intact;
	intact = test_close(s->e, &g->info) && intact;
	return (!g->v.whole || test_close(s->e, &g->v)) && intact;
}

static struct outcome finish_change(struct scene *s, struct given *g, bool ran, bool has_info)
{
	struct outcome out = {ran && s->e->ops->sync(s->e), 0};
	struct pivots info = {g->info.data, 0};

	if (out.ran && has_info)
		out.ran = s->e->ops->read_pivots(s->e, info, &(int){0}, &out.info);
	if (!out.ran)
		diag("%s", s->e->fault.text);
	out.ran = given_close(s, g) && out.ran;
	return out;
}

static struct outcome remove_columns(struct scene *s, int64_t k, int64_t p)
{
	struct given g = given_new(s, QR_REMOVE_COLUMNS, p, NULL, 0, 0, NULL, 0);
	int64_t n = s->f.n;
	bool ran = qr_remove_columns(s->e, &s->f, k, p, g.work.data);

	s->a = change_columns(s->a, s->f.m, n, k, p, NULL);
	return finish_change(s, &g, ran, false);
}

static struct outcome add_columns(struct scene *s, int64_t k, int64_t p, const double *u)
{
	struct given g = given_new(s, QR_ADD_COLUMNS, p, u, s->f.m, p, s->b, s->f.m);
	int64_t n = s->f.n;
	bool ran = qr_add_columns(s->e, &s->f, k, g.mu, g.mb, g.work.data, g.info.data);

	s->a = change_columns(s->a, s->f.m, n, k, p, u);
	return finish_change(s, &g, ran, true);
}

static struct outcome add_rows(struct scene *s, int64_t k, int64_t p)
{
	double *u = random_doubles(s, p, s->f.n), *b = random_doubles(s, p, SIDES);
	struct given g = given_new(s, QR_ADD_ROWS, p, u, p, s->f.n, b, p);
	int64_t m = s->f.m;
	bool ran = qr_add_rows(s->e, &s->f, k, g.mu, g.mb, g.work.data);

	s->a = change_rows(s->a, m, s->f.n, k, p, u);
	s->b = change_rows(s->b, m, SIDES, k, p, b);
	free(u);
	free(b);
	return finish_change(s, &g, ran, false);
}

static double *rows_at(const double *a, int64_t m, int64_t n, int64_t k, int64_t p)
{
	double *rows = xmalloc((size_t)(p * n + 1) * sizeof *rows);

	for (int64_t j = 0; j < n; j++)
		memcpy(rows + j * p, a + k + j * m, (size_t)p * sizeof *rows);
	return rows;
}

static struct outcome remove_rows(struct scene *s, int64_t k, int64_t p)
{
	int64_t m = s->f.m, n = s->f.n;
	double *u = rows_at(s->a, m, n, k, p), *b = rows_at(s->b, m, SIDES, k, p);
	struct given g = given_new(s, QR_REMOVE_ROWS, p, u, p, n, b, p);
	bool ran = qr_remove_rows(s->e, &s->f, k, p, g.mu, g.mb, g.work.data, g.info.data);

	s->a = change_rows(s->a, m, n, k, p, NULL);
	s->b = change_rows(s->b, m, SIDES, k, p, NULL);
	free(u);
	free(b);
	return finish_change(s, &g, ran, true);
}

static struct outcome modify(struct scene *s, int64_t p)
{
	int64_t m = s->f.m, n = s->f.n;
	double *u = random_doubles(s, m, p), *v = random_doubles(s, n, p);
	struct given g = given_new(s, QR_MODIFY, p, u, m, p, s->b, m);

	g.mv = open_matrix(s, &g.v, n, p);
	bool ran = send(s, v, n, p, g.mv) &&
	           qr_modify(s->e, &s->f, g.mu, g.mv, g.mb, g.work.data, g.info.data);
	multiply(CblasNoTrans, CblasTrans, m, n, p, 1, u, v, 1, s->a);
	free(u);
	free(v);
	return finish_change(s, &g, ran, true);
}

static struct outcome change(struct scene *s, enum qr_change what, int64_t k, int64_t p)
{
	struct outcome out;
	double *u;

	switch (what) {
	case QR_REMOVE_COLUMNS:
		return remove_columns(s, k, p);
	case QR_ADD_COLUMNS:
		u = random_doubles(s, s->f.m, p);
		out = add_columns(s, k, p, u);
		free(u);
		return out;
	case QR_ADD_ROWS:
		return add_rows(s, k, p);
	case QR_REMOVE_ROWS:
		return remove_rows(s, k, p);
	default:
		return modify(s, p);
	}
}

/* ---- the measures, LAPACK's ratios ---- */

struct measures {
	double residual, orthogonality, sides;
	double fresh; /* R against that of a fresh factorization, rows' signs apart, over its norm
	                 and condition (estimated by its diagonal) */
	bool zeros;
};

static void check_fresh(const struct scene *s, const double *r, double eps, struct measures *found)
{
	int64_t m = s->f.m, n = s->f.n;
	double *fresh = xmalloc((size_t)(n * n) * sizeof *r);
	double largest = 0, smallest = INFINITY, worst = 0, norm = 0;

	factorize(s->a, m, n, NULL, fresh);
	for (int64_t i = 0; i < n; i++) {
		double sign = r[i + i * n] * fresh[i + i * n] < 0 ? -1 : 1;
		largest = fmax(largest, fabs(fresh[i + i * n]));
		smallest = fmin(smallest, fabs(fresh[i + i * n]));
		for (int64_t j = i; j < n; j++) {
			worst = worse(worst, fabs(r[i + j * n] - sign * fresh[i + j * n]));
			norm = fmax(norm, fabs(fresh[i + j * n]));
		}
	}
	found->fresh = worst / (norm * (double)m * eps * largest / smallest);
	free(fresh);
}

static struct measures measure(struct scene *s)
{
	int64_t m = s->f.m, n = s->f.n, columns = q_columns(s);
	double eps = unit_roundoff(s->precision);
	struct measures found = {.zeros = true};
	double *q = fetch(s, s->f.q, columns ? m : 0, columns), *r = fetch(s, s->f.r, n, n);
	double *d = fetch(s, s->f.d, d_rows(s), SIDES);
	double *left = xmalloc((size_t)(m * m + 1) * sizeof *left);
	double norm = norm_one(s->a, m, n), norm_b = norm_one(s->b, m, SIDES);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j + 1; i < n; i++)
			found.zeros &= r[i + j * n] == 0;
	if (columns) {
		memcpy(left, s->a, (size_t)(m * n) * sizeof *left);
		double *first = q;
		multiply(CblasNoTrans, CblasNoTrans, m, n, n, -1, first, r, 1, left);
		found.residual = test_ratio(norm_one(left, m, n), m, norm, eps);
		for (int64_t i = 0; i < columns * columns; i++)
			left[i] = i % (columns + 1) == 0;
		multiply(CblasTrans, CblasNoTrans, columns, columns, m, -1, q, q, 1, left);
		found.orthogonality = test_ratio(norm_one(left, columns, columns), m, 1, eps);
		multiply(CblasTrans, CblasNoTrans, columns, SIDES, m, -1, q, s->b, 1, d);
		found.sides = test_ratio(norm_one(d, columns, SIDES), m, norm_b, eps);
	} else { /* R^T R = A^T A, R^T d = A^T B */
		double *both = xmalloc((size_t)(n * SIDES + 1) * sizeof *both);
		multiply(CblasTrans, CblasNoTrans, n, n, m, 1, s->a, s->a, 0, left);
		double square = norm_one(left, n, n);
		multiply(CblasTrans, CblasNoTrans, n, n, n, -1, r, r, 1, left);
		found.residual = test_ratio(norm_one(left, n, n), m, square, eps);
		multiply(CblasTrans, CblasNoTrans, n, SIDES, m, 1, s->a, s->b, 0, both);
		multiply(CblasTrans, CblasNoTrans, n, SIDES, n, -1, r, d, 1, both);
		found.sides = test_ratio(norm_one(both, n, SIDES), m, norm * norm_b, eps);
		free(both);
	}
	check_fresh(s, r, eps, &found);
	free(q);
	free(r);
	free(d);
	free(left);
	return found;
}

static bool good(const struct measures *found, double most)
{
	return found->zeros && found->residual < most && found->orthogonality < most &&
	       found->sides < most && found->fresh < most;
}

/* ---- one change ---- */

struct shape {
	int64_t m, n, k, p;
};

static void check_change(struct executor *e, enum qr_change what, enum q_kept kept,
        enum precision precision, const struct shape *c)
{
	struct scene s = scene_new(e, precision, kept, c->m, c->n, c->m + c->p, c->n + c->p, 3);
	double before = norm_one(s.a, c->m, c->n);
	struct outcome out = change(&s, what, c->k, c->p);
	struct measures found = {.residual = NAN};

	if (out.ran)
		found = measure(&s);
	/* without Q, the error that goes with the rows is that of A^T A as it was */
	double lost =
	        what == QR_REMOVE_ROWS && kept == Q_NONE ? before / norm_one(s.a, s.f.m, s.f.n) : 1;
	bool intact = scene_close(&s);
	ok(out.ran && intact && out.info == 0 && good(&found, 30 * lost * lost),
	        "%s %c, Q %s: %" PRId64 " at %" PRId64 " of %" PRId64 " x %" PRId64
	        ": residual %.2g, orthogonality %.2g, sides %.2g, R %.2g",
	        qr_change_name[what], precision, q_kept_name[kept], c->p, c->k, c->m, c->n,
	        found.residual, found.orthogonality, found.sides, found.fresh);
	if (!found.zeros || out.info || !intact)
		diag("zeros below %d, info %d, margins %d", found.zeros, out.info, intact);
}

/* First, last, in the middle; one, all but one, more than at once; square and tall; windows' edges.
 */
static const struct shape columns_removed[] = {{2, 2, 0, 1}, {5, 3, 1, 1}, {40, 40, 0, 39},
        {150, 130, 0, 1}, {150, 130, 129, 1}, {150, 130, 3, 70}, {300, 200, 72, 64},
        {300, 193, 0, 65}, {500, 201, 100, 7}};
static const struct shape columns_added[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 0, 20},
        {40, 1, 0, 30}, {150, 100, 0, 1}, {150, 100, 100, 50}, {150, 100, 37, 9},
        {400, 200, 63, 64}, {400, 129, 65, 150}, {500, 201, 0, 7}};
static const struct shape rows_added[] = {{1, 1, 0, 1}, {3, 3, 3, 5}, {40, 20, 7, 300},
        {150, 100, 0, 1}, {150, 100, 150, 64}, {300, 129, 50, 33}, {500, 201, 128, 100}};
static const struct shape rows_removed[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 20, 20},
        {150, 100, 0, 1}, {150, 100, 149, 1}, {150, 100, 10, 9}, {400, 200, 300, 64},
        {400, 129, 65, 150}, {500, 201, 128, 7}};
static const struct shape modified[] = {{1, 1, 0, 1}, {3, 3, 0, 2}, {40, 40, 0, 40}, {40, 39, 0, 5},
        {40, 3, 0, 11}, {150, 100, 0, 1}, {400, 200, 0, 64}, {400, 129, 0, 70}, {500, 201, 0, 7}};

static const struct {
	const struct shape *shapes;
	size_t count;
} changes[] = {[QR_REMOVE_COLUMNS] = {columns_removed, ARRAY_LEN(columns_removed)},
        [QR_ADD_COLUMNS] = {columns_added, ARRAY_LEN(columns_added)},
        [QR_ADD_ROWS] = {rows_added, ARRAY_LEN(rows_added)},
        [QR_REMOVE_ROWS] = {rows_removed, ARRAY_LEN(rows_removed)},
        [QR_MODIFY] = {modified, ARRAY_LEN(modified)}};

static bool needs_q(enum qr_change what)
{
	return what == QR_ADD_COLUMNS || what == QR_MODIFY;
}

static void test_changes(struct executor *e)
{
	for (size_t what = 0; what < ARRAY_LEN(changes); what++)
		for (int kept = needs_q((enum qr_change)what) ? Q_THIN : Q_NONE; kept <= Q_FULL;
		        kept++)
			for (size_t i = 0; i < changes[what].count; i++) {
				check_change(e, (enum qr_change)what, (enum q_kept)kept, SINGLE,
				        &changes[what].shapes[i]);
				check_change(e, (enum qr_change)what, (enum q_kept)kept, DOUBLE,
				        &changes[what].shapes[i]);
			}
}

/* ---- one after another ---- */

static uint64_t draw(uint64_t seed, int64_t i, int64_t count)
{
	return (uint64_t)((test_random(seed, i) + 1) / 2 * (double)count) % (uint64_t)count;
}

/* The i-th of a sequence that keeps m in 60 .. 119 and n in 20 .. 39. */
static struct outcome random_change(struct scene *s, int64_t i)
{
	enum qr_change what = (enum qr_change)draw(1, i, QR_MODIFY + 1);
	int64_t p = 1 + (int64_t)draw(2, i, 9);

	if (what == QR_ADD_COLUMNS && s->f.n + p >= 40)
		what = QR_REMOVE_COLUMNS;
	if (what == QR_REMOVE_COLUMNS && s->f.n - p < 20)
		what = QR_ADD_COLUMNS;
	if (what == QR_ADD_ROWS && s->f.m + p >= 120)
		what = QR_REMOVE_ROWS;
	if (what == QR_REMOVE_ROWS && s->f.m - p < 60)
		what = QR_ADD_ROWS;
	int64_t most = what == QR_REMOVE_COLUMNS ? s->f.n - p
	               : what == QR_ADD_COLUMNS  ? s->f.n
	               : what == QR_ADD_ROWS     ? s->f.m
	                                         : s->f.m - p;
	return change(s, what, (int64_t)draw(3, i, most + 1), p);
}

/* The products u v^T of modify add up: the matrix must not grow for ever, hence the scale of the
 * ratios is that of the matrix, and the drift is what the changes together leave. */
static void check_sequence(struct executor *e, enum q_kept kept, enum precision precision)
{
	struct scene s = scene_new(e, precision, kept, 80, 30, 120, 50, 9);
	struct measures found = measure(&s);
	bool fine = true;
	int info = 0;

	for (int64_t i = 1; i <= 1000 && fine; i++) {
		struct outcome out = random_change(&s, i);
		fine = out.ran;
		info = info ? info : out.info;
		if (i % 200 == 0) {
			found = measure(&s);
			diag("%c, Q %s, after %" PRId64
			     " changes: residual %.2g, orthogonality %.2g, sides %.2g",
			        precision, q_kept_name[kept], i, found.residual,
			        found.orthogonality, found.sides);
		}
	}
	ok(scene_close(&s) && fine && info == 0 && found.zeros && found.residual < 30 &&
	                found.orthogonality < 30 && found.sides < 30,
	        "%c, Q %s: 1000 changes one after another stay valid", precision,
	        q_kept_name[kept]);
}

/* ---- columns that depend, rows that may not go ---- */

static void check_dependent_column(struct executor *e, enum q_kept kept, enum precision precision)
{
	struct scene s = scene_new(e, precision, kept, 90, 30, 90, 40, 4);
	double *u = random_doubles(&s, 90, 5), x[30];

	for (int64_t i = 0; i < 30; i++)
		x[i] = test_random(6, i);
	multiply(CblasNoTrans, CblasNoTrans, 90, 1, 30, 1, s.a, x, 0, u + 2 * 90);
	struct outcome out = add_columns(&s, 7, 5, u);
	struct measures found = measure(&s);
	bool said = kept == Q_FULL ? out.info == 0 && found.orthogonality < 30 : out.info == 3;
	ok(scene_close(&s) && out.ran && said && found.zeros && found.residual < 30,
	        "%c, Q %s: the third of five new columns depends: info %d, residual %.2g, "
	        "orthogonality %.2g",
	        precision, q_kept_name[kept], out.info, found.residual, found.orthogonality);
	free(u);
}

/* Row 12 alone has something in the last column. */
static void check_needed_row(struct executor *e, enum q_kept kept, enum precision precision)
{
	struct scene s = scene_new(e, precision, kept, 60, 20, 60, 30, 5);
	double *q = xmalloc(60 * 60 * sizeof *q), *r = xmalloc(20 * 20 * sizeof *r);
	for (int64_t i = 0; i < 60; i++)
		s.a[i + 19 * 60] = i == 12;
	factorize(s.a, 60, 20, q, r);
	bool sent = send(&s, q, 60, q_columns(&s), s.f.q) && send(&s, r, 20, 20, s.f.r);
	struct outcome out = remove_rows(&s, 10, 5);
	double *last = fetch(&s, matrix_view(s.f.r, 19, 19, 1, 1), 1, 1);
	double eps = unit_roundoff(precision);
	ok(scene_close(&s) && sent && out.ran &&
	                (kept == Q_FULL ? fabs(last[0]) < 100 * eps : out.info > 0),
	        "%c, Q %s: without a row that a column needs: info %d, r_nn %.2g", precision,
	        q_kept_name[kept], out.info, last[0]);
	free(last);
	free(q);
	free(r);
}

static void test_dependent(struct executor *e)
{
	for (int single = 0; single < 2; single++) {
		enum precision precision = single ? SINGLE : DOUBLE;
		check_dependent_column(e, Q_THIN, precision);
		check_dependent_column(e, Q_FULL, precision);
		check_needed_row(e, Q_NONE, precision);
		check_needed_row(e, Q_THIN, precision);
		check_needed_row(e, Q_FULL, precision);
		check_sequence(e, Q_THIN, precision);
		check_sequence(e, Q_FULL, precision);
	}
}

/* ---- refusals ---- */

static void test_refused(struct executor *e)
{
	static const struct {
		enum qr_change change;
		enum q_kept kept;
		int64_t m, n, p, rows;
		const char *word;
	} cases[] = {{QR_REMOVE_COLUMNS, Q_FULL, 9, 5, 5, 9, "fewer rows"},
	        {QR_REMOVE_COLUMNS, Q_FULL, 4, 5, 1, 9, "m >= n"},
	        {QR_REMOVE_COLUMNS, Q_NONE, 5, 5, 0, 9, "at least one"},
	        {QR_ADD_COLUMNS, Q_FULL, 9, 5, 5, 20, "fewer rows"},
	        {QR_ADD_COLUMNS, Q_NONE, 9, 5, 1, 20, "needs Q"},
	        {QR_MODIFY, Q_NONE, 9, 5, 1, 20, "needs Q"},
	        {QR_REMOVE_ROWS, Q_THIN, 9, 5, 5, 20, "fewer rows"},
	        {QR_ADD_COLUMNS, Q_FULL, 9, 5, 2, 6, "R has room"},
	        {QR_ADD_ROWS, Q_FULL, 9, 5, 2, 10, "Q has room"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t rows = cases[i].rows;
		struct matrix room = {NULL, 0, rows, rows, rows, SINGLE};
		struct qr_factors f = {.m = cases[i].m,
		        .n = cases[i].n,
		        .kept = cases[i].kept,
		        .q = room,
		        .r = room};
		f.r.n = f.r.m = rows < 6 ? rows : 6;
		e->fault.text[0] = '\0';
		ok(qr_update_work(e, &f, cases[i].change, cases[i].p) == -1 &&
		                strstr(e->fault.text, cases[i].word),
		        "refused: %s", e->fault.text);
	}
	struct matrix room = {NULL, 0, 9, 9, 9, SINGLE};
	struct qr_factors f = {.m = 9, .n = 5, .kept = Q_NONE, .r = room};
	ok(!qr_remove_columns(e, &f, 5, 1, NULL) && f.n == 5, "refused: %s", e->fault.text);
	ok(!qr_add_rows(e, &f, 0, (struct matrix){NULL, 0, 2, 4, 2, SINGLE}, room, NULL) &&
	                f.m == 9,
	        "refused: %s", e->fault.text);
}

static void test(struct executor *e)
{
	test_changes(e);
	test_dependent(e);
	test_refused(e);
}

int main(void)
{
	return test_on_executors(test);
}
