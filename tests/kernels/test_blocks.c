/* SPDX-License-Identifier: MIT */
/* Queues, copies, the BLAS, reflectors and layout on both executors against plain C in double
 * precision: odd sizes, leading dimensions larger than the matrix, NaN around everything and in all
 * that has to be overwritten. */
#include "tests/executors/executor_memory.h"

#include "factor/algorithms/host_transfer.h"

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
	ok(block_holds(e, &c, 4 * (double)(k + 2) * unit_roundoff(p)),
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
	ok(block_holds(e, &c, 4 * (double)(k + 2) * unit_roundoff(p)),
	        "syrk %c %d%d %" PRId64 " x %" PRId64 " k %" PRId64 " beta %g: one triangle", p,
	        uplo, trans, rows, columns, k, beta);
	block_free(e, &a);
	block_free(e, &c);
}

/* Large upper triangles are computed by the transpose of A: compared with the lower triangles of
 * transposed operands. */
static void check_transposed(struct executor *e, enum precision p, int64_t n, int64_t k)
{
	struct block a = block_new(e, p, k, n, &state), c = block_new(e, p, n, n, &state);
	struct block b = block_poisoned(e, p, n, k), d = block_poisoned(e, p, n, n);

	for (int64_t j = 0; j < n; j++) {
		for (int64_t i = 0; i < k; i++)
			*element(&b, j, i) = *element(&a, i, j);
		for (int64_t i = 0; i < n; i++)
			*element(&d, j, i) = *element(&c, i, j);
	}
	block_upload(e, &b);
	block_upload(e, &d);
	must(e, e->ops->syrk(e, UPPER, TRANSPOSED, -1, a.a, 1, c.a) &&
	                e->ops->syrk(e, LOWER, PLAIN, -1, b.a, 1, d.a));
	free(d.x);
	d.x = block_download(e, &d);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i <= j; i++)
			*element(&c, i, j) = *element(&d, j, i);
	/* the diagonal's sums grow to k / 3, and their roundings like a random chain */
	ok(block_holds(e, &c, (double)k * sqrt((double)k) * unit_roundoff(p)),
	        "syrk %c, upper, n = %" PRId64 ", k = %" PRId64 ": as the lower one", p, n, k);
	block_free(e, &a);
	block_free(e, &b);
	block_free(e, &c);
	block_free(e, &d);
}

