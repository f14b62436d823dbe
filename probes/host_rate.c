/* SPDX-License-Identifier: MIT */
/* Question: how fast do the host's LAPACK panels and gemm run, what do its shortest BLAS calls
 * cost, and at which clock? Method: LAPACKE getrf and geqrf of m x n column-major panels, cblas
 * gemm of n x n matrices, at powers of two, with all threads of the BLAS; a fresh random matrix for
 * every call, made outside the timed interval. Short calls and dependent adds in long rows. What
 * can fool it: a BLAS that uses fewer threads than meant (its own environment variables), other
 *   programs on the cores, a matrix left in the cache by its making (it is: said, not hidden), an
 *   adder that is not one cycle.
 * Unit: seconds of one call; of one add for the clock. */
#include "../lib/base.h"
#include "../lib/clock.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void host_rate_fit(const struct table *curve, struct profile *profile);

/* Samples of a point: few, for each needs a new matrix. */
enum { LEAST_SAMPLES = 3, MOST_SAMPLES = 15, LARGEST_M = 16384, QUICK_M = 4096, LARGEST_N = 2048 };

struct rates {
	struct probe_run *run;
	void *a, *b, *c; /* matrices; a also holds the panels */
	void *tau;
	lapack_int *ipiv;
	uint64_t state; /* of the random numbers */
	double end;     /* clock_now() when one and a half budgets are spent */
	char dropped[256];
};

/* A call to be timed on matrices of m x n. */
struct call {
	struct rates *rates;
	bool (*run)(const struct call *call); /* false when the library reports an error */
	lapack_int m, n;
	bool is_double, three; /* three matrices instead of one */
};

/* ---- random matrices ---- */

static double next_random(uint64_t *state)
{
	*state ^= *state << 13; /* xorshift64 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(int64_t)*state * 0x1p-63;
}

static void make_random(struct rates *rates, void *matrix, bool is_double, size_t count)
{
	if (is_double)
		for (size_t i = 0; i < count; i++)
			((double *)matrix)[i] = next_random(&rates->state);
	else
		for (size_t i = 0; i < count; i++)
			((float *)matrix)[i] = (float)next_random(&rates->state);
}

/* ---- the calls ---- */

static bool run_getrf(const struct call *c)
{
	const struct rates *r = c->rates;
	return 0 ==
	       (c->is_double ? LAPACKE_dgetrf(LAPACK_COL_MAJOR, c->m, c->n, r->a, c->m, r->ipiv)
	                     : LAPACKE_sgetrf(LAPACK_COL_MAJOR, c->m, c->n, r->a, c->m, r->ipiv));
}

static bool run_geqrf(const struct call *c)
{
	const struct rates *r = c->rates;
	return 0 ==
	       (c->is_double ? LAPACKE_dgeqrf(LAPACK_COL_MAJOR, c->m, c->n, r->a, c->m, r->tau)
	                     : LAPACKE_sgeqrf(LAPACK_COL_MAJOR, c->m, c->n, r->a, c->m, r->tau));
}

static bool run_gemm(const struct call *call)
{
	const struct rates *r = call->rates;
	int n = call->n;
	if (call->is_double)
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1, r->a, n, r->b,
		        n, 1, r->c, n);
	else
		cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1, r->a, n, r->b,
		        n, 1, r->c, n);
	return true;
}

static bool take_call(void *context, struct sample *sample)
{
	const struct call *call = context;
	struct rates *rates = call->rates;
	size_t count = (size_t)call->m * (size_t)call->n;

	make_random(rates, rates->a, call->is_double, count);
	if (call->three) {
		make_random(rates, rates->b, call->is_double, count);
		make_random(rates, rates->c, call->is_double, count);
	}
	double start = clock_now();
	bool done = call->run(call);
	sample->span = sample->seconds = clock_now() - start;
	sample->agreed = true;
	return done;
}

/* ---- surfaces ---- */

/* Samples one point unless its samples, at the rate of the point before, would take the rest of the
 * time. *rate is flops per second; 0 before the first point. */
static void measure_call(struct call call, const char *series, double flops, double *rate)
{
	struct rates *rates = call.rates;
	const struct arg args[] = {{"m", call.m}, {"n", call.n}};
	struct sample_plan plan = {
	        .min_samples = LEAST_SAMPLES, .max_samples = MOST_SAMPLES, .target = 0.005};
	struct measurement measurement;
	struct sample first;

	if (*rate > 0 && clock_now() + LEAST_SAMPLES * flops / *rate > rates->end) {
		size_t used = strlen(rates->dropped);
		snprintf(rates->dropped + used, sizeof rates->dropped - used, "%s%s %dx%d",
		        used ? ", " : "", series, (int)call.m, (int)call.n);
		return;
	}
	double start = clock_now();
	bool worked = take_call(&call, &first); /* brings in code, threads and pages */
	plan.max_seconds =
	        fmax(2 * LEAST_SAMPLES * (clock_now() - start), rates->run->seconds / 300);
	if (!worked || !sample_run(take_call, &call, &plan, 0, &measurement)) {
		msg_warn("%s of %d x %d failed: not recorded", series, (int)call.m, (int)call.n);
		return;
	}
	*rate = flops / measurement.seconds.value;
	probe_record(rates->run, series, args, ARRAY_LEN(args), &measurement);
}

