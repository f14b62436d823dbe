/* SPDX-License-Identifier: MIT */
/* Question: how long does each pass of Gram-Schmidt on the host take, by column length, columns of
 * a thread, and threads (one or pinned_largest)?
 *
 * Method: the passes of factor/kernels/gram_schmidt/gram_threads.h, one after the other as in a
 * factorization, by threads bound to a core each, in single precision (double takes the same
 * time by the byte). A level is a number of columns whose data fit a cache: for passes over single
 * columns from two columns to four times the second cache, for blocks from one group a thread to
 * the same. `handed`: the extra time of columns that all threads have just changed, by column;
 * those of the reading thread are among them.
 *
 * What can fool it: cores that share hardware threads, or a host with other machines, whose load
 * comes and goes. All points are measured in many short rounds; the median of each quarter of the
 * time is a row. As in the runs that are predicted, a sample counts when the calling thread had its
 * core for itself.
 *
 * Unit: seconds of a pass, of a fetch of a column. */
#include "lib/base/base.h"
#include "lib/host/clock.h"
#include "lib/host/pages.h"
#include "factor/kernels/gram_schmidt/gram_levels.h"
#include "factor/kernels/gram_schmidt/gram_threads.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"
#include "lib/host/pinned_threads.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

void host_gram_fit(const struct table *curve, struct profile *profile);

enum {
	SHORTEST = 1024, /* bytes of a column */
	LONGEST = 65536,
	STEP = 4,
	QUICK_STEP = 64,
	GAP = 32,    /* between columns, in floats */
	R_LD = 128,  /* of R: its rows' elements are far apart */
	REPEATS = 4, /* rows of a process and point */
	SAMPLES = 8, /* of a point in a round, at most ... */
	POINTS = 200
};
static const double turn = 100e-6; /* ... and for so long */
static const double again = 0.3;   /* of the time, for the few points of a re-measurement */
static const double patience = 2;  /* times the time, after which no round is begun */

enum kind { KERNELS, FUSED, FEW, MANY, FETCH };
static const char *const series[] = {"dots", "fused", "few", "many", "handed"};

struct list {
	double *value;
	size_t count, room;
};

struct spot {
	enum kind kind;
	int threads, level;
	int64_t bytes;               /* of a column */
	struct list seconds, update; /* of this row; update: of the second pass of KERNELS */
	struct list disturbed[2];    /* the same while the calling thread's core was disturbed */
};

struct bench {
	struct pinned_threads pinned;
	double l1, l2;
	float *a, *r, *sums, *norms;
	struct spot spot[POINTS];
	size_t spots;
};

/* ---- matrices ---- */

static struct matrix columns(float *data, int64_t m, int64_t n, int64_t ld)
{
	return (struct matrix){data, 0, m, n, ld, SINGLE};
}

static int64_t rows(const struct spot *s)
{
	return s->bytes / (int64_t)sizeof(float);
}

static int64_t columns_of(const struct bench *b, const struct spot *s)
{
	const double bytes = (double)s->bytes;

	if (s->kind == FEW || s->kind == MANY)
		return s->threads * GRAM_TOGETHER *
		       (int64_t)gram_groups_at((enum gram_apply_level)s->level, bytes, b->l2);
	return s->threads *
	       (int64_t)gram_columns_at((enum gram_level)s->level, bytes, b->l1, b->l2);
}

/* Numbers that look random. Of columns that are multiples of one another the passes would leave
 * rounding errors, and in the end subnormal numbers, which are slow. */
static void fill(float *data, int64_t count, float scale, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int64_t i = 0; i < count; i++) {
		uint32_t bits = (uint32_t)i * 2654435761u;
		bits = (bits ^ bits >> 15) * 2246822519u;
		data[i] = scale * ((float)(bits >> 8) * 0x1p-23f - 1);
	}
}

static struct gram_schmidt problem(const struct bench *b, int64_t m, int64_t n, int *info)
{
	return (struct gram_schmidt){.a = columns(b->a, m, n, m + GAP),
	        .r = columns(b->r, R_LD, n, R_LD),
	        .norms = columns(b->norms, GRAM_STEPS, 1, GRAM_STEPS),
	        .work = b->sums,
	        .info = info};
}

/* ---- samples ---- */

static struct gram_threads threads_of(const struct bench *b, int threads)
{
	return (struct gram_threads){gram_loops(), threads, (int64_t)b->l2};
}

