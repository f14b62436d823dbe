/* SPDX-License-Identifier: MIT */
/* Products on both executors against dgemm in double precision on the host: odd sizes,
 * leading dimensions larger than the matrix, NaN around everything and in all that has to be
 * overwritten. On the GPU also products that are large enough for chosen kernels and for separate
 * halves and lines, updates of small rank, and operands that begin at 16 bytes or between them. */
#include "tests/executors/executor_memory.h"

#include "factor/kernels/blocks/block_kernels.h"

static void check_gemm(struct executor *e, enum precision p, enum trans ta, enum trans tb,
        int64_t m, int64_t n, int64_t k, double alpha, double beta, enum place place)
{
	if (!test_fits(m, n))
		return;
	struct block a = block_placed(e, p, ta ? k : m, ta ? m : k, place);
	struct block b = block_placed(e, p, tb ? n : k, tb ? k : n, place);
	struct block c = block_placed(e, p, m, n, place);

	if (beta == 0)
		block_set(&c, NAN);
	block_upload(e, &c);
	must(e, e->ops->gemm(e, ta, tb, alpha, a.a, b.a, beta, c.a));
	block_product(alpha, &a, ta, &b, tb, beta, &c);
	ok(block_holds(e, &c, 4 * (double)(k + 2) * unit_roundoff(p)),
	        "gemm %c %d%d m %" PRId64 " n %" PRId64 " k %" PRId64 " beta %g%s", p, ta, tb, m, n,
	        k, beta, place_name[place]);
	blocks_free(e);
}

static void check_gemms(struct executor *e, enum precision p)
{
	for (enum trans ta = PLAIN; ta <= TRANSPOSED; ta++)
		for (enum trans tb = PLAIN; tb <= TRANSPOSED; tb++) {
			check_gemm(e, p, ta, tb, 65, 33, 47, -1, 1, ANYWHERE);
			check_gemm(e, p, ta, tb, 1, 130, 64, 0.5, 0, ANYWHERE);
			check_gemm(e, p, ta, tb, 5, 7, 0, 1, 2, ANYWHERE);
			if (!test_on_gpu || p == SINGLE)
				continue;
			check_gemm(e, p, ta, tb, 1601, 1502, 801, -1, 1, ALIGNED);
			check_gemm(e, p, ta, tb, 1600, 1500, 800, -1, 0, ALIGNED);
			check_gemm(e, p, ta, tb, 1603, 1505, 803, -1, 0, ALIGNED);
			check_gemm(e, p, ta, tb, 1600, 1503, 801, -1, 1, ALIGNED);
		}
	check_gemm(e, p, PLAIN, PLAIN, 0, 5, 3, 1, 1, ANYWHERE);
	if (test_on_gpu && p == DOUBLE)
		check_gemm(e, p, PLAIN, PLAIN, 8300, 8200, 400, -1, 1, ALIGNED);
}

/* ---- syrk ---- */

/* C has `rows` rows and as many columns or fewer, or the transpose of that for UPPER. */
struct update {
	int64_t rows, columns, k;
	double beta;
};

/* The part of C that is not computed is NaN where C is placed, and random elsewhere. */
static void check_syrk(struct executor *e, enum precision p, enum uplo uplo, enum trans trans,
        double alpha, struct update u, enum place place, double roundings)
{
	if (!test_fits(u.rows, u.columns))
		return;
	const int64_t m = uplo == LOWER ? u.rows : u.columns, n = u.rows + u.columns - m;
	const enum trans other = trans == PLAIN ? TRANSPOSED : PLAIN;
	struct block a = block_placed(e, p, trans ? u.k : u.rows, trans ? u.rows : u.k, place);
	struct block c = block_placed(e, p, m, n, place), top = a, want = c;

	top.a = trans ? matrix_view(a.a, 0, 0, u.k, u.columns)
	              : matrix_view(a.a, 0, 0, u.columns, u.k);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			if (u.beta == 0 || (place && (uplo == LOWER ? i < j : i > j)))
				*element(&c, i, j) = NAN;
	block_upload(e, &c);
	must(e, e->ops->syrk(e, uplo, trans, alpha, a.a, u.beta, c.a));
	want.x = test_copy(c.x, c.all.m, c.all.n, DOUBLE);
	block_product(alpha, uplo == LOWER ? &a : &top, trans, uplo == LOWER ? &top : &a, other,
	        u.beta, &want);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			if (uplo == LOWER ? i >= j : i <= j)
				*element(&c, i, j) = *element(&want, i, j);
	ok(block_holds(e, &c, roundings * unit_roundoff(p)),
	        "syrk %c %d%d %" PRId64 " x %" PRId64 " k %" PRId64 " beta %g%s: one triangle", p,
	        uplo, trans, u.rows, u.columns, u.k, u.beta, place_name[place]);
	free(want.x);
	blocks_free(e);
}

static void check_updates(struct executor *e, enum precision p, enum uplo uplo, enum trans trans,
        double alpha, const struct update *u, size_t count, enum place place)
{
	const double each = p == DOUBLE ? 16 : 4; /* in double precision the reference rounds too */

	for (size_t i = 0; i < count; i++)
		check_syrk(e, p, uplo, trans, alpha, u[i], place, each * (double)(u[i].k + 2));
}

