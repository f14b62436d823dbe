/* SPDX-License-Identifier: MIT */
/* Solves and products with the factors, on the host executor and on the GPU: getrs, potrs, ormqr,
 * orgqr, gels, and LU of row-major input, by residuals and against arithmetic in double precision.
 */
#include "factor_test.h"

#include "factor/validation/check.h"
#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/potrf.h"
#include "factor/algorithms/solve.h"

#include <lapacke.h>

static const int64_t by_8[] = {8}, uneven[] = {24, 7, 16, 9};

static const struct plan plans[] = {
        {false, "persistent", by_8, 1, 8, 0, .lookahead = 1},
        {false, "persistent", uneven, 4, 6, 3, .lookahead = 0},
        {true, NULL, uneven, 4, 5, 8, .lookahead = 1},
};

enum { MOST_KEPT = 8 };

/* All memory of a test, the host's included, and its precision. */
struct fixture {
	struct executor *e;
	enum precision precision;
	struct test_room room;
	double *kept[MOST_KEPT];
	int kept_count;
};

static struct fixture fixture_new(struct executor *e, enum precision precision)
{
	return (struct fixture){.e = e, .precision = precision, .room = room_new(e)};
}

/* Frees x at the end. */
static double *kept(struct fixture *s, double *x)
{
	s->kept[s->kept_count++] = x;
	return x;
}

static bool fixture_end(struct fixture *s, bool good)
{
	while (s->kept_count > 0)
		free(s->kept[--s->kept_count]);
	return room_close(&s->room, good);
}

/* m x n with two rows of padding: a matrix of element(i,j). */
static struct matrix fixture_upload(struct fixture *s, int64_t m, int64_t n, const double *elements)
{
	struct matrix a = room_matrix(&s->room, m, n, m + 2, s->precision);
	void *host = xcalloc((size_t)(a.ld * n + 1), sizeof(double));

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(host, i + j * a.ld, s->precision, elements[i + j * m]);
	s->room.good = s->room.good && s->e->ops->upload(s->e, host, a.ld, a);
	free(host);
	return a;
}

/* Of the kind; negative kinds are random, each with other numbers. */
static struct matrix fixture_matrix(struct fixture *s, int64_t m, int64_t n, int kind)
{
	double *elements = xmalloc((size_t)(m * n + 1) * sizeof *elements);

	if (kind >= 0)
		test_fill(elements, m, m, n, DOUBLE, kind);
	for (int64_t i = 0; kind < 0 && i < m * n; i++)
		elements[i] = test_random((uint64_t)(-100 * kind) + (uint64_t)(i / m), i % m);
	struct matrix a = fixture_upload(s, m, n, elements);
	free(elements);
	return a;
}

static double *doubles(struct fixture *s, struct matrix a)
{
	int64_t ld = a.m ? a.m : 1;
	void *host = xcalloc((size_t)(ld * a.n + 1), sizeof(double));

	s->room.good =
	        s->e->ops->sync(s->e) && s->e->ops->download(s->e, a, host, ld) && s->room.good;
	double *out = kept(s, to_doubles(host, ld, a.m, a.n, a.precision));
	free(host);
	return out;
}

/* Orders around the edges of blocks. */
static const int64_t orders[] = {0, 1, 2, 3, 5, 9, 17, 33};

/* A small run takes every third order or shape, the last among them. */
static bool in_this_run(size_t i)
{
	return test_turn(ARRAY_LEN(orders) - 1 - i, 3);
}

/* sget02: norm1(B - op(A) X) / (norm1(A) norm1(X) eps); A is m x n in doubles. */
static double solve_ratio(struct fixture *s, const double *a, int64_t m, int64_t n,
        CBLAS_TRANSPOSE trans, const double *b, struct matrix x, int64_t rows)
{
	double *solution = doubles(s, matrix_view(x, 0, 0, rows, x.n));
	int64_t out = trans == CblasNoTrans ? m : n;
	double *rest = xmalloc((size_t)(out * x.n + 1) * sizeof *rest);

	memcpy(rest, b, (size_t)(out * x.n) * sizeof *rest);
	multiply(trans, CblasNoTrans, out, x.n, rows, -1, a, solution, 1, rest);
	double scale = norm_one(a, m, n) * norm_one(solution, rows, x.n);
	double ratio = test_ratio(norm_one(rest, out, x.n), 1, scale, unit_roundoff(x.precision));
	free(rest);
	return ratio;
}

/* ---- LU ---- */

