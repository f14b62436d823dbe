/* SPDX-License-Identifier: MIT */
#include "kerr_protocol.h"

#include "lib/base/msg.h"
#include "factor/algorithms/schedule.h"
#include "factor/validation/check_whole.h"
#include "factor/validation/fixture.h"
#include "factor/validation/matrices.h"

#include <math.h>
#include <stdlib.h>

/* ---- Table 1 ---- */

static void count_block(int64_t m, int64_t n, int64_t r, int64_t first, double phase[KERR_PHASES])
{
	double rows = (double)(m - first), width = (double)min_int64(r, n - first);
	double right = (double)(n - first) - width;

	for (int64_t j = 1; j <= (int64_t)width; j++) {
		double below = (double)(m - first - j);
		phase[KERR_HOUSE] += 2 * below;
		phase[KERR_UPDATE] += 3 * below * (width - (double)j);
		phase[KERR_WY] += j > 1 ? rows * (4 * (double)(j - 1) + 2) : 0;
	}
	phase[KERR_APPLY_A] += (4 * width + 1) * rows * right;
	phase[KERR_APPLY_Q] += (4 * width + 1) * (double)m * rows;
}

double kerr_count(int64_t m, int64_t n, int64_t r, double phase[KERR_PHASES])
{
	for (int p = 0; p < KERR_PHASES; p++)
		phase[p] = 0;
	for (int64_t first = 0; first < n; first += r)
		count_block(m, n, r, first, phase);
	phase[KERR_PANEL] = phase[KERR_HOUSE] + phase[KERR_UPDATE];
	return phase[KERR_PANEL] + phase[KERR_WY] + phase[KERR_APPLY_A] + phase[KERR_APPLY_Q];
}

/* ---- the matrices ---- */

struct rotation {
	int64_t i, k; /* rows */
	double c, s;
};

/* All rows take part in a round, but one when their number is odd. */
static void draw_round(
        struct rotation *rotation, int64_t *row, int64_t m, int64_t round, uint64_t seed)
{
	static const double pi = 3.14159265358979323846;

	for (int64_t i = 0; i < m; i++)
		row[i] = i;
	for (int64_t i = m - 1; i > 0; i--) {
		double drawn = (matrix_uniform(seed, i, 2 * round) + 1) / 2;
		int64_t k = min_int64((int64_t)(drawn * (double)(i + 1)), i), kept = row[i];
		row[i] = row[k];
		row[k] = kept;
	}
	for (int64_t p = 0; p < m / 2; p++) {
		double angle = pi * matrix_uniform(seed, p, 2 * round + 1);
		rotation[p] = (struct rotation){row[2 * p], row[2 * p + 1], cos(angle), sin(angle)};
	}
}

static void fill_column(double *x, int64_t m, int64_t j, const struct rotation *rotation,
        int64_t count, uint64_t seed)
{
	for (int64_t i = 0; i < m; i++)
		x[i] = i > j ? matrix_uniform(seed, i, j) : i == j;
	for (int64_t p = 0; p < count; p++) {
		const struct rotation *g = &rotation[p];
		double upper = x[g->i], lower = x[g->k];
		x[g->i] = g->c * upper + g->s * lower;
		x[g->k] = g->c * lower - g->s * upper;
	}
}

void kerr_matrix(void *a, int64_t m, int64_t n, enum precision precision, uint64_t seed)
{
	int64_t rounds = 1 + (int64_t)ceil(log2((double)m)), pairs = m / 2;
	struct rotation *rotation = xmalloc((size_t)(rounds * pairs + 1) * sizeof *rotation);
	int64_t *row = xmalloc((size_t)m * sizeof *row);

	for (int64_t round = 0; round < rounds; round++)
		draw_round(rotation + round * pairs, row, m, round, seed + 1);
	free(row);
#pragma omp parallel
	{
		double *x = xmalloc((size_t)m * sizeof *x);
#pragma omp for
		for (int64_t j = 0; j < n; j++) {
			fill_column(x, m, j, rotation, rounds * pairs, seed);
			for (int64_t i = 0; i < m; i++)
				matrix_put(a, precision, i + j * m, x[i]);
		}
		free(x);
	}
	free(rotation);
}

/* ---- errors ---- */

enum { ITERATIONS = 24 };

