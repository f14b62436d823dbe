/* SPDX-License-Identifier: MIT */
/* 3xTF32: the parts of a number and the stacks of an operand; products by it and by 3xFP16, on the
 * host executor and on the GPU. */
#include "split_operand.h"

#include "factor/executors/split.h"

/* ---- numbers ---- */

static float number(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static bool eleven_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return (bits & 0x1fff) == 0;
}

/* Whether high and low have 11 bits each and their sum is x to 2^-22 of x, or to half of the last
 * of the 11 bits of the smallest normal number. */
static bool well_split(float x)
{
	float high = tf32_round(x), low = tf32_low(x);
	double left = (double)x - (double)high - (double)low;

	return eleven_bits(high) && eleven_bits(low) &&
	       fabs(left) <= fmax(0x1p-22 * fabs((double)x), 0x1p-137) &&
	       fabs((double)x - (double)high) <= fmax(0x1p-11 * fabs((double)x), 0x1p-137);
}

static void test_numbers(void)
{
	uint32_t state = 1;
	bool good = true;

	for (int i = 0; i < 1000000; i++) {
		state = state * 1664525 + 1013904223;
		float x = number(state ^ state >> 15);
		good = good && (!isfinite(x) || fabsf(x) > 0x1.ffep127f || well_split(x));
	}
	ok(good, "high + low is the number to 2^-22 of the number");
	float high = tf32_round(FLT_MAX), low = tf32_low(FLT_MAX);
	double left = (double)FLT_MAX - (double)high - (double)low;
	ok(isfinite(high) && fabs(left) <= 0x1p-22 * (double)FLT_MAX,
	        "the largest number does not overflow");
	ok(tf32_round(-INFINITY) == -INFINITY && tf32_low(-INFINITY) == 0, "infinity is high");
	ok(isnan(tf32_round(NAN)) && isnan(tf32_round(number(0x7f800001))), "NaN stays NaN");
	ok(tf32_round(-0.0f) == 0 && signbit(tf32_round(-0.0f)), "zero keeps its sign");
}

/* ---- stacks ---- */

static void fill(float *x, int64_t count, uint64_t seed)
{
	for (int64_t i = 0; i < count; i++)
		x[i] = (float)test_random(seed, i);
}

/* op(a) is k x n. */
static bool stack_right(const float *a, int64_t lda, int64_t k, int64_t n, enum trans trans,
        enum split_form stack, const float *to, int64_t ld)
{
	int64_t deep = (k + 3) / 4 * 4;

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < deep; i++)
			for (int s = 0; s < tf32_slots(stack); s++) {
				int64_t at = trans == PLAIN ? i + j * lda : j + i * lda;
				float x = i < k ? a[at] : 0;
				float part =
				        s == tf32_low_slot(stack) ? tf32_low(x) : tf32_round(x);
				if (to[deep - 1 - i + s * deep + j * ld] != part)
					return false;
			}
	return true;
}

static void test_stacks(struct executor *e)
{
	static const int64_t sizes[][2] = {{1, 1}, {4, 7}, {130, 18}, {255, 33}, {300, 256}};

	for (int stack = TF32_LEFT; stack <= TF32_BOTH; stack++)
		for (int trans = PLAIN; trans <= TRANSPOSED; trans++) {
			bool good = true;
			for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
				good = good && operand_splits(e, sizes[i][0], sizes[i][1],
				                       (enum trans)trans, (enum split_form)stack,
				                       tf32_slots((enum split_form)stack) *
				                               ((sizes[i][0] + 3) / 4 * 4),
				                       stack_right);
			ok(good, "%s stack %d of %s", e->name, stack,
			        trans == PLAIN ? "a" : "its transpose");
		}
}

/* ---- products ---- */

/* C = alpha op(A) op(B) + beta C, its operands on the host and in executor memory. */
struct product {
	enum trans ta, tb;
	int64_t m, n, k;
	float *host[3];
	struct test_memory memory[3], work;
	struct matrix a, b, c;
	struct split_room room;
};

static enum math math; /* of the products that follow */

