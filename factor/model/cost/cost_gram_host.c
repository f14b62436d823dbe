/* SPDX-License-Identifier: MIT */
/* Costs of Gram-Schmidt on the host, from the passes that the host_gram probe measures for one
 * thread and for all: by the bytes of a column, and linearly between the measured numbers of
 * columns a thread. A thread's columns lie in its own caches as far as they fit; all threads share
 * the last cache, and memory. */
#include "cost_blocks.h"

#include "factor/kernels/gram_schmidt/gram_levels.h"

#include <math.h>

/* A pass, and the words that it moves in memory for each word of its columns. */
struct pass {
	const char *name, *memory;
	double moved;
};

static const char reads[] = "host.memory.read", copies[] = "host.memory.copy";
static const struct pass dots = {"host.gram.dots", reads, 1},
                         update = {"host.gram.update", copies, 2},
                         fused = {"host.gram.fused", copies, 2};

static double threads_of(struct cost_reader *r)
{
	double low, high;

	if (r->threads > 0)
		return r->threads;
	return model_range(&r->model, "host.parallel.fork", "threads", &low, &high) ? high : 1;
}

static double column_of(struct matrix a)
{
	return (double)a.m * (double)precision_bytes(a.precision);
}

/* Whether one thread does it all: there are too few elements for all threads. */
static bool by_one(double elements)
{
	return elements < GRAM_PARALLEL;
}

static double measured(struct cost_reader *r, const char *name, double bytes, int level)
{
	static const char *const axes[] = {"threads", "bytes", "level"};
	const double at[] = {threads_of(r), bytes, level};

	return cost_surface(r, name, axes, at, 3);
}

/* The line through two points, also beyond them. A noisy host must not make more work take less
 * time, or less work more time for each unit. */
static double line(double x, double x0, double y0, double x1, double y1)
{
	const double slope = fmax(0, (y1 - y0) / (x1 - x0)), y = y0 + slope * (x - x0);

	return x < x0 ? fmax(y, y0 * x / x0) : y;
}

/* ---- where columns come from ---- */

/* The part of a thread's `set` of bytes that its second cache does not hold, from 0 to 1. */
static double beyond_l2(struct cost_reader *r, double set)
{
	const double l2 = cost_scalar(r, "host.l2.stated");

	return fmin(1, fmax(0, log(set / (0.75 * l2)) / log(2)));
}

/* Seconds from `cached`, when caches hold all threads' columns, to those at memory's rate for
 * `moved` bytes. Others share the last cache: beyond the part that is surely ours, more and more
 * columns come from memory. */
static double with_memory(
        struct cost_reader *r, double cached, const char *memory, double moved, struct matrix a)
{
	const double held = cost_scalar(r, "host.l3.stated") / 3, all = cost_bytes(a);
	double low, beyond;

	if (all <= held || !model_range(&r->model, memory, "bytes", &low, &beyond) ||
	        beyond <= held)
		return cached;
	/* against a copy, a column changed in place also reads the lines that it
	 * overwrites: three lines moved for two counted */
	const double rate = (memory == reads ? 1 : 1.5) *
	                    cost_at2(r, memory, "threads", threads_of(r), "bytes", beyond);
	return profile_between(PROFILE_LOGARITHMIC, fmin(all, beyond), held, cached, beyond,
	        fmax(cached, moved / rate));
}

/* ---- passes ---- */

/* Seconds of a pass with so many columns a thread. */
static double in_caches(
        struct cost_reader *r, const struct pass *pass, double bytes, double columns)
{
	const double l1 = cost_scalar(r, "host.l1.stated"), l2 = cost_scalar(r, "host.l2.stated");
	const double near = gram_columns_at(GRAM_NEAR, bytes, l1, l2),
	             quarter = gram_columns_at(GRAM_QUARTER, bytes, l1, l2),
	             far = gram_columns_at(GRAM_FAR, bytes, l1, l2),
	             least = gram_columns_at(GRAM_LEAST, bytes, l1, l2);
	const double first = measured(r, pass->name, bytes, GRAM_LEAST),
	             second = measured(r, pass->name, bytes, GRAM_NEAR);

