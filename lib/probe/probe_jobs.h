/* SPDX-License-Identifier: MIT */
/* Inside of the program around the probes: what it has to do, and the parent that has it done. */
#ifndef FATHOM_PROBE_JOBS_H
#define FATHOM_PROBE_JOBS_H

#include "probe.h"
#include "probe_child.h"

/* Key of a curve's metadata: periods in which the CPU quota stopped its processes. */
extern const char throttled_key[];

struct options {
	struct cli_common common;
	int64_t processes; /* 0: each probe's default */
	double seconds;    /* 0: each probe's default */
	bool check;
};

/* A probe to be measured. */
struct job {
	const struct probe *probe;
	size_t number; /* of the whole program's probes, from 1 */
	int processes;
	double budget;   /* seconds of one process for the sweep */
	double expected; /* seconds of one process: the budget and the start, then the last one's */
	double wall;     /* seconds of the processes so far */
	int done;        /* processes */
	long throttled;  /* periods in which the CPU quota stopped them */
	int repeats;     /* further processes, which went through noisy points */
	struct table *wanted; /* the points of such a visit; NULL: all */
	struct table *curve;
	enum exit_code outcome;
};

/* What the program was started with, and what it has to do. */
struct work {
	int argc;
	char **argv; /* as typed: the children and the metadata get them so */
	const struct options *options;
	struct job *job;
	size_t count;
	size_t total;      /* of the whole program, of which a child has a part */
	double core_usual; /* adds a cycle of a core, the most that a process saw (core_noise.h) */
	char *set_aside;   /* variables of the environment that children do not get; NULL: none */
};

/* Parent and child both show it, so that each erases it before it says anything else. */
void probe_show_progress(
        const struct work *work, const struct job *job, int process, double seconds_left);

/* Starts fresh processes of the program itself one after another, each of which runs whole sweeps
 * and hands their rows over; a curve is written only after all processes of its probe succeeded.
 * job->outcome says what became of it. */
void probe_measure_all(struct work *work);

#endif
