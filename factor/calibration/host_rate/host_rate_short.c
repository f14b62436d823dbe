/* SPDX-License-Identifier: MIT */
/* Short BLAS calls, and long rows of dependent adds for the clock. */
#include "host_rate_internal.h"

#include "lib/host/clock.h"

#include <cblas.h>
#include <math.h>

enum { SHORT_CALLS = 500, SHORT_N = 32 };

static void call_level1(float *a, int turn)
{
	cblas_sscal(SHORT_N, turn % 2 ? 0.5f : 2.0f, a, 1); /* neither grows nor vanishes */
}

static void call_level2(float *a, int turn)
{
	float *x = a + SHORT_N * SHORT_N, *y = x + SHORT_N;
	cblas_sger(
	        CblasColMajor, SHORT_N, SHORT_N, turn % 2 ? 0.5f : -0.5f, x, 1, y, 1, a, SHORT_N);
}

struct short_call {
	float *a;
	void (*call)(float *a, int turn); /* NULL: adds */
};

static bool take_short(void *context, struct sample *sample)
{
	struct short_call *kind = context;
	double start = clock_now();

	for (int i = 0; kind->call && i < SHORT_CALLS; i++)
		kind->call(kind->a, i);
	sample->seconds = kind->call ? (clock_now() - start) / SHORT_CALLS : 1 / clock_core_hz();
	sample->span = clock_now() - start;
	sample->agreed = true;
	return !isnan(sample->seconds);
}

void measure_short(struct rates *rates)
{
	static const char *const series[] = {"clock", "level1", "level2"};
	float *a = (float *)rates->a;
	struct short_call kind[] = {{a, NULL}, {a, call_level1}, {a, call_level2}};
	struct sample_plan plan = sample_plan_default(rates->run->seconds / 80);
	struct measurement measurement;

	for (size_t k = 0; k < ARRAY_LEN(kind); k++)
		if (probe_wants(rates->run, series[k], NULL, 0) &&
		        core_noise_sample_run(
		                rates->noise, take_short, &kind[k], &plan, 0, &measurement))
			probe_record(rates->run, series[k], NULL, 0, &measurement);
}
