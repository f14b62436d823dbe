/* SPDX-License-Identifier: MIT */
/* Question: what do an OpenMP fork/join and a barrier inside a parallel region cost, and how many
 * multiply-adds do threads do, against their number?
 *
 * Method: threads bound to a core each (at most pinned_largest); many empty parallel regions in a
 * row, timed together; one region with many barriers, less an empty region; independent
 * multiply-adds of the widest vectors by all threads at once. Threads wait by OpenMP's defaults.
 *
 * What can fool it: threads that fall asleep between regions (regions follow at once, as in a loop
 * of parallel steps); interference on the cores; a virtual machine's scheduler.
 *
 * Unit: seconds of one region, of one barrier, of one flop of all threads together. */
#include "lib/host/clock.h"
#include "lib/host/fma.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"
#include "lib/host/pinned_threads.h"

#include <math.h>

struct bench {
	int threads, count; /* operations of one sample */
	const struct pinned_threads *pinned;
	bool undisturbed; /* before the next sample */
};

static double time_regions(int threads, int count)
{
	double start = clock_now();
	for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(threads)
		__asm__ volatile("" ::: "memory"); /* empty, but not removable */
	}
	return clock_now() - start;
}

static double time_barriers(int threads, int count)
{
	double start = clock_now();
#pragma omp parallel num_threads(threads)
	for (int i = 0; i < count; i++) {
#pragma omp barrier
	}
	return clock_now() - start;
}

static bool take_fork(void *context, struct sample *sample)
{
	struct bench *bench = context;
	sample->span = time_regions(bench->threads, bench->count);
	sample->seconds = sample->span / bench->count;
	sample->agreed = true;
	sample->disturbed = pinned_disturbed_around(bench->pinned, &bench->undisturbed);
	return true;
}

static bool take_barrier(void *context, struct sample *sample)
{
	struct bench *bench = context;
	double empty = time_regions(bench->threads, 1);
	sample->span = time_barriers(bench->threads, bench->count);
	sample->seconds = (sample->span - empty) / bench->count;
	sample->agreed = sample->seconds > 0;
	sample->disturbed = pinned_disturbed_around(bench->pinned, &bench->undisturbed);
	return true;
}

static bool take_fma(struct bench *bench, struct sample *sample, bool is_double)
{
	static const double span = 1e-4;
	double flops = 0;

#pragma omp parallel num_threads(bench->threads) reduction(+ : flops)
	{
#pragma omp barrier
		flops += fma_flops(is_double, span);
	}
	sample->span = span;
	sample->seconds = 1 / flops;
	sample->agreed = true;
	sample->disturbed = pinned_disturbed_around(bench->pinned, &bench->undisturbed);
	return !isnan(flops);
}

static bool take_fma_s(void *context, struct sample *sample)
{
	return take_fma(context, sample, false);
}

static bool take_fma_d(void *context, struct sample *sample)
{
	return take_fma(context, sample, true);
}

/* Operations that fill a hundred microseconds; fewer where cores are shared. */
static int fill(double (*timed)(int, int), int threads)
{
	enum { FEWEST = 10, MOST = 100000 };
	int count = FEWEST;
	timed(threads, count); /* starts the threads */
	while (timed(threads, count) < 1e-4 && count < MOST)
		count *= 2;
	return count;
}

static void measure_series(struct probe_run *run, const char *series, double (*timed)(int, int),
        sample_function take, struct bench bench, double seconds)
{
	const struct arg args[] = {{"threads", bench.threads}};
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;

	if (!probe_wants(run, series, args, ARRAY_LEN(args)))
		return;
	bench.count = timed ? fill(timed, bench.threads) : 1;
	if (sample_run(take, &bench, &plan, 0, &measurement))
		probe_record(run, series, args, ARRAY_LEN(args), &measurement);
}

static void measure(struct probe_run *run)
{
	struct pinned_threads pinned;
	struct fault fault;

	if (!pinned_open(&pinned, run->common.quick, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	curve_slow_are_disturbed(run->curve);
	core_noise_expect(&pinned.noise, run->core_usual);
	double seconds = run->seconds / (4 * pinned.size_count);
	pinned_warm(&pinned, run->seconds / 10);
	for (int i = 0; i < pinned.size_count; i++) {
		int threads = pinned.size[i];
		pinned_bind(&pinned, threads);
		const struct bench bench = {threads, 0, &pinned, true};
		measure_series(run, "fork", time_regions, take_fork, bench, seconds);
		measure_series(run, "barrier", time_barriers, take_barrier, bench, seconds);
		measure_series(run, "fma_s", NULL, take_fma_s, bench, seconds);
		measure_series(run, "fma_d", NULL, take_fma_d, bench, seconds);
	}
	table_meta_set(run->curve, "binding", "%d threads, the last one: %s", pinned.cores,
	        pinned.binding);
	core_noise_note(&pinned.noise, run->curve);
	pinned_close(&pinned);
}

static const char *const args[] = {"threads"};
const struct probe host_parallel_probe = {
        .name = "host_parallel",
        .question = "What do an OpenMP fork/join and a barrier cost on the host, and how many "
                    "multiply-adds do its threads do?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 0.5,
        .processes = 5,
        .revisits = true,
        .measure = measure,
        .fit = host_parallel_fit,
};
