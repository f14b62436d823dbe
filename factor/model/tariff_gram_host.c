/* SPDX-License-Identifier: MIT */
/* Prices of Gram-Schmidt on the host, by its loops as the host_gram probe measures them for one
 * thread and for all. A thread's columns are its own and lie in its caches, as far as these hold
 * them: all threads' columns together share the last one, and memory. The column that is taken out
 * was last written by another thread. */
#include "price_blocks.h"

#include "../../lib/gram_loops.h"

#include <math.h>
#include <string.h>

/* What a loop over a column does, and words that it moves. */
struct loop {
	const char *name[2]; /* single, double precision */
	const char *memory;
	double moved;
};

static const char reads[] = "host.memory.read", copies[] = "host.memory.copy";
static const struct loop dot = {{"host.gram.dot.s", "host.gram.dot.d"}, reads, 1},
                         subtract = {{"host.gram.subtract.s", "host.gram.subtract.d"}, copies, 2},
                         fused = {{"host.gram.fused.s", "host.gram.fused.d"}, copies, 2},
                         pair = {{"host.gram.pair.s", "host.gram.pair.d"}, reads, GRAM_PAIR};

static double threads_of(struct price_reader *r)
{
	double low, high;

	if (r->threads > 0)
		return r->threads;
	return profile_range(r->model.profile, "host.parallel.fork", "threads", &low, &high) ? high
	                                                                                     : 1;
}

static double column_of(struct matrix a)
{
	return (double)a.m * (double)precision_bytes(a.precision);
}

/* ---- loops ---- */

/* The probe's levels: few columns; a quarter of the second cache, three; four times all of it. */
enum { NEAR = 1, QUARTER, THREE, LAST };

static double at_level(struct price_reader *r, const struct loop *loop, struct matrix a, int level)
{
	static const char *const axes[] = {"threads", "m", "level"};
	const double at[] = {threads_of(r), (double)a.m, level};

	return price_surface(r, loop->name[a.precision == DOUBLE], axes, at, 3);
}

/* `low` becomes `high` while x goes from `from` to `to`, by logarithms. */
static double between(double low, double high, double x, double from, double to)
{
	return low * pow(high / low, fmin(1, fmax(0, log(x / from) / log(to / from))));
}

/* Of a column, in the caches; set: bytes that a thread goes through before it comes back. */
static double cached(struct price_reader *r, const struct loop *loop, struct matrix a, double set)
{
	const double l2 = price_scalar(r, "host.l2.stated");

	if (set <= price_scalar(r, "host.l1.stated"))
		return at_level(r, loop, a, NEAR);
	const double three = at_level(r, loop, a, THREE);
	if (set <= 0.75 * l2)
		return between(at_level(r, loop, a, QUARTER), three, set, l2 / 4, 0.75 * l2);
	return between(three, at_level(r, loop, a, LAST), set, 0.75 * l2, 1.5 * l2);
}

/* What a column changed in its place is to a copy: this also reads the lines that it overwrites,
 * three lines moved for two that are counted. */
static double memory_rate(struct price_reader *r, const struct loop *loop, double beyond)
{
	return (loop->memory == reads ? 1 : 1.5) *
	       price_at2(r, loop->memory, "threads", threads_of(r), "bytes", beyond);
}

/* The same where all threads together have `all` bytes: beyond the part of the last cache that is
 * surely there for us, since others share it, ever more of it is memory's. */
static double loop_seconds(
        struct price_reader *r, const struct loop *loop, struct matrix a, double all)
{
	const double held = price_scalar(r, "host.l3.stated") / 3, threads = threads_of(r);
	const double near = cached(r, loop, a, all / threads);
	double low, beyond;

	if (all <= held || !profile_range(r->model.profile, loop->memory, "bytes", &low, &beyond))
		return near;
	const double far = loop->moved * column_of(a) * threads / memory_rate(r, loop, beyond);
	return between(near, fmax(near, far), all, held, beyond);
}

/* ---- what is not loops ---- */

