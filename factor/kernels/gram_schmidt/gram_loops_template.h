/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's loops in one precision and for one SIMD unit. Included with REAL float or
 * double, BYTES the unit's width, TARGET its attribute and NAME(x) the names. Vectors are
 * explicit, because not all compilers keep several sums of a loop in registers. */

typedef REAL NAME(vector) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));

#define VECTOR NAME(vector)
#define LANES ((int)(BYTES / sizeof(REAL)))
#define AT(p, i) (*(VECTOR *)((p) + (i)))
#define READ(p, i) (*(const VECTOR *)((p) + (i)))

/* Elements of a partial sum. */
#define PIECE (64 * LANES)

/* The sum of a vector's lanes: first over its parts of 16 bytes, then over their lanes. */
typedef REAL NAME(narrow) __attribute__((vector_size(16), may_alias));

TARGET static inline REAL NAME(lanes)(const VECTOR *vector)
{
	const NAME(narrow) *part = (const NAME(narrow) *)vector;
	NAME(narrow) sum = part[0];
	REAL all = 0;

	for (size_t i = 1; i < BYTES / sizeof sum; i++)
		sum += part[i];
	for (size_t lane = 0; lane < sizeof sum / sizeof(REAL); lane++)
		all += sum[lane];
	return all;
}

/* If a column is not a whole number of vectors, its last vector overlaps the one before it.
 * Overlapping elements are computed twice with the same result; products count only the new
 * lanes. */
typedef __typeof__((VECTOR){0} == (VECTOR){0}) NAME(lanes_chosen);

