/* SPDX-License-Identifier: MIT */
/* Question: how long do the loops over columns take of which Gram-Schmidt on the host is made,
 * against their rows, the cache that the columns come from, and threads; a parallel region of them;
 * and a column that another core has just changed? Method: one thread bound to each core, each with
 * columns of its own that it goes through again and again between two barriers. Level 1: a few
 * columns, as near as their length lets them be; 2 and 3: a quarter of the second cache, and three;
 * 4: four times all of it. There, and of pairs, threads will take columns as they come: the time is
 * by what all have done when the first is through; else it is that of the slowest. Of pairs the
 * columns that are changed stay, those that are taken out go by. A region: many of them with a few
 * columns, less one with all of these. What can fool it: cores that are hardware threads of each
 * other's, or of other machines' (that is what teams are measured for; disturbed samples are
 * discarded), factors that change the columns (too small to). Unit: seconds of a loop over one
 * column (pair: over four, by two), of a region, of a fetch. */
#include "../lib/base.h"
#include "../lib/clock.h"
#include "../lib/gram_loops.h"
#include "../lib/msg.h"
#include "../lib/precision.h"
#include "../lib/probe.h"
#include "../lib/team.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

void host_gram_fit(const struct table *curve, struct profile *profile);

enum { SHORTEST = 256, LONGEST = 16384, ROWS_STEP = 4, LEVELS = 4, FEW = 8, LINE = 64 };
enum loop { DOT, SUBTRACT, FUSED, PAIR, LOOPS };
static const char *const series[2][LOOPS] = {
        {"dot_s", "subtract_s", "fused_s", "pair_s"}, {"dot_d", "subtract_d", "fused_d", "pair_d"}};

struct bench {
	const struct team *team;
	char **memory; /* of each thread */
	enum loop loop;
	enum precision precision;
	int threads;
	int64_t m, ld, columns, calls; /* columns: that go by */
	bool undisturbed;              /* before the next sample */
	bool all;                      /* threads fetch */
	bool shared;                   /* calls: threads take them as they come */
	int done;                      /* the first thread is through */
};

/* ---- the loops ---- */

static bool is_done(const struct bench *b)
{
	return __atomic_load_n(&b->done, __ATOMIC_RELAXED);
}

static void set_done(struct bench *b)
{
	__atomic_store_n(&b->done, 1, __ATOMIC_RELAXED);
}

/* Columns 0 .. 3 are those that all calls share. */
#define CALLS(real, suffix)                                                                        \
	static double calls_##suffix(struct bench *b, real *a, int64_t *made)                      \
	{                                                                                          \
		const struct gram_loops_##suffix *loops = &gram_loops()->suffix;                   \
		const real tiny = (real)1e-20;                                                     \
		real *next = a + 4 * b->ld;                                                        \
		double sum = 0;                                                                    \
		int64_t i = 0, at = 0, p = 0;                                                      \
		for (; i < b->calls && !(b->shared && is_done(b)); i++) {                          \
			real *x = next + at * b->ld;                                               \
			real sums[] = {tiny, tiny, tiny, tiny, tiny, tiny, tiny, tiny};            \
			real *kept[] = {a, a + b->ld, a + 2 * b->ld, a + 3 * b->ld};               \
			const int64_t q = p + 4 <= b->columns ? p + 2 : 0;                         \
			const real *v[] = {next + p * b->ld, next + (p + 1) * b->ld};              \
			const real *w[] = {next + q * b->ld, next + (q + 1) * b->ld};              \
			if (b->loop == DOT)                                                        \
				sum += (double)loops->dot(b->m, a, x);                             \
			else if (b->loop == SUBTRACT)                                              \
				loops->subtract(b->m, tiny, a, x);                                 \
			else if (b->loop == FUSED)                                                 \
				sum += (double)loops->subtract_dot(b->m, tiny, a, a + b->ld, x);   \
			else                                                                       \
				loops->subtract_dots(b->m, v, w, kept, sums);                      \
			sum += (double)sums[0];                                                    \
			at = at + 1 < b->columns ? at + 1 : 0;                                     \
			p = q;                                                                     \
		}                                                                                  \
		if (i == b->calls)                                                                 \
			set_done(b);                                                               \
		*made = i;                                                                         \
		return sum;                                                                        \
	}
CALLS(float, s)
CALLS(double, d)

static double run_calls(struct bench *b, void *memory, int64_t *made)
{
	return b->precision == SINGLE ? calls_s(b, memory, made) : calls_d(b, memory, made);
}