bool kerr_room_take(struct timing_fixture *memory, int64_t m, int64_t n, struct kerr_room *room)
{
	return fixture_matrix(memory, &room->a_copy, m, n, m, DOUBLE) &&
	       fixture_matrix(memory, &room->q_copy, m, m, m, DOUBLE) &&
	       fixture_matrix(memory, &room->square, m, m, m, DOUBLE) &&
	       fixture_matrix(memory, &room->vectors, m, 2, m, DOUBLE);
}

/* x := A^T A x, and the root of its norm: A's norm when x was its first singular vector. */
static bool iterate(
        struct executor *e, struct matrix a, struct matrix x, struct matrix y, double *root)
{
	double square;
	bool ok = ex_gemv(e, PLAIN, 1, a, x, 0, y) && ex_gemv(e, TRANSPOSED, 1, a, y, 0, x) &&
	          ex_nrm2(e, x, &square);

	*root = ok ? sqrt(square) : NAN;
	return ok && (square == 0 || ex_scal(e, 1 / square, x));
}

static bool norm(struct executor *e, struct matrix a, const struct kerr_room *room, double *result)
{
	struct matrix x = matrix_view(room->vectors, 0, 0, a.n, 1);
	struct matrix y = matrix_view(room->vectors, 0, 1, a.m, 1);
	double *start = xmalloc((size_t)a.n * sizeof *start), root = 1;

	matrix_fill(start, a.n, a.n, 1, DOUBLE, MATRIX_RANDOM, 1);
	bool ok = e->ops->upload(e, start, a.n, x) && iterate(e, a, x, y, &root);
	free(start);
	for (int i = 0; i < ITERATIONS && ok && root != 0; i++)
		ok = iterate(e, a, x, y, &root);
	*result = root;
	return ok;
}

/* norm(Q R - A) / norm(A); square holds R. */
static bool find_residual(
        struct executor *e, struct matrix r, const struct kerr_room *room, double *residual)
{
	int64_t n = r.n;
	struct matrix upper = {room->square.data, 0, n, n, n, DOUBLE};
	struct matrix q = matrix_view(room->q_copy, 0, 0, r.m, n);
	double of, error;
	bool ok = norm(e, room->a_copy, room, &of) &&
	          whole_widen(e, matrix_view(r, 0, 0, n, n), upper);

	/* The diagonal stays: fill the triangle below it, as a matrix of its own. */
	ok = ok && (n < 2 || ex_fill(e, LOWER, 0, 0, matrix_view(upper, 1, 0, n - 1, n - 1))) &&
	     ex_gemm(e, PLAIN, PLAIN, 1, q, upper, -1, room->a_copy) &&
	     norm(e, room->a_copy, room, &error);
	*residual = ok ? error / of : NAN;
	return ok;
}

static bool find_orthogonality(struct executor *e, const struct kerr_room *room, double *result)
{
	return ex_fill(e, WHOLE, 0, 1, room->square) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, 1, room->q_copy, room->q_copy, -1, room->square) &&
	       norm(e, room->square, room, result);
}

static bool find_triangularity(struct executor *e, const struct kerr_room *room, double *result)
{
	struct matrix a = room->a_copy;
	struct matrix product = {room->square.data, 0, a.m, a.n, a.m, DOUBLE};

	return ex_gemm(e, TRANSPOSED, PLAIN, 1, room->q_copy, a, 0, product) &&
	       ex_fill(e, UPPER, 0, 0, product) && norm(e, product, room, result);
}

bool kerr_errors(struct executor *e, struct matrix a, struct matrix r, struct matrix q,
        const struct kerr_room *room, struct kerr_errors *errors)
{
	*errors = (struct kerr_errors){.limit = ldexp((double)a.m, -23)};
	e->queue = QUEUE_MAIN;
	bool ok = whole_widen(e, q, room->q_copy) && whole_widen(e, a, room->a_copy) &&
	          find_triangularity(e, room, &errors->triangularity) &&
	          find_orthogonality(e, room, &errors->orthogonality) &&
	          find_residual(e, r, room, &errors->residual);
	errors->passed = ok && errors->residual <= errors->limit &&
	                 errors->orthogonality <= errors->limit &&
	                 errors->triangularity <= errors->limit;
	return ok;
}
