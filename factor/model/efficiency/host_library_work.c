/* SPDX-License-Identifier: MIT */
/* LU and Cholesky of OpenBLAS halve and quarter their columns down to a few, which they factorize
 * left-looking, column by column on one thread. QR is LAPACK's: column by column up to the
 * crossover, by blocks before it. Products run at the rate of multiply-adds. */
#include "host_library_work.h"

#include <math.h>

/* The first three were seen in calibrations of recorded hosts: iamax compares so many bytes a
 * cycle, and its last maximum takes so many cycles. The others are those of the libraries' sources.
 */
enum {
	IAMAX_BYTES = 10,
	IAMAX_CYCLES = 60,
	REFLECTOR_CYCLES = 120, /* a norm, a root and a division, one after the other */
	LU_COLUMNS = 16,        /* at most, of LU column by column */
	CHOLESKY_COLUMNS = 32,
	QR_COLUMNS = 32, /* of a block */
	QR_CROSSOVER = 128
};

/* Parts of a factorization. On one thread: columns to the left are read, columns are changed and
 * searched. On all: multiply-adds, operands packed, columns to the right read and changed. */
enum part { COLUMNS, CHANGES, SEARCHES, PRODUCTS, PACKING, SWEEPS, UPDATES, PARTS };
_Static_assert((int)PARTS <= (int)HOST_WORKS, "room for all parts");

static double word_of(const struct host_call *c)
{
	return (double)precision_bytes(c->precision);
}

static double panel_of(const struct host_call *c)
{
	return c->m * c->n * word_of(c);
}

/* ---- level 1 and 2, on one thread ---- */

/* Loads hide behind the comparisons. */
static void search(struct host_work *w, double bytes)
{
	w->calls += 1;
	w->cycles += IAMAX_CYCLES + bytes / IAMAX_BYTES;
}

size_t host_library_iamax(const struct host_call *c, struct host_work *work)
{
	*work = (struct host_work){0};
	search(work, c->m * word_of(c));
	return 1;
}

size_t host_library_scal(const struct host_call *c, struct host_work *work)
{
	*work = (struct host_work){
	        .calls = 1, .traffic[0] = {.changed = c->m * word_of(c), .set = panel_of(c)}};
	return 1;
}

size_t host_library_swap(const struct host_call *c, struct host_work *work)
{
	*work = (struct host_work){.words = 2 * c->n, .words_set = panel_of(c)};
	return 1;
}

size_t host_library_ger(const struct host_call *c, struct host_work *work)
{
	*work = (struct host_work){
	        .calls = 1 + c->n, .traffic[0] = {.changed = panel_of(c), .set = panel_of(c)}};
	return 1;
}

size_t host_library_gemm(const struct host_call *c, struct host_work *work)
{
	const double square = c->n * c->n * word_of(c);

	*work = (struct host_work){.threads = c->threads,
	        .regions = 1,
	        .flops = 2 * c->n * c->n * c->n,
	        .precision = c->precision,
	        .traffic[0] = {.read = 2 * square, .changed = square, .set = 3 * square}};
	return 1;
}

/* ---- factorizations ---- */

static void start_parts(const struct host_call *c, struct host_work *work)
{
	for (int p = 0; p < PARTS; p++)
		work[p] = (struct host_work){
		        .threads = p >= PRODUCTS ? c->threads : 1, .precision = c->precision};
}

/* An update of m x n elements by a product with k inner columns. Its first operand is packed. */
static void product(const struct host_call *c, struct host_work *work, double m, double n, double k)
{
	work[PRODUCTS].flops += 2 * m * n * k;
	work[PACKING].traffic[0].read += m * k * word_of(c);
	work[UPDATES].traffic[0].changed += m * n * word_of(c);
	work[PACKING].traffic[0].set = work[UPDATES].traffic[0].set = panel_of(c);
	work[PRODUCTS].regions += c->threads > 1;
}

/* Columns that other threads have changed come to one thread. */
static void hand_over(struct host_work *w, double bytes)
{
	w->handed += bytes;
	w->handovers += 1;
}

/* Each column: dot products with the rows above, a matrix times a vector with the columns to the
 * left, the search, the swap, the scaling. The columns to the left grow: the last third of the
 * steps reads 5/9 of all bytes, from 5/6 of the columns. */
