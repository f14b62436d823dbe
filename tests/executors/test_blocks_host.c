/* SPDX-License-Identifier: MIT */
/* The host executor's operations on blocks, each against its definition, on views inside larger
 * matrices whose other elements have to stay. */
#include "tests/algorithms/factor_test.h"

#include "factor/executors/host/executor_host_blocks.h"
#include "factor/algorithms/host_transfer.h"

enum { LD = 23, COLUMNS = 24, MOST = 17 };

/* A matrix of known elements around a view of it. */
struct field {
	enum precision precision;
	double memory[LD * COLUMNS]; /* or floats */
	double kept[LD * COLUMNS];
};

/* The m x n view at (2,3), its elements random; everything else is NaN. */
static struct matrix view(struct field *f, enum precision precision, int64_t m, int64_t n, int seed)
{
	struct matrix whole = {f->memory, 0, LD, COLUMNS, LD, precision};

	f->precision = precision;
	memset(f->memory, 0xff, sizeof f->memory);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(f->memory, i + 2 + (j + 3) * LD, precision,
			        test_random((uint64_t)seed + (uint64_t)j, i));
	memcpy(f->kept, f->memory, sizeof f->kept);
	return matrix_view(whole, 2, 3, m, n);
}

static double at(struct matrix a, int64_t i, int64_t j)
{
	return get(matrix_address(a), i + j * a.ld, a.precision);
}

static void set(struct matrix a, int64_t i, int64_t j, double x)
{
	put(matrix_address(a), i + j * a.ld, a.precision, x);
}

/* Element (i,j) before the operation. */
static double before(const struct field *f, int64_t i, int64_t j)
{
	return get(f->kept, i + 2 + (j + 3) * LD, f->precision);
}

static double op(const struct field *f, enum trans trans, int64_t i, int64_t j)
{
	return trans == PLAIN ? before(f, i, j) : before(f, j, i);
}

/* Whether nothing outside of the view, or of one of its triangles, has changed. */
static bool rest_kept(const struct field *f, struct matrix a, enum uplo part)
{
	int64_t word = precision_bytes(f->precision);

	for (int64_t j = 0; j < COLUMNS; j++)
		for (int64_t i = 0; i < LD; i++) {
			int64_t r = i - 2, c = j - 3;
			bool inside = r >= 0 && c >= 0 && r < a.m && c < a.n &&
			              (part == WHOLE || (part == LOWER ? r >= c : r <= c));
			int64_t byte = (i + j * LD) * word;
			if (!inside && memcmp((const char *)f->memory + byte,
			                       (const char *)f->kept + byte, (size_t)word) != 0)
				return false;
		}
	return true;
}

static bool near(double got, double want, enum precision precision)
{
	return fabs(got - want) <= 100 * unit_roundoff(precision) * (1 + fabs(want));
}

static void test_gemm(struct executor *e, enum precision precision, enum trans ta, enum trans tb)
{
	int64_t m = 9, n = 5, k = 7;
	struct field fa, fb, fc;
	struct matrix a = view(&fa, precision, ta ? k : m, ta ? m : k, 1);
	struct matrix b = view(&fb, precision, tb ? n : k, tb ? k : n, 50);

	for (int beta = 0; beta < 3; beta++) {
		struct matrix c = view(&fc, precision, m, n, 90);
		if (beta == 0)
			set(c, 3, 2, NAN);
		memcpy(fc.kept, fc.memory, sizeof fc.kept);
		bool good = ex_gemm(e, ta, tb, -1.5, a, b, beta, c) && rest_kept(&fc, c, WHOLE);
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = 0; i < m; i++) {
				double want = beta ? beta * before(&fc, i, j) : 0;
				for (int64_t l = 0; l < k; l++)
					want -= 1.5 * op(&fa, ta, i, l) * op(&fb, tb, l, j);
				good = good && near(at(c, i, j), want, precision);
			}
		ok(good, "%cgemm %d%d, beta %d", precision, ta, tb, beta);
	}
}

