/* SPDX-License-Identifier: MIT */
/* Products of split operands on the host, with the same parts as on a device. */
#include "executor_host.h"

#include "factor/kernels/gemm/half_pair.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

static float *at_s(struct matrix a)
{
	return matrix_address(a);
}

/* ---- operands ---- */

/* As half_pair. */
static void split_in_halves(struct matrix a, enum trans trans, struct matrix to)
{
	int64_t depth = half_depth(to.m), k = trans == PLAIN ? a.m : a.n;
	int64_t down = trans == PLAIN ? 1 : a.ld, across = trans == PLAIN ? a.ld : 1;

	for (int64_t j = 0; j < to.n; j++) {
		const float *x = at_s(a) + j * across;
		float *column = at_s(to) + j * to.ld, largest = 0;
		uint16_t *part = (uint16_t *)column;
		for (int64_t i = 0; i < k; i++)
			largest = fmaxf(largest, fabsf(x[i * down]));
		int exponent = half_exponent(largest);
		for (int64_t i = 0; i < depth; i++)
			half_split(i < k ? x[i * down] : 0, exponent, &part[i], &part[depth + i]);
		column[depth] = half_factor(exponent);
	}
}

static void split_in_slots(
        struct matrix a, enum trans trans, enum split_form stack, struct matrix to)
{
	int slots = tf32_slots(stack);
	int64_t piece = to.m / slots, k = trans == PLAIN ? a.m : a.n;
	int64_t down = trans == PLAIN ? 1 : a.ld, across = trans == PLAIN ? a.ld : 1;
	const float *x = at_s(a);

	for (int64_t j = 0; j < to.n; j++)
		for (int64_t i = 0; i < piece; i++) {
			float value = i < k ? x[i * down + j * across] : 0;
			float *part = at_s(to) + i + j * to.ld;
			for (int slot = 0; slot < slots; slot++)
				part[slot * piece] = slot == tf32_low_slot(stack)
				                             ? tf32_low(value)
				                             : tf32_round(value);
		}
}

bool host_split(struct executor *e, struct splits splits)
{
	(void)e;
	for (int i = 0; i < splits.count; i++) {
		const struct splitting *s = &splits.of[i];
		if (s->stack == HALF_PAIR)
			split_in_halves(s->a, s->trans, s->to);
		else
			split_in_slots(s->a, s->trans, s->stack, s->to);
	}
	return true;
}

/* ---- products ---- */

/* In fp32, in which products of the parts are exact. */
bool host_gemm_tf32(struct executor *e, double alpha, struct matrix a, struct matrix b, double beta,
        struct matrix c, struct products products)
{
	bool ok = true;

	for (int64_t i = 0; ok && i < products.count; i++) {
		ok = host_gemm(e, TRANSPOSED, PLAIN, alpha, a, b, beta, c);
		a.offset += products.a;
		b.offset += products.b;
		c.offset += products.c;
	}
	return ok;
}

/* The high (which = 0) or low (1) parts of a pair, as floats. The caller frees them. */
static struct matrix parts_of(struct matrix pair, int which)
{
	int64_t depth = half_depth(pair.m);
	struct matrix to = {NULL, 0, depth, pair.n, depth, SINGLE};

	to.data = xmalloc((size_t)(depth * pair.n + 1) * sizeof(float));
	for (int64_t j = 0; j < pair.n; j++) {
		const uint16_t *from = (const uint16_t *)(at_s(pair) + j * pair.ld) + which * depth;
		for (int64_t i = 0; i < depth; i++)
			at_s(to)[i + j * depth] = half_value(from[i]);
	}
	return to;
}

/* The rows of every column that an update changes: those of the stairs, or of an upper triangle. */
struct rows {
	struct stairs stairs;
	bool whole, upper;
};

static bool has(const struct rows *rows, int64_t i, int64_t j)
{
	return rows->whole || (rows->upper ? i <= j : i >= stairs_top(rows->stairs, j));
}

/* The product for all of c in fp32, from which the requested part is added to c. */
static bool update(struct executor *e, struct rows rows, double alpha, struct matrix left,
        struct matrix right, struct matrix c)
{
	int64_t depth = half_depth(left.m);
	struct matrix x = matrix_view(left, 0, 0, left.m, c.m),
	              y = matrix_view(right, 0, 0, right.m, c.n);
	struct matrix high[] = {parts_of(x, 0), parts_of(y, 0)},
	              low[] = {parts_of(x, 1), parts_of(y, 1)};
	struct matrix sum = {NULL, 0, c.m, c.n, c.m, SINGLE};

	sum.data = xmalloc((size_t)(c.m * c.n) * sizeof(float));
	bool ok = host_gemm(e, TRANSPOSED, PLAIN, HALF_LOW, high[0], low[1], 0, sum) &&
	          host_gemm(e, TRANSPOSED, PLAIN, HALF_LOW, low[0], high[1], 1, sum) &&
	          host_gemm(e, TRANSPOSED, PLAIN, HALF_HIGH, high[0], high[1], 1, sum);
	for (int64_t j = 0; ok && j < c.n; j++)
		for (int64_t i = 0; i < c.m; i++)
			if (has(&rows, i, j))
				at_s(c)[i + j * c.ld] += (float)alpha *
				                         (HALF_HIGH * at_s(sum)[i + j * c.m] *
				                                 at_s(x)[depth + i * x.ld]) *
				                         at_s(y)[depth + j * y.ld];
	for (int i = 0; i < 2; i++) {
		free(high[i].data);
		free(low[i].data);
	}
	free(sum.data);
	return ok;
}

bool host_half_update(struct executor *e, enum uplo part, double alpha, struct matrix left,
        struct matrix right, struct matrix c)
{
	const struct stairs one = {c.n + 1, c.n + 1};

	return update(e, (struct rows){one, part == WHOLE, part == UPPER}, alpha, left, right, c);
}

bool host_half_stairs(struct executor *e, struct stairs stairs, double alpha, struct matrix left,
        struct matrix right, struct matrix c)
{
	return update(e, (struct rows){stairs, false, false}, alpha, left, right, c);
}

bool host_gemm_tall(struct executor *e, struct matrix v, struct matrix c, struct matrix p)
{
	return host_gemm(e, TRANSPOSED, PLAIN, 1, v, c, 0, p);
}

bool host_add_triangles(struct executor *e, enum uplo uplo, struct matrix blocks, struct matrix c)
{
	float *out = at_s(c);
	const float *in = at_s(blocks);

	(void)e;
	for (int64_t j = 0; j < c.n; j++) {
		int64_t first = j / blocks.m * blocks.m, end = first + blocks.m;
		int64_t last = uplo == UPPER ? j + 1 : end < c.n ? end : c.n;
		for (int64_t i = uplo == UPPER ? first : j; i < last; i++)
			out[i + j * c.ld] += in[i - first + j * blocks.ld];
	}
	return true;
}
