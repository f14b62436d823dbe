/* SPDX-License-Identifier: MIT */
/* 3xTF32 and 3xFP16: the parts of a number, the stacks and pairs of an operand, products and
 * symmetric updates, also in stairs, on the host executor and on the GPU; which products V^T C are
 * split inside the kernel. */
#include "executor_memory.h"

#include "factor/executors/split.h"
#include "factor/kernels/gemm/half_pair.h"

/* ---- numbers: 3xTF32 ---- */

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

static void test_parts(void)
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

/* ---- numbers: 3xFP16 ---- */

/* The number of a pair; `factor` belongs to the largest element of its vector. */
static double put_together(uint16_t high, uint16_t low, float factor)
{
	return ((double)half_value(high) * HALF_HIGH + (double)half_value(low) * HALF_LOW) *
	       (double)factor;
}

/* Whether x comes back to 2^-22 of x, or to 2^-49 of the vector's largest element. */
static bool pair_well_split(float x, float largest)
{
	const int exponent = half_exponent(largest);
	uint16_t high, low;

	half_split(x, exponent, &high, &low);
	const double off = fabs((double)x - put_together(high, low, half_factor(exponent)));
	return off <= fmax(0x1p-22 * fabs((double)x), 0x1p-49 * (double)half_factor(exponent));
}

static void test_pairs(void)
{
	uint16_t high, low;
	bool good = true;

	for (int64_t i = 0; i < 300000; i++) {
		const float largest =
		        ldexpf(1 + (float)fabs(test_random(1, i)) / 2, (int)(i % 250) - 122);
		const float x = largest * (float)test_random(2, i) * ldexpf(1, -(int)(i % 41));
		good = good && pair_well_split(x, largest) && pair_well_split(largest, largest);
	}
	ok(good, "the pair is the number to 2^-22 of the number, or to 2^-49 of the largest");
	ok(pair_well_split(FLT_MAX, FLT_MAX) && pair_well_split(-FLT_MAX, FLT_MAX),
	        "the largest number does not overflow");
	ok(pair_well_split(0x1p-126f, 0x1p-126f) && half_factor(half_exponent(0)) == 0x1p-112f,
	        "the factor of the smallest number does not underflow");
	half_split(-INFINITY, half_exponent(INFINITY), &high, &low);
	ok(isinf(half_value(high)) && half_value(high) < 0 && half_value(low) == 0,
	        "infinity is high");
	half_split(NAN, 0, &high, &low);
	ok(isnan(half_value(high)) && half_value(low) == 0, "NaN stays NaN");
}

/* ---- truncation ---- */

/* x in single precision, cut toward zero. */
static float cut(double x)
{
	const float near = (float)x;

	return fabs((double)near) > fabs(x) ? nextafterf(near, 0) : near;
}

/* Sums of `depth` products, HALF_STEP of them at a time, each sum cut: what they lose in the mean
 * is returned. */
static void test_returned(int64_t depth)
{
	enum { SUMS = 4000 };
	double lost = 0;

	for (int64_t s = 0; s < SUMS; s++) {
		const double scale = 1 + fabs(test_random(5, s));
		double exact = 0;
		float sum = 0;
		for (int64_t i = 0; i < depth; i += HALF_STEP) {
			double part = 0;
			for (int64_t k = i; k < i + HALF_STEP; k++)
				part += scale * fabs(test_random(6, s * depth + k));
			exact += part;
			sum = cut((double)sum + part);
		}
		lost += (exact - (double)sum) / exact / SUMS;
	}
	const double share = half_returned(depth) / lost;
	ok(share > 0.8 && share < 1.2,
	        "of %d products in halves, %.2f of the mean loss are returned", (int)depth, share);
}

/* ---- operands ---- */

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
				if (to[i + s * deep + j * ld] != part)
					return false;
			}
	return true;
}