static void test_syrk(
        struct executor *e, enum precision precision, enum uplo uplo, enum trans trans)
{
	int64_t rows = 6, n = 4, k = 4;
	struct field fa, fc;
	struct matrix a = view(&fa, precision, trans ? k : rows, trans ? rows : k, 1);
	struct matrix c = uplo == LOWER ? view(&fc, precision, rows, n, 50)
	                                : view(&fc, precision, n, rows, 50);
	bool good = ex_syrk(e, uplo, trans, -1, a, 1, c) && rest_kept(&fc, c, uplo);

	for (int64_t j = 0; j < c.n; j++)
		for (int64_t i = uplo == LOWER ? j : 0;
		        i < (uplo == LOWER ? rows : (j + 1 < n ? j + 1 : n)); i++) {
			double want = before(&fc, i, j);
			for (int64_t l = 0; l < k; l++)
				want -= op(&fa, trans, i, l) * op(&fa, trans, j, l);
			good = good && near(at(c, i, j), want, precision);
		}
	ok(good, "%csyrk %s %d", precision, uplo == LOWER ? "lower" : "upper", trans);
}

/* A triangle that is easily solved with; the other one is NaN. */
static struct matrix triangle(struct field *f, enum precision precision, enum uplo uplo, int64_t n)
{
	struct matrix a = view(f, precision, n, n, 1);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			set(a, i, j,
			        i == j                       ? 2
			        : (uplo == LOWER) == (i > j) ? at(a, i, j) / 4
			                                     : NAN);
	memcpy(f->kept, f->memory, sizeof f->kept);
	return a;
}

static double triangle_op(const struct field *f, enum uplo uplo, enum trans trans, enum diag diag,
        int64_t i, int64_t j)
{
	int64_t r = trans == PLAIN ? i : j, c = trans == PLAIN ? j : i;

	if (r == c)
		return diag == UNIT ? 1 : before(f, r, c);
	return (uplo == LOWER) == (r > c) ? before(f, r, c) : 0;
}

static void test_trsm(struct executor *e, enum precision precision, int flags)
{
	enum side side = flags & 1 ? RIGHT : LEFT;
	enum uplo uplo = flags & 2 ? UPPER : LOWER;
	enum trans trans = flags & 4 ? TRANSPOSED : PLAIN;
	enum diag diag = flags & 8 ? UNIT : NON_UNIT;
	int64_t n = 6, m = side == LEFT ? n : 4, columns = side == LEFT ? 4 : n;
	struct field fa, fb;
	struct matrix a = triangle(&fa, precision, uplo, n);
	struct matrix b = view(&fb, precision, m, columns, 50);
	bool good = ex_trsm(e, side, uplo, trans, diag, 2, a, b) && rest_kept(&fb, b, WHOLE);

	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < m; i++) {
			double sum = 0;
			for (int64_t l = 0; l < n; l++)
				sum += side == LEFT ? triangle_op(&fa, uplo, trans, diag, i, l) *
				                              at(b, l, j)
				                    : at(b, i, l) * triangle_op(&fa, uplo, trans,
				                                            diag, l, j);
			good = good && near(sum, 2 * before(&fb, i, j), precision);
		}
	ok(good, "%ctrsm side %d uplo %d trans %d diag %d", precision, side, uplo, trans, diag);
}

static void test_trtri(struct executor *e, enum precision precision, enum uplo uplo, enum diag diag)
{
	int64_t n = 9;
	struct field fa, fi;
	struct matrix a = triangle(&fa, precision, uplo, n), x = view(&fi, precision, n, n, 50);
	bool good = ex_trtri(e, uplo, diag, a, x) && rest_kept(&fi, x, WHOLE);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++) {
			double sum = 0;
			for (int64_t l = 0; l < n; l++)
				sum += triangle_op(&fa, uplo, PLAIN, diag, i, l) * at(x, l, j);
			good = good && near(sum, i == j, precision);
			if (i != j && (uplo == LOWER) == (i < j))
				good = good && at(x, i, j) == 0;
		}
	ok(good, "%ctrtri %s %s", precision, uplo == LOWER ? "lower" : "upper",
	        diag == UNIT ? "unit" : "non-unit");
}

