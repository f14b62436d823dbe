/* SPDX-License-Identifier: MIT */
/* Triangles on both executors against double precision on the host: Cholesky of a diagonal block,
 * inverse of a triangle, solves, T of the compact WY form. Every size around the tiles' edges, both
 * precisions, both triangles; nothing outside of the result is touched; info; NaN; the same bits
 * when run again. */
#include "tests/executors/executor_memory.h"

#include <lapacke.h>

static const char *uplo_name(enum uplo uplo)
{
	return uplo == LOWER ? "lower" : "upper";
}

/* Element (i,j) of the lower triangle, of which the matrix holds the transpose when upper. */
static double *triangle_element(const struct block *b, enum uplo uplo, int64_t i, int64_t j)
{
	return uplo == LOWER ? element(b, i, j) : element(b, j, i);
}

static bool runs_alike(struct executor *e, const struct block *b, const double *before)
{
	double *again = block_download(e, b);
	bool same = memcmp(before, again, (size_t)(b->all.m * b->all.n) * sizeof *again) == 0;

	free(again);
	return same;
}

/* ---- potrf ---- */

static const struct matrix none = {0};

/* X X^T / n + I / 10 in one triangle, NaN in the other; rows below the lower triangle (columns
 * right of the upper one) are random. */
static struct block positive_definite(
        struct executor *e, enum precision precision, enum uplo uplo, int64_t rows, int64_t n)
{
	struct block b = uplo == LOWER ? block_poisoned(e, precision, rows, n)
	                               : block_poisoned(e, precision, n, rows);
	double *x = xmalloc((size_t)(n * n + 1) * sizeof *x);

	for (int64_t i = 0; i < n * n; i++)
		x[i] = next_uniform();
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++) {
			double sum = i == j ? 0.1 * (double)n : 0;
			for (int64_t k = 0; k < n; k++)
				sum += x[i * n + k] * x[j * n + k];
			*triangle_element(&b, uplo, i, j) = rounded(sum / (double)n, precision);
		}
	for (int64_t i = n; i < rows; i++)
		for (int64_t j = 0; j < n; j++)
			*triangle_element(&b, uplo, i, j) = next_uniform();
	free(x);
	block_upload(e, &b);
	return b;
}

/* max |A - L L^T| / (n eps max |A|), L out of x (laid out as b.x), rows below the square and all.
 */
static double potrf_ratio(const struct block *b, enum uplo uplo, double *x)
{
	struct block l = *b;
	int64_t n = b->a.m < b->a.n ? b->a.m : b->a.n, rows = b->a.m + b->a.n - n;
	double worst = 0, largest = 0;

	l.x = x;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j <= i && j < n; j++) {
			double sum = *triangle_element(b, uplo, i, j);
			largest = fmax(largest, fabs(sum));
			for (int64_t k = 0; k <= j; k++)
				sum -= *triangle_element(&l, uplo, i, k) *
				       *triangle_element(&l, uplo, j, k);
			worst = isnan(sum) ? INFINITY : fmax(worst, fabs(sum));
		}
	return worst / ((double)n * unit_roundoff(b->a.precision) * largest);
}

/* In the triangle x has numbers; in the other one and around it is as b was (NaN), or zeros. */
static bool only_triangle(const struct block *b, enum uplo uplo, const double *x, bool zeros)
{
	for (int64_t j = 0; j < b->all.n; j++)
		for (int64_t i = 0; i < b->all.m; i++) {
			int64_t row = i - MARGIN_ROWS, column = j - MARGIN_COLUMNS;
			bool inside = row >= 0 && column >= 0 && row < b->a.m && column < b->a.n;
			bool other = uplo == LOWER ? row < column : row > column;
			double value = x[i + j * b->all.ld];
			if (!inside || (other && !zeros) ? !isnan(value)
			                                 : isnan(value) || (other && value != 0))
				return false;
		}
	return true;
}

