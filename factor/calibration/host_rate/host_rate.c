/* SPDX-License-Identifier: MIT */
/* Question: how fast do the host's BLAS and LAPACK run the calls of a panel, whole panels and gemm,
 * and at which clock?
 *
 * Method: rate surfaces at powers of two. Level-1 and level-2 calls, on one thread, follow each
 * other through the columns (swap: through random pairs of rows) of one m x n panel, of all lengths
 * around m. getrf, geqrf and Cholesky's potrf and trsm get the threads of
 * factor/kernels/lu/host_panel.h and a panel freshly copied from a master; gemm has all threads;
 * some sizes run with 1, 2, 4 ... threads.
 *
 * What can fool it: a BLAS with fewer threads than intended (its environment variables); other
 * programs (points of one thread are repeated, some time apart, and a clearly slower repeat is
 * discarded); caches shared with other virtual machines; physical pages that meet in one set of a
 * cache (samples go round several places of memory, and columns are no multiple of a page apart);
 * an adder that is not one cycle. Operands are in the cache as far as they fit, as in a panel.
 *
 * Unit: seconds of one call; of one add for the clock. */
#include "host_rate_internal.h"

#include "lib/host/allowance.h"
#include "lib/host/clock.h"
#include "lib/host/pages.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void host_rate_fit(const struct table *curve, struct profile *profile);

enum {
	LARGEST_GEMM = 2048,
	QUICK_M = 4096,
	QUICK_GEMM = 1024,
	LARGEST_PANEL = 32 << 20, /* bytes */
	REPEATS = 2               /* of a point, as far as the time goes */
};

static const double longest_point = 0.25; /* on a choice of threads */
static const double single_part = 0.4, threaded_part = 0.5, choice_part = 0.1; /* of the time */
static const double quick_part = 0.25, again_part = 2; /* of a point's usual time */
static const double whole_part = 0.65;                 /* of one thread's, for panels and squares */

/* ---- surfaces ---- */

/* m and n go from first to last by factors; a square has m = n, and a restored panel at most
 * LARGEST_PANEL bytes. When the time is short, whole panels and squares, which hybrid
 * factorizations wait for, lose their largest sizes. The others, whose points all take the same
 * time, lose sizes between their first and last rows. */
struct surface {
	const char *series[2]; /* single, double */
	bool (*run)(const struct call *call, size_t turn);
	bool restored, square, definite, solve;
	bool columns;   /* a turn takes one of the n columns, or two rows ... */
	unsigned turns; /* ... or all: then this many belong together */
	int first_m, last_m, step_m, first_n, step_n;
};

#define FUNCTION(name) {#name "_s", #name "_d"}, run_##name
#define RANGE(m, most_m, by_m, n, by_n)                                                            \
	.first_m = m, .last_m = most_m, .step_m = by_m, .first_n = n, .step_n = by_n
#define PANEL(name, ...)                                                                           \
	{                                                                                          \
		FUNCTION(name), .restored = true, .turns = 1, RANGE(__VA_ARGS__)                   \
	}

static const struct surface surfaces[] = {
        {FUNCTION(gemm), .square = true, .turns = 1, RANGE(256, LARGEST_GEMM, 2, 256, 2)},
        {FUNCTION(potrf), .restored = true, .square = true, .definite = true, .turns = 1,
                RANGE(32, 1024, 2, 32, 2)},
        {FUNCTION(potrf_rows), .restored = true, .definite = true, .solve = true, .turns = 1,
                RANGE(256, 16384, 4, 32, 2)},
        PANEL(getrf, 256, 16384, 4, WIDE_N, 2),
        PANEL(geqrf, 256, 16384, 4, WIDE_N, 2),
        PANEL(getrf, 128, 32768, 4, 16, 2),
        PANEL(geqrf, 256, 65536, 4, 16, 2),
        /* where a panel leaves the cache of one core, and the caches of all */
        PANEL(geqrf, 8192, 32768, 4, 16, 2),
        {FUNCTION(iamax), .columns = true, RANGE(128, 8192, 4, 8, 4)},
        {FUNCTION(scal), .columns = true, RANGE(128, 8192, 4, 8, 4)},
        {FUNCTION(ger), .turns = 2, RANGE(128, 8192, 4, 2, 4)},
        {FUNCTION(swap), .columns = true, RANGE(128, 8192, 4, 8, 4)},
};