/* b stays with a harmless triangle, and is solved for when the inverse is too large, or NaN. */
static void test_guard(struct executor *e, enum precision precision)
{
	for (int kind = 0; kind < 3; kind++) {
		struct field fa, fi, fk, fb;
		struct matrix a = triangle(&fa, precision, LOWER, 6);
		struct matrix inverse = view(&fi, precision, 6, 6, 20);
		struct matrix kept = view(&fk, precision, 6, 3, 40),
		              b = view(&fb, precision, 6, 3, 60);
		for (int64_t j = 0; j < 6; j++)
			for (int64_t i = 0; i < j; i++)
				set(inverse, i, j, 0);
		/* the largest of the triangle is 2 */
		double limit = EXECUTOR_INVERSE_GROWTH / 2;
		set(inverse, 4, 1, kind == 0 ? limit : kind == 1 ? limit * 1.001 : NAN);
		bool good = ex_trsm_guard(e, LEFT, LOWER, PLAIN, NON_UNIT, a, inverse, kept, b);
		struct matrix want = view(&fk, precision, 6, 3, 40);
		good = good && ex_trsm(e, LEFT, LOWER, PLAIN, NON_UNIT, 1, a, want);
		for (int64_t j = 0; j < 3; j++)
			for (int64_t i = 0; i < 6; i++)
				good = good && at(b, i, j) == (kind == 0 ? before(&fb, i, j)
				                                         : at(want, i, j));
		ok(good, "%ctrsm_guard %s", precision,
		        kind == 0   ? "keeps what can be trusted"
		        : kind == 1 ? "replaces what can't"
		                    : "replaces after a NaN");
	}
}

static void test_gemv(struct executor *e, enum precision precision, enum trans trans, bool rows)
{
	int64_t m = 7, n = 5, in = trans ? m : n, out = trans ? n : m;
	struct field fa, fx, fy;
	struct matrix a = view(&fa, precision, m, n, 1);
	struct matrix x = view(&fx, precision, rows ? 1 : in, rows ? in : 1, 20);

	for (int beta = 0; beta < 2; beta++) {
		struct matrix y = view(&fy, precision, rows ? 1 : out, rows ? out : 1, 50);
		if (beta == 0)
			set(y, 0, 0, NAN);
		memcpy(fy.kept, fy.memory, sizeof fy.kept);
		bool good = ex_gemv(e, trans, 2, a, x, beta, y) && rest_kept(&fy, y, WHOLE);
		for (int64_t i = 0; i < out; i++) {
			double want = beta ? before(&fy, rows ? 0 : i, rows ? i : 0) : 0;
			for (int64_t l = 0; l < in; l++)
				want += 2 * op(&fa, trans, i, l) *
				        before(&fx, rows ? 0 : l, rows ? l : 0);
			good = good && near(at(y, rows ? 0 : i, rows ? i : 0), want, precision);
		}
		ok(good, "%cgemv %d, vectors are %s, beta %d", precision, trans,
		        rows ? "rows" : "columns", beta);
	}
}