static void check_potrf(struct executor *e, enum precision precision, enum uplo uplo, int64_t rows,
        int64_t n, int *info)
{
	struct block b = positive_definite(e, precision, uplo, rows, n);

	must(e, e->ops->clear_info(e, info));
	must(e, e->ops->potrf_block(e, uplo, b.a, none, 1000, info));
	double *l = block_download(e, &b);
	block_upload(e, &b);
	must(e, e->ops->potrf_block(e, uplo, b.a, none, 1000, info));
	int got = read_info(e, info);
	double ratio = n > 0 ? potrf_ratio(&b, uplo, l) : 0;
	if (!ok(ratio < 6 && got == 0 && only_triangle(&b, uplo, l, false) && runs_alike(e, &b, l),
	            "potrf %c %s %" PRId64 " x %" PRId64, precision, uplo_name(uplo), rows, n))
		diag("ratio %.3g info %d only triangle %d", ratio, got,
		        only_triangle(&b, uplo, l, false));
	free(l);
	blocks_free(e);
}

/* The diagonal is added. */
static void check_potrf_added(struct executor *e, enum precision precision, enum uplo uplo,
        int64_t rows, int64_t n, int *info)
{
	struct block b = positive_definite(e, precision, uplo, rows, n),
	             added = block_new(e, precision, n, 1);

	for (int64_t i = 0; i < n; i++) {
		*element(&added, i, 0) = *triangle_element(&b, uplo, i, i);
		*triangle_element(&b, uplo, i, i) = 0;
	}
	block_upload(e, &b);
	block_upload(e, &added);
	must(e, e->ops->clear_info(e, info));
	must(e, e->ops->potrf_block(e, uplo, b.a, added.a, 0, info));
	for (int64_t i = 0; i < n; i++)
		*triangle_element(&b, uplo, i, i) = *element(&added, i, 0);
	double *l = block_download(e, &b);
	double ratio = potrf_ratio(&b, uplo, l);
	if (!ok(ratio < 6 && read_info(e, info) == 0 && only_triangle(&b, uplo, l, false),
	            "potrf %c %s %" PRId64 " x %" PRId64 " with an added diagonal", precision,
	            uplo_name(uplo), rows, n))
		diag("ratio %.3g", ratio);
	free(l);
	blocks_free(e);
}

/* The pivot of row `row` is bad: info reports it, and a good block after it stays as it is. */
static void check_potrf_failure(struct executor *e, enum precision precision, enum uplo uplo,
        int64_t rows, int64_t n, int64_t row, int64_t column, double value, int *info)
{
	struct block b = positive_definite(e, precision, uplo, rows, n),
	             later = positive_definite(e, precision, uplo, 200, 150);

	*triangle_element(&b, uplo, row, column) = value;
	block_upload(e, &b);
	must(e, e->ops->clear_info(e, info));
	must(e, e->ops->potrf_block(e, uplo, b.a, none, 7, info));
	int got = read_info(e, info);
	must(e, e->ops->potrf_block(e, uplo, later.a, none, 7 + n, info));
	bool left_alone = block_holds(e, &later, 0);
	if (!ok(got == 7 + row + 1 && read_info(e, info) == got && left_alone,
	            "potrf %c %s %" PRId64 " x %" PRId64 ": %g at (%" PRId64 ",%" PRId64
	            ") gives its info",
	            precision, uplo_name(uplo), rows, n, value, row, column))
		diag("info %d", got);
	blocks_free(e);
}

