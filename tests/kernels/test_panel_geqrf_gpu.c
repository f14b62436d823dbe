/* SPDX-License-Identifier: MIT */
/* Householder panels on the device: residual and orthogonality of every column in double precision,
 * R and tau those of LAPACK up to rounding, tau = 0 where LAPACK has it, padding untouched, the
 * same bits again, whatever the work area holds and wherever a panel of the Gram matrix lies; on
 * random, graded, deficient, nearly dependent, zero, huge, tiny and NaN matrices. */
#include "tests/tap.h"

#include "panel_forms.h"

#include "factor/validation/check.h"

static const struct shape shapes[] = {
        {1, 1, 0},
        {2, 1, 3},
        {2, 2, 1},
        {5, 3, 2},
        {32, 32, 0},
        {33, 31, 1},
        {127, 65, 2},
        {128, 128, 0},
        {129, 127, 5},
        {257, 33, 7},
        {300, 64, 0},
        {777, 32, 1},
        {1000, 64, 24},
        {2049, 128, 31},
        {4095, 17, 0},
        {4001, 64, 0},
        {4090, 128, 6},
        {7000, 64, 8},
        {8191, 33, 1},
        {9001, 60, 2},
        {9001, 100, 3},
        {16897, 63, 1},
        {34000, 64, 0},
        {40001, 30, 3},
        {68001, 20, 5},
};

/* What is done to a random matrix beyond the kinds of matrices.h. */
enum extreme {
	AS_IS,
	BIG,
	TINY,
	SUBNORMAL,
	WILD,
	WILD_BACKWARDS,
	NEARLY_DEPENDENT,
	ALL_ZERO,
	INFINITE,
	EXTREMES
};
static const char *const extreme_name[EXTREMES] = {"", "near overflow", "near underflow",
        "subnormal", "columns from tiny to huge", "columns from huge to tiny",
        "pairs of nearly the same columns", "zero", "infinite"};

/* Exponent that column k is moved by. */
static int exponent_of(enum extreme extreme, int64_t k, const struct shape *s, enum precision p)
{
	const int far = p == SINGLE ? 110 : 1000;
	const int64_t last = s->n > 1 ? s->n - 1 : 1;
	const int graded = (int)(2 * far * k / last) - far;
	switch (extreme) {
	case BIG:
		return far;
	case TINY:
		return -far;
	case SUBNORMAL:
		return p == SINGLE ? -132 : -1045;
	case WILD:
		return graded;
	case WILD_BACKWARDS:
		return -graded;
	default:
		return 0;
	}
}

static void make_extreme(
        void *a, int64_t lda, const struct shape *s, enum precision p, enum extreme extreme)
{
	for (int64_t k = 0; k < s->n; k++)
		for (int64_t i = 0; i < s->m; i++) {
			double value = get(a, i + k * lda, p);
			if (extreme == NEARLY_DEPENDENT && k % 2)
				value = ldexp(value, -10) + get(a, i + (k - 1) * lda, p);
			if (extreme == ALL_ZERO)
				value = 0;
			if (extreme == INFINITE && i == s->m / 2 && k == s->n / 2)
				value = INFINITY;
			put(a, i + k * lda, p, ldexp(value, exponent_of(extreme, k, s, p)));
		}
}

/* Rounding moves R and tau of well-conditioned matrices only a little. */
static bool compares(enum matrix_kind kind, enum extreme extreme, const struct shape *s)
{
	return kind == MATRIX_RANDOM && extreme != NEARLY_DEPENDENT && s->m >= 4 * s->n;
}

static void check_one(struct panel_device *d, enum panel_form form, const struct shape *s,
        enum precision precision, enum matrix_kind kind, enum extreme extreme)
{
	const int64_t lda = panel_lda(s);
	void *a0 = xmalloc(panel_bytes(precision, s));
	matrix_fill(a0, lda, s->m, s->n, precision, kind, (uint64_t)(s->m + kind));
	make_extreme(a0, lda, s, precision, extreme);
	panel_give(d, form, precision, s, a0);
	struct result r = panel_factorize(d, form, precision, s, 0xff);
	struct result again = panel_factorize(d, form, precision, s, 0xff);
	char *name = xasprintf("%s %c %" PRId64 " x %" PRId64 " lda %" PRId64 " %s %s",
	        panel_form_name[form], precision, s->m, s->n, lda, matrix_kind_name[kind],
	        extreme_name[extreme]);
	const bool repeats = panel_same(&r, &again);
	const bool intact = matrix_padding_intact(r.a, lda, s->m, s->n, precision);