static void test_pivots(struct executor *e, enum precision precision)
{
	int ipiv[] = {3, 2, 5, 4, 0}, all[] = {0, 0, 0, 0, 0, 0, 0, 0};
	struct pivots p = {ipiv, 3}, four = {ipiv, 4}, seven = {all, 7};
	struct field f;
	struct matrix a = view(&f, precision, 5, 4, 1);
	bool good = ex_laswp(e, a, p, false) && rest_kept(&f, a, WHOLE);
	/* 0 <-> 2, 1 <-> 1, then 2 <-> 4 */
	static const int64_t from[] = {2, 1, 4, 3, 0};

	for (int64_t j = 0; j < 4; j++)
		for (int64_t i = 0; i < 5; i++)
			good = good && at(a, i, j) == before(&f, from[i], j);
	ok(good, "%claswp", precision);
	good = ex_laswp(e, a, p, true) && memcmp(f.memory, f.kept, sizeof f.kept) == 0;
	ok(good, "%claswp backwards takes it back", precision);

	struct field fl, fc;
	struct matrix l = view(&fl, precision, 5, 3, 3), c = view(&fc, precision, 5, 4, 5);
	good = ex_lu_columns(e, l, p, c) && rest_kept(&fc, c, WHOLE);
	for (int64_t j = 0; j < 4; j++)
		for (int64_t i = 0; i < 5; i++) {
			double sum = at(c, i, j);
			for (int64_t k = 0; k < i && k < 3; k++)
				sum += before(&fl, i, k) * at(c, k, j);
			good = good && near(sum, before(&fc, from[i], j), precision);
		}
	ok(good, "%clu_columns", precision);

	good = ex_offset_pivots(e, four, 2, seven);
	ok(good && memcmp(all, (int[]){0, 0, 5, 4, 7, 6, 0, 0}, sizeof all) == 0, "offset_pivots");
	ipiv[4] = 2;
	ex_offset_pivots(e, four, 2, seven);
	ipiv[4] = 1;
	ex_offset_pivots(e, four, 3, seven);
	ok(all[7] == 4, "the first info stays, moved");
	ok(ex_clear_info(e, &all[7]) && all[7] == 0, "clear_info");
	set(a, 3, 3, 0);
	ok(ex_zero_diagonal(e, a, &all[7]) && all[7] == 4, "zero_diagonal");
	set(a, 1, 1, -0.0);
	ok(ex_zero_diagonal(e, a, &all[7]) && all[7] == 2, "zero_diagonal: the first one");
	set(a, 1, 1, NAN);
	ok(ex_zero_diagonal(e, a, &all[7]) && all[7] == 4, "zero_diagonal: NaN is none");
}

/* n columns beside the second half of a panel of 2 + 3 columns; the halves' infos. */
static void test_join(
        struct executor *e, enum precision precision, int64_t n, int first, int second)
{
	static const int64_t from[] = {2, 1, 4, 3, 0};
	int half[] = {3, 2, 5, second}, all[] = {1, 2, first, 0, 0, 77};
	const int want[] = {1, 2, 5, 4, 7, first ? first : second ? second + 2 : 0};
	struct field f;
	struct matrix a = view(&f, precision, 5, n, 1);
	bool good = ex_join_halves(e, a, (struct pivots){half, 3}, 2, (struct pivots){all, 5}) &&
	            rest_kept(&f, a, WHOLE) && memcmp(all, want, sizeof all) == 0;

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < 5; i++)
			good = good && at(a, i, j) == before(&f, from[i], j);
	ok(good, "%c join_halves, %d columns, infos %d and %d", precision, (int)n, first, second);
}

static void test_joins(struct executor *e, enum precision precision)
{
	test_join(e, precision, 4, 0, 0);
	test_join(e, precision, 4, 0, 3);
	test_join(e, precision, 4, 1, 3);
	test_join(e, precision, 0, 2, 0);
}

static void test_layout(struct executor *e, enum precision precision)
{
	struct field fa, fb;
	struct matrix a = view(&fa, precision, 4, 6, 1), b = view(&fb, precision, 6, 4, 50);
	bool good = ex_transpose(e, a, b) && rest_kept(&fb, b, WHOLE);

	for (int64_t j = 0; j < 6; j++)
		for (int64_t i = 0; i < 4; i++)
			good = good && at(b, j, i) == before(&fa, i, j);
	ok(good, "%c transpose", precision);
	for (int part = LOWER; part <= WHOLE; part++) {
		a = view(&fa, precision, 4, 6, 1);
		good = ex_fill(e, (enum uplo)part, 2, 3, a) && rest_kept(&fa, a, (enum uplo)part);
		for (int64_t j = 0; j < 6; j++)
			for (int64_t i = 0; i < 4; i++)
				if (part == WHOLE || (part == LOWER ? i >= j : i <= j))
					good = good && at(a, i, j) == (i == j ? 3 : 2);
		ok(good, "%c fill %d", precision, part);
	}
}

