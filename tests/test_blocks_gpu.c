/* SPDX-License-Identifier: MIT */
/* Queues, copies, the BLAS, pivots and layout on the cuda executor against plain C in fp64: odd
 * sizes, leading dimensions larger than the matrix, NaN around everything and in what has to be
 * overwritten. */
#include "executor_memory.h"

static uint64_t state = 411;

/* ---- BLAS ---- */

static double *op_element(const struct block *b, enum trans trans, int64_t i, int64_t j)
{
	return trans == PLAIN ? element(b, i, j) : element(b, j, i);
}

static double product(const struct block *a, enum trans ta, const struct block *b, enum trans tb,
        int64_t i, int64_t j, int64_t k)
{
	double sum = 0;

	for (int64_t l = 0; l < k; l++)
		sum += *op_element(a, ta, i, l) * *op_element(b, tb, l, j);
	return sum;
}

static void check_gemm(struct executor *e, enum precision p, enum trans ta, enum trans tb,
        int64_t m, int64_t n, int64_t k, double alpha, double beta)
{
	struct block a = block_new(e, p, ta ? k : m, ta ? m : k, &state);
	struct block b = block_new(e, p, tb ? n : k, tb ? k : n, &state);
	struct block c = beta == 0 ? block_poisoned(e, p, m, n) : block_new(e, p, m, n, &state);

	must(e, e->ops->gemm(e, ta, tb, alpha, a.a, b.a, beta, c.a));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double *x = element(&c, i, j);
			*x = alpha * product(&a, ta, &b, tb, i, j, k) + (beta == 0 ? 0 : beta * *x);
		}
	ok(block_holds(e, &c, 4 * (double)(k + 2) * epsilon_of(p)),
	        "gemm %c %d%d m %" PRId64 " n %" PRId64 " k %" PRId64 " beta %g", p, ta, tb, m, n,
	        k, beta);
	block_free(e, &a);
	block_free(e, &b);
	block_free(e, &c);
}

static void check_syrk(struct executor *e, enum precision p, enum uplo uplo, enum trans trans,
        int64_t rows, int64_t columns, int64_t k, double beta)
{
	int64_t m = uplo == LOWER ? rows : columns, n = uplo == LOWER ? columns : rows;
	struct block a = block_new(e, p, trans ? k : rows, trans ? rows : k, &state);
	struct block c = beta == 0 ? block_poisoned(e, p, m, n) : block_new(e, p, m, n, &state);

	must(e, e->ops->syrk(e, uplo, trans, -1, a.a, beta, c.a));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double *x = element(&c, i, j);
			if (uplo == LOWER ? i >= j : i <= j)
				*x = (beta == 0 ? 0 : beta * *x) -
				     product(&a, trans, &a, trans == PLAIN ? TRANSPOSED : PLAIN, i,
				             j, k);
		}
	ok(block_holds(e, &c, 4 * (double)(k + 2) * epsilon_of(p)),
	        "syrk %c %d%d %" PRId64 " x %" PRId64 " k %" PRId64 " beta %g: one triangle", p,
	        uplo, trans, rows, columns, k, beta);
	block_free(e, &a);
	block_free(e, &c);
}

/* B is made from a known X, which trsm has to find again. */
static void check_trsm(struct executor *e, enum precision p, enum side side, enum uplo uplo,
        enum trans trans, enum diag diag, int64_t m, int64_t n)
{
	int64_t order = side == LEFT ? m : n;
	struct block a = block_poisoned(e, p, order, order), b = block_poisoned(e, p, m, n);
	struct block x = block_new(e, p, m, n, &state), full = block_poisoned(e, p, order, order);

	for (int64_t j = 0; j < order; j++)
		for (int64_t i = 0; i < order; i++) {
			bool inside = uplo == LOWER ? i > j : i < j;
			double value = i == j   ? 2 + next_uniform(&state) / 2
			               : inside ? next_uniform(&state) / (double)order
			                        : 0;
			value = rounded(value, p);
			*element(&full, i, j) = i == j && diag == UNIT ? 1 : value;
			if (inside || (i == j && diag == NON_UNIT))
				*element(&a, i, j) = value;
		}
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			*element(&b, i, j) = rounded(
			        2 * (side == LEFT ? product(&full, trans, &x, PLAIN, i, j, m)
			                          : product(&x, PLAIN, &full, trans, i, j, n)),
			        p);
	block_upload(e, &a);
	block_upload(e, &b);
	must(e, e->ops->trsm(e, side, uplo, trans, diag, 0.5, a.a, b.a));
	free(b.x);
	b.x = x.x;
	ok(block_holds(e, &b, 16 * (double)order * epsilon_of(p)),
	        "trsm %c %d%d%d%d %" PRId64 " x %" PRId64, p, side, uplo, trans, diag, m, n);
	e->ops->release(e, x.all.data);
	block_free(e, &a);
	block_free(e, &b);
	block_free(e, &full);
}

