/* SPDX-License-Identifier: MIT */
/* The device of the model executor: queues of operations, multiprocessors and copy engines.
 *
 * Operations of a queue run in order; a join makes a queue wait for an event of another. A transfer
 * has the copy engine of its direction and disturbs nothing else. A kernel first starts (`start`
 * seconds, on no multiprocessor), then needs the share of the multiprocessors that its blocks can
 * fill. Kernels of one priority get multiprocessors in the order in which they began, each its
 * share or the rest, and run slower in proportion to a smaller part. A kernel of higher priority
 * (QUEUE_PANEL) gets half of the multiprocessors that it cannot have alone, or the part
 * `overlapped` if that was measured; it gets all where its blocks leave no room for others, or
 * these are light.
 *
 * It does not interrupt. When less than its share is free it waits until enough of the running
 * blocks have ended, each after its lifetime: all together in a kernel's first two rounds,
 * evenly in time later. Beside blocks that live until their kernel ends it starts on the places
 * left, unless it is a panel, which needs all places at once. Exclusive blocks give up whole
 * multiprocessors: a kernel of independent blocks has these alone, and the work on the first of
 * them counts. Not modelled: the effects of kernels on each other's memory traffic, and power.
 *
 * The host puts operations at times that never fall. An operation that the host does not wait for
 * is simulated later, when all that can disturb it is known. What it found in its queue, when the
 * host asked for it, is then known, too. */
#pragma once

#include "factor/model/cost/cost.h"

struct work {
	enum queue queue;
	enum engine engine; /* ENGINE_HOST: takes time, but uses nothing of the device */
	size_t tag;         /* the caller's */
	double issue;       /* when the host had put it */
	double overlapped;  /* in (0, 1]; 0: half */
	bool light, coresident, exclusive; /* as in struct cost */
	bool independent;                  /* each of its blocks begins when it has a place */
	int kernels;                       /* in turn */
	double asked;            /* when the host asked for it: its queue is idle or at work then */
	double idle_start, idle; /* more start, and seconds in all, unless a kernel is at work */
	double alone;            /* more seconds in place of `idle` when the queue has nothing to do
	                            once the host has put it; 0: as idle says */
	double behind;           /* more seconds when another engine is at work */
	double start, seconds;   /* alone; seconds include the start */
	double share, block_lifetime; /* share in (0, 1] */
};

struct operation {
	struct work work;
	int64_t before, after; /* operations that come first: of the queue, of a join; -1 none */
	int64_t next;          /* of the queue, -1 none yet */
	double begin, end;     /* NaN until known */
	double left, since, rate, held; /* work left at `since`; nothing until `held` */
	bool found_idle, found_other;   /* its queue: no kernel, another engine at work */
	bool found_empty;               /* and took `alone` more */
};

struct simulation {
	struct operation *operation;
	int64_t count, room;
	int64_t first[QUEUE_COUNT], last[QUEUE_COUNT]; /* not done yet; latest put; -1 none */
	double now;
};

void simulation_start(struct simulation *simulation);
void simulation_free(struct simulation *simulation);

/* Puts an operation at the end of its queue, also after the operation `after` (-1: none). Returns
 * its number. */
int64_t simulation_put(struct simulation *simulation, struct work work, int64_t after);

/* Runs until the operation is done, and returns its end; 0 for operation -1, none. */
double simulation_finish(struct simulation *simulation, int64_t operation);

/* For an operation of unknown (infinite) length, which depends on another device: runs until it
 * begins, and returns that time; NaN when it never does. Then its end may be set, before the
 * simulation goes on. */
double simulation_reach(struct simulation *simulation, int64_t operation);
void simulation_end(struct simulation *simulation, int64_t operation, double end);