/* Q by the reflectors of a panel one at a time against I - V T V^T. */
static void test_reflectors(struct executor *e, enum precision precision)
{
	int64_t m = 12, n = 5;
	struct field fa, fv, ft, fw, fz;
	struct matrix a = view(&fa, precision, m, n, 1), tau = view(&fz, precision, n, 1, 9);
	struct matrix v = view(&fv, precision, m, n, 50), t = view(&ft, precision, n, n, 90);
	double work[64 * 5];
	bool good = e->ops->geqrf_work(e, a) <= (int64_t)sizeof work &&
	            ex_panel_geqrf(e, a, tau, work) && rest_kept(&fa, a, WHOLE) &&
	            ex_explicit_v(e, a, v) && rest_kept(&fv, v, WHOLE) && ex_larft(e, v, tau, t) &&
	            rest_kept(&ft, t, WHOLE);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			good = good && at(v, i, j) == (i < j ? 0 : i == j ? 1 : at(a, i, j));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j + 1; i < n; i++)
			good = good && at(t, i, j) == 0;
	/* H1 .. Hn x for a random x, and x - V T V^T x */
	struct matrix x = view(&fw, precision, m, 1, 30);
	double one[MOST], other[MOST], vx[MOST];
	for (int64_t i = 0; i < m; i++)
		one[i] = other[i] = at(x, i, 0);
	for (int64_t j = n - 1; j >= 0; j--) {
		double sum = 0;
		for (int64_t i = 0; i < m; i++)
			sum += at(v, i, j) * one[i];
		for (int64_t i = 0; i < m; i++)
			one[i] -= at(tau, j, 0) * sum * at(v, i, j);
	}
	for (int64_t j = 0; j < n; j++) {
		vx[j] = 0;
		for (int64_t i = 0; i < m; i++)
			vx[j] += at(v, i, j) * at(x, i, 0);
	}
	for (int64_t j = 0; j < n; j++)
		for (int64_t k = j; k < n; k++)
			for (int64_t i = 0; i < m; i++)
				other[i] -= at(v, i, j) * at(t, j, k) * vx[k];
	for (int64_t i = 0; i < m; i++)
		good = good && near(other[i], one[i], precision);
	ok(good, "%c panel_geqrf, explicit_v and larft", precision);
}

/* The pivot's rule, and that nothing happens after a failure. */
static void test_potrf_block(struct executor *e, enum precision precision, enum uplo uplo)
{
	static const double bad[] = {1, 0, -1, NAN};

	for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
		int info = 0;
		struct field f;
		struct matrix a = view(&f, precision, 3, 3, 1);
		/* L = [2 0 0; 1 1 0; 0 3 b], of which the last square is bad */
		static const double full[3][3] = {{4, 2, 0}, {2, 2, 3}, {0, 3, 9}};
		for (int64_t j = 0; j < 3; j++)
			for (int64_t i = 0; i < 3; i++)
				set(a, i, j, (uplo == LOWER ? i >= j : i <= j) ? full[i][j] : NAN);
		set(a, 2, 2, 9 + bad[k]);
		memcpy(f.kept, f.memory, sizeof f.kept);
		bool good = ex_potrf_block(e, uplo, a, 10, &info) && rest_kept(&f, a, uplo);
		bool low = uplo == LOWER;
		good = good && at(a, 0, 0) == 2 && at(a, low ? 1 : 0, low ? 0 : 1) == 1 &&
		       at(a, 1, 1) == 1 && at(a, low ? 2 : 1, low ? 1 : 2) == 3;
		good = good && (k == 0 ? info == 0 && at(a, 2, 2) == 1 : info == 13);
		ok(good, "%c potrf_block %s, last pivot %g", precision, low ? "lower" : "upper",
		        bad[k]);

		memcpy(f.memory, f.kept, sizeof f.kept);
		info = 5;
		good = ex_potrf_block(e, uplo, a, 10, &info) && info == 5 &&
		       memcmp(f.memory, f.kept, sizeof f.kept) == 0;
		ok(good, "%c potrf_block leaves a block alone after a failure", precision);
	}
}

