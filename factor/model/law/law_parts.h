/* SPDX-License-Identifier: MIT */
/* The terms of the hardware law; law.c composes them. All are seconds of one launch. */
#pragma once

#include "law.h"

/* The first of the parameters that the profile has; NaN, and the first missing, when it has none.
 * The list ends with NULL. */
double law_first(struct cost_reader *, const char *const *names);

/* Factor of times on the multiprocessors: rows are measured at gpu.bank.clock. */
double law_clock(struct cost_reader *);

/* Handing out a launch's blocks, and a block that takes another one's place. */
double law_dispatch(struct cost_reader *, const struct law_place *place);
double law_turn(struct cost_reader *, const struct kernel_work *work);

/* What a kernel's first access to memory takes beyond L2's latency; 0 without loads. */
double law_first_access(struct cost_reader *, const struct kernel_work *work);

double law_dram(struct cost_reader *, const struct kernel_work *, const struct law_place *);
double law_l2(struct cost_reader *, const struct kernel_work *, const struct law_place *);

/* Seconds in which each multiprocessor's own way to L2 and memory is busy. */
double law_way(struct cost_reader *, const struct kernel_work *, const struct law_place *);

double law_shared(struct cost_reader *, const struct kernel_work *, const struct law_place *);
double law_atomics(struct cost_reader *, const struct kernel_work *);
double law_arithmetic(struct cost_reader *, const struct kernel_work *, const struct law_place *);

/* A block's chain by terms (LAW_LOADS to LAW_EXCHANGES), and the number of its links. load: the
 * share of DRAM's bandwidth in use. */
struct law_chain {
	double term[LAW_TERMS];
	double own;     /* sum of the terms that blocks go through independently */
	double common;  /* sum of those that all blocks go through together */
	double links;   /* of `own` */
	double steps;   /* between waits for other blocks: at least 1 */
	bool by_blocks; /* the warps of a block wait for each other */
};
struct law_chain law_chain(
        struct cost_reader *, const struct kernel_work *, const struct law_place *, double load);

/* law_answer_in_form without the reader's fault. overlap: 0 as the law says; chain and throughput
 * overlap wholly (-1), or not at all (1). */
double law_overlapped(struct cost_reader *, const struct kernel_work *work, size_t count,
        enum law_form form, int overlap, struct law_answer *answer);