static void lu_by_columns(const struct host_call *c, struct host_work *work, double m, double n)
{
	struct host_work *w = &work[COLUMNS], *changes = &work[CHANGES];
	const double bytes = m * n * word_of(c), left = bytes * (n - 1) / 2;

	w->calls += n * (n - 1) / 2 + 3 * n;
	w->traffic[0].read += left * 5 / 9;
	w->traffic[0].set = fmax(w->traffic[0].set, bytes * 5 / 6);
	w->traffic[1].read += left * 4 / 9;
	w->traffic[1].set = fmax(w->traffic[1].set, bytes * 4 / 9);
	changes->traffic[0].changed += bytes;
	changes->traffic[0].set = fmax(changes->traffic[0].set, bytes);
	changes->traffic[1].changed += bytes;
	changes->traffic[1].set = fmax(changes->traffic[1].set, m * word_of(c));
	for (int j = 0; j < (int)n; j++)
		search(&work[SEARCHES], (m - j) * word_of(c));
	if (work[PRODUCTS].regions > 0)
		hand_over(w, bytes);
}

static void lu(const struct host_call *c, struct host_work *work, double m, double n)
{
	if (n <= LU_COLUMNS || m < n) {
		lu_by_columns(c, work, m, n);
		return;
	}
	const double left = floor(n / 2), right = n - left;
	lu(c, work, m, left);
	work[COLUMNS].words += 2 * left * right; /* swaps in the right half, then in the left */
	work[COLUMNS].words_set = panel_of(c);
	product(c, work, left / 2, right, left); /* the triangular solve */
	product(c, work, m - left, right, left);
	lu(c, work, m - left, right);
	work[COLUMNS].words += 2 * right * left;
}

size_t host_library_getrf(const struct host_call *c, struct host_work *work)
{
	start_parts(c, work);
	lu(c, work, c->m, c->n);
	return PARTS;
}

/* Column by column: the norm and the scaling on one thread, then a matrix times a vector and a
 * rank-1 update of the columns to the right. Threads share these columns; as they become fewer, a
 * thread gets one that its neighbour has changed. */
static void qr_by_columns(const struct host_call *c, struct host_work *work, double m, double n)
{
	struct host_work *one = &work[COLUMNS], *changes = &work[CHANGES], *all = &work[SWEEPS];
	const double set = panel_of(c);

	for (int j = 0; j < (int)fmin(m, n); j++) {
		const double column = (m - j) * word_of(c), right = n - j - 1,
		             turns = ceil(right / c->threads);
		one->calls += 2;
		one->cycles += REFLECTOR_CYCLES;
		one->traffic[0].read += column;
		changes->traffic[0].changed += column;
		one->traffic[0].set = changes->traffic[0].set = c->threads > 1 ? column : set;
		all->calls += turns;
		all->traffic[0].read += column * turns * c->threads;
		work[UPDATES].traffic[0].changed += column * turns * c->threads;
		all->traffic[0].set = work[UPDATES].traffic[0].set = set;
		if (c->threads > 1 && right > 0) {
			all->regions += 2;
			hand_over(one, column);
			hand_over(all, column);
		}
	}
}

size_t host_library_geqrf(const struct host_call *c, struct host_work *work)
{
	double m = c->m, n = c->n;

	start_parts(c, work);
	while (fmin(m, n) > QR_CROSSOVER) {
		const double k = QR_COLUMNS;
		qr_by_columns(c, work, m, k);
		product(c, work, k, n - k / 2,
		        m); /* products of the reflectors, and with the rest */
		product(c, work, m, n - k, k);
		m -= k;
		n -= k;
	}
	qr_by_columns(c, work, m, n);
	return PARTS;
}

/* Each column: a dot product, a matrix times a vector, the scaling. */
static void cholesky_by_columns(const struct host_call *c, struct host_work *work, double n)
{
	struct host_work *w = &work[COLUMNS];
	const double square = n * n * word_of(c);

	w->calls += 3 * n;
	w->cycles += REFLECTOR_CYCLES * n;
	w->traffic[0].read += square * n / 6;
	work[CHANGES].traffic[0].changed += square;
	w->traffic[0].set = work[CHANGES].traffic[0].set = square;
	if (work[PRODUCTS].regions > 0)
		hand_over(w, square);
}

static void cholesky(const struct host_call *c, struct host_work *work, double n)
{
	if (n <= CHOLESKY_COLUMNS) {
		cholesky_by_columns(c, work, n);
		return;
	}
	const double quarter = ceil(n / 4);
	for (double done = 0, k; done < n; done += k) {
		k = fmin(quarter, n - done);
		const double rest = n - done - k;
		cholesky(c, work, k);
		product(c, work, rest, k / 2, k); /* the triangular solve */
		product(c, work, rest, rest / 2, k);
	}
}

size_t host_library_potrf(const struct host_call *c, struct host_work *work)
{
	start_parts(c, work);
	cholesky(c, work, c->n);
	return PARTS;
}

size_t host_library_potrf_rows(const struct host_call *c, struct host_work *work)
{
	start_parts(c, work);
	product(c, work, c->m - c->n, c->n / 2, c->n); /* the triangular solve */
	return PARTS;
}