static struct matrix shape_of(const struct product *p, int operand)
{
	int64_t m = operand == 0   ? (p->ta == PLAIN ? p->m : p->k)
	            : operand == 1 ? (p->tb == PLAIN ? p->k : p->n)
	                           : p->m;
	int64_t n = operand == 0   ? (p->ta == PLAIN ? p->k : p->m)
	            : operand == 1 ? (p->tb == PLAIN ? p->n : p->k)
	                           : p->n;

	/* C of 3xFP16 is aligned */
	int64_t ld = operand == 2 && math == MATH_3XFP16 ? (m + 6) / 4 * 4 : m + 1 + operand;

	return (struct matrix){p->memory[operand].data, 0, m, n, ld, SINGLE};
}

/* The room's kept operand is a. */
static bool product_open(struct executor *e, struct product *p, enum split_form stack)
{
	struct workspace counting = {NULL, 0}, workspace;
	bool good = true;

	for (int i = 0; i < 3; i++) {
		struct matrix s = shape_of(p, i);
		p->host[i] = xmalloc((size_t)(s.ld * s.n) * sizeof(float));
		fill(p->host[i], s.ld * s.n, 2 + (uint64_t)i);
		good = good && test_open(e, &p->memory[i], s.ld * s.n * 4, 0xff) &&
		       e->ops->upload(e, p->host[i], s.ld, shape_of(p, i));
	}
	p->a = shape_of(p, 0);
	p->b = shape_of(p, 1);
	p->c = shape_of(p, 2);
	e->math = math;
	split_workspace(e, &counting, p->m, p->n, p->a, p->ta == PLAIN ? TRANSPOSED : PLAIN, stack);
	good = good && test_open(e, &p->work, counting.used + 256, 0xff);
	workspace = (struct workspace){(char *)p->work.data, 0};
	p->room = split_workspace(
	        e, &workspace, p->m, p->n, p->a, p->ta == PLAIN ? TRANSPOSED : PLAIN, stack);
	e->math = MATH_FP32;
	return good;
}

static bool product_close(struct executor *e, struct product *p)
{
	bool good = test_close(e, &p->work);

	for (int i = 0; i < 3; i++) {
		good = test_close(e, &p->memory[i]) && good;
		free(p->host[i]);
	}
	return good;
}

/* The largest error of C against double precision, in units of 2^-24 of the sum of magnitudes
 * (with C's): NaN when there is one. */
static double worst_error(
        const struct product *p, double alpha, double beta, const float *before, const float *after)
{
	double worst = 0;
	int64_t lda = p->a.ld, ldb = p->b.ld;

	for (int64_t j = 0; j < p->n; j++)
		for (int64_t i = 0; i < p->m; i++) {
			double sum = 0, size = 0, old = beta * (double)before[i + j * p->c.ld];
			for (int64_t l = 0; l < p->k; l++) {
				float x = p->host[0][p->ta == PLAIN ? i + l * lda : l + i * lda];
				float y = p->host[1][p->tb == PLAIN ? l + j * ldb : j + l * ldb];
				sum += (double)x * (double)y;
				size += fabs((double)x * (double)y);
			}
			double off = fabs((double)after[i + j * p->c.ld] - alpha * sum - old);
			worst = worse(worst, off * 0x1p24 / (fabs(alpha) * size + fabs(old)));
		}
	return worst;
}

/* The error of a product, with e's room set and a kept when `keep`. */
static double product_error(
        struct executor *e, struct product *p, double alpha, double beta, bool keep)
{
	float *after = xmalloc((size_t)(p->c.ld * p->n) * sizeof *after);
	double worst = NAN;

	e->queue = QUEUE_MAIN;
	e->split = p->room;
	if (keep)
		split_keep(e, p->a);
	if (split_gemm(e, p->ta, p->tb, alpha, p->a, p->b, beta, p->c) && e->ops->sync(e) &&
	        e->ops->download(e, p->c, after, p->c.ld))
		worst = worst_error(p, alpha, beta, p->host[2], after);
	else
		diag("%s", e->fault.text);
	e->split = (struct split_room){0};
	free(after);
	return worst;
}

