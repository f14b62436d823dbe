/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's loops in one precision and for one SIMD unit. Included with REAL float or
 * double, BYTES the unit's width, TARGET its attribute and NAME(x) the names. Vectors are written
 * out, as compilers do not agree on how to keep several sums of one loop in registers. */

typedef REAL NAME(vector) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));

#define VECTOR NAME(vector)
#define LANES ((int)(BYTES / sizeof(REAL)))
#define AT(p, i) (*(VECTOR *)((p) + (i)))
#define READ(p, i) (*(const VECTOR *)((p) + (i)))

/* Vectors of a sum that are added up by themselves. */
#define PIECE (64 * LANES)

#define EACH_LANE(sum, vector)                                                                     \
	for (int lane = 0; lane < LANES; lane++)                                                   \
	sum += (vector)[lane]

TARGET static REAL NAME(dot)(int64_t m, const REAL *restrict x, const REAL *restrict y)
{
	VECTOR total = {0};
	REAL sum = 0;
	int64_t i = 0;

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
	for (; i < m; i++)
		sum += x[i] * y[i];
	EACH_LANE(sum, total);
	return sum;
}

TARGET static void NAME(subtract)(int64_t m, REAL factor, const REAL *restrict v, REAL *restrict x)
{
	int64_t i = 0;

	for (; i + 2 * LANES <= m; i += 2 * LANES) {
		AT(x, i) -= factor * READ(v, i);
		AT(x, i + LANES) -= factor * READ(v, i + LANES);
	}
	for (; i < m; i++)
		x[i] -= factor * v[i];
}

TARGET static REAL NAME(subtract_dot)(
        int64_t m, REAL factor, const REAL *v, const REAL *w, REAL *restrict x)
{
	VECTOR total = {0};
	REAL sum = 0;
	int64_t i = 0;

	while (i + 4 * LANES <= m) {
		int64_t end = m - i < 4 * PIECE ? m : i + 4 * PIECE;
		VECTOR s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
		for (; i + 4 * LANES <= end; i += 4 * LANES) {
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
	for (; i < m; i++) {
		x[i] -= factor * v[i];
		sum += w[i] * x[i];
	}
	EACH_LANE(sum, total);
	return sum;
}

TARGET static void NAME(subtract_dots)(
        int64_t m, const REAL *v, const REAL *w, REAL *const x[], REAL *sums)
{
	REAL *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3];
	const REAL f0 = sums[0], f1 = sums[1], f2 = sums[2], f3 = sums[3];
	VECTOR t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
	int64_t i = 0;

	while (i + LANES <= m) {
		int64_t end = m - i < PIECE ? m : i + PIECE;
		VECTOR s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
		for (; i + LANES <= end; i += LANES) {
			const VECTOR one = READ(v, i), next = READ(w, i);
			VECTOR y0 = READ(x0, i) - f0 * one;
			VECTOR y1 = READ(x1, i) - f1 * one;
			VECTOR y2 = READ(x2, i) - f2 * one;
			VECTOR y3 = READ(x3, i) - f3 * one;
			AT(x0, i) = y0;
			AT(x1, i) = y1;
			AT(x2, i) = y2;
			AT(x3, i) = y3;
			s0 += y0 * next;
			s1 += y1 * next;
			s2 += y2 * next;
			s3 += y3 * next;
		}
		t0 += s0;
		t1 += s1;
		t2 += s2;
		t3 += s3;
	}
	for (int c = 0; c < GRAM_TOGETHER; c++)
		sums[c] = 0;
	for (; i < m; i++) {
		x0[i] -= f0 * v[i];
		x1[i] -= f1 * v[i];
		x2[i] -= f2 * v[i];
		x3[i] -= f3 * v[i];
		sums[0] += w[i] * x0[i];
		sums[1] += w[i] * x1[i];
		sums[2] += w[i] * x2[i];
		sums[3] += w[i] * x3[i];
	}
	EACH_LANE(sums[0], t0);
	EACH_LANE(sums[1], t1);
	EACH_LANE(sums[2], t2);
	EACH_LANE(sums[3], t3);
}

#undef VECTOR
#undef LANES
#undef AT
#undef READ
#undef PIECE
#undef EACH_LANE
#undef REAL
#undef NAME
