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

/* The sum of a vector's lanes: of its parts of 16 bytes, then of their lanes. */
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

TARGET static REAL NAME(dot)(int64_t m, const REAL *restrict x, const REAL *restrict y)
{
	VECTOR total __attribute__((aligned(BYTES))) = {0};
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
	return sum + NAME(lanes)(&total);
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
	VECTOR total __attribute__((aligned(BYTES))) = {0};
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
	return sum + NAME(lanes)(&total);
}

/* What of column c changes at i, and adds to its sums. */
#define STEP(c)                                                                                    \
	const VECTOR y##c = READ(x##c, i) - a##c * v0 - b##c * v1;                                 \
	AT(x##c, i) = y##c;                                                                        \
	s##c += y##c * w0;                                                                         \
	t##c += y##c * w1

TARGET static void NAME(subtract_dots)(
        int64_t m, const REAL *const v[], const REAL *const w[], REAL *const x[], REAL *sums)
{
	REAL *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3];
	const REAL *const first = v[0], *const second = v[1], *const next = w[0],
	                  *const over = w[1];
	const REAL a0 = sums[0], a1 = sums[1], a2 = sums[2], a3 = sums[3];
	const REAL b0 = sums[4], b1 = sums[5], b2 = sums[6], b3 = sums[7];
	VECTOR total[2 * GRAM_TOGETHER] __attribute__((aligned(BYTES))) = {{0}};
	int64_t i = 0;

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
	for (int c = 0; c < 2 * GRAM_TOGETHER; c++)
		sums[c] = NAME(lanes)(&total[c]);
	for (; i < m; i++) {
		x0[i] -= a0 * first[i] + b0 * second[i];
		x1[i] -= a1 * first[i] + b1 * second[i];
		x2[i] -= a2 * first[i] + b2 * second[i];
		x3[i] -= a3 * first[i] + b3 * second[i];
		for (int c = 0; c < GRAM_TOGETHER; c++) {
			sums[c] += next[i] * x[c][i];
			sums[c + GRAM_TOGETHER] += over[i] * x[c][i];
		}
	}
}

#undef STEP
#undef VECTOR
#undef LANES
#undef AT
#undef READ
#undef PIECE
#undef REAL
#undef NAME