static void test_products(struct executor *e)
{
	static const int64_t sizes[][3] = {
	        {256, 256, 64}, {300, 260, 65}, {257, 391, 600}, {258, 301, 96}, {259, 270, 129}};

	for (size_t s = 0; s < ARRAY_LEN(sizes); s++)
		for (int t = 0; t < 8; t++) {
			if (!test_meets(s + (size_t)math, (size_t)t, 8, 2))
				continue;
			struct product p = {.ta = t & 1 ? TRANSPOSED : PLAIN,
			        .tb = t & 2 ? TRANSPOSED : PLAIN,
			        .m = sizes[s][0],
			        .n = sizes[s][1],
			        .k = sizes[s][2]};
			bool open = product_open(e, &p, TF32_LEFT);
			double worst = open ? product_error(e, &p, -1, 1, t & 4) : NAN;
			ok(product_close(e, &p) && worst <= 8,
			        "%s%s %s%s %d x %d x %d%s: off by %.2g eps of the sum of "
			        "magnitudes",
			        e->name, math_title[math], t & 1 ? "T" : "N", t & 2 ? "T" : "N",
			        (int)p.m, (int)p.n, (int)p.k, t & 4 ? " kept" : "", worst);
		}
}

/* beta = 0 overwrites NaN (3xFP16 has beta = 1 alone), and operands far from 1 are as accurate. */
static void test_scales(struct executor *e)
{
	static const double scales[] = {0x1p-100, 0x1p100};

	for (size_t s = 0; s < ARRAY_LEN(scales); s++) {
		struct product p = {.m = 256, .n = 256, .k = 100};
		bool good = product_open(e, &p, TF32_LEFT);
		for (int64_t i = 0; i < p.a.ld * p.k; i++)
			p.host[0][i] = (float)(p.host[0][i] * scales[s]);
		for (int64_t i = 0; i < p.c.ld * p.n; i++)
			p.host[2][i] = math == MATH_3XFP16 ? 0 : NAN;
		good = good && e->ops->upload(e, p.host[0], p.a.ld, p.a) &&
		       e->ops->upload(e, p.host[2], p.c.ld, p.c);
		for (int64_t i = 0; i < p.c.ld * p.n; i++)
			p.host[2][i] = 0; /* beta * C */
		double worst = good ? product_error(e, &p, 1, math == MATH_3XFP16, false) : NAN;
		ok(product_close(e, &p) && worst <= 8, "%s%s scale %g: off by %.2g eps", e->name,
		        math_title[math], scales[s], worst);
	}
}

/* A NaN or Inf in an operand's row is in that row of C alone. */
static void test_not_finite(struct executor *e)
{
	static const float values[] = {NAN, INFINITY};

	for (size_t v = 0; v < ARRAY_LEN(values); v++) {
		struct product p = {.m = 256, .n = 256, .k = 64};
		bool good = product_open(e, &p, TF32_LEFT);
		p.host[0][17 + 5 * p.a.ld] = values[v];
		good = good && e->ops->upload(e, p.host[0], p.a.ld, p.a);
		product_error(e, &p, -1, 1, true);
		good = good && e->ops->download(e, p.c, p.host[2], p.c.ld);
		for (int64_t j = 0; good && j < p.n; j++)
			for (int64_t i = 0; i < p.m; i++)
				good = good && !isfinite(p.host[2][i + j * p.c.ld]) == (i == 17);
		ok(product_close(e, &p) && good, "%s%s %g stays in its row", e->name,
		        math_title[math], (double)values[v]);
	}
}

/* ---- symmetric updates ---- */

/* The largest error of C (m x n, or n x m for UPPER), in 2^-24 of the sums of magnitudes; NaN when
 * an element of the other triangle was written. */
