/* SPDX-License-Identifier: MIT */
/* A sweep down in one kernel: exact zeros, R^T R, R^T d and Q R as before, the same bits when run
 * again, nothing written around, tiny, huge and dependent columns, NaN that stays NaN. */
#include "tests/executors/executor_memory.h"

struct shape {
	bool added;
	int64_t rows, n, k, p, sides, q_rows;
};

/* The operands of a sweep: rows of the triangle, and rows added below it. */
enum { R, D, Q, ADDED_R, ADDED_D, ADDED_Q, OPERANDS };
struct operands {
	struct block of[OPERANDS];
};

/* Column j >= k of R has elements down to its row j, or `p` rows further without added rows; added
 * rows have nothing in the first k columns. All is `scale` times as large. */
static struct operands operands_new(
        struct executor *e, enum precision precision, const struct shape *c, double scale)
{
	const int64_t added = c->added ? c->p : 0;
	struct operands s = {{block_new(e, precision, c->rows, c->n),
	        block_new(e, precision, c->rows, c->sides),
	        block_new(e, precision, c->q_rows, c->rows), block_new(e, precision, added, c->n),
	        block_new(e, precision, added, c->sides),
	        block_new(e, precision, c->q_rows, added)}};

	for (int64_t j = 0; j < c->n; j++) {
		const int64_t last = j + (c->added || j < c->k ? 0 : c->p);
		for (int64_t i = 0; i < c->rows; i++)
			*element(&s.of[R], i, j) *= i > last ? 0 : scale;
		for (int64_t i = 0; i < added; i++)
			*element(&s.of[ADDED_R], i, j) *= j < c->k ? 0 : scale;
	}
	return s;
}

/* The operands after a sweep, on the host; its workspace is poisoned. */
static struct operands swept(struct executor *e, const struct operands *s, const struct shape *c)
{
	struct system added = {s->of[ADDED_R].a, s->of[ADDED_D].a, s->of[ADDED_Q].a};
	struct band band = {
	        {s->of[R].a, s->of[D].a, s->of[Q].a}, c->added ? &added : NULL, c->k, c->p};
	struct block work = block_poisoned(e, DOUBLE, (e->ops->band_work(e, &band) + 7) / 8, 1);
	struct operands now = *s;

	for (int i = 0; i < OPERANDS; i++)
		block_upload(e, &s->of[i]);
	must(e, e->ops->band_sweep(e, &band, matrix_address(work.all)) && e->ops->sync(e));
	for (int i = 0; i < OPERANDS; i++) {
		now.of[i].x = block_download(e, &s->of[i]);
		keep(e, 0, NULL, now.of[i].x);
	}
	return now;
}

/* ---- comparison ---- */

/* The largest element of X^T Y, or of X Y, now less that before, where rows were added. */
static double change(struct executor *e, enum trans trans, const struct operands *before,
        const struct operands *now, int x, int y)
{
	const struct block *left = &now->of[x], *right = &now->of[y];
	struct block d = block_new(e, DOUBLE, trans ? left->a.n : left->a.m, right->a.n);
	double worst = 0;

	block_product(1, left, trans, right, PLAIN, 0, &d);
	block_product(-1, &before->of[x], trans, &before->of[y], PLAIN, 1, &d);
	block_product(-1, &before->of[x + ADDED_R], trans, &before->of[y + ADDED_R], PLAIN, 1, &d);
	for (int64_t j = 0; j < d.a.n; j++)
		for (int64_t i = 0; i < d.a.m; i++)
			worst = worse(worst, fabs(*element(&d, i, j)));
	return worst;
}

/* The largest error of R^T R, R^T d and Q R, in roundings of the largest element; R's added rows
 * are zeros now. INFINITY with elements below R's diagonal. */
static double error_of(
        struct executor *e, const struct operands *before, const struct operands *now, double scale)
{
	const struct block *r = &now->of[R];
	const double squares = change(e, TRANSPOSED, before, now, R, R) / scale,
	             sides = change(e, TRANSPOSED, before, now, R, D),
	             product = change(e, PLAIN, before, now, Q, R);

