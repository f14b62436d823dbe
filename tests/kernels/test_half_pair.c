/* SPDX-License-Identifier: MIT */
/* 3xFP16: the parts of a number, and the pairs of an operand's vectors, on the host executor and on
 * the GPU. */
#include "tests/executors/split_operand.h"

#include "factor/kernels/gemm/half_pair.h"

/* ---- numbers ---- */

/* The number of a pair; `factor` belongs to the largest element of its vector. */
static double put_together(uint16_t high, uint16_t low, float factor)
{
	return ((double)half_value(high) * HALF_HIGH + (double)half_value(low) * HALF_LOW) *
	       (double)factor;
}

/* Whether x comes back to 2^-22 of x, or to 2^-49 of the vector's largest element. */
static bool well_split(float x, float largest)
{
	const int exponent = half_exponent(largest);
	uint16_t high, low;

	half_split(x, exponent, &high, &low);
	const double off = fabs((double)x - put_together(high, low, half_factor(exponent)));
	return off <= fmax(0x1p-22 * fabs((double)x), 0x1p-49 * (double)half_factor(exponent));
}

static void test_numbers(void)
{
	uint16_t high, low;
	bool good = true;

	for (int64_t i = 0; i < 300000; i++) {
		const float largest =
		        ldexpf(1 + (float)fabs(test_random(1, i)) / 2, (int)(i % 250) - 122);
		const float x = largest * (float)test_random(2, i) * ldexpf(1, -(int)(i % 41));
		good = good && well_split(x, largest) && well_split(largest, largest);
	}
	ok(good, "the pair is the number to 2^-22 of the number, or to 2^-49 of the largest");
	ok(well_split(FLT_MAX, FLT_MAX) && well_split(-FLT_MAX, FLT_MAX),
	        "the largest number does not overflow");
	ok(well_split(0x1p-126f, 0x1p-126f) && half_factor(half_exponent(0)) == 0x1p-112f,
	        "the factor of the smallest number does not underflow");
	half_split(-INFINITY, half_exponent(INFINITY), &high, &low);
	ok(isinf(half_value(high)) && half_value(high) < 0 && half_value(low) == 0,
	        "infinity is high");
	half_split(NAN, 0, &high, &low);
	ok(isnan(half_value(high)) && half_value(low) == 0, "NaN stays NaN");
}

/* ---- pairs ---- */

/* The pair of op(a), k x n: each vector has a scale of its own. */
static bool pair_right(const float *a, int64_t lda, int64_t k, int64_t n, enum trans trans,
        enum split_form form, const float *pair, int64_t ld)
{
	const int64_t depth = half_depth(half_rows(k));

	(void)form;
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

static void test_pairs(struct executor *e)
{
	static const int64_t sizes[][2] = {
	        {1, 1}, {4, 7}, {8, 33}, {130, 18}, {255, 100}, {256, 64}};

	for (int trans = PLAIN; trans <= TRANSPOSED; trans++) {
		bool good = true;
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			good = good &&
			       operand_splits(e, sizes[i][0], sizes[i][1], (enum trans)trans,
			               HALF_PAIR, half_rows(sizes[i][0]), pair_right);
		ok(good, "%s the pair of %s", e->name, trans == PLAIN ? "a" : "its transpose");
	}
}

int main(void)
{
	test_numbers();
	return test_on_executors(test_pairs);
}