static void check_potrfs(struct executor *e, enum precision precision)
{
	static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 100, 127, 128, 129,
	        160, 161, 191, 200, 255, 256, 257, 384, 385, 500, 512};
	static const int64_t below[] = {1, 31, 32, 33, 300};
	static const int64_t bad[] = {0, 1, 31, 32, 64, 100, 127, 128, 160, 200, 299};
	const size_t count = ARRAY_LEN(sizes) - (test_on_gpu ? 0 : 6);
	void *info;

	must(e, e->ops->alloc(e, sizeof(int), &info));
	for (enum uplo uplo = LOWER; uplo <= UPPER; uplo++) {
		for (size_t i = 0; i < count; i++)
			if (test_turn(i, 3))
				check_potrf(e, precision, uplo, sizes[i], sizes[i], info);
		for (size_t i = 1; i < count; i += 2)
			for (size_t k = 0; k < ARRAY_LEN(below); k++)
				if (test_turn(i / 2 + k, 6))
					check_potrf(e, precision, uplo, sizes[i] + below[k],
					        sizes[i], info);
		for (size_t i = 1; i < count; i += 3)
			check_potrf_added(e, precision, uplo,
			        sizes[i] + below[i % ARRAY_LEN(below)], sizes[i], info);
		/* in fp32 strips of 32, 96 and 128 rows beside an update, of 32, 64 and 96 alone */
		for (int64_t rows = 1500; test_on_gpu && rows < 20000; rows *= 2) {
			e->queue = QUEUE_PANEL;
			e->block = 1;
			check_potrf(e, precision, uplo, rows, 128, info);
			e->queue = QUEUE_MAIN;
			e->block = 0;
			check_potrf(e, precision, uplo, rows, 65, info);
		}
		for (size_t i = 0; i < ARRAY_LEN(bad); i++)
			if (test_turn(i, 5))
				check_potrf_failure(e, precision, uplo, 350, 300, bad[i], bad[i],
				        i % 2 ? NAN : -1, info);
		check_potrf_failure(e, precision, uplo, 350, 300, 150, 20, NAN, info);
		check_potrf_failure(e, precision, uplo, 350, 300, 299, 298, NAN, info);
		check_potrf_failure(e, precision, uplo, 90, 40, 39, 39, 0, info);
		if (!test_on_gpu || !test_fits(18000, 128))
			continue;
		/* two rounds of strips, of which the second begins when info is there */
		check_potrf_failure(e, precision, uplo, 18000, 128, 0, 0, -1, info);
		check_potrf(e, precision, uplo, 18000, 128, info);
	}
	e->ops->release(e, info);
}

/* ---- trtri ---- */

/* max |X L - I| / (n eps max|X| max|L|), both lower or both transposed upper. */
static double inverse_ratio(
        const struct block *l, const struct block *x, enum uplo uplo, enum diag unit)
{
	int64_t n = l->a.n;
	double worst = 0, largest_x = 0, largest_l = 1;

	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++) {
			double sum = i == j ? -1 : 0;
			largest_x = fmax(largest_x, fabs(*triangle_element(x, uplo, i, j)));
			if (i != j || unit == NON_UNIT)
				largest_l = fmax(largest_l, fabs(*triangle_element(l, uplo, i, j)));
			for (int64_t k = j; k <= i; k++)
				sum += *triangle_element(x, uplo, i, k) *
				       (k == j && unit == UNIT ? 1
				                               : *triangle_element(l, uplo, k, j));
			worst = isnan(sum) ? INFINITY : fmax(worst, fabs(sum));
		}
	return worst / ((double)n * unit_roundoff(l->a.precision) * largest_x * largest_l);
}

static void check_trtri(
        struct executor *e, enum precision precision, enum uplo uplo, enum diag unit, int64_t n)
{
	struct block l = block_poisoned(e, precision, n, n), x = block_poisoned(e, precision, n, n);

	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++)
			if (i != j || unit == NON_UNIT)
				*triangle_element(&l, uplo, i, j) =
				        rounded(i == j ? (i % 2 ? 2 : -1) + next_uniform() / 4
				                       : next_uniform() / 8,
				                precision);
	block_upload(e, &l);
	must(e, e->ops->trtri(e, uplo, unit, l.a, x.a));
	struct block result = x;
	result.x = block_download(e, &x);
	block_upload(e, &x);
	must(e, e->ops->trtri(e, uplo, unit, l.a, x.a));
	double ratio = n > 0 ? inverse_ratio(&l, &result, uplo, unit) : 0;
	if (!ok(ratio < 4 && only_triangle(&x, uplo, result.x, true) && block_holds(e, &l, 0) &&
	                    runs_alike(e, &x, result.x),
	            "trtri %c %s %s n %" PRId64, precision, uplo_name(uplo),
	            unit == UNIT ? "unit" : "non-unit", n))
		diag("ratio %.3g, other triangle zero %d", ratio,
		        only_triangle(&x, uplo, result.x, true));
	free(result.x);
	blocks_free(e);
}

