/* SPDX-License-Identifier: MIT */
/* What the simulation's clock (simulation.c) and its shares (simulation_shares.c) have in common.
 */
#pragma once

#include "simulation.h"

#include <math.h>

static inline struct operation *head(const struct simulation *s, int queue)
{
	return s->first[queue] < 0 ? NULL : &s->operation[s->first[queue]];
}

static inline bool under_way(const struct operation *o)
{
	return o && !isnan(o->begin);
}

static inline bool urgent(const struct operation *o)
{
	return o->work.queue == QUEUE_PANEL;
}

static inline double left_now(const struct simulation *s, const struct operation *o)
{
	return max_double(0, o->left - (s->now - o->since) * o->rate);
}

/* The speed of an operation now, 1 when it runs alone. */
double simulation_rate(const struct simulation *, const struct operation *);

/* A kernel of high priority that has just started waits for blocks of other kernels, unless blocks
 * that live until their kernel ends leave it places. It also waits for the blocks of a kernel that
 * starts at the same time, when both wait for the same blocks: the other kernel takes places block
 * by block, and a panel needs all of its places at once. Behind a kernel of its own queue it is
 * first. A co-resident kernel finds places beside the blocks of light ones. */
void simulation_hold(struct simulation *, struct operation *);
