/* SPDX-License-Identifier: MIT */
/* A sweep down in one kernel: exact zeros, R^T R, R^T d and Q R as before, the same bits when run
 * again, nothing written around, tiny, huge and dependent columns, NaN that stays NaN. */
#include "tests/executors/executor_memory.h"

#include "lib/base/msg.h"

struct shape {
	bool added;
	int64_t rows, n, k, p, sides, q_rows;
};

/* The operands of a sweep: rows of the triangle, and rows added below it. */
struct fixture {
	struct block r, d, q, added_r, added_d, added_q;
};

static uint64_t state = 90;

/* Column j >= k of r has elements down to row j + below. */
static void shape_triangle(struct executor *e, struct block *r, int64_t k, int64_t below)
{
	for (int64_t j = 0; j < r->a.n; j++)
		for (int64_t i = j + 1 + (j < k ? 0 : below); i < r->a.m; i++)
			*element(r, i, j) = 0;
	block_upload(e, r);
}

/* Nothing in the first `columns` columns. */
static void clear_columns(struct executor *e, struct block *r, int64_t columns)
{
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < r->a.m; i++)
			*element(r, i, j) = 0;
	block_upload(e, r);
}

static struct fixture fixture_new(
        struct executor *e, enum precision precision, const struct shape *c)
{
	int64_t added = c->added ? c->p : 0;
	struct fixture s = {.r = block_new(e, precision, c->rows, c->n, &state),
	        .d = block_new(e, precision, c->rows, c->sides, &state),
	        .q = block_new(e, precision, c->q_rows, c->rows, &state),
	        .added_r = block_new(e, precision, added, c->n, &state),
	        .added_d = block_new(e, precision, added, c->sides, &state),
	        .added_q = block_new(e, precision, c->q_rows, added, &state)};

	shape_triangle(e, &s.r, c->k, c->added ? 0 : c->p);
	clear_columns(e, &s.added_r, c->k);
	return s;
}

static void fixture_free(struct executor *e, struct fixture *s)
{
	block_free(e, &s->r);
	block_free(e, &s->d);
	block_free(e, &s->q);
	block_free(e, &s->added_r);
	block_free(e, &s->added_d);
	block_free(e, &s->added_q);
}

static struct system system_of(const struct block *r, const struct block *d, const struct block *q)
{
	return (struct system){r->a, d->a, q->a};
}

/* The workspace is poisoned. */
static void sweep(struct executor *e, const struct fixture *s, const struct shape *c)
{
	struct system added = system_of(&s->added_r, &s->added_d, &s->added_q);
	struct band band = {system_of(&s->r, &s->d, &s->q), c->added ? &added : NULL, c->k, c->p};
	int64_t words = (e->ops->band_work(e, &band) + 7) / 8;
	struct block work = block_poisoned(e, DOUBLE, words, 1);

	must(e, e->ops->band_sweep(e, &band, matrix_address(work.all)) && e->ops->sync(e));
	block_free(e, &work);
}

/* ---- comparison ---- */

/* x with y below it (or beside it, for Q), without their surroundings. */
static double *joined(const struct block *x, const double *at_x, const struct block *y,
        const double *at_y, bool beside)
{
	int64_t m = x->a.m, n = x->a.n, rows = beside ? m : m + y->a.m;
	int64_t columns = beside ? n + y->a.n : n;
	double *out = xcalloc((size_t)(rows * columns) + 1, sizeof *out);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			out[i + j * rows] = at_x[x->a.offset + i + j * x->a.ld];
	for (int64_t j = 0; j < y->a.n; j++)
		for (int64_t i = 0; i < y->a.m; i++)
			out[(beside ? i : m + i) + (beside ? n + j : j) * rows] =
			        at_y[y->a.offset + i + j * y->a.ld];
	return out;
}

/* Largest |x^T y - v^T w|; the columns have m elements. */
static double difference(const double *x, const double *y, const double *v, const double *w,
        int64_t m, int64_t columns_x, int64_t columns_y)
{
	double worst = 0;

	for (int64_t i = 0; i < columns_x; i++)
		for (int64_t j = 0; j < columns_y; j++) {
			double sum = 0;
			for (int64_t l = 0; l < m; l++)
				sum += x[l + i * m] * y[l + j * m] - v[l + i * m] * w[l + j * m];
			worst = sum != sum || fabs(sum) > worst ? fabs(sum) : worst;
		}
	return worst;
}

