/* SPDX-License-Identifier: MIT */
/* LU's pivots on both executors, against plain C in double precision: row swaps, deferred row
 * swaps, columns and rows right of a panel, info. Odd sizes, leading dimensions larger than the
 * matrix, NaN around everything and in all that has to be overwritten. */
#include "tests/executors/executor_memory.h"

/* ---- row swaps ---- */

/* The swaps of pivots (from some_pivots) of the rows from `first` on, in the first columns. */
static void swap_all(struct block *b, int64_t columns, int64_t first, const int *ipiv,
        int64_t count, bool backwards)
{
	for (int64_t k = 0; k < count; k++) {
		const int64_t i = backwards ? count - 1 - k : k;
		for (int64_t j = 0; j < columns && i % 11 != 10; j++) {
			double *one = element(b, first + i, j),
			       *other = element(b, first + ipiv[i] - 1, j);
			const double before = *one;
			*one = *other;
			*other = before;
		}
	}
}

/* `count` row swaps among m rows, each with one of `reach` rows at and below its own. Every 11th is
 * no swap; the GPU's kernels take pivots outside of the matrix for none. */
static int *some_pivots(struct executor *e, int64_t m, int64_t count, int64_t reach)
{
	int *ipiv = xmalloc((size_t)(count + 1) * sizeof *ipiv);

	keep(e, 0, NULL, ipiv);
	for (int64_t i = 0; i < count; i++) {
		int64_t last = i + reach < m ? i + reach : m;
		int64_t row = i + (int64_t)((next_uniform() + 1) / 2 * (double)(last - i));
		row = row < last ? row : last - 1;
		if (i % 11 == 10)
			row = !test_on_gpu ? i : i % 2 ? m : -6;
		ipiv[i] = (int)row + 1;
	}
	return ipiv;
}

static void check_laswp(struct executor *e, enum precision p, int64_t m, int64_t n, int64_t count,
        int64_t reach, bool backwards)
{
	struct block b = block_new(e, p, m, n);
	int *ipiv = some_pivots(e, m, count, reach);
	struct pivots pivots = pivots_new(e, count, ipiv, 0);
	must(e, e->ops->laswp(e, b.a, pivots, backwards));
	swap_all(&b, n, 0, ipiv, count, backwards);
	ok(block_holds(e, &b, 0),
	        "laswp %c %" PRId64 " x %" PRId64 ", %" PRId64 " pivots within %" PRId64 "%s", p, m,
	        n, count, reach, backwards ? " backwards" : "");
	blocks_free(e);
}

/* Deferred row swaps left of blocks of `width` columns; m is at most deferred_most on a GPU. */
static void check_deferred(
        struct executor *e, enum precision p, int64_t m, int64_t n, int64_t width, int64_t reach)
{
	struct block b = block_new(e, p, m, n);
	struct deferred_swaps t = {NULL, m, n, (n + width - 1) / width};
	void *data = NULL;

	keep(e, deferred_swaps_integers(t) * (int64_t)sizeof(int), &data, NULL);
	t.data = data;
	for (int64_t block = 0, j = 0; j < n; block++, j += width) {
		int64_t w = n - j < width ? n - j : width;
		int *ipiv = some_pivots(e, m - j, w, reach);
		struct pivots pivots = pivots_new(e, w, ipiv, 0);
		must(e, e->ops->record_swaps(e, t, pivots, j, block));
		swap_all(&b, j, j, ipiv, w, false);
	}
	must(e, e->ops->apply_swaps(e, t, b.a));
	ok(block_holds(e, &b, 0),
	        "deferred swaps of %c %" PRId64 " x %" PRId64 " by %" PRId64 " within %" PRId64, p,
	        m, n, width, reach);
	blocks_free(e);
}