/* row_major: the memory is read as a row-major matrix. */
static double getrs_ratio(struct fixture *s, const struct plan *plan, int64_t n, int64_t nrhs,
        enum trans trans, bool row_major)
{
	struct matrix a = fixture_matrix(s, n, n, TEST_CONDITION_2);
	struct matrix b = fixture_matrix(s, n, nrhs, -1);
	struct pivots pivots = room_pivots(&s->room, n);
	double *before = doubles(s, a), *rhs = doubles(s, b);
	struct matrix view = row_major ? matrix_of_rows(a.data, n, n, a.ld, a.precision) : a;
	/* by rows the matrix is the transpose of `before` */
	enum trans call = (trans == PLAIN) == row_major ? TRANSPOSED : PLAIN;

	void *work = room_bytes(&s->room, getrf_work(s->e, plan, view));
	s->room.good = s->room.good && getrf(s->e, plan, view, work, pivots) &&
	               getrs(s->e, call, view, pivots, b);
	double ratio =
	        solve_ratio(s, before, n, n, call == PLAIN ? CblasNoTrans : CblasTrans, rhs, b, n);
	return ratio;
}

static void test_getrs(struct executor *e, enum precision precision)
{
	for (size_t i = 0; i < 4 * ARRAY_LEN(orders); i++) {
		const int64_t n = orders[i / 4];
		if (!in_this_run(i / 4))
			continue;
		const enum trans trans = i % 2 ? TRANSPOSED : PLAIN;
		const bool row_major = i / 2 % 2;
		struct fixture s = fixture_new(e, precision);
		double ratio = getrs_ratio(&s, &plans[n % 3], n, 1 + n % 5, trans, row_major);
		ok(fixture_end(&s, ratio < CHECK_THRESHOLD), "%cgetrs %s%s n %d: ratio %.3g",
		        precision, trans == PLAIN ? "A x = b" : "A^T x = b",
		        row_major ? " by rows" : "", (int)n, ratio);
	}
}

/* A = [0 1 2; 3 4 5] by rows: U' is unit upper, L' lower, A P = L' U' with columns exchanged. */
static void test_rows_by_hand(struct executor *e)
{
	struct fixture fixture = fixture_new(e, DOUBLE), *s = &fixture;
	static const double rows[] = {0, 1, 2, 3, 4, 5};
	double a[6] = {0};
	struct matrix view = matrix_of_rows(room_bytes(&s->room, sizeof a), 2, 3, 3, DOUBLE);
	struct pivots p = room_pivots(&s->room, 2);
	void *work = room_bytes(&s->room, getrf_work(e, &plans[0], view));
	int ipiv[2] = {0}, info = -1;
	bool good = e->ops->upload(e, rows, 3, view) && getrf(e, &plans[0], view, work, p) &&
	            e->ops->sync(e) && e->ops->download(e, view, a, 3) &&
	            e->ops->read_pivots(e, p, ipiv, &info);

	/* first row: column 3 is the pivot, then 2 | 1/2 0 by rows */
	good = good && ipiv[0] == 3 && ipiv[1] == 3 && info == 0 && a[0] == 2 && a[1] == 0 &&
	       a[2] == 0.5 && a[3] == 5 && a[4] == 3 && a[5] == 0.5;
	if (!good)
		diag("%g %g %g / %g %g %g, pivots %d %d", a[0], a[1], a[2], a[3], a[4], a[5],
		        ipiv[0], ipiv[1]);
	ok(fixture_end(s, good), "the LU factors of a 2 x 3 row-major matrix, by hand");
}

/* ---- Cholesky ---- */

static void test_potrs_case(struct executor *e, enum precision precision, enum uplo uplo, int64_t n)
{
	struct fixture fixture = fixture_new(e, precision), *s = &fixture;
	const struct plan *plan = &plans[n % 3];
	double *before = kept(s, xmalloc((size_t)(n * n + 1) * sizeof *before));

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			before[i + j * n] = (i == j ? (double)n : 0) + test_random(1, i + j) / 2;
	struct matrix a = fixture_upload(s, n, n, before), b = fixture_matrix(s, n, 3, -1);
	double *rhs = doubles(s, b);
	struct pivots info = room_pivots(&s->room, 0);
	void *work = room_bytes(&s->room, potrf_work(e, plan, uplo, a));
	bool good = potrf(e, plan, uplo, a, work, info.data) && potrs(e, uplo, a, b) &&
	            room_info(&s->room, info) == 0;
	double ratio = solve_ratio(s, before, n, n, CblasNoTrans, rhs, b, n);
	ok(fixture_end(s, good && ratio < CHECK_THRESHOLD), "%cpotrs %s n %d: ratio %.3g",
	        precision, uplo == LOWER ? "lower" : "upper", (int)n, ratio);
}

