/* SPDX-License-Identifier: MIT */
/* Householder panels on the device: residual and orthogonality of every column in double precision,
 * R and tau those of LAPACK up to rounding, tau = 0 where LAPACK has it, padding untouched, the
 * same bits again, whatever the work area holds; on random, graded, deficient, zero, huge, tiny and
 * NaN matrices. */
#include "tests/tap.h"

#ifndef FATHOM_CUDA
int main(void)
{
	skip_all("built without the CUDA Toolkit");
}
#else

#include "tests/algorithms/panel_quality.h"

#include "factor/validation/check.h"
#include "factor/kernels/qr/panel_geqrf.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>

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
enum extreme { AS_IS, BIG, TINY, WILD, WILD_BACKWARDS, ALL_ZERO, INFINITE, EXTREMES };
static const char *const extreme_name[EXTREMES] = {"", "near overflow", "near underflow",
        "columns from tiny to huge", "columns from huge to tiny", "zero", "infinite"};

struct variant {
	const char *name;
	int64_t (*work)(enum precision, int64_t m, int64_t n);
	int (*run)(enum precision, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
	        void *work, void *stream);
};

static int resident_alone(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, void *work, void *stream)
{
	return panel_geqrf_resident_unless(NULL, precision, a, lda, m, n, tau, false, work, stream);
}

static int chosen_beside(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, void *work, void *stream)
{
	return panel_geqrf(precision, a, lda, m, n, tau, true, NULL, work, stream);
}

/* Where the Gram matrix does not do, column by column. */
static int64_t gram_work(enum precision precision, int64_t m, int64_t n)
{
	return panel_geqrf_gram_work() + panel_geqrf_columns_work(precision, m, n);
}

static int by_gram(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
        void *work, void *stream)
{
	int error = panel_geqrf_gram_begin(a, lda, m, n, work, work, stream);
	if (!error)
		error = panel_geqrf_columns_unless(work, precision, a, lda, m, n, tau,
		        (char *)work + panel_geqrf_gram_work(), stream);
	return error ? error : panel_geqrf_gram_end(a, lda, m, n, tau, work, NULL, work, stream);
}

/* The same in one kernel. */
static int by_gram_cluster(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, void *work, void *stream)
{
	(void)precision;
	return panel_geqrf_gram_cluster(a, lda, m, n, tau, NULL, work, stream);
}

static int64_t gram_cluster_work(enum precision precision, int64_t m, int64_t n)
{
	(void)precision;
	(void)m;
	(void)n;
	return panel_geqrf_gram_work();
}

static int cluster_alone(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, void *work, void *stream)
{
	return panel_geqrf_cluster_unless(NULL, precision, a, lda, m, n, tau, NULL, work, stream);
}

static const struct variant resident = {"resident", panel_geqrf_resident_work, resident_alone};
static const struct variant cluster = {"cluster", panel_geqrf_cluster_work, cluster_alone};
static const struct variant tall = {"gram", gram_work, by_gram};
static const struct variant tall_cluster = {"gram, one kernel", gram_cluster_work, by_gram_cluster};
static int columns_alone(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, void *work, void *stream)
{
	return panel_geqrf_columns_unless(NULL, precision, a, lda, m, n, tau, work, stream);
}

static const struct variant columns = {"columns", panel_geqrf_columns_work, columns_alone};
static const struct variant chosen = {"model", panel_geqrf_work, chosen_beside};

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
			if (extreme == ALL_ZERO)
				value = 0;
			if (extreme == INFINITE && i == s->m / 2 && k == s->n / 2)
				value = INFINITY;
			put(a, i + k * lda, p, ldexp(value, exponent_of(extreme, k, s, p)));
		}
}