static void check_deferreds(struct executor *e, enum precision p)
{
	static const int64_t cases[][4] = {{1, 1, 1, 1}, {300, 300, 64, 300}, {1301, 333, 50, 1301},
	        {517, 517, 517, 517}, {2500, 1300, 1100, 9}, {6390, 21, 5, 6390},
	        {8190, 9, 4, 8190}};
	const int64_t most = test_on_gpu ? e->deferred_most[p == DOUBLE] : 28000;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_deferred(e, p, cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
	check_deferred(e, p, most / 2, 21, 7, most / 2);
	check_deferred(e, p, most, 9, 2, most);
}

/* The elements of a left of its diagonal are small, as a factor's are. */
static void check_lu_columns(struct executor *e, enum precision p, int64_t m, int64_t n, int64_t k,
        int64_t reach, bool whole)
{
	if (!test_fits(m, n))
		return;
	struct block a = block_new(e, p, m, k), c = block_new(e, p, m, n);
	int *ipiv = some_pivots(e, m, k, reach);
	struct pivots pivots = pivots_new(e, k, ipiv, 0);

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = j + 1; i < m; i++)
			*element(&a, i, j) = rounded(*element(&a, i, j) / (double)k, p);
	block_upload(e, &a);
	must(e, (whole ? e->ops->lu_columns : e->ops->lu_top)(e, a.a, pivots, c.a));
	swap_all(&c, n, 0, ipiv, k, false);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < (whole ? m : k); i++)
			for (int64_t l = 0; l < (i < k ? i : k); l++)
				*element(&c, i, j) -= *element(&a, i, l) * *element(&c, l, j);
	ok(block_holds(e, &c, 16 * (double)k * unit_roundoff(p)),
	        "LU %s %c %" PRId64 " x %" PRId64 " right of %" PRId64 ", pivots within %" PRId64,
	        whole ? "columns" : "top", p, m, n, k, reach);
	blocks_free(e);
}

static void check_all_lu_columns(struct executor *e, enum precision p)
{
	static const int64_t widths[] = {1, 2, 31, 33, 63, 64};

	for (size_t i = 0; i < ARRAY_LEN(widths); i++)
		for (int whole = 0; whole < 2; whole++) {
			int64_t k = widths[i];
			check_lu_columns(e, p, k, 5, k, k, whole);
			check_lu_columns(e, p, k + 1, 8, k, 3, whole);
			check_lu_columns(e, p, 700, 17, k, 700, whole);
			check_lu_columns(e, p, 2500, 3, k, 200, whole);
		}
	check_lu_columns(e, p, 1024, 64, 64, 1024, true);
	if (!test_on_gpu)
		return;
	check_lu_columns(e, p, 5000, 64, 64, 64, true);
	check_lu_columns(e, p, 9001, 9, 64, 9001, true);
	check_lu_columns(e, p, 20000, 130, 64, 20000, true);
	check_lu_columns(e, p, 150000, 1, 3, 150000, true);
	check_lu_columns(e, p, 3000, 5000, 64, 3000, false);
	check_lu_columns(e, p, 1000, 700, 65, 1000, false);
	check_lu_columns(e, p, 3001, 1000, 127, 300, false);
	check_lu_columns(e, p, 128, 9, 128, 128, false);
}

/* Beside a panel of k columns of a matrix that lies by rows, of which c is n columns: exchanged
 * when pivots reach anywhere, and solved for. With grown the triangle has an inverse with large
 * elements, and all numbers are whole. */
struct rows_case {
	int64_t m, n, k, reach;
	bool solves, grown;
};

static void fill_rows(const struct rows_case *x, struct block *a, struct block *c)
{
	for (int64_t j = 0; j < x->k; j++)
		for (int64_t i = j + 1; i < x->k; i++)
			*element(a, i, j) = x->grown ? -1
			                             : rounded(*element(a, i, j) / (double)x->k,
			                                       a->a.precision);
	for (int64_t j = 0; x->grown && j < x->n; j++)
		for (int64_t i = 0; i < x->m; i++)
			*element(c, j, i) = i < 3 && i < x->k ? (double)(j % 3) : 0;
}