/* B is made from a known X, which trsm has to find. */
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
	ok(block_holds(e, &b, 16 * (double)order * unit_roundoff(p)),
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
	ok(block_holds(e, &y, 8 * (double)(in + 2) * unit_roundoff(p)),
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
	const size_t count = ARRAY_LEN(trapezoids) - (test_on_gpu ? 0 : 2);

	for (enum trans ta = PLAIN; ta <= TRANSPOSED; ta++)
		for (enum trans tb = PLAIN; tb <= TRANSPOSED; tb++) {
			check_gemm(e, p, ta, tb, 65, 33, 47, -1, 1);
			check_gemm(e, p, ta, tb, 1, 130, 64, 0.5, 0);
			check_gemm(e, p, ta, tb, 5, 7, 0, 1, 2);
		}
	check_gemm(e, p, PLAIN, PLAIN, 0, 5, 3, 1, 1);
	if (test_on_gpu) {
		check_transposed(e, p, 2900, 260);
		check_transposed(e, p, 5001, 100);
		check_transposed(e, p, 600, 20000); /* in two parts */
	}
	for (enum uplo uplo = LOWER; uplo <= UPPER; uplo++)
		for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++) {
			for (size_t i = 0; i < count; i++)
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

/* ---- reflectors ---- */

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
	ok(block_holds(e, &c, 64 * unit_roundoff(SINGLE)),
	        "QR columns %" PRId64 " x %" PRId64 " right of %" PRId64, m, n, k);
	block_free(e, &v);
	block_free(e, &t);
	block_free(e, &c);
}

static void check_all_qr_columns(struct executor *e)
{
	static const int64_t cases[][3] = {{1, 1, 1}, {63, 64, 63}, {65, 7, 33}, {512, 64, 64},
	        {513, 9, 64}, {4001, 61, 62}, {4096, 64, 64}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_qr_columns(e, cases[i][0], cases[i][1], cases[i][2]);
}

/* ---- layout ---- */

static void check_layout(struct executor *e, enum precision p, int64_t m, int64_t n)
{
	struct block a = block_new(e, p, m, n, &state), transposed = block_poisoned(e, p, n, m);
	struct block same = block_poisoned(e, p, m, n), v = block_poisoned(e, p, m, n);

	must(e, e->ops->transpose(e, a.a, transposed.a));
	must(e, e->ops->copy(e, WHOLE, a.a, same.a));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			*element(&transposed, j, i) = *element(&same, i, j) = *element(&a, i, j);
			*element(&v, i, j) = i > j ? *element(&a, i, j) : i == j;
		}
	ok(block_holds(e, &transposed, 0), "transpose %c %" PRId64 " x %" PRId64, p, m, n);
	ok(block_holds(e, &same, 0), "copy %c %" PRId64 " x %" PRId64, p, m, n);
	for (int64_t j = 0; j < n; j++) /* explicit_v must not read these */
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
		must(e, e->ops->copy(e, uplo, same.a, v.a));
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = 0; i < m; i++)
				if (i == j || uplo == WHOLE || (uplo == LOWER ? i > j : i < j))
					*element(&v, i, j) = *element(&same, i, j);
		ok(block_holds(e, &v, 0), "copy %c %d %" PRId64 " x %" PRId64, p, uplo, m, n);
	}
	block_free(e, &a);
	block_free(e, &transposed);
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

	ok(!e->ops->record(e, EXECUTOR_EVENTS), "refused: %s", e->fault.text);
	if (!test_on_gpu)
		return;
	ok(!e->ops->wait(e, -1) && strstr(e->fault.text, "no event -1"),
	        "an event that does not exist is refused");
	ok(!e->ops->stage(e, EXECUTOR_STAGES, 1, 1, SINGLE, &host) &&
	                strstr(e->fault.text, "no stage"),
	        "a stage that does not exist is refused");
}

/* Rectangles that cover a triangle, and no more than they must; from and to memory of the host. */
static void check_transfer(struct executor *e, enum uplo uplo, int64_t width)
{
	enum { N = 11 };
	struct block from = block_new(e, SINGLE, N, N, &state),
	             to = block_new(e, SINGLE, N, N, &state);

	must(e, width % 2 ? matrix_to_device(e, uplo, width, from.a, to.a)
	                  : matrix_to_host(e, uplo, width, from.a, to.a));
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++)
			if (uplo == WHOLE || (uplo == LOWER ? i >= j : i <= j) ||
			        i / width == j / width)
				*element(&to, i, j) = *element(&from, i, j);
	ok(block_holds(e, &to, 0) && e->queue == QUEUE_MAIN, "transfer %d in rectangles of %d",
	        uplo, (int)width);
	block_free(e, &from);
	block_free(e, &to);
}

static void check_transfers(struct executor *e)
{
	for (enum uplo uplo = LOWER; uplo <= WHOLE; uplo++)
		for (int64_t width = 1; width < 14; width += 3)
			check_transfer(e, uplo, width);
	ok(!matrix_to_device(e, LOWER, 0, (struct matrix){0}, (struct matrix){0}), "refused: %s",
	        e->fault.text);
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

static void test_all(struct executor *e)
{
	static const int64_t shapes[][2] = {{0, 3}, {4, 0}, {1, 1}, {1, 200}, {200, 1}, {31, 33},
	        {64, 64}, {65, 127}, {130, 129}, {500, 300}, {1001, 77}};

	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			check_layout(e, p, shapes[i][0], shapes[i][1]);
		check_blas(e, p);
		check_queues(e, p);
	}
	if (test_on_gpu) {
		check_all_qr_columns(e);
		check_notes(e);
	} else {
		check_transfers(e);
	}
	check_faults(e);
}

int main(void)
{
	return test_on_executors(test_all);
}