static double *transposed(const double *x, int64_t m, int64_t n)
{
	double *out = xmalloc((size_t)(m * n + 1) * sizeof *out);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			out[j + i * n] = x[i + j * m];
	return out;
}

/* Whether the surroundings are NaN as before. */
static bool intact(const struct block *b, const double *now)
{
	for (int64_t j = 0; j < b->all.n; j++)
		for (int64_t i = 0; i < b->all.m; i++) {
			bool inside = i >= MARGIN_ROWS && i < MARGIN_ROWS + b->a.m &&
			              j >= MARGIN_COLUMNS && j < MARGIN_COLUMNS + b->a.n;
			if (!inside && !isnan(now[i + j * b->all.ld]))
				return false;
		}
	return true;
}

static bool zeros_below(const struct block *r, const double *now)
{
	for (int64_t j = 0; j < r->a.n; j++)
		for (int64_t i = j + 1; i < r->a.m; i++)
			if (now[r->a.offset + i + j * r->a.ld] != 0)
				return false;
	return true;
}

/* ---- the tests ---- */

struct state {
	double *r, *d, *q, *added_r, *added_d, *added_q;
};

static struct state download(struct executor *e, const struct fixture *s)
{
	return (struct state){block_download(e, &s->r), block_download(e, &s->d),
	        block_download(e, &s->q), block_download(e, &s->added_r),
	        block_download(e, &s->added_d), block_download(e, &s->added_q)};
}

static void state_free(struct state *x)
{
	free(x->r);
	free(x->d);
	free(x->q);
	free(x->added_r);
	free(x->added_d);
	free(x->added_q);
}

/* The largest error of R^T R, R^T d and Q R, in roundings of the largest element. R's added rows
 * are zeros now. */
static double error_of(
        const struct fixture *s, const struct state *now, const struct shape *c, double scale)
{
	int64_t added = s->added_r.a.m, m = c->rows + added;
	double *none = xcalloc((size_t)(s->added_r.all.m * s->added_r.all.n), sizeof *none);
	double *a = joined(&s->r, s->r.x, &s->added_r, s->added_r.x, false);
	double *r = joined(&s->r, now->r, &s->added_r, none, false);
	double *b = joined(&s->d, s->d.x, &s->added_d, s->added_d.x, false);
	double *d = joined(&s->d, now->d, &s->added_d, now->added_d, false);
	double *q0 = joined(&s->q, s->q.x, &s->added_q, s->added_q.x, true);
	double *q1 = joined(&s->q, now->q, &s->added_q, now->added_q, true);
	double *rows0 = transposed(q0, c->q_rows, m), *rows1 = transposed(q1, c->q_rows, m);
	double squares = difference(r, r, a, a, m, c->n, c->n) / scale;
	double sides = difference(r, d, a, b, m, c->n, c->sides);
	double product = difference(rows1, r, rows0, a, m, c->q_rows, c->n);
	double *all[] = {none, a, r, b, d, q0, q1, rows0, rows1};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		free(all[i]);
	return fmax(fmax(squares, sides), product) / scale / (double)m /
	       unit_roundoff(s->r.a.precision);
}

static void check(struct executor *e, enum precision precision, const struct shape *c, double scale)
{
	struct fixture s = fixture_new(e, precision, c);

	for (int64_t j = 0; j < c->n; j++)
		for (int64_t i = 0; i < c->rows; i++)
			*element(&s.r, i, j) *= scale;
	for (int64_t j = 0; j < c->n; j++)
		for (int64_t i = 0; i < s.added_r.a.m; i++)
			*element(&s.added_r, i, j) *= scale;
	block_upload(e, &s.r);
	block_upload(e, &s.added_r);
	sweep(e, &s, c);
	struct state now = download(e, &s);
	struct block *all[] = {&s.r, &s.d, &s.q, &s.added_r, &s.added_d, &s.added_q};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		block_upload(e, all[i]);
	sweep(e, &s, c);
	struct state again = download(e, &s);
	int64_t bytes = s.r.all.m * s.r.all.n * (int64_t)sizeof(double);
	int64_t q_bytes = s.q.all.m * s.q.all.n * (int64_t)sizeof(double);
	bool same = memcmp(now.r, again.r, (size_t)bytes) == 0 &&
	            memcmp(now.q, again.q, (size_t)q_bytes) == 0;
	bool kept = intact(&s.r, now.r) && intact(&s.d, now.d) && intact(&s.q, now.q) &&
	            intact(&s.added_r, now.added_r) && intact(&s.added_d, now.added_d) &&
	            intact(&s.added_q, now.added_q);
	bool zeros = zeros_below(&s.r, now.r);
	double error = error_of(&s, &now, c, scale);
	ok(error < 30 && same && kept && zeros,
	        "%c %s %" PRId64 ": %" PRId64 " x %" PRId64 " from %" PRId64 ", sides %" PRId64
	        ", Q %" PRId64 ", of %.0e: error %.2g",
	        precision, c->added ? "added" : "band", c->p, c->rows, c->n, c->k, c->sides,
	        c->q_rows, scale, error);
	if (!same || !kept || !zeros)
		diag("same bits %d, surroundings kept %d, zeros below %d", same, kept, zeros);
	state_free(&now);
	state_free(&again);
	fixture_free(e, &s);
}

