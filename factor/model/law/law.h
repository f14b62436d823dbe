/* SPDX-License-Identifier: MIT */
/* The hardware law: the time of a kernel from its work and the hardware rows of a profile alone.
 * docs/model.md, "The hardware law", has the equations and their sources. Every row that a law
 * reads counts as read by the reader; a missing row has a stated substitute, or the answer names
 * it. */
#pragma once

#include "factor/model/cost/cost.h"
#include "factor/kernels/kernel_work.h"

/* Kinds of time: of the launch, of throughput, of a block's chain. */
enum law_term {
	LAW_LAUNCH,
	LAW_DISPATCH, /* handing out blocks */
	LAW_DRAM,
	LAW_L2,
	LAW_SHARED,
	LAW_ARITHMETIC,
	LAW_ATOMICS,
	LAW_LOADS, /* the first of the chain's */
	LAW_DEPENDENT,
	LAW_REDUCTIONS,
	LAW_BARRIERS,
	LAW_EXCHANGES,
	LAW_TERMS
};
extern const char *const law_term_name[LAW_TERMS];

/* How the steps of a work follow each other. */
enum law_form {
	FORM_LAUNCHES,
	FORM_GRAPH,
	FORM_PROGRAMMATIC, /* programmatic dependent launch */
	FORM_COOPERATIVE,  /* one persistent kernel, barriers of the grid */
	FORM_CLUSTER,      /* one persistent kernel of one cluster */
	FORM_COUNT
};
extern const char *const law_form_name[FORM_COUNT];

/* Where the blocks of a launch go. */
struct law_place {
	double sms;
	double resident; /* blocks that a multiprocessor has room for; 0: not one */
	double together; /* blocks that it has at once */
	double busiest;  /* blocks of the busiest one in all */
	double waves;    /* rounds of blocks on it */
	double active;   /* multiprocessors with blocks */
	double warps;    /* of a block */
};

struct law_answer {
	double seconds, low, high; /* of the launches; low, high: 95 % */
	double body;               /* seconds in the kernels, without their starts */
	double device;             /* from start to start where the host is ahead */
	double term[LAW_TERMS];    /* each as if alone; throughput and chain overlap in part */
	enum law_term limiter;     /* the longest */
	struct law_place place;    /* of the first work */
	struct fault fault;        /* why there is no answer */
};

/* The blocks' places for a work (registers are given out to warps by 256). */
struct law_place law_place(struct cost_reader *, const struct kernel_work *work);

/* The form that a work is described in: cooperative or of clusters by its barriers and exchanges,
 * else launches. */
enum law_form law_own_form(const struct kernel_work *work);

/* The work of a persistent kernel as separate launches, and of launches as a persistent kernel.
 * False with a fault when the machine has no such form, or the work does not fit. */
bool law_transform(struct cost_reader *, const struct kernel_work *work, enum law_form form,
        struct kernel_work *out, struct fault *fault);

/* Seconds of the works, one after the other, in that form; NaN with a fault, and after a parameter
 * was missing with each further question to this reader. low and high are NaN:
 * law_interval sets them. */
struct law_answer law_answer_in_form(
        struct cost_reader *, const struct kernel_work *work, size_t count, enum law_form form);

/* The interval: every parameter used at both ends of its own, half of what the overlap of chain and
 * throughput leaves open, and the efficiency of an unknown kernel (intervals.h), in quadrature. */
void law_interval(const struct cost_reader *, const struct kernel_work *work, size_t count,
        enum law_form form, struct law_answer *answer);

/* A work in its own form, with interval. False with answer->fault, and NaN, where the profile lacks
 * a parameter or a block does not fit. */
bool law_estimate(struct cost_reader *, const struct kernel_work *work, struct law_answer *answer);