/* ---- trsm, trsm_guard ---- */

/* A triangle with a diagonal near 2 and small elements beside it, NaN where nothing may be read.
 * full: the same on the host, with zeros and ones there. */
static struct block easy_triangle(struct executor *e, enum precision precision, enum uplo uplo,
        enum diag diag, int64_t n, struct block *full)
{
	struct block a = block_poisoned(e, precision, n, n);

	*full = block_poisoned(e, precision, n, n);
	block_set(full, 0);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++) {
			double value = i == j ? 2 + next_uniform() / 2 : next_uniform() / (double)n;
			value = i == j && diag == UNIT ? 1 : rounded(value, precision);
			*triangle_element(full, uplo, i, j) = value;
			if (i != j || diag == NON_UNIT)
				*triangle_element(&a, uplo, i, j) = value;
		}
	block_upload(e, &a);
	return a;
}

/* b := 2 op(A) X or 2 X op(A) */
static void multiply_by_triangle(struct executor *e, const struct block *full, enum side side,
        enum trans trans, const struct block *x, struct block *b)
{
	if (side == LEFT)
		block_product(2, full, trans, x, PLAIN, 0, b);
	else
		block_product(2, x, PLAIN, full, trans, 0, b);
	for (int64_t i = 0; i < b->all.m * b->all.n; i++)
		b->x[i] = rounded(b->x[i], b->a.precision);
	block_upload(e, b);
}

/* B is made from a known X, which trsm has to find; and trsm_guard: with an inverse of moderate
 * size b stays; with a huge or NaN inverse it becomes X. */
static void check_solves(struct executor *e, enum precision precision, enum side side,
        enum uplo uplo, enum trans trans, enum diag diag, int64_t n, int64_t sides)
{
	int64_t rows = side == LEFT ? n : sides, columns = side == LEFT ? sides : n;
	double error = 16 * (double)n * unit_roundoff(precision);
	struct block full, other, a = easy_triangle(e, precision, uplo, diag, n, &full);
	struct block inverse = easy_triangle(e, precision, uplo, NON_UNIT, n, &other);
	struct block x = block_new(e, precision, rows, columns), twice = x;
	struct block before = block_poisoned(e, precision, rows, columns);
	struct block b = block_poisoned(e, precision, rows, columns);

	multiply_by_triangle(e, &full, side, trans, &x, &before);
	twice.x = test_copy(x.x, x.all.m, x.all.n, DOUBLE);
	for (int64_t i = 0; i < x.all.m * x.all.n; i++)
		twice.x[i] *= 2;
	must(e, e->ops->trsm_guard(e, side, uplo, trans, diag, a.a, inverse.a, before.a, b.a));
	bool good = block_holds(e, &b, 0);
	b.x = twice.x;
	for (int bad = 0; bad < 2; bad++) {
		*triangle_element(&inverse, uplo, n - 1, n / 2) = bad ? NAN : 1e9;
		block_upload(e, &inverse);
		must(e, e->ops->fill(e, WHOLE, NAN, NAN, b.a));
		must(e, e->ops->trsm_guard(
		                e, side, uplo, trans, diag, a.a, inverse.a, before.a, b.a));
		good = block_holds(e, &b, 2 * error) && good;
	}
	must(e, e->ops->trsm(e, side, uplo, trans, diag, 0.5, a.a, before.a));
	before.x = x.x;
	ok(block_holds(e, &before, error), "trsm %c %d%d%d%d n %" PRId64 ", %" PRId64, precision,
	        side, uplo, trans, diag, n, sides);
	ok(good, "trsm_guard %c %d%d%d%d n %" PRId64 ", %" PRId64 " right-hand sides", precision,
	        side, uplo, trans, diag, n, sides);
	free(twice.x);
	blocks_free(e);
}