static bool too_large(int m, int n, bool is_double)
{
	return (size_t)m * (size_t)n * (is_double ? 8 : 4) > LARGEST_PANEL;
}

/* Whether it is a library's whole panel or square, whose time grows with its size. */
static bool is_whole(const struct surface *surface)
{
	return surface->restored || surface->square;
}

static struct call call_of(
        struct rates *rates, const struct surface *surface, int m, int n, bool is_double)
{
	const size_t turns = surface->columns ? 2 * (size_t)n : surface->turns;

	return (struct call){.rates = rates,
	        .run = surface->run,
	        .m = m,
	        .n = n,
	        .ld = leading(m, is_double),
	        .is_double = is_double,
	        .square = surface->square && !surface->restored,
	        .restored = surface->restored,
	        .definite = surface->definite,
	        .solve = surface->solve,
	        .cycle = turns,
	        .turns = turns};
}

enum { MOST_VALUES = 16 }; /* of m, and of n */

/* The values of m in the order of measurement: growing for whole panels; else the first and the
 * last, every other one, the rest. Returns their number. */
static size_t rows_of(const struct surface *surface, bool quick, int *row)
{
	int m[MOST_VALUES], last_m = surface->last_m;
	size_t count = 0, taken = 0;

	if (quick)
		last_m = surface->first_n == WIDE_N ? surface->first_m
		                                    : (int)min_int64(last_m, QUICK_M);
	for (int next = surface->first_m; next <= last_m && count < MOST_VALUES;
	        next *= quick ? 4 : surface->step_m)
		m[count++] = next;
	if (is_whole(surface) || count < 3) {
		memcpy(row, m, count * sizeof *m);
		return count;
	}
	row[taken++] = m[0];
	row[taken++] = m[count - 1];
	for (size_t odd = 0; odd < 2; odd++)
		for (size_t i = 2 - odd; i < count - 1; i += 2)
			row[taken++] = m[i];
	return count;
}

/* A point is dropped when it would take the rest of the time, judged by the previous point of the
 * same n. Points of the first m, or of the first and last, are always measured. */
static void measure_surface(
        struct rates *rates, const struct surface *surface, bool is_double, bool threaded)
{
	const char *series = surface->series[is_double];
	const bool quick = rates->run->common.quick;
	const int step_n = quick ? 4 : surface->step_n;
	int row[MOST_VALUES];
	const size_t rows = rows_of(surface, quick, row), sure = is_whole(surface) ? 1 : 2;
	/* by n: seconds of a sample of the previous m, over m, or over m^3 of a square */
	double before[MOST_VALUES] = {0};

	for (size_t r = 0; r < rows; r++) {
		const int m = row[r], first_n = surface->square ? m : surface->first_n;
		const int last_n = surface->square ? m : (int)max_int64(first_n, LARGEST_N);
		const double size = pow(m, surface->square ? 3 : 1);
		for (int n = first_n, i = 0; n <= last_n; n *= step_n, i++) {
			const struct call call = call_of(rates, surface, m, n, is_double);
			const struct arg args[] = {{"m", m}, {"n", n}};
			double needed = (LEAST_SAMPLES + 2) * size * before[i];
			bool all = is_whole(surface) && panel_threads(&call) > 1;
			if (all != threaded || panel_bytes(m, n, is_double) > rates->bytes ||
			        (surface->restored && too_large(m, n, is_double)) ||
			        !probe_wants(rates->run, series, args, ARRAY_LEN(args)))
				continue;
			bool first = !repeats_has(&rates->repeats, series, args, ARRAY_LEN(args));
			bool must = first && (r < sure || before[i] == 0);
			if (!must && clock_now() + needed > rates->end) {
				if (first)
					drop(rates, series, m, n);
			} else {
				before[i] = measure_call(call, series) / size;
			}
		}
	}
}

/* ---- threads ---- */