/* rows: both vectors are rows of matrices, whose elements are ld apart. */
static void check_gemv(struct executor *e, enum precision p, enum trans trans, int64_t m, int64_t n,
        double beta, bool rows)
{
	int64_t in = trans ? m : n, out = trans ? n : m;
	struct block a = block_new(e, p, m, n, &state);
	struct block x = block_new(e, p, rows ? 1 : in, rows ? in : 1, &state);
	struct block y = block_new(e, p, rows ? 1 : out, rows ? out : 1, &state);

	for (int64_t i = 0; i < out && beta == 0; i++)
		*element(&y, rows ? 0 : i, rows ? i : 0) = NAN;
	block_upload(e, &y);
	must(e, e->ops->gemv(e, trans, 1.5, a.a, x.a, beta, y.a));
	for (int64_t i = 0; i < out; i++) {
		double *to = element(&y, rows ? 0 : i, rows ? i : 0);
		double sum = 1.5 * product(&a, trans, &x, rows ? TRANSPOSED : PLAIN, i, 0, in);
		*to = sum + (beta == 0 ? 0 : beta * *to);
	}
	ok(block_holds(e, &y, 8 * (double)(in + 2) * epsilon_of(p)),
	        "gemv %c %d %" PRId64 " x %" PRId64 " beta %g, %s", p, trans, m, n, beta,
	        rows ? "rows" : "columns");
	block_free(e, &a);
	block_free(e, &x);
	block_free(e, &y);
}

static void check_blas(struct executor *e, enum precision p)
{
	/* rows, columns, inner dimension: small kernels and large ones */
	static const int64_t trapezoids[][3] = {{97, 97, 33}, {40, 40, 64}, {1, 1, 1},
	        {200, 33, 128}, {33, 32, 127}, {300, 129, 5}, {150, 100, 129}, {31, 1, 96},
	        {1500, 1500, 16}, {5000, 260, 100}};

	for (enum trans ta = PLAIN; ta <= TRANSPOSED; ta++)
		for (enum trans tb = PLAIN; tb <= TRANSPOSED; tb++) {
			check_gemm(e, p, ta, tb, 65, 33, 47, -1, 1);
			check_gemm(e, p, ta, tb, 1, 130, 64, 0.5, 0);
			check_gemm(e, p, ta, tb, 5, 7, 0, 1, 2);
		}
	check_gemm(e, p, PLAIN, PLAIN, 0, 5, 3, 1, 1);
	for (enum uplo uplo = LOWER; uplo <= UPPER; uplo++)
		for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++) {
			for (size_t i = 0; i < ARRAY_LEN(trapezoids); i++)
				check_syrk(e, p, uplo, trans, trapezoids[i][0], trapezoids[i][1],
				        trapezoids[i][2], i % 2 ? 0 : 1);
			for (enum side side = LEFT; side <= RIGHT; side++)
				for (enum diag diag = NON_UNIT; diag <= UNIT; diag++)
					check_trsm(e, p, side, uplo, trans, diag, 45, 70);
		}
	for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++)
		for (int rows = 0; rows < 2; rows++) {
			check_gemv(e, p, trans, 100, 37, 0, rows);
			check_gemv(e, p, trans, 33, 129, -1, rows);
		}
}

/* ---- pivots ---- */

static void swap_rows(struct block *b, int64_t i, int64_t k)
{
	for (int64_t j = 0; j < b->a.n; j++) {
		double kept = *element(b, i, j);
		*element(b, i, j) = *element(b, k, j);
		*element(b, k, j) = kept;
	}
}

/* Of `count` exchanges among m rows, each with one of so many rows at and below its own (reach);
 * every 11th is none at all. */
static int *some_pivots(int64_t m, int64_t count, int64_t reach)
{
	int *ipiv = xmalloc((size_t)(count + 1) * sizeof *ipiv);

	for (int64_t i = 0; i < count; i++) {
		int64_t last = i + reach < m ? i + reach : m;
		int64_t row = i + (int64_t)(next_random(&state) % (uint64_t)(last - i));
		ipiv[i] = i % 11 == 10 ? (int)(i % 2 ? m + 1 : -5) : (int)row + 1;
	}
	return ipiv;
}

