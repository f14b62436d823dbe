/* SPDX-License-Identifier: MIT */
/* Prices of Gram-Schmidt on the host: what each thread moves, at the rate of the cache in which it
 * lies. A thread's columns are its own and lie in its caches, as far as these hold them; the column
 * that is taken out was last written by another thread and comes from the last cache. All threads'
 * columns together share that cache, and memory. */
#include "price_blocks.h"

#include "../host/gram_loops.h"

#include <math.h>

static const char reads[] = "host.memory.read", copies[] = "host.memory.copy";

static double threads_of(struct price_reader *r)
{
	double low, high;

	if (r->threads > 0)
		return r->threads;
	return profile_range(r->model.profile, "host.parallel.fork", "threads", &low, &high) ? high
	                                                                                     : 1;
}

/* One thread's bytes a second on so many bytes. */
static double rate(struct price_reader *r, const char *name, double bytes)
{
	double low, high;

	if (profile_range(r->model.profile, name, "bytes", &low, &high) && bytes > high)
		bytes = high;
	return price_host_rate(r, name, bytes);
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
	double own = columns * once * threads / shared_rate(r, name, set);

	if (threads > 1)
		own += others * column / rate(r, reads, price_scalar(r, "host.l3.stated") / 8);
	return own + columns * others * column / rate(r, reads, near);
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

/* GRAM_TOGETHER columns stay in a thread's cache while the k columns go by, each read twice, the
 * second time from where those columns are. */
struct price price_gram_apply_host(struct price_reader *r, struct matrix a, int64_t k, bool single)
{
	(void)single;
	const double column = column_of(a), group = GRAM_TOGETHER, threads = threads_of(r);
	const double near = (group + 2) * column, held = ((double)k + group) * column;
	const double pass = 2 * group * column / rate(r, copies, near) +
	                    column / rate(r, reads, near) + column / rate(r, reads, held);
	const double first = 2 * group * column * threads / shared_rate(r, copies, price_bytes(a));
	const double groups = most(r, ceil((double)a.n / group));

	return host(groups * ((double)k * pass + first), fork(r));
}