/* Some sizes in single precision, up to the first 0, with 1, 2, 4 ... threads and all. */
static const struct {
	const char *series;
	bool (*run)(const struct call *call, size_t turn);
	bool square;
	int m[3], n[3];
} chosen[] = {{"gemm_threads_s", run_gemm, true, {512, 1024}, {512, 1024}},
        {"getrf_threads_s", run_getrf, false, {4096, 16384, 65536}, {64, 64, 64}}};

static void measure_threads(struct rates *rates, size_t c, int threads)
{
	double before = 0;

	for (size_t i = 0; i < ARRAY_LEN(chosen[c].m) && chosen[c].m[i] > 0; i++) {
		int m = chosen[c].m[i], n = chosen[c].n[i];
		const struct arg args[] = {{"m", m}, {"n", n}, {"threads", threads}};
		struct call call = {.rates = rates,
		        .run = chosen[c].run,
		        .m = m,
		        .n = n,
		        .ld = leading(m, false),
		        .threads = threads,
		        .square = chosen[c].square,
		        .restored = !chosen[c].square,
		        .cycle = 1,
		        .turns = 1};
		double needed = (LEAST_SAMPLES + 2) * before * (call.square ? 8 : 4);
		if (panel_bytes(m, n, false) > rates->bytes / (call.square ? 2 : 1) ||
		        !probe_wants(rates->run, chosen[c].series, args, ARRAY_LEN(args)))
			continue;
		if (needed > longest_point || clock_now() + needed > rates->end) {
			if (!repeats_has(&rates->repeats, chosen[c].series, args, ARRAY_LEN(args)))
				drop(rates, chosen[c].series, m, n);
			break;
		}
		before = measure_call(call, chosen[c].series);
	}
}

static void measure_choices(struct rates *rates, int repeat, bool threaded)
{
	int threads = threaded ? 2 : 1, most = threaded ? rates->threads : 1;

	if (repeat > 0 && clock_now() > rates->end)
		return;
	rates_fill(rates, false);
	while (threads <= most) {
		for (size_t c = 0; c < ARRAY_LEN(chosen); c++)
			measure_threads(rates, c, threads);
		threads = threads < most && 2 * threads > most ? most : 2 * threads;
	}
}

/* Both precisions. In the first repeat each precision, and the whole panels, leave time for the
 * measurements after them. */
static void measure_surfaces(struct rates *rates, int repeat, bool threaded)
{
	const double end = rates->end;

	for (int d = 0; d < 2; d++) {
		const double start = clock_now();
		if (repeat > 0 && start > end)
			return;
		rates_fill(rates, d);
		if (!threaded && repeat == 0 && d == 0)
			measure_short(rates);
		const double part = repeat == 0 && d == 0 ? 0.5 : 1;
		const double whole = repeat == 0 && !threaded ? whole_part : 1;
		for (size_t s = 0; s < ARRAY_LEN(surfaces); s++) {
			rates->end = start + part * (is_whole(&surfaces[s]) ? whole : 1) *
			                             fmax(0, end - start);
			measure_surface(rates, &surfaces[s], d, threaded);
		}
		rates->end = end;
	}
}

/* Runs gemm once, or until all threads are awake and where the system wants them. */
static void wake_threads(struct rates *rates, double seconds)
{
	enum { SMALL = 256 };
	const struct call call = {
	        .rates = rates, .m = SMALL, .n = SMALL, .ld = SMALL, .square = true};
	const double end = clock_now() + seconds;

	rates->at = rates->a;
	do
		run_gemm(&call, 0);
	while (clock_now() < end);
}

/* Threads of a call that uses all: one for each processor, as far as the BLAS has so many. Other
 * host probes leave some cores of a large machine free (pinned_largest). */
static int all_blas_threads(void)
{
	openblas_set_num_threads(host_threads());
	return openblas_get_num_threads();
}