static void check_laswp(struct executor *e, enum precision p, int64_t m, int64_t n, int64_t count,
        int64_t reach, bool backwards)
{
	struct block b = block_new(e, p, m, n, &state);
	int *ipiv = some_pivots(m, count, reach);
	struct pivots pivots = pivots_new(e, count, ipiv, 0);
	must(e, e->ops->laswp(e, b.a, pivots, backwards));
	for (int64_t k = 0; k < count; k++) {
		int64_t i = backwards ? count - 1 - k : k;
		if (i % 11 != 10)
			swap_rows(&b, i, ipiv[i] - 1);
	}
	ok(block_holds(e, &b, 0),
	        "laswp %c %" PRId64 " x %" PRId64 ", %" PRId64 " pivots within %" PRId64 "%s", p, m,
	        n, count, reach, backwards ? " backwards" : "");
	e->ops->release(e, pivots.data);
	free(ipiv);
	block_free(e, &b);
}

/* The elements of a left of its diagonal are small, as a factor's are. */
static void check_lu_columns(struct executor *e, enum precision p, int64_t m, int64_t n, int64_t k,
        int64_t reach, bool whole)
{
	struct block a = block_new(e, p, m, k, &state), c = block_new(e, p, m, n, &state);
	int *ipiv = some_pivots(m, k, reach);
	struct pivots pivots = pivots_new(e, k, ipiv, 0);

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = j + 1; i < m; i++)
			*element(&a, i, j) = rounded(*element(&a, i, j) / (double)k, p);
	block_upload(e, &a);
	must(e, (whole ? e->ops->lu_columns : e->ops->lu_top)(e, a.a, pivots, c.a));
	for (int64_t i = 0; i < k; i++)
		if (i % 11 != 10)
			swap_rows(&c, i, ipiv[i] - 1);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < (whole ? m : k); i++)
			for (int64_t l = 0; l < (i < k ? i : k); l++)
				*element(&c, i, j) -= *element(&a, i, l) * *element(&c, l, j);
	ok(block_holds(e, &c, 16 * (double)k * epsilon_of(p)),
	        "LU %s %c %" PRId64 " x %" PRId64 " right of %" PRId64 ", pivots within "
	        "%" PRId64,
	        whole ? "columns" : "top", p, m, n, k, reach);
	e->ops->release(e, pivots.data);
	free(ipiv);
	block_free(e, &a);
	block_free(e, &c);
}

/* The products of V with T and of T with C are small, as a reflector's are. */
static void check_qr_columns(struct executor *e, int64_t m, int64_t n, int64_t k)
{
	struct block v = block_new(e, SINGLE, m, k, &state), t = block_new(e, SINGLE, k, k, &state),
	             c = block_new(e, SINGLE, m, n, &state);
	double product[EXECUTOR_QR_COLUMNS], scaled[EXECUTOR_QR_COLUMNS];

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < m; i++)
			*element(&v, i, j) =
			        i > j ? rounded(*element(&v, i, j) / 8, SINGLE) : i == j;
	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < k; i++)
			*element(&t, i, j) =
			        i <= j ? rounded(*element(&t, i, j) / (double)k, SINGLE) : 0;
	block_upload(e, &v);
	block_upload(e, &t);
	if (!e->ops->reflects_columns(e, v.a, c.a)) {
		skip("QR columns", "no such kernel here");
		return;
	}
	must(e, e->ops->reflect_columns(e, v.a, t.a, c.a));
	for (int64_t j = 0; j < n; j++) {
		for (int64_t l = 0; l < k; l++) {
			product[l] = 0;
			for (int64_t i = l; i < m; i++)
				product[l] += *element(&v, i, l) * *element(&c, i, j);
		}
		for (int64_t l = 0; l < k; l++) {
			scaled[l] = 0;
			for (int64_t i = 0; i <= l; i++)
				scaled[l] += *element(&t, i, l) * product[i];
		}
		for (int64_t i = 0; i < m; i++)
			for (int64_t l = 0; l < k; l++)
				*element(&c, i, j) -= *element(&v, i, l) * scaled[l];
	}
	ok(block_holds(e, &c, 64 * epsilon_of(SINGLE)),
	        "QR columns %" PRId64 " x %" PRId64 " right of %" PRId64, m, n, k);
	block_free(e, &v);
	block_free(e, &t);
	block_free(e, &c);
}