/* The pair of op(a), k x n: each vector has a scale of its own. */
static bool pair_right(const float *a, int64_t lda, int64_t k, int64_t n, enum trans trans,
        const float *pair, int64_t ld)
{
	const int64_t depth = half_depth(half_rows(k));

	for (int64_t j = 0; j < n; j++) {
		const float *column = pair + j * ld;
		const uint16_t *part = (const uint16_t *)column;
		float largest = 0;
		for (int64_t i = 0; i < k; i++)
			largest = fmaxf(
			        largest, fabsf(a[trans == PLAIN ? i + j * lda : j + i * lda]));
		if (column[depth] != half_factor(half_exponent(largest)))
			return false;
		for (int64_t i = 0; i < depth; i++) {
			const float x = i >= k           ? 0
			                : trans == PLAIN ? a[i + j * lda]
			                                 : a[j + i * lda];
			const double got = put_together(part[i], part[depth + i], column[depth]);
			if (!(fabs((double)x - got) <= 0x1p-22 * fabs((double)x)))
				return false;
		}
	}
	return true;
}

/* The split of a random op(a), k x n, whose vectors along k have scales of their own, into poisoned
 * memory. Whether it is right and both memories' margins are intact. */
static bool operand_splits(
        struct executor *e, int64_t k, int64_t n, enum trans trans, enum split_form form)
{
	const bool pair = form == HALF_PAIR;
	const int64_t rows = pair ? half_rows(k) : tf32_slots(form) * ((k + 3) / 4 * 4);
	const int64_t m = trans == PLAIN ? k : n, columns = trans == PLAIN ? n : k;
	struct test_room room = room_new(e);
	struct matrix source = room_matrix(&room, m, columns, m + 3, SINGLE);
	struct matrix to = room_matrix(&room, rows, n, rows + (pair ? 4 : 5), SINGLE);

	float *a = xmalloc((size_t)(source.ld * source.n) * sizeof *a);
	float *got = xmalloc((size_t)(to.ld * n) * sizeof *got);
	for (int64_t i = 0; i < source.ld * source.n; i++) {
		const int64_t vector = trans == PLAIN ? i / source.ld : i % source.ld;
		a[i] = (float)test_random(3, i) * ldexpf(1, (int)(vector * 7 % 90) - 45);
	}
	bool good = room.good && e->ops->upload(e, a, source.ld, source) &&
	            e->ops->split(e, (struct splits){{{source, trans, form, to}}, 1}) &&
	            e->ops->sync(e) && e->ops->download(e, to, got, to.ld) &&
	            (pair ? pair_right(a, source.ld, k, n, trans, got, to.ld)
	                  : stack_right(a, source.ld, k, n, trans, form, got, to.ld));
	free(a);
	free(got);
	return room_close(&room, good);
}

static void test_operands(struct executor *e)
{
	static const int64_t sizes[][2] = {
	        {1, 1}, {4, 7}, {8, 33}, {130, 18}, {255, 33}, {255, 100}, {256, 64}, {300, 256}};
	static const enum split_form forms[] = {TF32_LEFT, TF32_RIGHT, TF32_BOTH, HALF_PAIR};

	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++) {
			/* pairs have at most TF32_PIECE rows */
			const size_t count = ARRAY_LEN(sizes) - (forms[f] == HALF_PAIR);
			bool good = true;
			for (size_t i = 0; i < count; i++)
				good = operand_splits(
				               e, sizes[i][0], sizes[i][1], trans, forms[f]) &&
				       good;
			ok(good, "%s split %d of %s", e->name, forms[f],
			        trans == PLAIN ? "a" : "its transpose");
		}
}

/* ---- products ---- */

/* C = alpha op(A) op(B) + beta C; the exact product, and the sum of magnitudes. */
struct product {
	enum trans ta, tb;
	struct block a, b, c, exact, size;
	struct test_room work;
};

static enum math math; /* of the products that follow */