static const REAL NAME(number)[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TARGET static inline VECTOR NAME(beyond)(int64_t m, VECTOR products)
{
	const REAL before = (REAL)(LANES - m % LANES);

	return (VECTOR)((NAME(lanes_chosen))products & (READ(NAME(number), 0) >= before));
}

TARGET static REAL NAME(short_dot)(int64_t m, const REAL *x, const REAL *y)
{
	REAL sum = 0;

	for (int64_t i = 0; i < m; i++)
		sum += x[i] * y[i];
	return sum;
}

TARGET static REAL NAME(dot)(int64_t m, const REAL *restrict x, const REAL *restrict y)
{
	VECTOR total __attribute__((aligned(BYTES))) = {0};
	int64_t i = 0;

	if (m < LANES)
		return NAME(short_dot)(m, x, y);
	if (m % LANES)
		total = NAME(beyond)(m, READ(x, m - LANES) * READ(y, m - LANES));
	while (i + 4 * LANES <= m) {
		int64_t end = m - i < 4 * PIECE ? m : i + 4 * PIECE;
		VECTOR s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
		for (; i + 4 * LANES <= end; i += 4 * LANES) {
			s0 += READ(x, i) * READ(y, i);
			s1 += READ(x, i + LANES) * READ(y, i + LANES);
			s2 += READ(x, i + 2 * LANES) * READ(y, i + 2 * LANES);
			s3 += READ(x, i + 3 * LANES) * READ(y, i + 3 * LANES);
		}
		total += (s0 + s1) + (s2 + s3);
	}
	for (; i + LANES <= m; i += LANES)
		total += READ(x, i) * READ(y, i);
	return NAME(lanes)(&total);
}

TARGET static void NAME(subtract)(int64_t m, REAL factor, const REAL *restrict v, REAL *restrict x)
{
	const int64_t last = m - LANES;
	int64_t i = 0;

	if (last < 0) {
		for (; i < m; i++)
			x[i] -= factor * v[i];
		return;
	}
	const VECTOR end = READ(x, last) - factor * READ(v, last);
	for (; i + 2 * LANES <= m; i += 2 * LANES) {
		AT(x, i) -= factor * READ(v, i);
		AT(x, i + LANES) -= factor * READ(v, i + LANES);
	}
	if (i < last)
		AT(x, i) -= factor * READ(v, i);
	AT(x, last) = end;
}

TARGET static REAL NAME(subtract_dot)(
        int64_t m, REAL factor, const REAL *v, const REAL *w, REAL *restrict x)
{
	const int64_t last = m - LANES;
	VECTOR total __attribute__((aligned(BYTES))) = {0};
	int64_t i = 0;

	if (last < 0) {
		NAME(subtract)(m, factor, v, x);
		return NAME(short_dot)(m, w, x);
	}
	const VECTOR end = READ(x, last) - factor * READ(v, last);
	if (m % LANES)
		total = NAME(beyond)(m, end * READ(w, last));
	while (i + 4 * LANES <= m) {
		int64_t stop = m - i < 4 * PIECE ? m : i + 4 * PIECE;
		VECTOR s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
		for (; i + 4 * LANES <= stop; i += 4 * LANES) {
			VECTOR x0 = READ(x, i) - factor * READ(v, i);
			VECTOR x1 = READ(x, i + LANES) - factor * READ(v, i + LANES);
			VECTOR x2 = READ(x, i + 2 * LANES) - factor * READ(v, i + 2 * LANES);
			VECTOR x3 = READ(x, i + 3 * LANES) - factor * READ(v, i + 3 * LANES);
			AT(x, i) = x0;
			AT(x, i + LANES) = x1;
			AT(x, i + 2 * LANES) = x2;
			AT(x, i + 3 * LANES) = x3;
			s0 += x0 * READ(w, i);
			s1 += x1 * READ(w, i + LANES);
			s2 += x2 * READ(w, i + 2 * LANES);
			s3 += x3 * READ(w, i + 3 * LANES);
		}
		total += (s0 + s1) + (s2 + s3);
	}
	for (; i + LANES <= m; i += LANES) {
		VECTOR y = READ(x, i) - factor * READ(v, i);
		AT(x, i) = y;
		total += y * READ(w, i);
	}
	AT(x, last) = end;
	return NAME(lanes)(&total);
}

/* Updates column c at i and adds to its sums. */
#define STEP(c)                                                                                    \
	const VECTOR y##c = READ(x##c, i) - a##c * v0 - b##c * v1;                                 \
	AT(x##c, i) = y##c;                                                                        \
	s##c += y##c * w0;                                                                         \
	t##c += y##c * w1

/* The same for the last vector, which is stored after all others. */
#define LAST(c)                                                                                    \
	const VECTOR end##c =                                                                      \
	        READ(x##c, last) - a##c * READ(first, last) - b##c * READ(second, last);           \
	if (m % LANES) {                                                                           \
		total[c] = NAME(beyond)(m, end##c * READ(next, last));                             \
		total[c + GRAM_TOGETHER] = NAME(beyond)(m, end##c * READ(over, last));             \
	}

TARGET static void NAME(short_subtract_dots)(
        int64_t m, const REAL *const v[], const REAL *const w[], REAL *const x[], REAL *sums)
{
	for (int c = 0; c < GRAM_TOGETHER; c++) {
		NAME(subtract)(m, sums[c], v[0], x[c]);
		NAME(subtract)(m, sums[GRAM_TOGETHER + c], v[1], x[c]);
		for (int p = 0; p < GRAM_PAIR; p++)
			sums[p * GRAM_TOGETHER + c] = NAME(short_dot)(m, w[p], x[c]);
	}
}

TARGET static void NAME(subtract_dots)(
        int64_t m, const REAL *const v[], const REAL *const w[], REAL *const x[], REAL *sums)
{
	REAL *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3];
	const REAL *const first = v[0], *const second = v[1], *const next = w[0],
	                  *const over = w[1];
	const REAL a0 = sums[0], a1 = sums[1], a2 = sums[2], a3 = sums[3];
	const REAL b0 = sums[4], b1 = sums[5], b2 = sums[6], b3 = sums[7];
	const int64_t last = m - LANES;
	VECTOR total[2 * GRAM_TOGETHER] __attribute__((aligned(BYTES))) = {{0}};
	int64_t i = 0;

	if (last < 0) {
		NAME(short_subtract_dots)(m, v, w, x, sums);
		return;
	}
	LAST(0)
	LAST(1)
	LAST(2)
	LAST(3)
	while (i + LANES <= m) {
		int64_t end = m - i < PIECE ? m : i + PIECE;
		VECTOR s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
		VECTOR t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
		for (; i + LANES <= end; i += LANES) {
			const VECTOR v0 = READ(first, i), v1 = READ(second, i);
			const VECTOR w0 = READ(next, i), w1 = READ(over, i);
			STEP(0);
			STEP(1);
			STEP(2);
			STEP(3);
		}
		const VECTOR piece[] = {s0, s1, s2, s3, t0, t1, t2, t3};
		for (int c = 0; c < 2 * GRAM_TOGETHER; c++)
			total[c] += piece[c];
	}
	AT(x0, last) = end0;
	AT(x1, last) = end1;
	AT(x2, last) = end2;
	AT(x3, last) = end3;
	for (int c = 0; c < 2 * GRAM_TOGETHER; c++)
		sums[c] = NAME(lanes)(&total[c]);
}

#undef LAST
#undef STEP
#undef VECTOR
#undef LANES
#undef AT
#undef READ
#undef PIECE
#undef REAL
#undef NAME
