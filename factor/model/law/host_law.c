/* SPDX-License-Identifier: MIT */
#include "host_law.h"

#include "factor/model/cost/cost_blocks.h"

#include <math.h>

enum { LINE = 64, SMALLEST = 1 << 14 /* set of the host_memory probe */ };

/* ---- clock ---- */

/* Calibration measures clock and calls (host_rate). Without it: a load of the first cache takes
 * five cycles, a call of a short loop 24. */
static double cycle(struct cost_reader *r)
{
	static const char clock[] = "host.clock";

	return cost_known(r, clock) ? 1 / cost_scalar(r, clock)
	                            : cost_scalar(r, "host.l1.latency") / 5;
}

static double call(struct cost_reader *r)
{
	static const char level1[] = "host.blas.level1";

	return cost_known(r, level1) ? cost_scalar(r, level1) : 24 * cycle(r);
}

/* ---- threads and arithmetic ---- */

double host_law_threads(struct cost_reader *r)
{
	const double threads = cost_last(r, "host.fma.s", "threads"),
	             forked = cost_last(r, "host.parallel.fork", "threads");

	return !isnan(threads) ? threads : !isnan(forked) ? forked : 1;
}

/* Without host.fma: a core that copies in its first cache loads and stores a vector a cycle, and
 * its two units multiply and add one each. */
static double fma_rate(struct cost_reader *r, enum precision precision, double threads)
{
	const char *const name = OF_PRECISION("host.fma", precision);

	if (cost_known(r, name))
		return cost_at(r, name, "threads", threads);
	return threads * 2 / (double)precision_bytes(precision) *
	       cost_at2(r, "host.memory.copy", "threads", 1, "bytes", SMALLEST);
}

/* Cores behind so many threads: hardware threads share one. */
static double cores(struct cost_reader *r, double threads)
{
	return threads > 1 ? fmin(threads, fma_rate(r, SINGLE, threads) / fma_rate(r, SINGLE, 1))
	                   : 1;
}

/* ---- caches ---- */

/* The host_memory probe measures at powers of four, and beyond all caches. */
static double power_of_four(double (*rounded)(double), double bytes)
{
	return exp2(2 * rounded(log2(bytes) / 2));
}

/* A set of 5/6 of a cache fits into it, one of twice its size does not. */
static const double fits = 5. / 6, exceeds = 2;

static double share_beyond(double set, double cache)
{
	return fmin(1, fmax(0, log(set / (fits * cache)) / log(exceeds / fits)));
}

static double blend(double share, double within, double beyond)
{
	return within * pow(beyond / within, share);
}

static double one_threads(struct cost_reader *r, const char *name, double bytes)
{
	return 1 / cost_at2(r, name, "threads", 1, "bytes", bytes);
}

/* One thread's seconds a byte where the cache `level` (1, 2 ...) is the first that holds the set,
 * or is exceeded in part. */
static double in_cache(struct cost_reader *r, const char *name, int level, double set)
{
	static const char *const size[] = {"host.l1.stated", "host.l2.stated", "host.l3.stated"};
	const double low = SMALLEST, high = cost_last(r, name, "bytes");

	set = fmin(fmax(set, low), high);
	if (level > (int)ARRAY_LEN(size) || !cost_known(r, size[level - 1]))
		return one_threads(r, name, set);
	const double cache = cost_scalar(r, size[level - 1]),
	             within = fmax(low, power_of_four(floor, fits * cache)),
	             beyond = fmin(high, power_of_four(ceil, exceeds * cache)),
	             share = share_beyond(set, cache);
	if (share >= 1)
		return in_cache(r, name, level + 1, fmax(set, beyond));
	return blend(share, one_threads(r, name, fmin(set, within)), one_threads(r, name, beyond));
}

/* Seconds a byte of threads that share a set. Each has the first two caches for itself; hardware
 * threads share those of a core. All share the last cache and memory. */
static double per_byte(struct cost_reader *r, const char *name, double set, double threads)
{
	static const char l2[] = "host.l2.stated", l3[] = "host.l3.stated";
	const double one = in_cache(r, name, 1, threads > 1 ? set / threads : set);

	if (threads <= 1)
		return one;
	const double near = cost_known(r, l2) ? share_beyond(set / threads, cost_scalar(r, l2)) : 0,
	             caches = one / blend(near, cores(r, threads), threads);
	if (!cost_known(r, l3))
		return caches;
	const double memory =
	        1 / cost_at2(r, name, "threads", threads, "bytes", cost_last(r, name, "bytes"));
	return blend(share_beyond(set, cost_scalar(r, l3)), caches, fmax(caches, memory));
}

static const char reads[] = "host.memory.read", writes[] = "host.memory.write";

/* Reads overlap with the eviction of changed lines. */
static double traffic(struct cost_reader *r, const struct host_work *w, double threads)
{
	double read = 0, changed = 0;

	for (const struct host_traffic *t = w->traffic; t < w->traffic + HOST_TRAFFICS; t++) {
		if (t->read > 0)
			read += t->read * per_byte(r, reads, t->set, threads);
		if (t->changed > 0)
			changed += t->changed * per_byte(r, writes, t->set, threads);
	}
	return fmax(read, changed);
}

/* In the first cache a cycle each; beyond it a line moves for each. */
static double words(struct cost_reader *r, const struct host_work *w, double threads)
{
	static const char l1[] = "host.l1.stated";

	if (!(w->words > 0))
		return 0;
	const double near = cycle(r) / cores(r, threads),
	             line = LINE * per_byte(r, writes, w->words_set, threads),
	             away = cost_known(r, l1)
	                            ? share_beyond(w->words_set / threads, cost_scalar(r, l1))
	                            : 1;
	return w->words * blend(away, near, fmax(near, line));
}

/* Bytes that another core has changed come through the last cache. */
static double handed(struct cost_reader *r, const struct host_work *w)
{
	static const char l2[] = "host.l2.stated";

	if (!(w->handed > 0))
		return 0;
	const double beyond =
	        cost_known(r, l2) ? power_of_four(ceil, exceeds * cost_scalar(r, l2)) : 1 << 22;
	return w->handovers * cost_scalar(r, "host.exchange.latency") +
	       w->handed * one_threads(r, reads, beyond);
}

/* ---- the law ---- */

static double part(struct cost_reader *r, const struct host_work *w)
{
	const double threads = w->threads > 1 ? w->threads : 1;
	const double moved = traffic(r, w, threads) + words(r, w, threads),
	             arithmetic = w->flops > 0 ? w->flops / fma_rate(r, w->precision, threads) : 0;
	return (w->regions > 0 ? w->regions * cost_at(r, "host.parallel.fork", "threads", threads)
	                       : 0) +
	       (w->calls > 0 ? w->calls * call(r) : 0) +
	       (w->cycles > 0 ? w->cycles * cycle(r) : 0) + handed(r, w) + fmax(moved, arithmetic);
}

double host_law(struct cost_reader *r, const struct host_work *work, size_t count)
{
	double seconds = 0;

	for (size_t i = 0; i < count; i++)
		seconds += part(r, &work[i]);
	return r->model.missing ? NAN : seconds;
}