/* e gets the room, whose kept operand is a. */
static struct product product_new(struct executor *e, enum trans ta, enum trans tb, int64_t m,
        int64_t n, int64_t k, enum split_form stack)
{
	const enum trans other = ta == PLAIN ? TRANSPOSED : PLAIN;
	struct workspace counting = {NULL, 0};
	struct product p = {ta, tb, block_placed(e, SINGLE, ta ? k : m, ta ? m : k, ODD_COLUMNS),
	        block_placed(e, SINGLE, tb ? n : k, tb ? k : n, ODD_COLUMNS),
	        /* C of 3xFP16 is aligned */
	        block_placed(e, SINGLE, m, n, math == MATH_3XFP16 ? ALIGNED : ODD_COLUMNS),
	        block_new(e, DOUBLE, m, n), block_new(e, DOUBLE, m, n), room_new(e)};

	e->math = math;
	split_workspace(e, &counting, m, n, p.a.a, other, stack);
	struct workspace workspace = {room_bytes(&p.work, counting.used + 256), 0};
	e->split = split_workspace(e, &workspace, m, n, p.a.a, other, stack);
	e->math = MATH_FP32;
	e->queue = QUEUE_MAIN;
	return p;
}

static bool product_free(struct executor *e, struct product *p)
{
	e->split = (struct split_room){0};
	blocks_free(e);
	return room_close(&p->work, true);
}

/* The error of C, all of which is now in the executor's memory, in units of 2^-24 of the sum of
 * magnitudes (with C's). */
static double worst_error(
        struct executor *e, const struct product *p, enum uplo part, double alpha, double beta)
{
	double *after = block_download(e, &p->c);
	const double worst = block_error(&p->c, part, alpha, &p->exact, &p->size, beta, after);

	free(after);
	return worst * 0x1p24;
}

/* The error of a product, with a kept when `keep_a`. */
static double product_error(
        struct executor *e, struct product *p, double alpha, double beta, bool keep_a)
{
	if (keep_a)
		split_keep(e, p->a.a);
	must(e, split_gemm(e, p->ta, p->tb, alpha, p->a.a, p->b.a, beta, p->c.a));
	block_product(1, &p->a, p->ta, &p->b, p->tb, 0, &p->exact);
	block_magnitude(&p->a, p->ta, &p->b, p->tb, &p->size);
	return worst_error(e, p, WHOLE, alpha, beta);
}

static void test_products(struct executor *e)
{
	static const int64_t sizes[][3] = {
	        {256, 256, 64}, {300, 260, 65}, {257, 391, 600}, {258, 301, 96}, {259, 270, 129}};

	for (size_t i = 0; i < 8 * ARRAY_LEN(sizes); i++) {
		const int64_t *s = sizes[i / 8];
		const size_t t = i % 8;
		if (!test_meets(i / 8 + (size_t)math, t, 8, 2))
			continue;
		struct product p = product_new(e, t & 1 ? TRANSPOSED : PLAIN,
		        t & 2 ? TRANSPOSED : PLAIN, s[0], s[1], s[2], TF32_LEFT);
		const double worst = product_error(e, &p, -1, 1, t & 4);
		ok(product_free(e, &p) && worst <= 8,
		        "%s%s %s%s %d x %d x %d%s: off by %.2g eps of the sum of magnitudes",
		        e->name, math_title[math], t & 1 ? "T" : "N", t & 2 ? "T" : "N", (int)s[0],
		        (int)s[1], (int)s[2], t & 4 ? " kept" : "", worst);
	}
}

/* beta = 0 overwrites NaN (3xFP16 has beta = 1 alone), and operands far from 1 are as accurate. */
static void test_scales(struct executor *e)
{
	static const double scales[] = {0x1p-100, 0x1p100};

	for (size_t s = 0; s < ARRAY_LEN(scales); s++) {
		struct product p = product_new(e, PLAIN, PLAIN, 256, 256, 100, TF32_LEFT);
		for (int64_t i = 0; i < p.a.all.m * p.a.all.n; i++)
			p.a.x[i] *= scales[s];
		block_set(&p.c, math == MATH_3XFP16 ? 0 : NAN);
		block_upload(e, &p.a);
		block_upload(e, &p.c);
		const double worst = product_error(e, &p, 1, math == MATH_3XFP16, false);
		ok(product_free(e, &p) && worst <= 8, "%s%s scale %g: off by %.2g eps", e->name,
		        math_title[math], scales[s], worst);
	}
}