static void check_all_qr_columns(struct executor *e)
{
	check_qr_columns(e, 1, 1, 1);
	check_qr_columns(e, 63, 64, 63);
	check_qr_columns(e, 65, 7, 33);
	check_qr_columns(e, 512, 64, 64);
	check_qr_columns(e, 513, 9, 64);
	check_qr_columns(e, 4001, 61, 62);
	check_qr_columns(e, 4096, 64, 64);
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
	struct block a = block_new(e, p, x.k, x.k, &state), c = block_new(e, p, x.n, x.m, &state);
	int *ipiv = some_pivots(x.m, x.k, x.reach > 0 ? x.reach : 1);
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
	ok(block_holds(e, &c, x.solves ? 16 * (double)x.k * epsilon_of(p) : 0),
	        "LU rows %c %" PRId64 " x %" PRId64 " beside %" PRId64 ", pivots within %" PRId64
	        "%s%s",
	        p, x.m, x.n, x.k, x.reach, x.solves ? ", solved for" : "",
	        x.grown ? ", grown" : "");
	e->ops->release(e, pivots.data);
	free(ipiv);
	block_free(e, &a);
	block_free(e, &c);
}

static void check_all_lu_rows(struct executor *e, enum precision p)
{
	static const int64_t widths[] = {1, 2, 15, 16, 17, 33, 64, 65, 128, 129, 256, 300, 512};

	for (size_t i = 0; i < ARRAY_LEN(widths); i++)
		for (int solves = 0; solves < 2; solves++) {
			int64_t k = widths[i];
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

/* n columns beside the second half, of `count` columns, of a panel whose first half has 150; the
 * halves' infos. */
static void check_join(
        struct executor *e, enum precision p, int64_t n, int64_t count, int first, int second)
{
	enum { M = 1000, FIRST = 150, MOST = 300 };
	struct block b = block_new(e, p, M, n, &state);
	int *ipiv = some_pivots(M, count, M), begin[FIRST + MOST] = {0}, got[FIRST + MOST], info;
	int want = first ? first : second ? second + FIRST : 0;
	struct pivots all = pivots_new(e, FIRST + count, begin, -1);
	struct pivots half = pivots_new(e, count, ipiv, second);

	for (int i = 0; i < FIRST; i++)
		begin[i] = i + 7;
	must(e, e->ops->store_pivots(e, begin, first, (struct pivots){all.data, FIRST}));
	must(e, e->ops->join_halves(e, b.a, half, FIRST, all));
	must(e, e->ops->read_pivots(e, all, got, &info));
	for (int64_t i = 0; i < count; i++)
		if (i % 11 != 10)
			swap_rows(&b, i, ipiv[i] - 1);
	bool good = block_holds(e, &b, 0) && info == want;
	for (int i = 0; i < FIRST + (int)count; i++)
		good = good && got[i] == (i < FIRST ? begin[i] : ipiv[i - FIRST] + FIRST);
	ok(good, "join_halves %c %" PRId64 " columns, %" PRId64 " pivots, infos %d and %d", p, n,
	        count, first, second);
	e->ops->release(e, all.data);
	e->ops->release(e, half.data);
	free(ipiv);
	block_free(e, &b);
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

static void check_adopt(struct executor *e)
{
	int zeros[400] = {0}, panel_ipiv[150], got[400], info;

	for (int i = 0; i < 150; i++)
		panel_ipiv[i] = i + 2;
	struct pivots all = pivots_new(e, 400, zeros, 0);
	struct pivots panel = pivots_new(e, 150, panel_ipiv, 0);
	must(e, e->ops->adopt_pivots(e, panel, 100, all));
	must(e, e->ops->read_pivots(e, all, got, &info));
	bool good = info == 0;
	for (int i = 0; i < 400; i++)
		good = good && got[i] == (i >= 100 && i < 250 ? i + 2 : 0);
	ok(good, "adopt_pivots moves a panel's pivots");
	must(e, e->ops->store_pivots(e, panel_ipiv, 7, panel));
	must(e, e->ops->adopt_pivots(e, panel, 100, all));
	must(e, e->ops->store_pivots(e, panel_ipiv, 3, panel));
	must(e, e->ops->adopt_pivots(e, panel, 0, all));
	must(e, e->ops->read_pivots(e, all, got, &info));
	ok(info == 107, "adopt_pivots keeps the first info, moved");
	must(e, e->ops->clear_info(e, all.data + 400));
	ok(read_info(e, all.data + 400) == 0, "clear_info");
	e->ops->release(e, all.data);
	e->ops->release(e, panel.data);
}

/* Of an n x n matrix whose diagonal is 1 but for what is said. */
static void check_zero_diagonal(
        struct executor *e, enum precision p, int64_t n, int64_t first, double there, int want)
{
	struct block a = block_poisoned(e, p, n + 3, n);
	struct pivots info = pivots_new(e, 0, NULL, -1);

	for (int64_t i = 0; i < n; i++)
		*element(&a, i, i) = i == first ? there : i > first ? 0 : 1;
	block_upload(e, &a);
	must(e, e->ops->zero_diagonal(e, a.a, info.data));
	ok(read_info(e, info.data) == want, "zero_diagonal %c n %" PRId64 ": %d", p, n, want);
	e->ops->release(e, info.data);
	block_free(e, &a);
}

static void check_zero_diagonals(struct executor *e, enum precision p)
{
	check_zero_diagonal(e, p, 0, 0, 1, 0);
	check_zero_diagonal(e, p, 1, 0, 0, 1);
	check_zero_diagonal(e, p, 1, 0, NAN, 0);
	check_zero_diagonal(e, p, 1500, 1500, 1, 0);
	check_zero_diagonal(e, p, 1500, 7, -0.0, 8);
	check_zero_diagonal(e, p, 1500, 1023, NAN, 1025);
	check_zero_diagonal(e, p, 1500, 1499, 0, 1500);
}

/* ---- layout ---- */

static void check_layout(struct executor *e, enum precision p, int64_t m, int64_t n)
{
	struct block a = block_new(e, p, m, n, &state), turned = block_poisoned(e, p, n, m);
	struct block same = block_poisoned(e, p, m, n), v = block_poisoned(e, p, m, n);

	must(e, e->ops->transpose(e, a.a, turned.a));
	must(e, e->ops->copy(e, a.a, same.a));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			*element(&turned, j, i) = *element(&same, i, j) = *element(&a, i, j);
			*element(&v, i, j) = i > j ? *element(&a, i, j) : i == j;
		}
	ok(block_holds(e, &turned, 0), "transpose %c %" PRId64 " x %" PRId64, p, m, n);
	ok(block_holds(e, &same, 0), "copy %c %" PRId64 " x %" PRId64, p, m, n);
	for (int64_t j = 0; j < n; j++) /* what explicit_v must not read */
		for (int64_t i = 0; i <= j && i < m; i++)
			*element(&a, i, j) = NAN;
	block_upload(e, &a);
	must(e, e->ops->explicit_v(e, a.a, v.a));
	ok(block_holds(e, &v, 0), "explicit_v %c %" PRId64 " x %" PRId64, p, m, n);
	for (enum uplo uplo = LOWER; uplo <= WHOLE; uplo++) {
		must(e, e->ops->fill(e, uplo, -3, 7, v.a));
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = 0; i < m; i++)
				if (i == j || uplo == WHOLE || (uplo == LOWER ? i > j : i < j))
					*element(&v, i, j) = i == j ? 7 : -3;
		ok(block_holds(e, &v, 0), "fill %c %d %" PRId64 " x %" PRId64, p, uplo, m, n);
		must(e, e->ops->copy(e, same.a, v.a));
		for (int64_t i = 0; i < v.all.m * v.all.n; i++)
			v.x[i] = same.x[i];
	}
	block_free(e, &a);
	block_free(e, &turned);
	block_free(e, &same);
	block_free(e, &v);
}

/* ---- queues ---- */

enum { PRODUCED, COPIED, BACK, UNUSED };

/* MAIN multiplies for a while, PANEL scales the result, OUT brings it to the host, IN back into
 * another place; only events keep them in order. */
static void check_queues(struct executor *e, enum precision p)
{
	enum { N = 700 };
	struct block a = block_new(e, p, N, N, &state), c = block_poisoned(e, p, N, N),
	             d = block_poisoned(e, p, N, N), back = block_poisoned(e, p, N, N);
	struct matrix host;

	must(e, e->ops->fill(e, WHOLE, 0, 1, d.a));
	must(e, e->ops->stage(e, 1, N, N, p, &host));
	e->queue = QUEUE_MAIN;
	for (int i = 0; i < 20; i++)
		must(e, e->ops->gemm(e, PLAIN, PLAIN, 1, a.a, d.a, 0, c.a));
	must(e, e->ops->record(e, PRODUCED) && e->ops->wait(e, UNUSED));
	e->queue = QUEUE_PANEL;
	must(e, e->ops->wait(e, PRODUCED));
	must(e, e->ops->gemm(e, PLAIN, PLAIN, -2, a.a, d.a, 1, c.a));
	must(e, e->ops->record(e, COPIED));
	e->queue = QUEUE_OUT;
	must(e, e->ops->wait(e, COPIED) && e->ops->to_host(e, c.a, host));
	must(e, e->ops->record(e, BACK));
	must(e, e->ops->wait_host(e, BACK) && e->ops->wait_host(e, UNUSED));
	double first = p == SINGLE ? (double)*(float *)host.data : *(double *)host.data;
	e->queue = QUEUE_IN;
	must(e, e->ops->to_device(e, host, back.a));
	e->queue = QUEUE_MAIN;
	must(e, e->ops->sync(e));
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++)
			*element(&back, i, j) = -*element(&a, i, j);
	ok(first == -*element(&a, 0, 0) && block_holds(e, &back, 0),
	        "four queues %c, ordered by events", p);

	struct matrix larger;
	must(e, e->ops->to_device(e, host, back.a));
	must(e, e->ops->stage(e, 1, 2 * N, N, p, &larger));
	ok(larger.m == 2 * N && larger.ld == 2 * N && block_holds(e, &back, 0),
	        "a stage grows behind the copies that use it");
	block_free(e, &a);
	block_free(e, &c);
	block_free(e, &d);
	block_free(e, &back);
}