/* Few steps: each thread keeps its number of columns. */
static void run_steps(const struct bench *b, const struct spot *s, double *first, double *second)
{
	const int most = s->level == GRAM_FAR ? GRAM_FAR_STEPS : GRAM_STEPS;
	const int steps = s->threads < most ? s->threads : most;
	const struct gram_threads pinned = threads_of(b, s->threads);
	int info = 0;
	const struct gram_schmidt g = problem(b, rows(s), columns_of(b, s), &info);

	*first = *second = 0;
	if (s->kind == FUSED)
		gram_threads_dots(&pinned, &g, 0);
	for (int j = 0; j < steps; j++) {
		const double start = clock_now();
		if (s->kind == FUSED)
			gram_threads_fused(&pinned, &g, j);
		else
			gram_threads_dots(&pinned, &g, j);
		const double middle = clock_now();
		if (s->kind == KERNELS)
			gram_threads_update(&pinned, &g, j);
		*first += (middle - start) / steps;
		*second += (clock_now() - middle) / steps;
	}
}

/* The columns that are subtracted are small and hardly change the others. */
static double run_apply(const struct bench *b, const struct spot *s)
{
	const int64_t m = rows(s), k = s->kind == FEW ? GRAM_FEW : GRAM_MANY, n = columns_of(b, s);
	const struct gram_threads pinned = threads_of(b, s->threads);
	const struct matrix all = columns(b->a, m, k + n, m + GAP);

	fill(b->a, k * all.ld, 1e-5f, 1);
	const double start = clock_now();
	gram_threads_apply(&pinned, matrix_view(all, 0, 0, m, k), columns(b->r, k, n, R_LD),
	        matrix_view(all, 0, k, m, n));
	return clock_now() - start;
}

/* One thread reads and changes columns, and rows of R, that all threads have changed, and then once
 * more. */
static double run_fetch(const struct bench *b, const struct spot *s)
{
	const int64_t n = columns_of(b, s);
	const struct gram_threads all = threads_of(b, s->threads), one = threads_of(b, 1);
	int info = 0;
	const struct gram_schmidt g = problem(b, rows(s), n, &info);

	gram_threads_dots(&all, &g, 0);
	gram_threads_update(&all, &g, 0);
	const double start = clock_now();
	gram_threads_dots(&one, &g, 0);
	gram_threads_update(&one, &g, 0);
	const double middle = clock_now();
	gram_threads_dots(&one, &g, 0);
	gram_threads_update(&one, &g, 0);
	return ((middle - start) - (clock_now() - middle)) / (double)(n - 1);
}

static double run(const struct bench *b, const struct spot *s, double *update)
{
	double seconds;

	if (s->kind == FETCH)
		return run_fetch(b, s);
	if (s->kind == FEW || s->kind == MANY)
		return run_apply(b, s);
	run_steps(b, s, &seconds, update);
	return seconds;
}

/* ---- rounds ---- */

static void keep(struct list *list, double value)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->value = xrealloc(list->value, list->room * sizeof *list->value);
	}
	list->value[list->count++] = value;
}

static void repeat(struct bench *b, struct spot *s)
{
	double update = 0;

	run(b, s, &update); /* brings the matrix into the caches */
	bool before = core_noise_undisturbed(&b->pinned.noise);
	const double start = clock_now();
	for (int i = 0; i < SAMPLES && (i == 0 || clock_now() - start < turn); i++) {
		const double seconds = run(b, s, &update);
		const bool after = core_noise_undisturbed(&b->pinned.noise);
		const bool good = before && after;
		keep(good ? &s->seconds : &s->disturbed[0], seconds);
		keep(good ? &s->update : &s->disturbed[1], update);
		before = after;
	}
}

struct point_args {
	struct arg arg[3];
	size_t count;
};

static struct point_args args_of(const struct spot *s)
{
	const struct arg bytes = {"bytes", (double)s->bytes};

	if (s->kind == FETCH)
		return (struct point_args){{bytes}, 1};
	return (struct point_args){{{"threads", s->threads}, bytes, {"level", s->level}}, 3};
}

static bool wants(const struct probe_run *run, const struct spot *s, const char *name)
{
	const struct point_args args = args_of(s);

	return probe_wants(run, name, args.arg, args.count);
}

/* Disturbed samples count where there are few undisturbed ones. */
static void record(struct probe_run *run, const struct spot *s, const char *name,
        const struct list *list, const struct list *disturbed)
{
	enum { ENOUGH = 3 };
	const struct point_args args = args_of(s);
	const bool enough = list->count >= ENOUGH || disturbed->count == 0;
	const struct list *kept = enough ? list : disturbed, *other = enough ? disturbed : list;
	const struct measurement m = {.seconds = stats_median_interval(kept->value, kept->count),
	        .discarded = other->count,
	        .hz = NAN,
	        .disturbed = other->count};

	probe_record(run, name, args.arg, args.count, &m);
}

static void end_repeat(struct probe_run *run, struct bench *b)
{
	for (size_t i = 0; i < b->spots; i++) {
		struct spot *s = &b->spot[i];
		record(run, s, series[s->kind], &s->seconds, &s->disturbed[0]);
		if (s->kind == KERNELS)
			record(run, s, "update", &s->update, &s->disturbed[1]);
		s->seconds.count = s->update.count = s->disturbed[0].count = s->disturbed[1].count =
		        0;
	}
}

