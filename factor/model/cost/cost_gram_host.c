/* SPDX-License-Identifier: MIT */
/* Costs of Gram-Schmidt on the host, by its passes as the host_gram probe measures them for one
 * thread and for all: by the bytes of a column, between the numbers of columns a thread that it has
 * measured linearly. A thread's columns are its own and lie in its caches, as far as these hold
 * them: all threads' columns together share the last one, and memory. */
#include "cost_blocks.h"

#include "factor/kernels/gram_schmidt/gram_levels.h"

#include <math.h>

/* A pass, and words that it moves in memory of each that it has. */
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

/* Whether so many elements are left to one thread. */
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

/* The line through two points, beyond them too: of more no less time, and of fewer no more for
 * each, whatever a noisy host has measured. */
static double line(double x, double x0, double y0, double x1, double y1)
{
	const double slope = fmax(0, (y1 - y0) / (x1 - x0)), y = y0 + slope * (x - x0);

	return x < x0 ? fmax(y, y0 * x / x0) : y;
}

/* `low` becomes `high` while x goes from `from` to `to`, by logarithms. */
static double between(double low, double high, double x, double from, double to)
{
	return low * pow(high / low, fmin(1, fmax(0, log(x / from) / log(to / from))));
}

/* ---- where columns come from ---- */

/* 0 while a thread's `set` of bytes stays in its second cache, 1 when nothing of it does. */
static double beyond_l2(struct cost_reader *r, double set)
{
	const double l2 = cost_scalar(r, "host.l2.stated");

	return fmin(1, fmax(0, log(set / (0.75 * l2)) / log(2)));
}

/* Seconds with what all threads go through in the caches, which become those at memory's rate:
 * beyond the part of the last cache that is surely there for us, since others share it, ever more
 * of it is memory's. `moved` bytes. */
static double with_memory(
        struct cost_reader *r, double cached, const char *memory, double moved, struct matrix a)
{
	const double held = cost_scalar(r, "host.l3.stated") / 3, all = cost_bytes(a);
	double low, beyond;

	if (all <= held || !model_range(&r->model, memory, "bytes", &low, &beyond))
		return cached;
	/* what a column changed in its place is to a copy: this also reads the lines that it
	 * overwrites, three lines moved for two that are counted */
	const double rate = (memory == reads ? 1 : 1.5) *
	                    cost_at2(r, memory, "threads", threads_of(r), "bytes", beyond);
	return between(cached, fmax(cached, moved / rate), all, held, beyond);
}

/* ---- passes ---- */

/* Of so many columns a thread. */
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

/* A column that another thread has changed, until it is this one's to read and to change. */
static double fetch(struct cost_reader *r, struct matrix a)
{
	return cost_surface1(r, "host.gram.handed", "bytes", column_of(a));
}

static struct cost host(double moving, double alone)
{
	return (struct cost){
	        .engine = ENGINE_HOST, .term[TERM_MEMORY] = moving, .term[TERM_HOST] = alone};
}

/* The first pass that is left to one thread has its columns from the others. */
static struct cost cost_pass(struct cost_reader *r, const struct pass *pass, struct matrix a)
{
	const int threads = r->threads;
	const double all = threads_of(r), n = (double)a.n;
	const bool alone = by_one((double)a.m * n),
	           first = alone && all > 1 && !by_one((double)a.m * (n + 1));

	r->threads = alone ? 1 : (int)all;
	const double cached = in_caches(r, pass, column_of(a), ceil(n / threads_of(r)));
	const double seconds =
	        with_memory(r, cached, pass->memory, pass->moved * cost_bytes(a), a);
	r->threads = threads;
	return host(seconds, first ? n * fetch(r, a) : 0);
}

struct cost cost_gram_pass_host(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	return cost_pass(r, step == GRAM_DOTS ? &dots : step == GRAM_UPDATE ? &update : &fused, a);
}

struct cost cost_gram_norms_host(struct cost_reader *r, struct matrix a)
{
	return cost_pass(r, &dots, a);
}

/* Other threads have changed its columns. */
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

/* Of so many groups a thread. */
static double groups_seconds(struct cost_reader *r, const char *name, double bytes, double groups)
{
	return line(groups, 1, measured(r, name, bytes, GRAM_ONE), 4,
	        measured(r, name, bytes, GRAM_FOUR));
}

/* What a group takes longer to come when the second cache does not hold a thread's columns: as one
 * reads it, and while others compute. */
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

/* Linear in the columns that are taken out and in the groups of a thread. */
struct cost cost_gram_apply_host(struct cost_reader *r, struct matrix a, int64_t k, bool single)
{
	const int threads = r->threads;
	const bool alone = by_one((double)a.m * (double)(a.n * k));
	const double bytes = column_of(a);

	(void)single;
	r->threads = alone ? 1 : (int)threads_of(r);
	const double groups = ceil(ceil((double)a.n / GRAM_TOGETHER) / threads_of(r));
	const double held =
	        line((double)k, GRAM_FEW, groups_seconds(r, "host.gram.few", bytes, groups),
	                GRAM_MANY, groups_seconds(r, "host.gram.many", bytes, groups));
	const double comes = groups * group_comes(r, a);
	r->threads = threads;
	return host(held + comes, 0);
}
