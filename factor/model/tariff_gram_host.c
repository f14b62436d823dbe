/* SPDX-License-Identifier: MIT */
/* Prices of Gram-Schmidt on the host: what each thread moves, at the rate of the cache in which it
 * lies. A thread's columns are its own and lie in its caches, as far as these hold them; the column
 * that is taken out was last written by another thread and comes from the last cache. All threads'
 * columns together share that cache, and memory. */
#include "price_blocks.h"

#include "../host/gram_loops.h"

#include <math.h>
#include <string.h>

static const char reads[] = "host.memory.read", copies[] = "host.memory.copy";

static double threads_of(struct price_reader *r)
{
	double low, high;

	if (r->threads > 0)
		return r->threads;
	return profile_range(r->model.profile, "host.parallel.fork", "threads", &low, &high) ? high
	                                                                                     : 1;
}

/* The most bytes that the probe passed over within the last cache, of which half is surely there
 * for us: between that and memory its curve has a step. */
static double held_bytes(struct price_reader *r, const char *name)
{
	const struct profile *profile = r->model.profile;
	const double half = price_scalar(r, "host.l3.stated") / 2;
	double most = 0;

	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		for (size_t a = 0; strcmp(row->name, name) == 0 && a < row->arg_count; a++)
			if (strcmp(row->arg_name[a], "bytes") == 0 && row->arg[a] <= half)
				most = fmax(most, row->arg[a]);
	}
	return most;
}

/* One thread's bytes a second on so many bytes, in a cache. */
static double rate(struct price_reader *r, const char *name, double bytes)
{
	return price_host_rate(r, name, fmin(bytes, held_bytes(r, name)));
}

/* Of all threads on `bytes` in all: as many times one's on its part, and no more than memory gives
 * when the last cache does not hold them. The probe passes again and again over sizes up to the
 * cache's, of which an ever smaller part stays there; in between by logarithms. */
static double shared_rate(struct price_reader *r, const char *name, double bytes)
{
	const double threads = threads_of(r), alone = threads * rate(r, name, bytes / threads);
	const double held = price_scalar(r, "host.l3.stated") / 2;
	double low, high;

	if (!profile_range(r->model.profile, name, "bytes", &low, &high) || bytes <= held)
		return alone;
	const double memory = fmin(alone, price_at2(r, name, "threads", threads, "bytes", high));
	return bytes >= high ? memory
	                     : alone * pow(memory / alone, log(bytes / held) / log(high / held));
}

/* Two streams of a thread, from different places, run partly at once. */
static double together(double one, double other)
{
	return sqrt(one * one + other * other);
}

static double column_of(struct matrix a)
{
	return (double)a.m * (double)precision_bytes(a.precision);
}

/* Columns of the thread that has most. */
static double most(struct price_reader *r, double columns)
{
	return ceil(columns / threads_of(r));
}

static double fork(struct price_reader *r)
{
	return price_at(r, "host.parallel.fork", "threads", threads_of(r));
}

static struct price host(double moving, double alone)
{
	return (struct price){
	        .engine = ENGINE_HOST, .term[TERM_MEMORY] = moving, .term[TERM_HOST] = alone};
}

/* Seconds of a thread in which `columns` of its own go by, each once, of a matrix of `set` bytes;
 * `others` columns are read beside each of them, from the last cache first, then its own. */
static double sweep(struct price_reader *r, const char *name, double columns, double column,
        double others, double set)
{
	const double threads = threads_of(r), near = (others + 1) * column;
	const double once = name == reads ? column : 2 * column;
	const double own = columns * once * threads / shared_rate(r, name, set);
	const double brought = threads > 1 ? others * column / rate(r, reads, INFINITY) : 0;

	return brought + together(own, columns * others * column / rate(r, reads, near));
}

struct price price_gram_pass_host(struct price_reader *r, enum gram_step step, struct matrix a)
{
	const double column = column_of(a), set = price_bytes(a), n = (double)a.n;
	const double own = rate(r, copies, 2 * column), scale = 2 * column / own;

	if (step == GRAM_DOTS)
		return host(sweep(r, reads, most(r, n), column, 1, set), fork(r));
	if (step == GRAM_UPDATE)
		return host(sweep(r, copies, most(r, n - 1), column, 1, set), fork(r) + scale);
	/* by one thread: the next column's update and norm, and the division */
	const double next = 3 * column / own + column / rate(r, reads, column);
	return host(sweep(r, copies, most(r, n - 2), column, 2, set), fork(r) + next + scale);
}

struct price price_gram_norms_host(struct price_reader *r, struct matrix a)
{
	return host(
	        sweep(r, reads, most(r, (double)a.n), column_of(a), 0, price_bytes(a)), fork(r));
}

struct price price_gram_panel_host(struct price_reader *r, struct matrix a)
{
	return price_gram_passes(r, a, price_gram_pass_host);
}

/* GRAM_TOGETHER columns stay in a thread's cache while the k columns go by in pairs, each read
 * twice, the second time from where those columns are. */
struct price price_gram_apply_host(struct price_reader *r, struct matrix a, int64_t k, bool single)
{
	const double column = column_of(a), group = GRAM_TOGETHER, threads = threads_of(r);
	const double near = (group + 2 * GRAM_PAIR) * column, held = ((double)k + group) * column;
	const double own = 2 * group * column / rate(r, copies, near) +
	                   GRAM_PAIR * column / rate(r, reads, near);
	const double pass = together(own, GRAM_PAIR * column / rate(r, reads, held));
	const double first = 2 * group * column * threads / shared_rate(r, copies, price_bytes(a));
	const double groups = most(r, ceil((double)a.n / group)), pairs = (double)k / GRAM_PAIR;

	(void)single;
	return host(groups * (pairs * pass + first),
	        fork(r) + most(r, pairs) * 2 * column / rate(r, reads, 2 * column));
}