static double update_error(const struct product *p, enum uplo uplo, const float *after)
{
	double worst = 0;
	int64_t lda = p->a.ld;

	for (int64_t j = 0; j < p->c.n; j++)
		for (int64_t i = 0; i < p->c.m; i++) {
			double old = (double)p->host[2][i + j * p->c.ld], sum = 0, size = fabs(old);
			double now = (double)after[i + j * p->c.ld];
			for (int64_t l = 0; l < p->k; l++) {
				double x = (double)p->host[0][p->ta == PLAIN ? i + l * lda
				                                             : l + i * lda];
				double y = (double)p->host[0][p->ta == PLAIN ? j + l * lda
				                                             : l + j * lda];
				sum += x * y;
				size += fabs(x * y);
			}
			bool other = uplo == LOWER ? i < j : i > j;
			if (other)
				worst = worse(worst, now == old ? 0 : NAN);
			else
				worst = worse(worst, fabs(now - old + sum) * 0x1p24 / size);
		}
	return worst;
}

/* Whether the elements of `all` beside the view c, and between its columns, are as before. */
static bool rest_intact(struct executor *e, const struct product *p, struct matrix all)
{
	const struct matrix whole = {all.data, all.offset, all.ld, all.n, all.ld, all.precision};
	float *after = xmalloc((size_t)(all.ld * all.n) * sizeof *after);
	bool good = e->ops->download(e, whole, after, all.ld);

	for (int64_t j = 0; good && j < all.n; j++)
		for (int64_t i = 0; i < all.ld; i++) {
			const float now = after[i + j * all.ld], old = p->host[2][i + j * all.ld];
			uint32_t bits;
			memcpy(&bits, &now, sizeof bits);
			if (i >= all.m)
				good = good && bits == UINT32_MAX; /* the content of fresh memory */
			else if (i >= p->c.m || j >= p->c.n)
				good = good && now == old;
		}
	free(after);
	return good;
}

static void test_update(
        struct executor *e, enum uplo uplo, int64_t rows, int64_t columns, int64_t k)
{
	/* c is rows x columns for LOWER; a has all rows of op(A) */
	struct product p = {.ta = uplo == LOWER ? PLAIN : TRANSPOSED, .m = rows, .n = rows, .k = k};
	float *after = xmalloc((size_t)((rows + 6) * rows) * sizeof *after);
	bool good = product_open(e, &p, TF32_BOTH);
	const struct matrix all = p.c;

	p.c = uplo == LOWER ? matrix_view(p.c, 0, 0, rows, columns)
	                    : matrix_view(p.c, 0, 0, columns, rows);
	e->split = p.room;
	split_keep(e, p.a);
	good = good && split_syrk(e, uplo, p.ta, -1, p.a, p.c) && e->ops->sync(e) &&
	       e->ops->download(e, p.c, after, p.c.ld);
	e->split = (struct split_room){0};
	good = good && rest_intact(e, &p, all);
	double worst = good ? update_error(&p, uplo, after) : NAN;
	/* 32 partial sums of 256 products are truncated, each by up to 2 eps */
	ok(product_close(e, &p) && worst <= 32, "%s%s %s %d x %d by %d: off by %.2g eps", e->name,
	        math_title[math], uplo == LOWER ? "lower" : "upper", (int)rows, (int)columns,
	        (int)k, worst);
	free(after);
}

static void test_updates(struct executor *e)
{
	static const int64_t sizes[][3] = {{1100, 1100, 128}, {1101, 1101, 96}, {1539, 1539, 64},
	        {900, 300, 300}, {777, 259, 65}};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t uplo = LOWER; uplo <= UPPER; uplo++)
			if (test_meets(i + (size_t)math, uplo, 2, 1))
				test_update(
				        e, (enum uplo)uplo, sizes[i][0], sizes[i][1], sizes[i][2]);
}

static void test_all(struct executor *e)
{
	test_stacks(e);
	for (math = MATH_3XTF32; math < MATHS; math++) {
		if (!math_possible(e, math)) {
			skip("products", "not possible here");
			continue;
		}
		test_products(e);
		test_scales(e);
		test_not_finite(e);
		test_updates(e);
	}
}

int main(void)
{
	test_numbers();
	return test_on_executors(test_all);
}