static void measure(struct probe_run *run)
{
	/* --quick has no time for two, and a re-measurement is a repeat itself */
	const int repeats = run->common.quick || run->wanted ? 1 : REPEATS;

	curve_slow_are_disturbed(run->curve);
	struct core_noise noise;
	struct rates rates = {.run = run,
	        .noise = &noise,
	        .part = run->common.quick ? quick_part : 1,
	        .threads = all_blas_threads()};

	struct fault fault;
	const struct topology *topology = topology_host(&fault);
	struct topology_facts facts;

	if (!topology)
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	topology_facts(topology, &facts);
	if (!rates_open(&rates, run->common.quick ? QUICK_GEMM : LARGEST_GEMM,
	            (uint64_t)run->common.seed))
		msg_die(EXIT_NOT_POSSIBLE, "not enough memory for 2 x %zu bytes", rates.room);
	rates_fill(&rates, false);
	wake_threads(&rates, 0); /* before this thread is bound, as they inherit the binding */
	const double risen = clock_now() + run->seconds / 30;
	while (clock_now() < risen)
		; /* until the processor's clock has risen and the threads of the BLAS sleep */
	core_noise_open(&noise, topology, facts.cores, -1, run->common.quick);
	core_noise_expect(&noise, run->core_usual);
	core_noise_note(&noise, run->curve);
	rates.end = clock_now() + single_part * run->seconds;
	for (int repeat = 0; repeat < repeats; repeat++) {
		measure_surfaces(&rates, repeat, false);
		measure_choices(&rates, repeat, false);
	}
	/* Threads of a BLAS spin on after their work and slow down calls of one thread: they come
	 * last. They run where the system puts them, as in a factorization. */
	core_noise_leave(&noise);
	wake_threads(&rates, run->seconds / 100);
	rates.end = fmax(rates.end, clock_now()) + threaded_part * run->seconds;
	/* Once: several threads always have neighbours, and the quicker of two repeats would be the
	 * exception. */
	measure_surfaces(&rates, 0, true);
	rates.end = fmax(rates.end, clock_now()) + choice_part * run->seconds;
	measure_choices(&rates, 0, true);
	repeats_record(&rates.repeats, run);
	table_meta_set(run->curve, "blas_threads", "%d", rates.threads);
	if (rates.dropped[0])
		table_meta_set(run->curve, "dropped", "%s: the time was spent", rates.dropped);
	core_noise_close(&noise);
	rates_close(&rates);
}

/* ---- single points ---- */

struct rates *host_rate_open(struct core_noise *noise)
{
	struct rates *rates = xcalloc(1, sizeof *rates);

	*rates = (struct rates){.noise = noise, .part = again_part, .threads = all_blas_threads()};
	openblas_set_num_threads(1); /* as every call leaves it */
	if (rates_open(rates, LARGEST_GEMM, 1))
		return rates;
	free(rates);
	return NULL;
}

void host_rate_free(struct rates *rates)
{
	if (rates)
		rates_close(rates);
	free(rates);
}

/* Whether a row of the profile is of the series: host.getrf.d of getrf_d. */
static bool is_of_series(const char *parameter, const char *series)
{
	static const char host[] = "host.";
	const size_t name = strlen(series) - 2;

	return strncmp(parameter, host, strlen(host)) == 0 &&
	       strncmp(parameter + strlen(host), series, name) == 0 &&
	       parameter[strlen(host) + name] == '.' &&
	       strcmp(parameter + strlen(host) + name + 1, series + name + 1) == 0;
}

bool host_rate_again(
        struct rates *rates, const char *parameter, int m, int n, struct measurement *measurement)
{
	for (size_t i = 0; i < 2 * ARRAY_LEN(surfaces); i++) {
		const struct surface *surface = &surfaces[i / 2];
		const bool is_double = i % 2;
		const char *series = surface->series[is_double];
		if (!is_of_series(parameter, series))
			continue;
		if (panel_bytes(m, n, is_double) > rates->room)
			return false;
		rates_use(rates, m, n, is_double);
		return sample_point(call_of(rates, surface, m, n, is_double), series, measurement) >
		       0;
	}
	return false;
}

static const char *const args[] = {"m", "n", "threads"};
const struct probe host_rate_probe = {
        .name = "host_rate",
        .question = "How fast do the host's BLAS calls, LAPACK panels and gemm run?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 3.3,
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .fit = host_rate_fit,
};
