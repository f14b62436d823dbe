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

/* The largest of the probe's sizes that a cache of so many bytes holds, or the smallest that it
 * doesn't; 0 when there is none. */
static double nearest_size(struct price_reader *r, const char *name, double cache, bool held)
{
	const struct profile *profile = r->model.profile;
	const uint32_t key = profile_name_key(name);
	double best = 0;

	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		if (row->name_key != key || strcmp(row->name, name) != 0)
			continue;
		for (size_t a = 0; a < row->arg_count; a++) {
			const double size = row->arg[a];
			if (strcmp(row->arg_name[a], "bytes") != 0 || (size <= cache) != held)
				continue;
			best = held ? fmax(best, size) : best == 0 ? size : fmin(best, size);
		}
	}
	return best;
}

/* The part of the last cache that is surely there for us: others share it. */
static double last_cache(struct price_reader *r)
{
	return price_scalar(r, "host.l3.stated") / 3;
}

/* What a column changed in its place is to a copy: this also reads the lines that it overwrites,
 * three lines moved for two that are counted. In a core's own caches that costs nothing. */
static double in_place(struct price_reader *r, const char *name, double bytes)
{
	const double l2 = price_scalar(r, "host.l2.stated"), most = 1.5;
	const double held = nearest_size(r, name, l2, true),
	             beyond = nearest_size(r, name, l2, false);

	if (name == reads || bytes <= held || beyond == 0)
		return 1;
	return bytes >= beyond ? most : pow(most, log(bytes / held) / log(beyond / held));
}

/* One thread's bytes a second on so many bytes, in a cache. */
static double rate(struct price_reader *r, const char *name, double bytes)
{
	const double set = fmin(bytes, nearest_size(r, name, last_cache(r), true));

	return price_host_rate(r, name, set) * in_place(r, name, set);
}

/* Of all threads on `bytes` in all: as many times one's on its part, and no more than memory gives
 * when the last cache does not hold them; in between, as the probe's curve, by logarithms. */
static double shared_rate(struct price_reader *r, const char *name, double bytes)
{
	const double threads = threads_of(r), alone = threads * rate(r, name, bytes / threads);
	const double held = last_cache(r);
	double low, high;

	if (!profile_range(r->model.profile, name, "bytes", &low, &high) || bytes <= held)
		return alone;
	const double memory = fmin(alone,
	        in_place(r, name, high) * price_at2(r, name, "threads", threads, "bytes", high));
	return bytes >= high ? memory
	                     : alone * pow(memory / alone, log(bytes / held) / log(high / held));
}

/* The last cache's latency; where it is only bounded, the middle of its bounds. */
static double last_latency(struct price_reader *r)
{
	const struct profile *profile = r->model.profile;

	for (size_t i = 0; i < profile->count; i++) {
		const struct estimate *e = &profile->row[i].estimate;
		if (strcmp(profile->row[i].name, "host.l3.latency") == 0)
			return isfinite(e->value) ? e->value : sqrt(e->low * e->high);
	}
	return NAN;
}

/* Bytes a second of lines that another core has just written: as many are under way as come from
 * the last cache in its latency, and take what an exchange between cores takes. */
static double fetch_rate(struct price_reader *r)
{
	static const char exchange[] = "host.exchange.latency";
	const double last = rate(r, reads, INFINITY), latency = last_latency(r);

	if (!price_known(r, exchange) || !isfinite(latency))
		return last;
	return last * fmin(1, latency / price_scalar(r, exchange));
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

static double start_up(struct price_reader *r)
{
	return price_at(r, "host.parallel.fork", "threads", threads_of(r));
}

static struct price host(double moving, double alone)
{
	return (struct price){
	        .engine = ENGINE_HOST, .term[TERM_MEMORY] = moving, .term[TERM_HOST] = alone};
}

/* Whether a pass over a is left to one thread. */
static bool by_one(struct matrix a)
{
	return a.m * a.n < GRAM_PARALLEL;
}

/* Seconds of a thread in which `columns` of its own go by, each once, of a matrix of `set` bytes;
 * `others` columns are read beside each of them, which the nearest cache holds. */
static double sweep(struct price_reader *r, const char *name, double columns, double column,
        double others, double set)
{
	const double threads = threads_of(r), near = (others + 1) * column;
	const double once = name == reads ? column : 2 * column;

	return together(columns * once * threads / shared_rate(r, name, set),
	        columns * others * column / rate(r, reads, near));
}

/* Of each column the first pass that reads it brings it from the core that wrote it last: the
 * column taken out; of the fused form the next one, to the thread that updates it, and then to all;
 * of passes by one thread all columns at first. */
struct price price_gram_pass_host(struct price_reader *r, enum gram_step step, struct matrix a)
{
	const double column = column_of(a), set = price_bytes(a), n = (double)a.n;
	const double own = rate(r, copies, 2 * column), scale = 2 * column / own;
	const double fetch = threads_of(r) > 1 ? column / fetch_rate(r) : 0;
	const int threads = r->threads;

	r->threads = by_one(a) ? 1 : (int)threads_of(r);
	const double start = start_up(r);
	struct price price;
	if (step == GRAM_DOTS)
		price = host(sweep(r, reads, most(r, n), column, 1, set),
		        start + fetch * (by_one(a) ? n : 1));
	else if (step == GRAM_UPDATE)
		price = host(sweep(r, copies, most(r, n - 1), column, 1, set), start + scale);
	else
		price = host(sweep(r, copies, most(r, n - 2), column, 2, set),
		        start + fetch * (by_one(a) ? 0 : 2) + 3 * column / own +
		                column / rate(r, reads, column) + scale);
	r->threads = threads;
	return price;
}

struct price price_gram_norms_host(struct price_reader *r, struct matrix a)
{
	return host(sweep(r, reads, most(r, (double)a.n), column_of(a), 0, price_bytes(a)),
	        start_up(r));
}

struct price price_gram_panel_host(struct price_reader *r, struct matrix a)
{
	return price_gram_passes(r, a, price_gram_pass_host);
}

/* GRAM_TOGETHER columns stay in a thread's cache while the k columns go by in pairs, each read
 * twice, the second time from where those columns are. Threads get groups as they come: columns
 * that caches hold come from the core that had them last. */
struct price price_gram_apply_host(struct price_reader *r, struct matrix a, int64_t k, bool single)
{
	const double column = column_of(a), group = GRAM_TOGETHER, threads = threads_of(r);
	const double near = (group + 2 * GRAM_PAIR) * column, held = ((double)k + group) * column;
	const double own = 2 * group * column / rate(r, copies, near) +
	                   GRAM_PAIR * column / rate(r, reads, near);
	const double pass = together(own, GRAM_PAIR * column / rate(r, reads, held));
	const double from = group * column / fetch_rate(r);
	const double first = fmax(threads > 1 ? from : 0,
	        2 * group * column * threads / shared_rate(r, copies, price_bytes(a)));
	const double groups = most(r, ceil((double)a.n / group)), pairs = (double)k / GRAM_PAIR;

	const double fetch = threads > 1 ? (double)k * column / fetch_rate(r) : 0;
	const double cross = most(r, pairs) * 2 * column / rate(r, reads, 2 * column);

	(void)single;
	return host(groups * (pairs * pass + first), start_up(r) + fetch + cross);
}