/* ---- Q ---- */

/* The m x m product of the reflectors, in double. */
static double *explicit_q(struct fixture *s, struct matrix qr, struct matrix tau)
{
	const int64_t m = qr.m, k = tau.m;
	const double *a = doubles(s, qr), *t = doubles(s, tau);
	double *q = kept(s, xcalloc((size_t)(m * m + 1), sizeof *q));

	memcpy(q, a, (size_t)(m * k) * sizeof *q);
	if (m > 0)
		LAPACKE_dorgqr(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)m, (lapack_int)k, q,
		        (lapack_int)m, t);
	return q;
}

/* Factorizes a random m x n matrix for Q. */
static struct matrix factored(
        struct fixture *s, const struct plan *plan, int64_t m, int64_t n, struct matrix *tau)
{
	struct matrix a = fixture_matrix(s, m, n, -2);

	*tau = fixture_matrix(s, m < n ? m : n, 1, TEST_ZERO);
	void *work = room_bytes(&s->room, geqrf_work(s->e, plan, a));
	s->room.good = s->room.good && geqrf(s->e, plan, a, *tau, work);
	return a;
}

/* Largest difference over eps and the vectors' length. */
static double apart(struct fixture *s, struct matrix got, const double *want)
{
	double *x = doubles(s, got), most = 0;

	for (int64_t i = 0; i < got.m * got.n; i++)
		most = worse(most, fabs(x[i] - want[i]));
	return most / unit_roundoff(got.precision) / (double)(got.m ? got.m : 1);
}

static const struct {
	int64_t m, n;
} shapes[] = {{0, 0}, {3, 0}, {1, 1}, {2, 2}, {9, 8}, {25, 25}, {50, 31}, {31, 50}};

static void test_ormqr_case(struct executor *e, enum precision precision, int64_t m, int64_t n,
        enum side side, enum trans trans)
{
	struct fixture fixture = fixture_new(e, precision), *s = &fixture;
	const struct plan *plan = &plans[m % 3], *other = &plans[(m + 1) % 3];
	struct matrix tau, a = factored(s, plan, m, n, &tau);
	struct matrix c = side == LEFT ? fixture_matrix(s, m, 6, -1) : fixture_matrix(s, 6, m, -1);
	double *q = explicit_q(s, a, tau), *before = doubles(s, c), *want = doubles(s, c);
	CBLAS_TRANSPOSE op = trans == PLAIN ? CblasNoTrans : CblasTrans;
	void *work = room_bytes(&s->room, ormqr_work(e, other, side, a, tau, c));
	bool good = ormqr(e, other, side, trans, a, tau, c, work);

	if (side == LEFT)
		multiply(op, CblasNoTrans, m, 6, m, 1, q, before, 0, want);
	else
		multiply(CblasNoTrans, op, 6, m, m, 1, before, q, 0, want);
	double error = apart(s, c, want);
	ok(fixture_end(s, good && error < CHECK_THRESHOLD), "%cormqr %s %s, Q from %d x %d: %.3g",
	        precision, side == LEFT ? "left" : "right", trans == PLAIN ? "Q" : "Q^T", (int)m,
	        (int)n, error);
}

static void test_orgqr_case(
        struct executor *e, enum precision precision, int64_t m, int64_t n, int64_t p)
{
	struct fixture fixture = fixture_new(e, precision), *s = &fixture;
	const struct plan *plan = &plans[(m + 2) % 3];
	struct matrix tau, a = factored(s, plan, m, n, &tau);
	struct matrix q = fixture_matrix(s, m, p, -1);
	double *want = explicit_q(s, a, tau);
	void *work = room_bytes(&s->room, orgqr_work(e, plan, a, tau, q));
	bool good = orgqr(e, plan, a, tau, q, work);
	double error = apart(s, q, want);

	ok(fixture_end(s, good && error < CHECK_THRESHOLD), "%corgqr %d x %d of %d x %d: %.3g",
	        precision, (int)m, (int)p, (int)m, (int)n, error);
}