static void measure_panels(struct rates *rates)
{
	static const struct {
		const char *series;
		bool (*run)(const struct call *call);
		bool is_double;
		double flops; /* of the leading term m n^2 */
	} kinds[] = {{"getrf_s", run_getrf, false, 1}, {"getrf_d", run_getrf, true, 1},
	        {"geqrf_s", run_geqrf, false, 2}, {"geqrf_d", run_geqrf, true, 2}};
	double rate[ARRAY_LEN(kinds)][4] = {{0}};
	int largest = rates->run->common.quick ? QUICK_M : LARGEST_M;

	for (int m = 256; m <= largest; m *= 2)
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			for (int i = 0; i < 4; i++) {
				int n = 16 << i;
				struct call call = {.rates = rates,
				        .run = kinds[k].run,
				        .m = m,
				        .n = n,
				        .is_double = kinds[k].is_double};
				measure_call(call, kinds[k].series, kinds[k].flops * m * n * n,
				        &rate[k][i]);
			}
}

static void measure_gemm(struct rates *rates)
{
	double rate[2] = {0};

	for (int n = 256; n <= LARGEST_N; n *= 2)
		for (int d = 0; d < 2; d++) {
			struct call call = {.rates = rates,
			        .run = run_gemm,
			        .m = n,
			        .n = n,
			        .is_double = d == 1,
			        .three = true};
			measure_call(call, d ? "gemm_d" : "gemm_s", 2.0 * n * n * n, &rate[d]);
		}
}

/* ---- short calls and the clock ---- */

enum { SHORT_CALLS = 500, SHORT_N = 32, ADDS = 100, ADD_ROUNDS = 2000 };

static bool take_level1(void *context, struct sample *sample)
{
	struct rates *rates = context;
	double start = clock_now();
	for (int i = 0; i < SHORT_CALLS; i++)
		cblas_sscal(
		        SHORT_N, i % 2 ? 0.5f : 2.0f, rates->a, 1); /* neither grows nor vanishes */
	sample->span = clock_now() - start;
	sample->seconds = sample->span / SHORT_CALLS;
	sample->agreed = true;
	return true;
}

static bool take_level2(void *context, struct sample *sample)
{
	struct rates *rates = context;
	double start = clock_now();
	for (int i = 0; i < SHORT_CALLS; i++)
		cblas_sger(CblasColMajor, SHORT_N, SHORT_N, i % 2 ? 0.5f : -0.5f, rates->b, 1,
		        rates->c, 1, rates->a, SHORT_N);
	sample->span = clock_now() - start;
	sample->seconds = sample->span / SHORT_CALLS;
	sample->agreed = true;
	return true;
}

#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#endif

#ifdef ADD
#define ADD10 ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD

/* Adds of two registers: those of a constant take no cycle on some processors. */
static bool take_clock(void *context, struct sample *sample)
{
	struct rates *rates = context;
	uint64_t sum = rates->state, term = rates->state | 1;
	double start = clock_now();
	for (int i = 0; i < ADD_ROUNDS; i++)
		__asm__ volatile(ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10
		                 : "+r"(sum)
		                 : "r"(term));
	sample->span = clock_now() - start;
	sample->seconds = sample->span / (ADD_ROUNDS * ADDS);
	sample->agreed = true;
	return true;
}
#endif

static void measure_short(struct rates *rates)
{
	const struct {
		const char *series;
		sample_function take;
	} kinds[] = {
#ifdef ADD
	        {"clock", take_clock},
#endif
	        {"level1", take_level1}, {"level2", take_level2}};
	struct sample_plan plan = sample_plan_default(rates->run->seconds / 40);
	struct measurement measurement;

	make_random(rates, rates->a, false, SHORT_N * SHORT_N);
	make_random(rates, rates->b, false, SHORT_N);
	make_random(rates, rates->c, false, SHORT_N);
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		if (sample_run(kinds[k].take, rates, &plan, 0, &measurement))
			probe_record(rates->run, kinds[k].series, NULL, 0, &measurement);
}

static void measure(struct probe_run *run)
{
	size_t square = (size_t)LARGEST_N * LARGEST_N * sizeof(double); /* holds the panels too */
	struct rates rates = {.run = run,
	        .a = xmalloc(square),
	        .b = xmalloc(square),
	        .c = xmalloc(square),
	        .tau = xmalloc(LARGEST_N * sizeof(double)),
	        .ipiv = xmalloc(LARGEST_N * sizeof(lapack_int)),
	        .state = (uint64_t)run->common.seed * 0x9e3779b97f4a7c15u | 1,
	        .end = clock_now() + 1.5 * run->seconds};

	measure_short(&rates);
	measure_panels(&rates);
	measure_gemm(&rates);
	if (rates.dropped[0])
		table_meta_set(run->curve, "dropped", "%s: the time was spent", rates.dropped);
	free(rates.ipiv);
	free(rates.tau);
	free(rates.c);
	free(rates.b);
	free(rates.a);
}

int main(int argc, char **argv)
{
	static const char *const args[] = {"m", "n"};
	static const struct probe probe = {
	        .name = "host_rate",
	        .question = "How fast do the host's LAPACK panels, its gemm and its shortest BLAS "
	                    "calls run?",
	        .args = args,
	        .arg_count = ARRAY_LEN(args),
	        .seconds = 3,
	        .measure = measure,
	        .fit = host_rate_fit,
	};
	return probe_main(argc, argv, &probe);
}
