/* SPDX-License-Identifier: MIT */
/* Queues, copies, reflectors and layout on both executors against plain C in double
 * precision: odd sizes, leading dimensions larger than the matrix, NaN around everything and in all
 * that has to be overwritten. */
#include "tests/executors/executor_memory.h"

#include "factor/algorithms/host_transfer.h"

/* ---- reflectors ---- */

/* The products of V with T and of T with C are small, as a reflector's are. */
static void check_qr_columns(struct executor *e, int64_t m, int64_t n, int64_t k)
{
	struct block v = block_new(e, SINGLE, m, k), t = block_new(e, SINGLE, k, k),
	             c = block_new(e, SINGLE, m, n), product = block_new(e, DOUBLE, k, n),
	             scaled = block_new(e, DOUBLE, k, n);

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
		blocks_free(e);
		return;
	}
	must(e, e->ops->reflect_columns(e, v.a, t.a, c.a));
	block_product(1, &v, TRANSPOSED, &c, PLAIN, 0, &product);
	block_product(1, &t, TRANSPOSED, &product, PLAIN, 0, &scaled);
	block_product(-1, &v, PLAIN, &scaled, PLAIN, 1, &c);
	ok(block_holds(e, &c, 64 * unit_roundoff(SINGLE)),
	        "QR columns %" PRId64 " x %" PRId64 " right of %" PRId64, m, n, k);
	blocks_free(e);
}

static void check_all_qr_columns(struct executor *e)
{
	static const int64_t cases[][3] = {{1, 1, 1}, {63, 64, 63}, {65, 7, 33}, {512, 64, 64},
	        {513, 9, 64}, {4001, 61, 62}, {4096, 64, 64}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_qr_columns(e, cases[i][0], cases[i][1], cases[i][2]);
}

/* ---- layout ---- */

static bool in_part(enum uplo uplo, int64_t i, int64_t j)
{
	return uplo == WHOLE || (uplo == LOWER ? i >= j : i <= j);
}

/* The same on the host: element (i,j) of the part of b is that of a; NULL: -3, on the diagonal 7.
 */
static void set_part(struct block *b, enum uplo uplo, const struct block *a)
{
	for (int64_t j = 0; j < b->a.n; j++)
		for (int64_t i = 0; i < b->a.m; i++)
			if (in_part(uplo, i, j))
				*element(b, i, j) = a ? *element(a, i, j) : i == j ? 7 : -3;
}

static void check_layout(struct executor *e, enum precision p, int64_t m, int64_t n)
{
	struct block a = block_new(e, p, m, n), transposed = block_poisoned(e, p, n, m);
	struct block same = block_poisoned(e, p, m, n), v = block_poisoned(e, p, m, n);

	must(e, e->ops->transpose(e, a.a, transposed.a));
	must(e, e->ops->copy(e, WHOLE, a.a, same.a));
	set_part(&same, WHOLE, &a);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			*element(&transposed, j, i) = *element(&a, i, j);
			*element(&v, i, j) = i > j ? *element(&a, i, j) : i == j;
			if (i <= j) /* explicit_v must not read these */
				*element(&a, i, j) = NAN;
		}
	ok(block_holds(e, &transposed, 0), "transpose %c %" PRId64 " x %" PRId64, p, m, n);
	ok(block_holds(e, &same, 0), "copy %c %" PRId64 " x %" PRId64, p, m, n);
	block_upload(e, &a);
	must(e, e->ops->explicit_v(e, a.a, v.a));
	ok(block_holds(e, &v, 0), "explicit_v %c %" PRId64 " x %" PRId64, p, m, n);
	for (enum uplo uplo = LOWER; uplo <= WHOLE; uplo++) {
		must(e, e->ops->fill(e, uplo, -3, 7, v.a));
		set_part(&v, uplo, NULL);
		ok(block_holds(e, &v, 0), "fill %c %d %" PRId64 " x %" PRId64, p, uplo, m, n);
		must(e, e->ops->copy(e, uplo, same.a, v.a));
		set_part(&v, uplo, &same);
		ok(block_holds(e, &v, 0), "copy %c %d %" PRId64 " x %" PRId64, p, uplo, m, n);
	}
	blocks_free(e);
}

/* ---- queues ---- */

enum { PRODUCED, COPIED, BACK, UNUSED };

/* MAIN multiplies for a while, PANEL scales the result, OUT brings it to the host, IN back into
 * another place; only events keep them in order. */
static void check_queues(struct executor *e, enum precision p)
{
	enum { N = 700 };
	struct block a = block_new(e, p, N, N), c = block_poisoned(e, p, N, N),
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
	blocks_free(e);
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
	struct block from = block_new(e, SINGLE, N, N), to = block_new(e, SINGLE, N, N);

	must(e, width % 2 ? matrix_to_device(e, uplo, width, from.a, to.a)
	                  : matrix_to_host(e, uplo, width, from.a, to.a));
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++)
			if (in_part(uplo, i, j) || i / width == j / width)
				*element(&to, i, j) = *element(&from, i, j);
	ok(block_holds(e, &to, 0) && e->queue == QUEUE_MAIN, "transfer %d in rectangles of %d",
	        uplo, (int)width);
	blocks_free(e);
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
	struct block a = block_new(e, SINGLE, 1500, 1500), c = block_new(e, SINGLE, 1500, 1500);
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
	}
	ok(good, "pivots in flight are not overwritten");
	free(ipiv);
	free(got);
	blocks_free(e);
}

static void test_all(struct executor *e)
{
	static const int64_t shapes[][2] = {{0, 3}, {4, 0}, {1, 1}, {1, 200}, {200, 1}, {31, 33},
	        {64, 64}, {65, 127}, {130, 129}, {500, 300}, {1001, 77}};

	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			check_layout(e, p, shapes[i][0], shapes[i][1]);
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