static struct result factorize(const struct variant *variant, const void *a0, int64_t lda,
        const struct shape *s, enum precision precision)
{
	const int64_t word = precision_bytes(precision);
	struct result r = {
	        .bytes = (size_t)(lda * s->n * word), .tau_bytes = (size_t)(s->n * word)};
	const size_t work_bytes = (size_t)variant->work(precision, s->m, s->n);
	void *a = NULL, *tau = NULL, *work = NULL;

	r.a = xmalloc(r.bytes);
	r.tau = xmalloc(r.tau_bytes);
	GPU(cudaMalloc(&a, r.bytes));
	GPU(cudaMalloc(&tau, r.tau_bytes));
	GPU(cudaMalloc(&work, work_bytes));
	GPU(cudaMemset(tau, 0xff, r.tau_bytes));
	GPU(cudaMemset(work, 0xff, work_bytes));
	GPU(cudaMemcpy(a, a0, r.bytes, cudaMemcpyHostToDevice));
	GPU(variant->run(precision, a, lda, s->m, s->n, tau, work, NULL));
	GPU(cudaDeviceSynchronize());
	GPU(cudaMemcpy(r.a, a, r.bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(r.tau, tau, r.tau_bytes, cudaMemcpyDeviceToHost));
	GPU(cudaFree(a));
	GPU(cudaFree(tau));
	GPU(cudaFree(work));
	return r;
}

static bool any_nan(const struct result *r, int64_t lda, const struct shape *s, enum precision p)
{
	for (int64_t k = 0; k < s->n; k++) {
		if (isnan(get(r->tau, k, p)))
			return true;
		for (int64_t i = 0; i < s->m; i++)
			if (isnan(get(r->a, i + k * lda, p)))
				return true;
	}
	return false;
}

/* Rounding moves R and tau of well-conditioned matrices only a little. */
static bool compares(enum matrix_kind kind, const struct shape *s)
{
	return kind == MATRIX_RANDOM && s->m >= 4 * s->n;
}

static void check_one(const struct variant *variant, const struct shape *s,
        enum precision precision, enum matrix_kind kind, enum extreme extreme)
{
	const int64_t lda = s->m + s->padding;
	void *a0 = xmalloc((size_t)(lda * s->n * precision_bytes(precision)));
	matrix_fill(a0, lda, s->m, s->n, precision, kind, (uint64_t)(s->m + kind));
	make_extreme(a0, lda, s, precision, extreme);
	struct result r = factorize(variant, a0, lda, s, precision);
	struct result again = factorize(variant, a0, lda, s, precision);
	char *name =
	        xasprintf("%s %c %" PRId64 " x %" PRId64 " lda %" PRId64 " %s %s", variant->name,
	                precision, s->m, s->n, lda, matrix_kind_name[kind], extreme_name[extreme]);
	const bool repeats =
	        memcmp(r.a, again.a, r.bytes) == 0 && memcmp(r.tau, again.tau, r.tau_bytes) == 0;
	const bool intact = matrix_padding_intact(r.a, lda, s->m, s->n, precision);

	if (matrix_has_nan(kind) || (extreme == INFINITE && s->m > 1)) {
		ok(any_nan(&r, lda, s, precision) && intact, "%s: ends and a NaN is seen", name);
	} else if (extreme != INFINITE) {
		struct quality q = quality_of(a0, &r, lda, s, precision);
		const double close = compares(kind, s) ? 100 * (double)s->n : INFINITY;
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
	free(r.a);
	free(r.tau);
	free(again.a);
	free(again.tau);
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

static void check_reflector(const struct shape *s, enum precision precision, enum matrix_kind kind)
{
	const int64_t word = precision_bytes(precision), count = s->m * s->n;
	const int64_t work = (panel_geqrf_work(precision, s->m, s->n) + 15) / 16 * 16;
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
	GPU(panel_geqrf(precision, a, s->m, s->m, s->n, tau, false, &r, room, NULL));
	double *got_a = fetched(a, count, precision), *got_v = fetched(v, count, precision);
	double *got_t = fetched(t, s->n * s->n, precision),
	       *got_tau = fetched(tau, s->n, precision);
	const double error = reflector_error(got_a, got_tau, got_v, got_t, s);
	if (!ok(error <= 20 * (double)s->n * eps, "V and T %c %" PRId64 " x %" PRId64 " %s",
	            precision, s->m, s->n, matrix_kind_name[kind]))
		diag("error %.3g", error);
	GPU(cudaFree(room));
	free(host);
	free(got_a);
	free(got_v);
	free(got_t);
	free(got_tau);
}

static void check_shape(const struct variant *variant, const struct shape *s, enum precision p)
{
	const bool small = s->m <= 2049;
	for (int kind = 0; kind < MATRIX_KINDS; kind++)
		if (kind == MATRIX_RANDOM || (small && s->m > 2))
			check_one(variant, s, p, (enum matrix_kind)kind, AS_IS);
	for (int extreme = AS_IS + 1; extreme < EXTREMES; extreme++)
		if (small)
			check_one(variant, s, p, MATRIX_RANDOM, (enum extreme)extreme);
}

int main(int argc, char **argv)
{
	struct fault fault;
	struct gpu gpu;
	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	/* limits on the rows, for runs under a checker */
	const int64_t most = argc > 1 ? atoll(argv[1]) : INT64_MAX;
	const int64_t least = argc > 2 ? atoll(argv[2]) : 0;

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int d = 0; d < 2; d++) {
			const enum precision p = d ? DOUBLE : SINGLE;
			const struct shape *s = &shapes[i];
			if (s->m > most || s->m < least)
				continue;
			if (panel_geqrf_resident_fits(p, s->m, s->n))
				check_shape(&resident, s, p);
			if (panel_geqrf_cluster_fits(p, s->m, s->n))
				check_shape(&cluster, s, p);
			if (panel_geqrf_reflects(p, s->m, s->n)) {
				check_reflector(s, p, MATRIX_RANDOM);
				check_reflector(s, p, MATRIX_ZERO_MIDDLE);
				check_reflector(s, p, MATRIX_RANK_DEFICIENT);
				check_reflector(s, p, MATRIX_UPPER);
			}
			if (p == SINGLE && panel_geqrf_gram_fits(s->m, s->n))
				check_shape(&tall, s, p);
			if (p == SINGLE && panel_geqrf_gram_cluster_fits(s->m, s->n))
				check_shape(&tall_cluster, s, p);
			check_shape(&columns, s, p);
		}
	if (most == INT64_MAX) {
		check_one(&chosen, &(struct shape){1000, 64, 0}, SINGLE, MATRIX_RANDOM, AS_IS);
		check_one(&chosen, &(struct shape){20001, 50, 2}, SINGLE, MATRIX_RANDOM, AS_IS);
		check_one(&chosen, &(struct shape){200000, 33, 0}, SINGLE, MATRIX_RANDOM, AS_IS);
		ok(!panel_geqrf_resident_fits(SINGLE, 4000000, 64), "4000000 x 64 does not fit");
	}
	return finish();
}
#endif
