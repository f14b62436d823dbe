/* SPDX-License-Identifier: MIT */
/* Updates under lasting load. The GPU rests; then large products of random data follow each other.
 * Power limits lower the clock after some time. A point is the mean of a call from the begin of the
 * load on. One process goes on to the last point, since all would take too long. */
#include "gemm_rate_internal.h"

#include "factor/kernels/gemm/tf32.h"
#include "lib/probe/probe_point.h"

#include <time.h>

enum { SIDE = 8192, LEAST_SIDE = 1024, RANK = 512 };

/* The updates of factorizations, by the mode of their arithmetic. */
static const struct load {
	const char *series;
	enum kind kind;
	enum math math;
	int k;
} loads[] = {{"lasting_s", GEMM, FP32, RANK}, {"lasting_d", GEMM, FP64, RANK},
        {"lasting_tf32", GEMM, TF32, 3 * TF32_PIECE},
        {"lasting_half", HALF_GEMM, FP32, TF32_PIECE}};

/* Seconds after the begin. Processes but the first end after so many of them. */
static const double points[] = {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2};
enum { SHORT_POINTS = 4 };

static const double idle_seconds = 0.3, sample_seconds = 10e-3;
static const double clocks_agree = 0.002; /* as gpu_span_sample */

static struct arg point_arg(size_t i)
{
	return (struct arg){"elapsed", points[i]};
}

/* How many points this process goes through: up to the last one that it wants. */
static size_t points_of(const struct probe_run *run, const char *series)
{
	size_t count = run->process > 0 && !run->wanted ? SHORT_POINTS : ARRAY_LEN(points);

	while (count > 0 && !probe_wants(run, series, (struct arg[]){point_arg(count - 1)}, 1))
		count--;
	return count;
}

static void halve(struct product *p)
{
	p->m /= 2;
	p->n /= 2;
}

static double seconds_of(struct product *p, const char *series, int calls, struct sample *sample)
{
	if (!blas_rate_sample(&p->bench->rate, gemm_rate_put, p, calls, sample))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	return sample->seconds;
}

/* Loads the code, and makes the product smaller on a slow device. Returns the calls of a sample. */
static int calls_of(struct product *p, const char *series)
{
	struct sample sample;
	double seconds;

	seconds_of(p, series, 1, &sample);
	while ((seconds = seconds_of(p, series, 1, &sample)) > sample_seconds / 2 &&
	        p->n > LEAST_SIDE)
		halve(p);
	return (int)fmax(1, ceil(sample_seconds / seconds));
}

/* Afterwards the clock is the one of short runs. */
static void rest(struct blas_rate *rate)
{
	const struct timespec pause = {.tv_nsec = (long)(idle_seconds * 1e9)};

	nanosleep(&pause, NULL);
	blas_rate_rest(rate);
}

/* What the samples so far say. */
struct progress {
	double seconds, cycles; /* of calls, in all */
	size_t samples, discarded;
};

static void record(struct probe_run *run, const char *series, size_t i, const struct progress *done)
{
	const double mean = done->seconds / (double)done->samples;
	const struct measurement m = {.seconds = {mean, mean * (1 - clocks_agree),
	                                      mean * (1 + clocks_agree), done->samples},
	        .discarded = done->discarded,
	        .hz = done->cycles / done->seconds};

	probe_record(run, series, (struct arg[]){point_arg(i)}, 1, &m);
}

static void measure_load(struct product *p, const char *series, size_t count)
{
	struct blas_rate *rate = &p->bench->rate;
	struct progress done = {.samples = 0};
	const int calls = calls_of(p, series);

	rest(rate);
	const double begun = clock_now();
	for (size_t next = 0; next < count;) {
		struct sample sample;
		const double seconds = seconds_of(p, series, calls, &sample);
		if (sample.agreed) {
			done.seconds += seconds;
			done.cycles += seconds * sample.hz;
			done.samples++;
		} else {
			done.discarded++;
		}
		for (; next < count && clock_now() >= begun + points[next]; next++)
			record(rate->run, series, next, &done);
	}
}

void gemm_rate_lasting(struct bench *bench)
{
	struct probe_run *run = bench->rate.run;
	const double begun = clock_now();

	for (size_t i = 0; i < ARRAY_LEN(loads); i++) {
		const struct load *l = &loads[i];
		struct product p = {bench, l->kind, l->math, SIDE, SIDE, l->k};
		const size_t count = points_of(run, l->series);
		if (!gemm_rate_has(bench, l->kind, l->math)) {
			if (gemm_rate_is_half(l->kind))
				probe_lacks(run, &bench->rate.gpu, l->series, 90);
			continue;
		}
		if (count == 0)
			continue;
		while ((int64_t)p.n * p.n > bench->elements)
			halve(&p);
		gemm_rate_fill(bench, l->math);
		if (gemm_rate_is_half(l->kind))
			gemm_rate_fill_pair(&p);
		probe_profile(run, gemm_rate_put, &p, bench->rate.stream);
		measure_load(&p, l->series, count);
	}
	msg_note("lasting load took %.2f s", clock_now() - begun);
}