/* A column that another thread has changed comes to one thread, or to all. */
static double fetch(struct price_reader *r, struct matrix a, bool all)
{
	static const char *const axes[] = {"threads", "bytes"};
	const double at[] = {all ? threads_of(r) : 1, column_of(a)};

	return threads_of(r) > 1 ? price_surface(r, "host.gram.fetch", axes, at, 2) : 0;
}

/* Columns of the thread that has most. */
static double most(struct price_reader *r, double columns)
{
	return ceil(columns / threads_of(r));
}

static double start_up(struct price_reader *r)
{
	return price_at(r, threads_of(r) > 1 ? "host.gram.region" : "host.parallel.fork", "threads",
	        threads_of(r));
}

static struct price host(double moving, double alone)
{
	return (struct price){
	        .engine = ENGINE_HOST, .term[TERM_MEMORY] = moving, .term[TERM_HOST] = alone};
}

/* By one thread, from its own cache. */
static double alone(struct price_reader *r, const struct loop *loop, struct matrix a)
{
	const int threads = r->threads;

	r->threads = 1;
	const double seconds = at_level(r, loop, a, NEAR);
	r->threads = threads;
	return seconds;
}

/* ---- passes ---- */

/* Whether a pass over a is left to one thread. */
static bool by_one(struct matrix a)
{
	return a.m * a.n < GRAM_PARALLEL;
}

static double sweep(
        struct price_reader *r, const struct loop *loop, double columns, struct matrix a)
{
	return most(r, columns) * loop_seconds(r, loop, a, price_bytes(a));
}

/* Of each column the first pass that reads it brings it from the core that wrote it last: the
 * column taken out; of the fused form the next one, to the thread that updates it, and then to all;
 * of passes by one thread all columns at first. Normalization is one thread's. */
struct price price_gram_pass_host(struct price_reader *r, enum gram_step step, struct matrix a)
{
	const double n = (double)a.n, one = fetch(r, a, false), all = fetch(r, a, true);
	const double normalize = alone(r, &subtract, a);
	const int threads = r->threads;

	r->threads = by_one(a) ? 1 : (int)threads_of(r);
	const double start = start_up(r);
	struct price price;
	if (step == GRAM_DOTS)
		price = host(sweep(r, &dot, n, a), start + (by_one(a) ? n * one : all));
	else if (step == GRAM_UPDATE)
		price = host(
		        sweep(r, &subtract, n - 1, a), start + normalize + (by_one(a) ? 0 : one));
	else
		price = host(sweep(r, &fused, n - 2, a),
		        start + normalize + alone(r, &subtract, a) + alone(r, &dot, a) +
		                (by_one(a) ? 0 : 2 * one + all));
	r->threads = threads;
	return price;
}

struct price price_gram_norms_host(struct price_reader *r, struct matrix a)
{
	return host(sweep(r, &dot, (double)a.n, a), start_up(r));
}

struct price price_gram_panel_host(struct price_reader *r, struct matrix a)
{
	return price_gram_passes(r, a, price_gram_pass_host);
}

/* ---- blocks ---- */

/* GRAM_TOGETHER columns stay in a thread's cache while the k columns go by in pairs, after their
 * dot products with the first of these. They come from wherever the matrix is, in caches from the
 * thread that had them last, as do the k columns. */
struct price price_gram_apply_host(struct price_reader *r, struct matrix a, int64_t k, bool single)
{
	const double groups = most(r, ceil((double)a.n / GRAM_TOGETHER)),
	             pairs = (double)k / GRAM_PAIR;
	const double near = at_level(r, &dot, a, NEAR),
	             come = loop_seconds(r, &subtract, a, price_bytes(a)) -
	                    at_level(r, &subtract, a, NEAR);
	const double pass = cached(r, &pair, a, (double)k * column_of(a));
	const double first =
	        GRAM_TOGETHER * (GRAM_PAIR * near + fmax(fetch(r, a, false), fmax(0, come)));

	(void)single;
	return host(groups * (pairs * pass + first),
	        start_up(r) + (double)k * fetch(r, a, true) + most(r, pairs) * near);
}