static void run_region(struct bench *b)
{
#pragma omp parallel num_threads(b->threads)
	{
		int64_t mine;
		run_calls(b, b->memory[omp_get_thread_num()], &mine);
	}
}

/* made: by all threads */
static double time_calls(struct bench *b, int64_t *made)
{
	double start = 0, stop = 0, sum = 0;
	int64_t all = 0;

	b->done = 0;
#pragma omp parallel num_threads(b->threads) reduction(+ : sum, all)
	{
		void *memory = b->memory[omp_get_thread_num()];
		int64_t mine;
#pragma omp barrier
#pragma omp master
		start = clock_now();
		sum += run_calls(b, memory, &mine);
		all += mine;
#pragma omp barrier
#pragma omp master
		stop = clock_now();
	}
	*made = all;
	return isfinite(sum) ? stop - start : NAN;
}

/* ---- samples ---- */

static bool take_calls(void *context, struct sample *sample)
{
	struct bench *b = context;
	int64_t made;

	sample->span = time_calls(b, &made);
	sample->seconds = sample->span * b->threads / (double)made;
	sample->agreed = sample->seconds > 0;
	sample->disturbed = team_disturbed_around(b->team, &b->undisturbed);
	return true;
}

static bool take_region(void *context, struct sample *sample)
{
	enum { REGIONS = 16 };
	struct bench *b = context, few = *b, all = few;
	int64_t made;

	few.calls = FEW;
	all.calls = REGIONS * FEW;
	sample->span = -time_calls(&all, &made);
	const double start = clock_now();
	for (int i = 0; i < REGIONS; i++)
		run_region(&few);
	sample->span += clock_now() - start;
	sample->seconds = sample->span / REGIONS;
	sample->agreed = sample->seconds > 0;
	sample->disturbed = team_disturbed_around(b->team, &b->undisturbed);
	return true;
}

/* A column that the last thread changes is read by the first one, or by all; and once more. */
static bool take_fetch(void *context, struct sample *sample)
{
	struct bench *b = context;
	const struct gram_loops_s *loops = &gram_loops()->s;
	float *column = (float *)(void *)b->memory[0];
	double fetched = 0, again = 0, sum = 0;

#pragma omp parallel num_threads(b->threads) reduction(+ : sum)
	for (int64_t i = 0; i < b->calls; i++) {
		const int id = omp_get_thread_num();
		if (id == b->threads - 1)
			loops->subtract(b->m, 1e-20f, column + 2 * b->ld, column);
		for (int turn = 0; turn < 2; turn++) {
			double start = 0;
#pragma omp barrier
			if (id == 0)
				start = clock_now();
			if (id == 0 || b->all)
				sum += (double)loops->dot(b->m, column, column);
#pragma omp barrier
			if (id == 0)
				*(turn ? &again : &fetched) += clock_now() - start;
		}
	}
	sample->span = fetched + again;
	sample->seconds = (fetched - again) / (double)b->calls;
	sample->agreed = sample->seconds > 0 && isfinite(sum);
	sample->disturbed = team_disturbed_around(b->team, &b->undisturbed);
	return true;
}

static void record(struct probe_run *run, struct bench *b, sample_function take, const char *name,
        const struct arg *args, size_t count, double seconds)
{
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;

	b->undisturbed = team_undisturbed(b->team);
	if (sample_run(take, b, &plan, 0, &measurement))
		probe_record(run, name, args, count, &measurement);
}

/* ---- the sweep ---- */

static void measure_loop(struct probe_run *run, struct bench b, int level, double seconds)
{
	static const double aim = 50e-6; /* of a sample */
	const int64_t l2 = b.team->facts.l2_bytes > 0 ? b.team->facts.l2_bytes : 1 << 20;
	const int64_t bytes[] = {0, l2 / 4, l2 / 4 * 3, 4 * l2};
	const int64_t column = b.m * precision_bytes(b.precision), most = bytes[level - 1] / column;
	const struct arg args[] = {{"threads", b.threads}, {"m", (double)b.m}, {"level", level}};
	const char *name = series[b.precision == DOUBLE][b.loop];

	if (!probe_wants(run, name, args, ARRAY_LEN(args)))
		return;
	b.columns = level == 1 ? FEW / 2 : most > FEW ? most : FEW;
	b.calls = b.columns;
	b.shared = level == LEVELS || b.loop == PAIR;
	int64_t made;
	time_calls(&b, &made);
	const double once = time_calls(&b, &made) / (double)b.columns;
	b.calls = (int64_t)fmax((double)b.columns, ceil(aim / once));
	record(run, &b, take_calls, name, args, ARRAY_LEN(args), seconds);
}