/* A NaN or Inf in an operand's row is in that row of C alone. */
static void test_not_finite(struct executor *e)
{
	static const double values[] = {NAN, INFINITY};

	for (size_t v = 0; v < ARRAY_LEN(values); v++) {
		struct product p = product_new(e, PLAIN, PLAIN, 256, 256, 64, TF32_LEFT);
		*element(&p.a, 17, 5) = values[v];
		block_upload(e, &p.a);
		product_error(e, &p, -1, 1, true);
		struct block now = p.c;
		bool good = true;
		now.x = block_download(e, &p.c);
		for (int64_t j = 0; j < 256; j++)
			for (int64_t i = 0; i < 256; i++)
				good = good && !isfinite(*element(&now, i, j)) == (i == 17);
		free(now.x);
		ok(product_free(e, &p) && good, "%s%s %g stays in its row", e->name,
		        math_title[math], values[v]);
	}
}

/* A symmetric update of C, rows x columns for LOWER; a has all rows of op(A). */
static void test_update(
        struct executor *e, enum uplo uplo, int64_t rows, int64_t columns, int64_t k)
{
	const enum trans trans = uplo == LOWER ? PLAIN : TRANSPOSED, other = 1 - trans;
	struct product p = product_new(e, trans, PLAIN, rows, rows, k, TF32_BOTH);

