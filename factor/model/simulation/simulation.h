/* SPDX-License-Identifier: MIT */
/* The device of the model executor: queues of operations, multiprocessors and copy engines.
 *
 * Operations of one queue follow each other; a join makes a queue wait for an event of another. A
 * transfer has its direction's copy engine to itself, and disturbs nothing else. A kernel first
 * starts (`start` seconds, on no multiprocessor), then needs the share of the multiprocessors that
 * its blocks can fill. When several of one priority are under way the multiprocessors are handed
 * out by the time they began, to each its share or what is left, and a kernel that got less runs
 * slower in proportion. A kernel of higher priority (QUEUE_PANEL) comes beside them: of the
 * multiprocessors that it cannot have alone it has half, all where its blocks leave no room for
 * others or these are light, and they have the rest. A panel that was measured beside others, which
 * disturb it by what they ask of memory, too, has the part `beside` when these have all of the
 * rest. It does not interrupt: when it finds less than its share free it waits until enough of the
 * blocks that run there have ended, each after `block` seconds: all together in a kernel's first
 * two rounds, evenly one after the other later; but for a panel, beside blocks that stay to their
 * kernel's end it starts on what they leave. Blocks that have a multiprocessor each for themselves
 * (`whole`) give up whole ones: one whose blocks do not wait for each other has these alone, and
 * what it does on the first of them while the others are still awaited counts (H200, fp64 beside
 * tiles of 74 us, alone and so: updates of 128 columns 31 and 70 us, of 256 76 and 108). The
 * machine does no more than one machine's work. Not modelled: other kernels side by side that slow
 * each other's memory traffic down, and power, of which panels leave products more.
 *
 * The host puts operations at times that never fall; what it does not wait for is simulated later,
 * when all that could disturb it is known. */
#ifndef FATHOM_SIMULATION_H
#define FATHOM_SIMULATION_H

#include "factor/model/cost/cost.h"

struct work {
	enum queue queue;
	enum engine engine;       /* ENGINE_HOST: takes time, but nothing of the device */
	size_t tag;               /* the caller's */
	double issue;             /* when the host had put it */
	double beside;            /* in (0, 1]; 0: half */
	bool light, loose, whole; /* as in struct cost */
	bool apart;               /* each of its blocks begins when it has a place */
	int kernels;              /* in turn */
	double start, seconds, share, block; /* seconds: all of it when alone, start included; share
	                                        in (0, 1]; block as in struct cost */
};

struct operation {
	struct work work;
	int64_t before, after; /* operations that come first: of the queue, of a join; -1 none */
	int64_t next;          /* of the queue, -1 none yet */
	double begin, end;     /* NaN until known */
	double left, since, rate, held; /* work left at `since`; nothing until `held` */
};

struct simulation {
	struct operation *operation;
	int64_t count, room;
	int64_t first[QUEUE_COUNT], last[QUEUE_COUNT]; /* not done yet; latest put; -1 none */
	double now;
};

void simulation_start(struct simulation *simulation);
void simulation_free(struct simulation *simulation);

/* Puts an operation at the end of its queue, after the operation `after` as well (-1: none);
 * returns its number. */
int64_t simulation_put(struct simulation *simulation, struct work work, int64_t after);

/* Runs until the operation is done; returns when that is. -1: never anything to wait for, 0. */
double simulation_finish(struct simulation *simulation, int64_t operation);

/* Whether the operation (-1: none) is not over at that time. Runs to it. */
bool simulation_busy(struct simulation *simulation, int64_t operation, double time);

#endif