static void measure_region(struct probe_run *run, struct bench b, double seconds)
{
	const struct arg args[] = {{"threads", b.threads}};

	if (!probe_wants(run, "region", args, ARRAY_LEN(args)))
		return;
	b.m = 1024;
	b.ld = b.m + LINE;
	b.columns = FEW / 2;
	record(run, &b, take_region, "region", args, ARRAY_LEN(args), seconds);
}

static void measure_fetches(struct probe_run *run, struct bench b, double seconds)
{
	b.calls = 10;
	for (int all = 0; all < 2 && b.threads > 1; all++)
		for (b.m = SHORTEST; b.m <= LONGEST; b.m *= ROWS_STEP) {
			const struct arg args[] = {{"threads", all ? b.threads : 1},
			        {"bytes", (double)(b.m * (int64_t)sizeof(float))}};
			b.all = all;
			b.ld = b.m + LINE;
			if (probe_wants(run, "fetch", args, ARRAY_LEN(args)))
				record(run, &b, take_fetch, "fetch", args, ARRAY_LEN(args),
				        seconds);
		}
}

/* A thread's columns, touched by it: small numbers of both signs. */
static void fill(void *memory, int64_t bytes, enum precision precision)
{
	for (int64_t i = 0; i < bytes / precision_bytes(precision); i++)
		if (precision == SINGLE)
			((float *)memory)[i] = (float)(i % 7) - 3.1f;
		else
			((double *)memory)[i] = (double)(i % 7) - 3.1;
}

static void measure_team(struct probe_run *run, struct bench b, int64_t bytes, double seconds)
{
#pragma omp parallel num_threads(b.threads)
	fill(b.memory[omp_get_thread_num()], bytes, b.precision);
	for (b.m = SHORTEST; b.m <= LONGEST; b.m *= ROWS_STEP)
		for (int level = 1; level <= LEVELS; level++)
			for (int loop = 0; loop < LOOPS; loop++) {
				b.ld = b.m + LINE / precision_bytes(b.precision);
				b.loop = (enum loop)loop;
				measure_loop(run, b, level, seconds);
			}
}

static void measure(struct probe_run *run)
{
	struct team team;
	struct fault fault;

	if (!team_open(&team, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	quiet_expect(&team.quiet, run->core_usual);
	const int64_t l2 = team.facts.l2_bytes > 0 ? team.facts.l2_bytes : 1 << 20;
	const int64_t longest = (LONGEST + LINE) * (int64_t)sizeof(double);
	/* level 3 with its gaps, and the columns that calls share */
	const int64_t bytes = (4 * l2 * 4 / 3 + (FEW + 4) * longest) / 4096 * 4096;
	const int half = team.facts.cores / 2;
	const int points = 3 * (LOOPS * LEVELS * 4 * 2 + 10);
	char **memory = xcalloc((size_t)team.cores, sizeof *memory);
	team_warm(&team, run->seconds / 20);
	for (int t = 0; t < team.size_count; t++) {
		const int threads = team.size[t];
		struct bench b = {.team = &team, .memory = memory, .threads = threads};
		if (threads > 1 && threads < team.cores && (threads > half || 2 * threads <= half))
			continue; /* one, all, and what half of the cores suffice for */
		team_bind(&team, b.threads);
#pragma omp parallel num_threads(b.threads)
		{
			char **mine = &memory[omp_get_thread_num()];
			if (!*mine && !(*mine = aligned_alloc(4096, (size_t)bytes)))
				msg_die(EXIT_NOT_POSSIBLE, "not enough memory");
		}
		for (int twice = 1; twice >= 0; twice--) {
			b.precision = twice ? DOUBLE : SINGLE;
			measure_team(run, b, bytes, run->seconds / points);
		}
		measure_region(run, b, 2 * run->seconds / points);
		measure_fetches(run, b, run->seconds / points);
	}
	table_meta_set(
	        run->curve, "binding", "%d threads, the last one: %s", team.cores, team.binding);
	quiet_note(&team.quiet, run->curve);
	for (int t = 0; t < team.cores; t++)
		free(memory[t]);
	free(memory);
	team_close(&team);
}

static const char *const args[] = {"threads", "m", "level", "bytes"};
const struct probe host_gram_probe = {
        .name = "host_gram",
        .question =
                "What do the loops of Gram-Schmidt cost on the host, by rows, cache and threads?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 0.9,
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .fit = host_gram_fit,
};
