/* SPDX-License-Identifier: MIT */
/* Internals of the probe program: its work, and the parent process that distributes it. */
#pragma once

#include "probe.h"
#include "probe_child.h"

/* Key of a curve's metadata: periods in which the CPU quota stopped its processes. */
extern const char throttled_key[];

struct options {
	struct cli_common common;
	int64_t processes; /* 0: each probe's default */
	double seconds;    /* 0: each probe's default */
	bool check;
	const char *profile; /* a point as SERIES[m=64,n=64], or NULL */
};

/* A probe to be measured. */
struct job {
	const struct probe *probe;
	size_t number; /* among all probes of the program, from 1 */
	int processes;
	double budget;        /* seconds of one process for the sweep */
	double expected;      /* seconds of one process: an estimate, then of the last one */
	double wall;          /* seconds of all processes so far */
	int done;             /* processes */
	long throttled;       /* periods in which the CPU quota stopped them */
	int repeats;          /* further processes, which measured points again */
	struct table *wanted; /* points to measure again; NULL: all */
	struct table *curve;
	enum exit_code outcome;
};

struct work {
	int argc;
	char **argv; /* as typed, for children and metadata */
	const struct options *options;
	struct job *job;
	size_t count;
	size_t total;      /* probes of the program; a child has some of them */
	double core_usual; /* adds a cycle of a core, the most that a process saw (core_noise.h) */
	char *set_aside;   /* variables of the environment that children do not get; NULL: none */
};

/* Parent and child both show the progress line, so each erases it before other messages. */
void probe_show_progress(
        const struct work *work, const struct job *job, int process, double seconds_left);

/* Starts fresh processes of the program one after another. Each runs whole sweeps and hands their
 * rows over. A curve is written only after all processes of its probe succeeded: job->outcome. */
void probe_measure_all(struct work *work);