static void check_all_solves(struct executor *e, enum precision precision)
{
	for (int k = 0; k < 16; k++) {
		check_solves(e, precision, (enum side)(k & 1), (enum uplo)(k >> 1 & 1),
		        (enum trans)(k >> 2 & 1), (enum diag)(k >> 3 & 1), 45, 70);
		if (test_turn((size_t)k, 5))
			check_solves(e, precision, (enum side)(k & 1), (enum uplo)(k >> 1 & 1),
			        (enum trans)(k >> 2 & 1), (enum diag)(k >> 3 & 1), 128, 33);
	}
	check_solves(e, precision, LEFT, LOWER, PLAIN, NON_UNIT, 1, 3000);
	check_solves(e, precision, RIGHT, UPPER, PLAIN, NON_UNIT, 33, 1);
}

/* ---- larft ---- */

/* Every seventh reflector is the identity (tau = 0). */
static void check_larft(struct executor *e, enum precision precision, int64_t m, int64_t n)
{
	struct block v = block_new(e, precision, m, n), t = block_poisoned(e, precision, n, n);
	struct block tau = block_new(e, precision, n, 1);

	for (int64_t j = 0; j < n; j++) {
		double sum = 0;
		for (int64_t i = 0; i < m; i++) {
			double *x = element(&v, i, j);
			*x = i < j ? 0 : i == j ? 1 : *x;
			sum += *x * *x;
		}
		*element(&tau, j, 0) = j % 7 == 3 ? 0 : rounded(2 / sum, precision);
	}
	block_upload(e, &v);
	block_upload(e, &tau);
	const bool made = e->ops->larft(e, v.a, tau.a, t.a);
	if (!made && strstr(e->fault.text, "at most")) { /* little shared memory */
		skip("larft", e->fault.text);
		e->fault.text[0] = '\0';
		blocks_free(e);
		return;
	}
	must(e, made);
	double *first = block_download(e, &t);
	block_upload(e, &t);
	must(e, e->ops->larft(e, v.a, tau.a, t.a));
	bool repeats = runs_alike(e, &t, first);
	block_set(&t, 0);
	if (n > 0)
		LAPACKE_dlarft(LAPACK_COL_MAJOR, 'F', 'C', (lapack_int)m, (lapack_int)n,
		        element(&v, 0, 0), (lapack_int)v.a.ld, element(&tau, 0, 0),
		        element(&t, 0, 0), (lapack_int)t.a.ld);
	double largest = 1;
	for (int64_t i = 0; i < n * n; i++)
		largest = fmax(largest, fabs(*element(&t, i % n, i / n)));
	double error = (double)(n + 20) * unit_roundoff(precision) * largest;
	ok(block_holds(e, &t, error) && block_holds(e, &v, 0) && repeats,
	        "larft %c %" PRId64 " x %" PRId64, precision, m, n);
	free(first);
	blocks_free(e);
}

static void test_all(struct executor *e)
{
	static const int64_t orders[] = {0, 1, 2, 16, 31, 32, 33, 63, 64, 65, 96, 100, 127, 128};
	static const int64_t shapes[][2] = {{5, 0}, {1, 1}, {40, 7}, {100, 32}, {65, 33}, {64, 64},
	        {1000, 64}, {777, 100}, {2000, 128}, {600, 200}, {513, 512}};

	for (int d = 0; d < 2; d++) {
		enum precision precision = d ? DOUBLE : SINGLE;
		check_potrfs(e, precision);
		for (size_t i = 0; i < ARRAY_LEN(orders); i++)
			for (enum uplo uplo = LOWER; uplo <= UPPER; uplo++)
				for (enum diag unit = NON_UNIT; unit <= UNIT; unit++)
					if (test_turn(i, 2))
						check_trtri(e, precision, uplo, unit, orders[i]);
		check_all_solves(e, precision);
		for (size_t i = 0; i < ARRAY_LEN(shapes) - (test_on_gpu ? 0 : 3); i++)
			check_larft(e, precision, shapes[i][0], shapes[i][1]);
	}
	struct matrix large = {NULL, 0, 513, 513, 513, SINGLE};
	if (test_on_gpu)
		ok(!e->ops->potrf_block(e, LOWER, large, none, 0, NULL) &&
		                strstr(e->fault.text, "at most 512"),
		        "potrf_block says when a block is too large");
}

int main(void)
{
	return test_on_executors(test_all);
}