	if (matrix_has_nan(kind) || (extreme == INFINITE && s->m > 1)) {
		ok((any_nan(r.a, lda, s->m, s->n, precision) ||
		           any_nan(r.tau, s->n, s->n, 1, precision)) &&
		                intact,
		        "%s: ends and a NaN is seen", name);
	} else if (extreme != INFINITE) {
		struct quality q = quality_of(a0, &r, lda, s, precision);
		const double close = compares(kind, extreme, s) ? 100 * (double)s->n : INFINITY;
		/* of all kinds, these have exact zeros below the diagonal or none at all */
		const bool zeros =
		        kind == MATRIX_UPPER || kind == MATRIX_DIAGONAL || kind == MATRIX_RANDOM;
		if (!ok(q.residual < CHECK_THRESHOLD && q.orthogonality < CHECK_THRESHOLD &&
		                    q.r_error <= close && q.tau_error <= close && repeats &&
		                    intact && (q.tau_zeros || !zeros),
		            "%s: residual, orthogonality, R, tau, padding, repeatable", name))
			diag("residual %.3g orthogonality %.3g R %.3g tau %.3g zeros %d repeats %d "
			     "intact %d",
			        q.residual, q.orthogonality, q.r_error, q.tau_error, q.tau_zeros,
			        repeats, intact);
	}
	free(name);
	result_free(&r);
	result_free(&again);
	free(a0);
}

/* ---- V and T ---- */

static double *fetched(const void *device, int64_t count, enum precision precision)
{
	const size_t bytes = (size_t)(count * precision_bytes(precision));
	void *data = xmalloc(bytes);
	double *wide = xmalloc((size_t)count * sizeof *wide);

	GPU(cudaMemcpy(data, device, bytes, cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < count; i++)
		wide[i] = get(data, i, precision);
	free(data);
	return wide;
}

/* V: as a has it. T: to a few roundings LAPACK's of that V. The largest difference of both, and of
 * zeros; NaN where something was not written. */
static double reflector_error(
        const double *a, const double *tau, const double *v, const double *t, const struct shape *s)
{
	const int m = (int)s->m, n = (int)s->n;
	double *want = xmalloc((size_t)(n * n) * sizeof *want), error = 0;

	LAPACKE_dlarft(LAPACK_COL_MAJOR, 'F', 'C', m, n, v, m, tau, want, n);
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < m; i++) {
			const double is = i > k ? a[i + k * s->m] : i == k;
			error = v[i + k * s->m] == is ? error : NAN;
		}
		for (int i = 0; i < n; i++) {
			const double gap = fabs(t[i + k * n] - (i <= k ? want[i + k * n] : 0));
			error = gap <= error ? error : gap;
		}
	}
	free(want);
	return error;
}

static void check_reflector(
        const struct shape *s, enum precision precision, bool gram, enum matrix_kind kind)
{
	const int64_t word = precision_bytes(precision), count = s->m * s->n;
	const int64_t work = (panel_geqrf_work(precision, s->m, s->n, gram) + 15) / 16 * 16;
	const double eps = precision == SINGLE ? FLT_EPSILON : DBL_EPSILON;
	char *room = NULL;
	void *host = xmalloc((size_t)(count * word));
	const size_t bytes = (size_t)((2 * count + s->n + s->n * s->n) * word + work);

	matrix_fill(host, s->m, s->m, s->n, precision, kind, 5);
	GPU(cudaMalloc((void **)&room, bytes));
	GPU(cudaMemset(room, 0xff, bytes));
	char *a = room + work, *v = a + count * word, *t = v + count * word,
	     *tau = t + s->n * s->n * word;
	GPU(cudaMemcpy(a, host, (size_t)(count * word), cudaMemcpyHostToDevice));
	const struct block_reflector r = {v, s->m, t, s->n};
	GPU(panel_geqrf(precision, a, s->m, s->m, s->n, tau, false, gram, false, &r, room, NULL));
	double *got_a = fetched(a, count, precision), *got_v = fetched(v, count, precision);
	double *got_t = fetched(t, s->n * s->n, precision),
	       *got_tau = fetched(tau, s->n, precision);
	const double error = reflector_error(got_a, got_tau, got_v, got_t, s);
	if (!ok(error <= 20 * (double)s->n * eps, "V and T %c %" PRId64 " x %" PRId64 " %s%s",
	            precision, s->m, s->n, matrix_kind_name[kind],
	            gram ? ", Gram matrix if possible" : ""))
		diag("error %.3g", error);
	GPU(cudaFree(room));
	free(host);
	free(got_a);
	free(got_v);
	free(got_t);
	free(got_tau);
}

/* ---- the panel's place in memory ---- */

/* tau and the panel by the Gram matrix where x lies from word `base` on in memory full of NaN,
 * which must stay as it is; the caller frees them. */
static double *placed_result(
        struct panel_device *d, const double *x, const struct shape *s, int64_t base, bool *intact)
{
	const int64_t lda = panel_lda(s), words = base + lda * s->n + 1;
	const size_t bytes = (size_t)words * sizeof(double), column = (size_t)s->m * sizeof(double);
	double *all = xmalloc(bytes), *got = xmalloc((size_t)s->n * (column + sizeof *got));
	struct panel_device there = *d;