static void test_stage(struct executor *e)
{
	struct field f, g;
	struct matrix a = view(&f, DOUBLE, 7, 5, 1), b = view(&g, DOUBLE, 7, 5, 50), host;
	bool good = e->ops->stage(e, 3, 7, 5, DOUBLE, &host) && host.ld == 7 &&
	            ex_to_host(e, a, host) && ex_to_device(e, host, b) && rest_kept(&g, b, WHOLE);

	for (int64_t j = 0; j < 5; j++)
		for (int64_t i = 0; i < 7; i++)
			good = good && at(b, i, j) == at(a, i, j) && at(host, i, j) == at(a, i, j);
	ok(good, "to the host and back");
	struct matrix smaller;
	ok(e->ops->stage(e, 3, 4, 4, SINGLE, &smaller) && smaller.data == host.data,
	        "a smaller stage is the same memory");
	ok(!e->ops->record(e, EXECUTOR_EVENTS), "refused: %s", e->fault.text);
}

/* Rectangles that cover a triangle, and no more than they must. */
static void test_transfer(struct executor *e, enum uplo uplo, int64_t width)
{
	int64_t n = 11;
	struct field f, g;
	struct matrix from = view(&f, SINGLE, n, n, 1), to = view(&g, SINGLE, n, n, 50);
	bool good = width % 2 ? matrix_to_device(e, uplo, width, from, to)
	                      : matrix_to_host(e, uplo, width, from, to);

	good = good && rest_kept(&g, to, WHOLE) && e->queue == QUEUE_MAIN;
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++) {
			bool inside = uplo == WHOLE || (uplo == LOWER ? i >= j : i <= j);
			bool covered = inside || i / width == j / width;
			good = good &&
			       at(to, i, j) == (covered ? at(from, i, j) : before(&g, i, j));
		}
	ok(good, "transfer %d in rectangles of %d", uplo, (int)width);
}

int main(void)
{
	struct fault fault;
	struct executor *host = executor_host_new(&fault);

	for (int i = 0; i < 2; i++) {
		enum precision precision = i ? DOUBLE : SINGLE;
		for (int flags = 0; flags < 4; flags++) {
			enum trans first = flags & 1 ? TRANSPOSED : PLAIN;
			enum uplo uplo = flags & 2 ? UPPER : LOWER;
			test_gemm(host, precision, first, flags & 2 ? TRANSPOSED : PLAIN);
			test_syrk(host, precision, uplo, first);
			test_trtri(host, precision, uplo, flags & 1 ? UNIT : NON_UNIT);
			test_gemv(host, precision, first, flags & 2);
		}
		for (int flags = 0; flags < 16; flags++)
			test_trsm(host, precision, flags);
		test_guard(host, precision);
		test_pivots(host, precision);
		test_joins(host, precision);
		test_layout(host, precision);
		test_reflectors(host, precision);
		test_potrf_block(host, precision, LOWER);
		test_potrf_block(host, precision, UPPER);
	}
	test_stage(host);
	for (int uplo = LOWER; uplo <= WHOLE; uplo++)
		for (int64_t width = 1; width < 14; width += 3)
			test_transfer(host, (enum uplo)uplo, width);
	ok(!matrix_to_device(host, LOWER, 0, (struct matrix){0}, (struct matrix){0}), "refused: %s",
	        host->fault.text);
	executor_free(host);
	return finish();
}