/* Small kernels and large ones; on the GPU, chosen ones of double precision. */
static void check_syrks(struct executor *e, enum precision p, enum uplo uplo, enum trans trans)
{
	static const struct update small[] = {{97, 97, 33, 1}, {40, 40, 64, 0}, {1, 1, 1, 1},
	        {200, 33, 128, 0}, {33, 32, 127, 1}, {300, 129, 5, 0}, {150, 100, 129, 1},
	        {31, 1, 96, 0}},
	                           large[] = {{1500, 1500, 16, 1}, {5000, 260, 100, 0}},
	                           chosen[] = {{4137, 4100, 800, 1}, {2500, 2500, 513, 0},
	                                   {4103, 4103, 771, 1}, {2501, 2501, 401, 0}},
	                           cut = {4101, 4101, 768, 1};

	check_updates(e, p, uplo, trans, -1, small, ARRAY_LEN(small), ANYWHERE);
	if (!test_on_gpu)
		return;
	check_updates(e, p, uplo, trans, -1, large, ARRAY_LEN(large), ANYWHERE);
	if (p == DOUBLE) {
		check_updates(e, p, uplo, trans, -1, chosen, ARRAY_LEN(chosen), ALIGNED);
		check_updates(e, p, uplo, trans, -1, &cut, 1, CUT);
	}
}

/* Updates of small rank by our own kernel, whose tiles C cuts. */
static void check_ranks(struct executor *e, enum precision p)
{
	static const int64_t shapes[][3] = {{1, 1, 1}, {31, 5, 3}, {32, 32, 16}, {33, 32, 65},
	        {70, 64, 127}, {97, 97, 128}, {128, 128, 128}, {300, 300, 17}, {513, 33, 1},
	        {500, 384, 128}, {999, 127, 100}, {2000, 128, 64}, {6001, 128, 128},
	        {256, 256, 256}, {97, 97, 129}, {999, 127, 193}, {513, 33, 255}, {1200, 256, 240}};
	static const double betas[] = {1, 0, 0.5};
	const struct rank_tuning kept = e->tuning.rank;
	bool ahead = true;

	e->tuning.rank = tuning_hopper.rank;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		const struct update u = {shapes[i][0], shapes[i][1], shapes[i][2], betas[i % 3]};
		ahead = ahead && block_rank_is_ahead(&e->tuning, p, u.rows, u.columns, u.k);
		for (enum place place = ALIGNED; place <= CUT; place++) {
			check_updates(e, p, LOWER, PLAIN, -1.5, &u, 1, place);
			check_updates(e, p, UPPER, TRANSPOSED, -1.5, &u, 1, place);
		}
	}
	e->tuning.rank = kept;
	ok(ahead, "%c: all by our own kernel", p);
}

/* Large upper triangles are computed by the transpose of A, the last in two parts. The diagonal's
 * sums grow to k / 3, and their roundings like a random chain. */
static void check_by_transposes(struct executor *e, enum precision p)
{
	static const struct update cases[] = {
	        {2900, 2900, 260, 1}, {5001, 5001, 100, 1}, {600, 600, 20000, 1}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_syrk(e, p, UPPER, TRANSPOSED, -1, cases[i], ANYWHERE,
		        (double)cases[i].k * sqrt((double)cases[i].k));
}

/* ---- gemv ---- */

/* rows: both vectors are rows of matrices, whose elements are ld apart. */
static void check_gemv(struct executor *e, enum precision p, enum trans trans, int64_t m, int64_t n,
        double beta, bool rows)
{
	const int64_t in = trans ? m : n, out = trans ? n : m;
	const enum trans turned = trans ? PLAIN : TRANSPOSED;
	struct block a = block_new(e, p, m, n);
	struct block x = block_new(e, p, rows ? 1 : in, rows ? in : 1);
	struct block y = block_new(e, p, rows ? 1 : out, rows ? out : 1);

	if (beta == 0)
		block_set(&y, NAN);
	block_upload(e, &y);
	must(e, e->ops->gemv(e, trans, 1.5, a.a, x.a, beta, y.a));
	if (rows)
		block_product(1.5, &x, PLAIN, &a, turned, beta, &y);
	else
		block_product(1.5, &a, trans, &x, PLAIN, beta, &y);
	ok(block_holds(e, &y, 8 * (double)(in + 2) * unit_roundoff(p)),
	        "gemv %c %d %" PRId64 " x %" PRId64 " beta %g, %s", p, trans, m, n, beta,
	        rows ? "rows" : "columns");
	blocks_free(e);
}

static void test_all(struct executor *e)
{
	for (int d = 0; d < 2; d++) {
		const enum precision p = d ? DOUBLE : SINGLE;
		check_gemms(e, p);
		for (enum uplo uplo = LOWER; uplo <= UPPER; uplo++)
			for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++)
				check_syrks(e, p, uplo, trans);
		if (test_on_gpu) {
			check_ranks(e, p);
			check_by_transposes(e, p);
		}
		for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++)
			for (int rows = 0; rows < 2; rows++) {
				check_gemv(e, p, trans, 100, 37, 0, rows);
				check_gemv(e, p, trans, 33, 129, -1, rows);
			}
	}
}

int main(void)
{
	return test_on_executors(test_all);
}