static void check_faults(struct executor *e)
{
	struct matrix host;

	ok(!e->ops->record(e, EXECUTOR_EVENTS) && !e->ops->wait(e, -1) &&
	                strstr(e->fault.text, "no event -1"),
	        "an event that does not exist is refused");
	ok(!e->ops->stage(e, EXECUTOR_STAGES, 1, 1, SINGLE, &host) &&
	                strstr(e->fault.text, "no stage"),
	        "a stage that does not exist is refused");
}

/* More results at once than there is pinned memory for: none may overwrite another. */
static void check_notes(struct executor *e)
{
	enum { ROUNDS = 40, N = 5000 };
	struct pivots all[ROUNDS];
	int *ipiv = xmalloc(N * sizeof *ipiv), *got = xmalloc(N * sizeof *got), info;
	struct block a = block_new(e, SINGLE, 1500, 1500, &state),
	             c = block_new(e, SINGLE, 1500, 1500, &state);
	bool good = true;

	for (int r = 0; r < ROUNDS; r++)
		all[r] = pivots_new(e, N, ipiv, 0);
	for (int i = 0; i < 20; i++)
		must(e, e->ops->gemm(e, PLAIN, PLAIN, 1, a.a, a.a, 0, c.a));
	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < N; i++)
			ipiv[i] = r * N + i;
		must(e, e->ops->store_pivots(e, ipiv, r, all[r]));
	}
	for (int r = 0; r < ROUNDS; r++) {
		must(e, e->ops->read_pivots(e, all[r], got, &info));
		good = good && info == r;
		for (int i = 0; i < N; i++)
			good = good && got[i] == r * N + i;
		e->ops->release(e, all[r].data);
	}
	ok(good, "pivots in flight are not overwritten");
	free(ipiv);
	free(got);
	block_free(e, &a);
	block_free(e, &c);
}

int main(void)
{
	static const int64_t shapes[][2] = {{0, 3}, {4, 0}, {1, 1}, {1, 200}, {200, 1}, {31, 33},
	        {64, 64}, {65, 127}, {130, 129}, {500, 300}, {1001, 77}};
	struct fault fault;
	struct executor *e = executor_cuda_new("0", &fault);

	if (!e)
		skip_all(fault.text);
	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			check_layout(e, p, shapes[i][0], shapes[i][1]);
		check_laswps(e, p);
		check_joins(e, p);
		check_all_lu_columns(e, p);
		if (p == SINGLE)
			check_all_qr_columns(e);
		check_all_lu_rows(e, p);
		check_zero_diagonals(e, p);
		check_blas(e, p);
		check_queues(e, p);
	}
	check_adopt(e);
	check_notes(e);
	check_faults(e);
	executor_free(e);
	return finish();
}