/* ---- the sweep ---- */

static void add_levels(struct bench *b, enum kind kind, int threads, int64_t bytes, int levels)
{
	for (int level = 1; level <= levels; level++)
		b->spot[b->spots++] = (struct spot){
		        .kind = kind, .threads = threads, .level = level, .bytes = bytes};
}

static void add_all(struct bench *b, int threads, bool quick)
{
	for (int64_t bytes = SHORTEST; bytes <= LONGEST; bytes *= quick ? QUICK_STEP : STEP) {
		add_levels(b, KERNELS, threads, bytes, GRAM_FAR);
		add_levels(b, FUSED, threads, bytes, GRAM_FAR);
		add_levels(b, FEW, threads, bytes, GRAM_APPLY_FAR);
		add_levels(b, MANY, threads, bytes, GRAM_FOUR);
		if (threads > 1)
			add_levels(b, FETCH, threads, bytes, 1);
	}
}

static float *room(int64_t count, int threads)
{
	float *data = aligned_alloc(pages_small(), pages_rounded((size_t)count * sizeof *data));

	if (!data)
		msg_die(EXIT_NOT_POSSIBLE, "not enough memory");
	fill(data, count, 1, threads);
	return data;
}

/* A re-measurement leaves out most points. */
static void drop_unwanted(const struct probe_run *run, struct bench *b)
{
	size_t left = 0;

	for (size_t i = 0; i < b->spots; i++) {
		const struct spot *s = &b->spot[i];
		if (wants(run, s, series[s->kind]) ||
		        (s->kind == KERNELS && wants(run, s, "update")))
			b->spot[left++] = *s;
	}
	b->spots = left;
}

/* For the most columns of each length, with their gaps. */
static void find_room(struct bench *b)
{
	int64_t most = 0, words = 0;

	for (size_t i = 0; i < b->spots; i++) {
		const int64_t n = columns_of(b, &b->spot[i]) + GRAM_MANY,
		              w = n * (rows(&b->spot[i]) + GAP);
		most = n > most ? n : most;
		words = w > words ? w : words;
	}
	b->a = room(words, b->pinned.cores);
	b->r = room(most * R_LD, b->pinned.cores);
	b->sums = room(most, 1);
	b->norms = room(GRAM_STEPS, 1);
}

static void measure(struct probe_run *run)
{
	const bool quick = run->common.quick;
	struct bench *b = xcalloc(1, sizeof *b);
	struct fault fault;

	if (!pinned_open(&b->pinned, run->common.quick, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	core_noise_expect(&b->pinned.noise, run->core_usual);
	b->l1 = b->pinned.facts.l1d_bytes > 0 ? (double)b->pinned.facts.l1d_bytes : 1 << 15;
	b->l2 = b->pinned.facts.l2_bytes > 0 ? (double)b->pinned.facts.l2_bytes : 1 << 20;
	pinned_warm(&b->pinned, run->seconds / 20);
	pinned_bind(&b->pinned, b->pinned.cores);
	add_all(b, 1, quick);
	if (b->pinned.cores > 1)
		add_all(b, b->pinned.cores, quick);
	drop_unwanted(run, b);
	find_room(b);
	const double seconds = run->wanted ? again * run->seconds : run->seconds;
	const int repeats = quick ? 1 : REPEATS;
	const double start = clock_now();
	for (int v = 0; v < repeats && clock_now() - start < patience * seconds; v++) {
		do {
			pinned_bind(&b->pinned, b->pinned.cores);
			for (size_t i = 0; i < b->spots; i++)
				repeat(b, &b->spot[i]);
		} while (clock_now() - start < seconds * (v + 1) / repeats);
		end_repeat(run, b);
	}
	table_meta_set(run->curve, "binding", "%d threads, the last one: %s", b->pinned.cores,
	        b->pinned.binding);
	core_noise_note(&b->pinned.noise, run->curve);
	for (size_t i = 0; i < b->spots; i++) {
		free(b->spot[i].seconds.value);
		free(b->spot[i].update.value);
		free(b->spot[i].disturbed[0].value);
		free(b->spot[i].disturbed[1].value);
	}
	free(b->a);
	free(b->r);
	free(b->sums);
	free(b->norms);
	pinned_close(&b->pinned);
	free(b);
}

static const char *const args[] = {"threads", "bytes", "level"};
const struct probe host_gram_probe = {
        .name = "host_gram",
        .question = "What do the passes of Gram-Schmidt cost on the host, by columns, caches and "
                    "threads?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 0.9,
        .processes = 4,
        .revisits = true,
        .measure = measure,
        .fit = host_gram_fit,
};