	block_product(1, &p.a, trans, &p.a, other, 0, &p.exact);
	block_magnitude(&p.a, trans, &p.a, other, &p.size);
	p.c.a = uplo == LOWER ? matrix_view(p.c.a, 0, 0, rows, columns)
	                      : matrix_view(p.c.a, 0, 0, columns, rows);
	split_keep(e, p.a.a);
	must(e, split_syrk(e, uplo, trans, -1, p.a.a, p.c.a));
	const double worst = worst_error(e, &p, uplo, -1, 1);
	/* 32 partial sums of 256 products are truncated, each by up to 2 eps */
	ok(product_free(e, &p) && worst <= 32, "%s%s %s %d x %d by %d: off by %.2g eps", e->name,
	        math_title[math], uplo == LOWER ? "lower" : "upper", (int)rows, (int)columns,
	        (int)k, worst);
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

/* Rows of the kept operand above C's first one; C's rows, columns and inner dimension. */
struct stairs_case {
	int64_t above, m, n, k;
	struct stairs stairs;
};

/* Zeros in the exact product above the stairs, where C is left as it is. */
static void cut_stairs(struct product *p, struct stairs stairs)
{
	for (int64_t j = 0; j < p->c.a.n; j++)
		for (int64_t i = 0; i < stairs_top(stairs, j); i++)
			*element(&p->exact, i, j) = *element(&p->size, i, j) = 0;
}

/* Whether C above the stairs has the bits that it had. */
static bool left_above(struct executor *e, const struct product *p, struct stairs stairs)
{
	struct block now = p->c;
	bool good = true;

	now.x = block_download(e, &p->c);
	for (int64_t j = 0; j < p->c.a.n; j++)
		for (int64_t i = 0; i < stairs_top(stairs, j); i++)
			good = good && *element(&now, i, j) == *element(&p->c, i, j);
	free(now.x);
	return good;
}

static void below(struct block *b, const struct stairs_case *s)
{
	b->a = matrix_view(b->a, s->above, 0, s->m, b->a.n);
}

static void test_case_in_stairs(struct executor *e, const struct stairs_case *s)
{
	struct product p =
	        product_new(e, PLAIN, TRANSPOSED, s->above + s->m, s->n, s->k, TF32_BOTH);

	split_keep(e, p.a.a);
	below(&p.a, s);
	below(&p.c, s);
	below(&p.exact, s);
	below(&p.size, s);
	for (int64_t j = 0; j < s->n; j++)
		for (int64_t i = 0; i < s->k; i++)
			*element(&p.b, j, i) = *element(&p.a, stairs_top(s->stairs, j), i);
	block_upload(e, &p.b);
	must(e, ex_stairs(e, s->stairs, -1, p.a.a, p.b.a, p.c.a));
	block_product(1, &p.a, PLAIN, &p.b, TRANSPOSED, 0, &p.exact);
	block_magnitude(&p.a, PLAIN, &p.b, TRANSPOSED, &p.size);
	cut_stairs(&p, s->stairs);
	const bool left = left_above(e, &p, s->stairs);
	const double worst = worst_error(e, &p, WHOLE, -1, 1);
	/* as in test_update */
	ok(product_free(e, &p) && left && worst <= 32,
	        "%s%s stairs of %d each %d, %d x %d by %d: off by %.2g eps, %s above", e->name,
	        math_title[math], (int)s->stairs.width, (int)s->stairs.step, (int)s->m, (int)s->n,
	        (int)s->k, worst, left ? "nothing changed" : "C changed");
}

/* Blocks that tiles divide and others, a last block that is narrower, all columns and fewer, rows
 * that fill no 16 bytes, sums of two pieces, a plain triangle, and several tiles for each
 * multiprocessor. Every other case makes room for other kernels. */
static void test_stairs(struct executor *e)
{
	static const struct stairs_case cases[] = {{0, 1100, 600, 128, {100, 200}},
	        {64, 1101, 384, 96, {64, 192}}, {0, 1539, 539, 64, {250, 750}},
	        {12, 900, 307, 300, {37, 111}}, {0, 777, 259, 65, {1, 3}},
	        {768, 2000, 1232, 256, {768, 1536}}, {0, 3000, 400, 64, {200, 1600}},
	        {4, 1000, 700, 64, {700, 1400}}, {0, 1022, 1022, 72, {2000, 2000}},
	        {128, 2562, 1281, 32, {129, 258}}, {0, 2303, 1151, 40, {384, 768}},
	        {0, 130, 3, 16, {1, 64}}, {0, 5003, 2500, 32, {500, 1000}},
	        {0, 5004, 2502, 32, {139, 278}}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		e->shares = i & 1;
		test_case_in_stairs(e, &cases[i]);
	}
	e->shares = false;
}

/* Products V^T C of enough rows and columns, and of enough work for two kernels, are split inside
 * the kernel. */
static void test_tall(void)
{
	static const struct {
		int64_t rows, k, n, ld;
		bool wanted;
	} cases[] = {{65536, 128, 128, 65536, true}, {65536, 128, 127, 65536, false},
	        {4096, 128, 128, 4096, false}, {16384, 64, 256, 16384, true},
	        {16384, 64, 128, 16384, false}, {1024, 256, 16384, 1024, true},
	        {1020, 256, 16384, 1020, false}, {65536, 513, 512, 65536, false},
	        {65536, 128, 128, 65537, false}, {65536, 128, 128, 65540, true}};
	const struct executor e = {.splits = &tuning_hopper.split, .split = {.bytes = 1}};
	const struct executor plain = {.splits = &tuning_hopper.split};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const int64_t rows = cases[i].rows, k = cases[i].k, n = cases[i].n;
		const struct matrix v = {NULL, 0, rows, k, cases[i].ld, SINGLE},
		                    c = {NULL, 0, rows, n, cases[i].ld, SINGLE},
		                    p = {NULL, 0, k, n, k, SINGLE};
		ok(split_wanted_tall(&e, v, c, p) == cases[i].wanted &&
		                !split_wanted_tall(&plain, v, c, p),
		        "%" PRId64 " x %" PRId64 " beside %" PRId64 " columns, lda %" PRId64 ": %s",
		        rows, k, n, cases[i].ld, cases[i].wanted ? "split" : "not split");
	}
}

static void test_all(struct executor *e)
{
	test_operands(e);
	for (math = MATH_3XTF32; math < MATHS; math++) {
		if (!math_possible(e, math)) {
			skip("products", "not possible here");
			continue;
		}
		test_products(e);
		test_scales(e);
		test_not_finite(e);
		test_updates(e);
		if (math == MATH_3XFP16)
			test_stairs(e);
	}
}

int main(void)
{
	test_parts();
	test_pairs();
	test_returned(TF32_PIECE);
	test_returned(64);
	test_tall();
	return test_on_executors(test_all);
}