	if (columns <= near)
		return line(columns, least, first, near, second);
	const double held =
	        line(columns, near, second, quarter, measured(r, pass->name, bytes, GRAM_QUARTER));
	const double away = beyond_l2(r, columns * bytes);
	if (away == 0)
		return held;
	const double fetched =
	        line(columns, least, first, far, measured(r, pass->name, bytes, GRAM_FAR));
	return held * pow(fmax(held, fetched) / held, away);
}

/* Seconds until a thread can read and change a column that another thread has changed. */
static double fetch(struct cost_reader *r, struct matrix a)
{
	return cost_surface1(r, "host.gram.handed", "bytes", column_of(a));
}

static struct cost host(double moving, double alone)
{
	return (struct cost){
	        .engine = ENGINE_HOST, .term[TERM_MEMORY] = moving, .term[TERM_HOST] = alone};
}

/* The first pass of one thread alone gets its columns from the other threads. */
static struct cost cost_pass(struct cost_reader *r, const struct pass *pass, struct matrix a)
{
	const int threads = r->threads;
	const double all = threads_of(r), n = (double)a.n;
	const bool alone = by_one((double)a.m * n),
	           first = alone && all > 1 && !by_one((double)a.m * (n + 1));

	r->threads = alone ? 1 : (int)all;
	const double cached = in_caches(r, pass, column_of(a), ceil(n / threads_of(r)));
	const double seconds = with_memory(r, cached, pass->memory, pass->moved * cost_bytes(a), a);
	r->threads = threads;
	return host(seconds, first ? n * fetch(r, a) : 0);
}

struct cost cost_gram_pass_host(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	return cost_pass(r, step == GRAM_DOTS ? &dots : step == GRAM_UPDATE ? &update : &fused, a);
}

/* The panel's columns were changed by other threads. */
struct cost cost_gram_panel_host(struct cost_reader *r, struct matrix a)
{
	struct cost cost = cost_gram_passes(r, a, cost_gram_pass_host);
	const double all = threads_of(r), columns = (double)a.n,
	             mine = by_one((double)a.m * columns) ? columns : ceil(columns / all);

	if (all > 1)
		cost.term[TERM_HOST] += mine * fetch(r, a);
	return cost;
}

/* ---- blocks ---- */

/* Seconds with so many groups of columns a thread. */
static double groups_seconds(struct cost_reader *r, const char *name, double bytes, double groups)
{
	return line(groups, 1, measured(r, name, bytes, GRAM_ONE), 4,
	        measured(r, name, bytes, GRAM_FOUR));
}

/* The extra time to read a group when a thread's columns exceed the second cache. */
static double group_comes(struct cost_reader *r, struct matrix a)
{
	static const char few[] = "host.gram.few";
	const double l2 = cost_scalar(r, "host.l2.stated"), bytes = column_of(a),
	             threads = threads_of(r), far = gram_groups_at(GRAM_APPLY_FAR, bytes, l2);
	const double longer = measured(r, few, bytes, GRAM_APPLY_FAR) -
	                      groups_seconds(r, few, bytes, far),
	             comes = beyond_l2(r, cost_bytes(a) / threads) * fmax(0, longer / far);

	return comes > 0 ? with_memory(r, comes, reads, GRAM_TOGETHER * bytes * threads, a) : 0;
}

/* Linear in the columns that are subtracted and in the groups of a thread. */
struct cost cost_gram_apply_host(struct cost_reader *r, struct matrix a, int64_t k, bool single)
{
	const int threads = r->threads;
	const bool alone = by_one((double)a.m * (double)(a.n * k));
	const double bytes = column_of(a);

	r->threads = alone ? 1 : (int)threads_of(r);
	const double groups = ceil(ceil((double)a.n / GRAM_TOGETHER) / threads_of(r));
	const double held =
	        line((double)k, GRAM_FEW, groups_seconds(r, "host.gram.few", bytes, groups),
	                GRAM_MANY, groups_seconds(r, "host.gram.many", bytes, groups));
	const double comes = groups * group_comes(r, a);
	r->threads = threads;
	return host(held + comes, 0);
}
