/* SPDX-License-Identifier: MIT */
/* Latency: what a block waits for, one thing after the other. */
#include "law_parts.h"

#include <math.h>

enum {
	EXCHANGE_BYTES = 128, /* of gpu.exchange.cluster */
	HEAD_BYTES = 32       /* that travel with a block's key */
};

/* Barriers of the grid by the runtime's function, else by a counter or a master block. */
static const char *const grids[] = {
        "gpu.barrier.grid", "gpu.barrier.counter", "gpu.barrier.master", NULL};

/* Links whose latency is one row, or that of threads of a block. */
static const struct link {
	const char *row, *argument; /* argument: NULL, or threads of a block */
	enum law_term term;
	bool on_chip;   /* follows the clock of the multiprocessors */
	bool by_blocks; /* the warps of a block wait for each other */
} links[LINK_COUNT] = {
        [LINK_SHARED] = {"gpu.shared.latency", NULL, LAW_LOADS, true, false},
        [LINK_L1] = {"gpu.l1.latency", NULL, LAW_LOADS, true, false},
        [LINK_L2] = {"gpu.l2.latency", NULL, LAW_LOADS, false, false},
        [LINK_DRAM] = {"gpu.dram.latency", NULL, LAW_LOADS, false, false},
        [LINK_ATOMIC] = {"gpu.atomic.global.alone.u32", NULL, LAW_LOADS, false, false},
        [LINK_FMA] = {"gpu.fma.s.latency", NULL, LAW_DEPENDENT, true, false},
        [LINK_FMA_DOUBLE] = {"gpu.fma.d.latency", NULL, LAW_DEPENDENT, true, false},
        [LINK_SPECIAL] = {"gpu.special.ex2.latency", NULL, LAW_DEPENDENT, true, false},
        [LINK_SHUFFLE] = {"gpu.warp.shuffle.latency", NULL, LAW_DEPENDENT, true, false},
        [LINK_REDUX] = {"gpu.warp.redux.latency", NULL, LAW_DEPENDENT, true, false},
        [LINK_BALLOT] = {"gpu.warp.ballot.latency", NULL, LAW_DEPENDENT, true, false},
        [LINK_REDUCE] = {"gpu.reduce.sum", "threads", LAW_REDUCTIONS, true, true},
        [LINK_SEARCH] = {"gpu.reduce.max", "threads", LAW_REDUCTIONS, true, true},
        [LINK_BLOCK] = {"gpu.barrier.block", "threads", LAW_BARRIERS, true, true},
        [LINK_COUNT_IN] = {"gpu.barrier.grid", NULL, LAW_BARRIERS, false, false},
};

static double grid_barrier(struct cost_reader *r, double blocks, double threads)
{
	size_t i = 0;

	while (grids[i + 1] && !cost_known(r, grids[i]))
		i++;
	return cost_at2(
	        r, grids[cost_known(r, grids[i]) ? i : 0], "blocks", blocks, "threads", threads);
}

/* Seconds of a link, at the profile's clock. */
static double latency(struct cost_reader *r, const struct kernel_work *w, int i, double load)
{
	static const double near = 1048576;
	static const char loaded[] = "gpu.loaded.dram.latency", conflicts[] = "gpu.bank.alone.load",
	                  curve[] = "gpu.load.latency", *const l2[] = {"gpu.l2.stated", NULL};

	if (i == LINK_SHARED && w->ways > 1 && cost_known(r, conflicts))
		return cost_at2(r, conflicts, "ways", fmin(w->ways, 32), "width", 4);
	if (i == LINK_COUNT_IN) /* a barrier without others to wait for */
		return grid_barrier(r, 1, w->threads);
	if (i == LINK_L2 && w->working_set > 0 && cost_known(r, curve) && cost_known(r, l2[0]))
		/* of a set that L2 holds, and L1 does not */
		return cost_scalar(r, links[i].row) *
		       cost_at(r, curve, "bytes",
		               fmax(near, fmin(w->working_set, 0.75 * law_first(r, l2)))) /
		       cost_at(r, curve, "bytes", near);
	if (i == LINK_DRAM && cost_l2_hits(r, w->working_set) == 1)
		return latency(r, w, LINK_L2, 0);
	if (i == LINK_DRAM && cost_known(r, loaded)) {
		const double idle = cost_at(r, loaded, "load", 0);
		return cost_scalar(r, links[i].row) * cost_at(r, loaded, "load", load) / idle;
	}
	return links[i].argument ? cost_at(r, links[i].row, links[i].argument, w->threads)
	                         : cost_scalar(r, links[i].row);
}

