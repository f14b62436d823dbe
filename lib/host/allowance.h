/* SPDX-License-Identifier: MIT */
/* What the system allows this process: the processors of its binding, and the CPU quota of its
 * control groups. All host probes take their number of threads from host_threads. */
#pragma once

#include "lib/base/base.h"

/* Threads that host probes use at most: one on each processor that this process may run on. The
 * environment's OMP_NUM_THREADS and OPENBLAS_NUM_THREADS do not change it, as a profile describes
 * the machine. The first call must come before the calling thread is bound. */
int host_threads(void);

/* From here on OpenMP starts as many threads for the calling thread as it asks for, up to
 * host_threads: the environment's OMP_DYNAMIC and OMP_MAX_ACTIVE_LEVELS could give it fewer. */
void host_threads_all(void);

/* The processors themselves, as the system numbers them ("0-7,16"). As host_threads: read once. */
const char *host_processors(void);

/* Name and value of the variable that asks for fewer threads than host_threads
 * ("OMP_NUM_THREADS=1"); NULL when there is none. The text lives until the next call. */
const char *host_threads_asked(void);

/* Limits of control groups (version 1 and 2) on processor time. */
enum { QUOTA_LEVELS = 16 };
struct cpu_quota {
	double processors; /* processor time per time, of the tightest group; infinite without one
	                    */
	int levels;
	char *stat[QUOTA_LEVELS]; /* cpu.stat of each group with a quota */
};

/* Reads the limits of the groups listed in `groups` (/proc/self/cgroup) and of all groups around
 * them, below `mount` (/sys/fs/cgroup). What cannot be read does not limit. */
struct cpu_quota cpu_quota_read(const char *groups, const char *mount);
void cpu_quota_free(struct cpu_quota *quota);

/* How many times the groups used up their quota, and their threads were stopped (nr_throttled). */
int64_t cpu_quota_throttled(const struct cpu_quota *quota);

/* This process's own limits: read once. */
const struct cpu_quota *host_quota(void);

/* Takes the limits from other files (for tests); NULL, NULL: from the system's. */
void host_quota_from(const char *groups, const char *mount);