static void check_lu_rows(struct executor *e, enum precision p, struct rows_case x)
{
	if (test_on_gpu && x.k > e->rows_most[p == DOUBLE]) {
		skip("LU rows of a wide panel", "a block of threads has too little shared memory");
		return;
	}
	struct block a = block_new(e, p, x.k, x.k), c = block_new(e, p, x.n, x.m);
	int *ipiv = some_pivots(e, x.m, x.k, x.reach > 0 ? x.reach : 1);
	struct pivots pivots = pivots_new(e, x.k, ipiv, 0);
	struct pivots exchanges = {pivots.data, x.reach > 0 ? x.k : 0};

	fill_rows(&x, &a, &c);
	block_upload(e, &a);
	block_upload(e, &c);
	must(e, e->ops->lu_rows(e, x.solves ? a.a : matrix_view(a.a, 0, 0, 0, 0), exchanges, c.a));
	for (int64_t i = 0; i < x.k && x.reach > 0; i++)
		for (int64_t j = 0; j < x.n && i % 11 != 10; j++) {
			double kept = *element(&c, j, i);
			*element(&c, j, i) = *element(&c, j, ipiv[i] - 1);
			*element(&c, j, ipiv[i] - 1) = kept;
		}
	for (int64_t i = 0; x.solves && i < x.k; i++)
		for (int64_t l = 0; l < i; l++)
			for (int64_t j = 0; j < x.n; j++)
				*element(&c, j, i) -= *element(&a, i, l) * *element(&c, j, l);
	ok(block_holds(e, &c, x.solves ? 16 * (double)x.k * unit_roundoff(p) : 0),
	        "LU rows %c %" PRId64 " x %" PRId64 " beside %" PRId64 ", pivots within %" PRId64
	        "%s%s",
	        p, x.m, x.n, x.k, x.reach, x.solves ? ", solved for" : "",
	        x.grown ? ", grown" : "");
	blocks_free(e);
}

static void check_all_lu_rows(struct executor *e, enum precision p)
{
	static const int64_t widths[] = {1, 2, 15, 16, 17, 33, 64, 65, 128, 129, 256, 300, 512};

	for (size_t i = 0; i < ARRAY_LEN(widths) - (test_on_gpu ? 0 : 4); i++)
		for (int solves = 0; solves < 2; solves++) {
			int64_t k = widths[i];
			if (!test_turn(i, 2))
				continue;
			check_lu_rows(e, p, (struct rows_case){k, 5, k, k, solves, false});
			check_lu_rows(e, p, (struct rows_case){k + 1, 67, k, 3, solves, false});
			check_lu_rows(e, p, (struct rows_case){1500, 128, k, 1500, solves, false});
			if (solves)
				check_lu_rows(
				        e, p, (struct rows_case){k + 2, 77, k, 0, true, false});
		}
	check_lu_rows(e, p, (struct rows_case){40, 50, 18, 1, true, true});
	check_lu_rows(e, p, (struct rows_case){20, 100, 20, 1, true, true});
}

static void check_laswps(struct executor *e, enum precision p)
{
	static const int64_t counts[] = {0, 1, 2, 31, 127, 128, 129, 300};

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		for (int backwards = 0; backwards < 2; backwards++) {
			check_laswp(e, p, 1000, 37, counts[i], 1000, backwards);
			check_laswp(e, p, counts[i] + 1, 9, counts[i], 5, backwards);
		}
	check_laswp(e, p, 400, 1, 128, 400, false);
	check_laswp(e, p, 500, 2500, 130, 500, false);
	check_laswp(e, p, 50, 0, 20, 50, false);
}

/* n columns beside the second half, of `count` columns, of a panel whose first half has 150;
 * `first` and `second` are the halves' infos. */
static void check_join(
        struct executor *e, enum precision p, int64_t n, int64_t count, int first, int second)
{
	enum { M = 1000, FIRST = 150, MOST = 300 };
	struct block b = block_new(e, p, M, n);
	int *ipiv = some_pivots(e, M, count, M), begin[FIRST + MOST] = {0}, got[FIRST + MOST], info;
	int want = first ? first : second ? second + FIRST : 0;
	struct pivots all = pivots_new(e, FIRST + count, begin, -1);
	struct pivots half = pivots_new(e, count, ipiv, second);

	for (int i = 0; i < FIRST; i++)
		begin[i] = i + 7;
	must(e, e->ops->store_pivots(e, begin, first, (struct pivots){all.data, FIRST}));
	must(e, e->ops->join_halves(e, b.a, half, FIRST, all));
	must(e, e->ops->read_pivots(e, all, got, &info));
	swap_all(&b, n, 0, ipiv, count, false);
	bool good = block_holds(e, &b, 0) && info == want;
	for (int i = 0; i < FIRST + (int)count; i++)
		good = good && got[i] == (i < FIRST ? begin[i] : ipiv[i - FIRST] + FIRST);
	ok(good, "join_halves %c %" PRId64 " columns, %" PRId64 " pivots, infos %d and %d", p, n,
	        count, first, second);
	blocks_free(e);
}