	for (int64_t j = 0; j < r->a.n; j++)
		for (int64_t i = j + 1; i < r->a.m; i++)
			if (*element(r, i, j) != 0)
				return INFINITY;
	return worse(worse(squares, sides), product) / scale /
	       (double)(r->a.m + before->of[ADDED_R].a.m) / unit_roundoff(r->a.precision);
}

/* Whether the surroundings are NaN as before. */
static bool intact(const struct block *b)
{
	struct block copy = *b;
	bool good = true;

	copy.x = test_copy(b->x, b->all.m, b->all.n, DOUBLE);
	block_set(&copy, NAN);
	for (int64_t i = 0; i < b->all.m * b->all.n; i++)
		good = good && isnan(copy.x[i]);
	free(copy.x);
	return good;
}

/* ---- the tests ---- */

/* In a small run few columns, of rows that reach as far as `p` says, few sides, few rows of Q. */
static struct shape of_this_run(struct shape c)
{
	c.n = test_at_most(c.n, 60);
	c.rows = test_at_most(c.rows, c.added ? c.n : c.n + c.p);
	c.k = test_at_most(c.k, 20);
	c.sides = test_at_most(c.sides, 3);
	c.q_rows = test_at_most(c.q_rows, 30);
	return c;
}

static void check(
        struct executor *e, enum precision precision, const struct shape *full, double scale)
{
	const struct shape cut = of_this_run(*full), *c = &cut;

	if (!e->ops->band_fits(e, precision, c->p)) {
		skip("a sweep of so many rows", "there is no kernel for it");
		return;
	}
	struct operands s = operands_new(e, precision, c, scale);
	struct operands now = swept(e, &s, c), again = swept(e, &s, c);
	const double error = error_of(e, &s, &now, scale);
	bool same = true, kept = true;

	for (int i = 0; i < OPERANDS; i++) {
		const struct matrix *all = &s.of[i].all;
		same = same && memcmp(now.of[i].x, again.of[i].x,
		                       (size_t)(all->m * all->n) * sizeof(double)) == 0;
		kept = kept && intact(&now.of[i]);
	}
	ok(error < 30 && same && kept,
	        "%c %s %" PRId64 ": %" PRId64 " x %" PRId64 " from %" PRId64 ", sides %" PRId64
	        ", Q %" PRId64 ", of %.0e: error %.2g",
	        precision, c->added ? "added" : "band", c->p, c->rows, c->n, c->k, c->sides,
	        c->q_rows, scale, error);
	if (!same || !kept)
		diag("same bits %d, surroundings kept %d", same, kept);
	blocks_free(e);
}

/* Columns of zeros and equal columns; a NaN. */
static void check_special(struct executor *e, enum precision precision, bool added)
{
	const struct shape c = {added, 100, 100, 0, 20, 1, 10};

	if (!e->ops->band_fits(e, precision, c.p)) {
		skip("dependent columns and NaN", "there is no kernel for so many rows");
		return;
	}
	struct operands s = operands_new(e, precision, &c, 1);

	for (int64_t i = 0; i < 100; i++) {
		*element(&s.of[R], i, 40) = 0;
		*element(&s.of[R], i, 7) = i <= 6 ? *element(&s.of[R], i, 6) : 0;
		if (added && i < 20)
			*element(&s.of[ADDED_R], i, 7) = *element(&s.of[ADDED_R], i, 6);
	}
	struct operands now = swept(e, &s, &c);
	const double error = error_of(e, &s, &now, 1);
	ok(error < 30, "%c %s: dependent columns: error %.2g", precision, added ? "added" : "band",
	        error);
	*element(&s.of[R], 50, 60) = NAN;
	now = swept(e, &s, &c);
	ok(isnan(*element(&now.of[R], 99, 99)), "%c %s: NaN goes on", precision,
	        added ? "added" : "band");
	blocks_free(e);
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
		check(e, precision, &shapes[i], 1);
	for (size_t i = 5; i < ARRAY_LEN(shapes) && !test_small(); i += 11) {
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