/* Columns of zeros and equal columns; a NaN. */
static void check_special(struct executor *e, enum precision precision, bool added)
{
	static const struct shape c = {false, 100, 100, 0, 20, 1, 10};
	struct shape shape = c;
	shape.added = added;
	struct fixture s = fixture_new(e, precision, &shape);

	for (int64_t i = 0; i < 100; i++) {
		*element(&s.r, i, 40) = 0;
		*element(&s.r, i, 7) = i <= 6 ? *element(&s.r, i, 6) : 0;
		if (added && i < 20)
			*element(&s.added_r, i, 7) = *element(&s.added_r, i, 6);
	}
	block_upload(e, &s.r);
	block_upload(e, &s.added_r);
	sweep(e, &s, &shape);
	struct state now = download(e, &s);
	double error = error_of(&s, &now, &shape, 1);
	ok(error < 30 && zeros_below(&s.r, now.r), "%c %s: dependent columns: error %.2g",
	        precision, added ? "added" : "band", error);
	state_free(&now);
	*element(&s.r, 50, 60) = NAN;
	block_upload(e, &s.r);
	sweep(e, &s, &shape);
	now = download(e, &s);
	ok(isnan(now.r[s.r.a.offset + 99 + 99 * s.r.a.ld]), "%c %s: NaN goes on", precision,
	        added ? "added" : "band");
	state_free(&now);
	fixture_free(e, &s);
}

static const struct shape shapes[] = {{false, 2, 2, 0, 1, 1, 3}, {false, 33, 33, 0, 1, 0, 0},
        {false, 40, 32, 0, 8, 2, 31}, {false, 130, 97, 30, 16, 1, 64},
        {false, 200, 200, 0, 17, 3, 0}, {false, 300, 280, 13, 33, 34, 100},
        {false, 500, 500, 100, 64, 1, 333}, {false, 420, 400, 0, 65, 1, 70},
        {false, 700, 600, 1, 128, 1, 5}, {false, 150, 130, 0, 128, 0, 9},
        {false, 600, 500, 0, 129, 1, 40}, {false, 700, 700, 300, 256, 1, 40},
        {false, 100, 130, 0, 20, 1, 30}, {true, 1, 1, 0, 1, 1, 1}, {true, 20, 20, 0, 300, 1, 3},
        {true, 33, 33, 0, 1, 2, 40}, {true, 130, 130, 0, 17, 33, 65},
        {true, 300, 300, 0, 64, 1, 200}, {true, 280, 280, 0, 100, 0, 33},
        {true, 513, 513, 0, 250, 1, 0}};

static void test(struct executor *e, enum precision precision)
{
	double tiny = precision == SINGLE ? 1e-25 : 1e-120, huge = 1 / tiny;

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (e->ops->band_fits(e, precision, shapes[i].p))
			check(e, precision, &shapes[i], 1);
		else
			skip("a sweep of so many rows", "there is no kernel for it");
	for (size_t i = 5; i < ARRAY_LEN(shapes); i += 11) {
		check(e, precision, &shapes[i], tiny);
		check(e, precision, &shapes[i], huge);
	}
	check_special(e, precision, false);
	check_special(e, precision, true);
}

int main(void)
{
	struct executor *e = cuda_or_skip();

	if (!e->ops->band_fits(e, SINGLE, 1))
		skip_all("the GPU has no sweep of one kernel");
	test(e, SINGLE);
	test(e, DOUBLE);
	executor_free(e);
	return finish();
}