static void check_joins(struct executor *e, enum precision p)
{
	check_join(e, p, 37, 1, 0, 0);
	check_join(e, p, 8, 64, 0, 3);
	check_join(e, p, 64, 128, 9, 3);
	check_join(e, p, 2500, 129, 9, 0);
	check_join(e, p, 128, 300, 0, 300);
	check_join(e, p, 0, 130, 0, 3);
}

static void check_offset(struct executor *e)
{
	int zeros[400] = {0}, panel_ipiv[150], got[400], info;

	for (int i = 0; i < 150; i++)
		panel_ipiv[i] = i + 2;
	struct pivots all = pivots_new(e, 400, zeros, 0);
	struct pivots panel = pivots_new(e, 150, panel_ipiv, 0);
	must(e, e->ops->offset_pivots(e, panel, 100, all));
	must(e, e->ops->read_pivots(e, all, got, &info));
	bool good = info == 0;
	for (int i = 0; i < 400; i++)
		good = good && got[i] == (i >= 100 && i < 250 ? i + 2 : 0);
	ok(good, "offset_pivots moves a panel's pivots");
	must(e, e->ops->store_pivots(e, panel_ipiv, 7, panel));
	must(e, e->ops->offset_pivots(e, panel, 100, all));
	must(e, e->ops->store_pivots(e, panel_ipiv, 3, panel));
	must(e, e->ops->offset_pivots(e, panel, 0, all));
	must(e, e->ops->read_pivots(e, all, got, &info));
	ok(info == 107, "offset_pivots keeps the first info, moved");
	must(e, e->ops->clear_info(e, all.data + 400));
	ok(read_info(e, all.data + 400) == 0, "clear_info");
	blocks_free(e);
}

/* The diagonal of the n x n matrix is 1 up to row `first`, has the value `there` in it and zeros
 * behind it. */
static void check_one_triangle(struct executor *e, enum precision p, int64_t n, int64_t first,
        double there, int want, int want_doubtful)
{
	struct block a = block_poisoned(e, p, n + 3, n);
	struct pivots info = pivots_new(e, 0, NULL, -1), doubtful = pivots_new(e, 0, NULL, 0);

	for (int64_t i = 0; i < n; i++)
		*element(&a, i, i) = i == first ? there : i > first ? 0 : 1;
	block_upload(e, &a);
	struct matrix none = matrix_view(a.a, 0, 0, n, 0);
	must(e, e->ops->check_triangle(e, a.a, none, info.data, doubtful.data));
	ok(read_info(e, info.data) == want && read_info(e, doubtful.data) == want_doubtful,
	        "check_triangle %c n %" PRId64 ": %d, doubtful %d", p, n, want, want_doubtful);
	blocks_free(e);
}

static void check_triangles(struct executor *e, enum precision p)
{
	check_one_triangle(e, p, 0, 0, 1, 0, 0);
	check_one_triangle(e, p, 1, 0, 0, 1, 1);
	check_one_triangle(e, p, 1, 0, NAN, 0, 0);
	check_one_triangle(e, p, 1500, 1500, 1, 0, 0);
	check_one_triangle(e, p, 1500, 7, -0.0, 8, 1);
	check_one_triangle(e, p, 1500, 1023, NAN, 1025, 0);
	check_one_triangle(e, p, 1500, 1499, 0, 1500, 1);
	check_one_triangle(e, p, 1500, 1499, 1e-3, 0, 0);
	check_one_triangle(e, p, 1500, 1499, -1e-18, 0, 1);
}

static void test_all(struct executor *e)
{
	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		check_laswps(e, p);
		check_joins(e, p);
		check_deferreds(e, p);
		check_all_lu_columns(e, p);
		check_all_lu_rows(e, p);
		check_triangles(e, p);
	}
	check_offset(e);
}

int main(void)
{
	return test_on_executors(test_all);
}