	memset(all, 0xff, bytes);
	for (int64_t k = 0; k < s->n; k++)
		memcpy(all + base + k * lda, x + k * s->m, column);
	GPU(cudaMemcpy(d->a, all, bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemset(d->tau, 0xff, (size_t)s->n * sizeof(double)));
	GPU(cudaDeviceSynchronize());
	there.a = (double *)d->a + base;
	by_gram(&there, DOUBLE, s);
	GPU(cudaStreamSynchronize(d->stream));
	GPU(cudaMemcpy(all, d->a, bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(got, d->tau, (size_t)s->n * sizeof *got, cudaMemcpyDeviceToHost));
	for (int64_t k = 0; k < s->n; k++) {
		memcpy(got + s->n + k * s->m, all + base + k * lda, column);
		memset(all + base + k * lda, 0xff, column);
	}
	*intact = true;
	for (size_t i = 0; i < bytes; i++)
		*intact = *intact && ((unsigned char *)all)[i] == 0xff;
	free(all);
	return got;
}

/* The same bits with columns of even and odd length, at 16 bytes and one element off them. */
static void check_places(struct panel_device *d, int64_t m, int64_t n, enum extreme extreme)
{
	const struct shape plain = {m, n, 0};
	const int64_t words = (m + 1) * n;
	double *x = xmalloc(panel_bytes(DOUBLE, &plain)), *first = NULL;

	matrix_fill(x, m, m, n, DOUBLE, MATRIX_RANDOM, 3);
	make_extreme(x, m, &plain, DOUBLE, extreme);
	panel_give(d, QR_GRAM, DOUBLE, &plain, x);
	for (int i = 0; i < 4; i++) {
		const struct shape s = {m, n, 2 - (m + i) % 2};
		bool intact;
		double *got = placed_result(d, x, &s, i / 2, &intact);
		const bool same = !first || memcmp(got, first, (size_t)words * sizeof *got) == 0;
		const bool good = !any_nan(got, words, words, 1, DOUBLE);

		if (!ok(intact && same && good,
		            "%" PRId64 " x %" PRId64 " %s lda %" PRId64 " base %d: the same bits, "
		            "memory around the panel untouched",
		            m, n, extreme_name[extreme], panel_lda(&s), i / 2))
			diag("same %d intact %d without NaN %d", same, intact, good);
		if (first)
			free(got);
		else
			first = got;
	}
	free(first);
	free(x);
}

static void check_shape(
        struct panel_device *d, enum panel_form form, const struct shape *s, enum precision p)
{
	const bool all_kinds = s->m <= test_at_most(2049, 33);

	if (!panel_fits(form, p, s->m, s->n) || (form == QR_COLUMNS && !test_fits(s->m, s->n)))
		return;
	for (int kind = 0; kind < MATRIX_KINDS; kind++)
		if (kind == MATRIX_RANDOM || (all_kinds && s->m > 2 && test_turn((size_t)kind, 3)))
			check_one(d, form, s, p, (enum matrix_kind)kind, AS_IS);
	for (int extreme = AS_IS + 1; extreme < EXTREMES; extreme++)
		if (all_kinds && test_turn((size_t)extreme, 3))
			check_one(d, form, s, p, MATRIX_RANDOM, (enum extreme)extreme);
}

int main(void)
{
	static const enum matrix_kind reflected[] = {
	        MATRIX_RANDOM, MATRIX_ZERO_MIDDLE, MATRIX_RANK_DEFICIENT, MATRIX_UPPER};
	static const struct shape as_chosen[] = {{1000, 64, 0}, {20001, 50, 2}, {200000, 33, 0}};
	static const struct shape placed[] = {{70, 64, 0}, {9999, 64, 0}, {20000, 63, 0},
	        {40009, 64, 0}, {30011, 31, 0}, {20001, 32, 0}};
	struct panel_device d = panel_device_open();
	/* in a small run: taller panels are in other kernels, and shorter ones are not */
	const int64_t least = test_small() ? 33 : 0;

	for (size_t i = 0; i < 2 * ARRAY_LEN(shapes); i++) {
		const enum precision p = i % 2 ? DOUBLE : SINGLE;
		const struct shape *s = &shapes[i / 2];
		if (s->m < least)
			continue;
		for (enum panel_form form = QR_CLUSTER; form < QR_CHOSEN; form++)
			check_shape(&d, form, s, p);
		for (size_t k = 0; k < 2 * ARRAY_LEN(reflected); k++) {
			const bool gram = k % 2 && p == DOUBLE && panel_gram_takes(p, s->m, s->n);
			if (panel_geqrf_reflects(p, s->m, s->n, gram) && gram == (k % 2 == 1))
				check_reflector(s, p, gram, reflected[k / 2]);
		}
	}
	for (size_t i = 0; i < 2 * ARRAY_LEN(as_chosen); i++)
		check_one(&d, QR_CHOSEN, &as_chosen[i / 2], i % 2 ? DOUBLE : SINGLE, MATRIX_RANDOM,
		        AS_IS);
	for (size_t i = 0; i < ARRAY_LEN(placed) && panel_fits(QR_GRAM, DOUBLE, 64, 64); i++) {
		check_places(&d, placed[i].m, placed[i].n, AS_IS);
		check_places(&d, placed[i].m, placed[i].n, NEARLY_DEPENDENT);
	}
	ok(!panel_geqrf_resident_fits(SINGLE, 4000000, 64), "4000000 x 64 does not fit");
	return finish();
}