static double cluster_size(const struct kernel_work *w)
{
	return fmax(2, w->cluster > 0 ? w->cluster : w->blocks);
}

/* A round of gpu.exchange.grid: keys, and then the winner's record, which few bytes need not wait
 * for. Polls slow each other down, by fewer blocks where these share copies of the keys. */
static double grid_exchange(struct cost_reader *r, const struct kernel_work *w)
{
	const struct work_exchange *x = &w->exchange[SCOPE_GRID];
	const double giving = w->blocks / fmax(1, w->cluster),
	             round = cost_at2(r, "gpu.exchange.grid", "blocks",
	                     ceil(giving / fmax(1, w->copies)), "words",
	                     fmax(EXCHANGE_BYTES, x->bytes) / 4);

	return x->bytes <= HEAD_BYTES ? round - latency(r, w, LINK_L2, 0) : round;
}

/* An exchange of more than the measured bytes takes these at the rate of a multiprocessor out of
 * L2, and a record in L2 is a whole warp's. */
static double exchange(struct cost_reader *r, const struct kernel_work *w, int scope)
{
	if (scope == SCOPE_GRID)
		return grid_exchange(r, w);
	const double more = fmax(0, w->exchange[scope].bytes - EXCHANGE_BYTES);
	return cost_at(r, "gpu.exchange.cluster", "blocks", cluster_size(w)) +
	       (more > 0 ? more / cost_scalar(r, "gpu.sm.l2_read") : 0);
}

struct law_chain law_chain(
        struct cost_reader *r, const struct kernel_work *w, const struct law_place *p, double load)
{
	struct law_chain c = {.steps = 1};
	const double clock = law_clock(r);

	for (int i = 0; i < LINK_COUNT; i++) {
		if (!(w->link[i] > 0) || !links[i].row)
			continue;
		const double seconds = w->link[i] * latency(r, w, i, load) *
		                       (links[i].on_chip ? clock : 1) * p->waves;
		c.term[links[i].term] += seconds;
		c.own += seconds;
		c.links += w->link[i] * p->waves;
		c.by_blocks |= links[i].by_blocks;
	}
	if (p->waves > 1)
		c.own += c.term[LAW_DISPATCH] = (p->waves - 1) * law_turn(r, w);
	if (w->link[LINK_CLUSTER_BARRIER] > 0)
		c.common += w->link[LINK_CLUSTER_BARRIER] * clock *
		            cost_at(r, "gpu.barrier.cluster", "blocks", cluster_size(w));
	if (w->link[LINK_GRID_BARRIER] > 0)
		c.common += w->link[LINK_GRID_BARRIER] * grid_barrier(r, w->blocks, w->threads);
	const double begin = law_first_access(r, w);
	c.term[LAW_LOADS] += begin;
	c.common += begin;
	c.steps += w->link[LINK_CLUSTER_BARRIER] + w->link[LINK_GRID_BARRIER];
	c.term[LAW_BARRIERS] += c.common - begin;
	for (int scope = 0; scope < SCOPE_COUNT; scope++) {
		if (!(w->exchange[scope].count > 0))
			continue;
		c.by_blocks = true; /* all warps wait for the same records */
		c.term[LAW_EXCHANGES] += w->exchange[scope].count * exchange(r, w, scope) *
		                         (scope == SCOPE_CLUSTER ? clock : 1);
		c.steps += w->exchange[scope].count;
	}
	c.common += c.term[LAW_EXCHANGES];
	return c;
}