static void test_q(struct executor *e, enum precision precision)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		int64_t m = shapes[i].m, n = shapes[i].n, k = m < n ? m : n;
		if (!in_this_run(i))
			continue;
		for (int side = LEFT; side <= RIGHT; side++)
			for (int trans = PLAIN; trans <= TRANSPOSED; trans++)
				test_ormqr_case(
				        e, precision, m, n, (enum side)side, (enum trans)trans);
		test_orgqr_case(e, precision, m, n, k);
		test_orgqr_case(e, precision, m, n, m);
		test_orgqr_case(e, precision, m, n, (k + m) / 2);
	}
}

/* ---- least squares ---- */

static void test_gels_case(
        struct executor *e, enum precision precision, int64_t m, int64_t n, enum trans trans)
{
	struct fixture fixture = fixture_new(e, precision), *s = &fixture;
	const struct plan *plan = &plans[(m + n) % 3];
	int64_t longer = m > n ? m : n, solution = trans == PLAIN ? n : m;
	struct matrix a = fixture_matrix(s, m, n, TEST_CONDITION_2);
	struct matrix b = fixture_matrix(s, longer, 3, -1);
	double *reference = doubles(s, a), *want = doubles(s, b);
	void *work = room_bytes(&s->room, gels_work(e, plan, a, b));
	struct pivots info = room_pivots(&s->room, 0);
	struct pivots doubtful = room_pivots(&s->room, 0);
	bool good = ex_clear_info(e, doubtful.data) &&
	            gels(e, plan, trans, a, b, work, info.data, doubtful.data) &&
	            room_info(&s->room, info) == 0 && room_info(&s->room, doubtful) == 0;
	double error = 0;

	if (m && n)
		LAPACKE_dgels(LAPACK_COL_MAJOR, trans == PLAIN ? 'N' : 'T', (lapack_int)m,
		        (lapack_int)n, 3, reference, (lapack_int)m, want, (lapack_int)longer);
	else
		memset(want, 0, (size_t)(longer * 3) * sizeof *want);
	for (int64_t j = 0; j < 3; j++)
		error = worse(
		        error, apart(s, matrix_view(b, 0, j, solution, 1), want + j * longer));
	ok(fixture_end(s, good && error < CHECK_THRESHOLD), "%cgels %s %d x %d: %.3g", precision,
	        trans == PLAIN ? "A" : "A^T", (int)m, (int)n, error);
}

/* The taller of A and A^T has columns of zeros from `first` on, which stay exactly zero. with_nan:
 * it has a NaN, too, which spreads to all columns, so that none is zero. */
static void test_gels_info(struct executor *e, enum precision precision, int64_t m, int64_t n,
        int64_t first, bool with_nan)
{
	struct fixture fixture = fixture_new(e, precision), *s = &fixture;
	double *elements = xmalloc((size_t)(m * n) * sizeof *elements);
	const int want = with_nan ? 0 : (int)first + 1;

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			elements[i + j * m] =
			        (m < n ? i : j) < first ? test_random(3, i + j * m) : 0;
	if (with_nan)
		elements[0] = NAN;
	struct matrix a = fixture_upload(s, m, n, elements);
	struct matrix b = fixture_matrix(s, m > n ? m : n, 2, -1);
	struct pivots info = room_pivots(&s->room, 0);
	void *work = room_bytes(&s->room, gels_work(e, &plans[1], a, b));
	bool good = gels(e, &plans[1], PLAIN, a, b, work, info.data, NULL);
	const int failed = room_info(&s->room, info);
	free(elements);
	ok(fixture_end(s, good && failed == want), "%cgels of %d x %d, rank %d%s: info %d",
	        precision, (int)m, (int)n, (int)first, with_nan ? ", with a NaN" : "", failed);
}

/* A of 1 to 9 has rank 2; the last pivot of R is a rounding error. */
static void test_gels_doubt(struct executor *e, enum precision precision)
{
	static const double elements[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct fixture fixture = fixture_new(e, precision), *s = &fixture;
	struct matrix a = fixture_upload(s, 3, 3, elements), b = fixture_upload(s, 3, 3, elements);
	struct pivots info = room_pivots(&s->room, 0), doubtful = room_pivots(&s->room, 0);
	void *work = room_bytes(&s->room, gels_work(e, &plans[0], a, b));
	bool good = ex_clear_info(e, doubtful.data) &&
	            gels(e, &plans[0], PLAIN, a, b, work, info.data, doubtful.data) &&
	            room_info(&s->room, doubtful) == 1;
	ok(fixture_end(s, good), "%cgels notices that a matrix is of rank 2", precision);
}

/* A and B are subnormal, X is not; LAPACK solves the same system times a power of two. */
static void test_gels_subnormal(struct executor *e, enum precision precision, int64_t m, int64_t n)
{
	struct fixture fixture = fixture_new(e, precision), *s = &fixture;
	const int64_t longer = m > n ? m : n;
	const double unit = roundoff_at(test_smallest(precision) * 0x1p20, precision);
	double *elements = kept(s, xmalloc((size_t)(longer * (n + 1)) * sizeof *elements));

	for (int64_t i = 0; i < longer * (n + 1); i++)
		elements[i] = test_element(TEST_SUBNORMAL, i, 0, 0, 0, precision);
	struct matrix a = fixture_upload(s, m, n, elements);
	struct matrix b = fixture_upload(s, longer, 1, elements + m * n);
	double *left = doubles(s, a), *want = doubles(s, b), error = 0;
	struct pivots info = room_pivots(&s->room, 0);
	void *work = room_bytes(&s->room, gels_work(e, &plans[0], a, b));
	bool good = gels(e, &plans[0], PLAIN, a, b, work, info.data, NULL) &&
	            room_info(&s->room, info) == 0;
	rescale(want, longer, left, m * n);
	rescale(left, m * n, left, m * n);
	LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', (lapack_int)m, (lapack_int)n, 1, left, (lapack_int)m,
	        want, (lapack_int)longer);
	const double *x = doubles(s, b);
	for (int64_t i = 0; i < n; i++)
		error = worse(error, fabs(x[i] - want[i]) / unit / (double)longer);
	ok(fixture_end(s, good && error < CHECK_THRESHOLD), "%cgels %d x %d, subnormal: %.3g",
	        precision, (int)m, (int)n, error);
}

static void test_gels(struct executor *e, enum precision precision)
{
	test_gels_subnormal(e, precision, 50, 31);
	test_gels_subnormal(e, precision, 31, 50);
	test_gels_doubt(e, precision);
	for (int with_nan = 0; with_nan < 2; with_nan++)
		for (int64_t first = with_nan ? 10 : 0; first < 31;
		        first += test_small() ? 30 : 10) {
			test_gels_info(e, precision, 50, 31, first, with_nan);
			test_gels_info(e, precision, 31, 50, first, with_nan);
		}
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		if (!in_this_run(i))
			continue;
		test_gels_case(e, precision, shapes[i].m, shapes[i].n, PLAIN);
		test_gels_case(e, precision, shapes[i].m, shapes[i].n, TRANSPOSED);
	}
}

/* A call was refused with this word in its sentence. */
static void is_refused(struct executor *e, bool refused, const char *word)
{
	ok(refused && strstr(e->fault.text, word), "refused: %s", e->fault.text);
}

static void test_refusals(struct executor *e)
{
	struct matrix a = {NULL, 0, 9, 4, 9, SINGLE}, tau = {NULL, 0, 4, 1, 4, SINGLE};
	struct matrix c = {NULL, 0, 8, 3, 9, SINGLE}, short_tau = {NULL, 0, 5, 1, 5, SINGLE};
	struct matrix nine = {NULL, 0, 9, 3, 9, SINGLE};
	static const int64_t none[] = {0};
	const struct plan bad = {false, NULL, none, 1, 8, 0, .lookahead = 0};

	is_refused(e, ormqr_work(e, &plans[0], LEFT, a, tau, c) == -1, "length 9");
	is_refused(e, ormqr_work(e, &plans[0], LEFT, a, short_tau, nine) == -1, "5 reflectors");
	is_refused(e, !ormqr(e, &bad, LEFT, PLAIN, a, tau, nine, NULL), "");
	is_refused(e, orgqr_work(e, &plans[0], a, tau, nine) == -1, "9 x 3");
	is_refused(e, !getrs(e, PLAIN, a, (struct pivots){0}, nine), "9 x 4");
	is_refused(e, !potrs(e, LOWER, a, nine), "9 x 4");
	is_refused(e, gels_work(e, &plans[0], a, c) == -1, "9 are needed");
}

static void test_all(struct executor *e)
{
	for (int i = 0; i < 2; i++) {
		enum precision precision = i ? DOUBLE : SINGLE;
		test_getrs(e, precision);
		for (size_t k = 0; k < 2 * ARRAY_LEN(orders); k++)
			if (in_this_run(k / 2))
				test_potrs_case(e, precision, k % 2 ? UPPER : LOWER, orders[k / 2]);
		test_q(e, precision);
		test_gels(e, precision);
	}
	test_rows_by_hand(e);
	test_refusals(e);
}

int main(void)
{
	return test_on_executors(test_all);
}
