/* SPDX-License-Identifier: MIT */
/* The description and the main program of every probe. A probe is a folder in probes/ or in
 * factor/calibration/ with <name>.c (sweep), kernels, a fit (curve -> parameters, without hardware)
 * in <name>_fit.c, and a figure plots/<name>.gp. probe_main starts
 * several fresh processes of the program, collects their rows and writes <output>/<name>.tsv. For a
 * single probe it also fits and prints the parameters. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/cli.h"
#include "probe_fits.h"
#include "curve_resample.h"
#include "lib/device/gpu.h"

struct probe_run {
	struct cli_common common;
	int process;         /* 0 .. processes - 1 */
	struct table *curve; /* rows go here, through probe_record */
	double seconds;      /* time budget of this process for the whole sweep */
	double warm_seconds; /* how long the GPU works before the first sample */
	const struct probe *probe;
	bool busy;   /* another process uses the device (set by probe_watch_gpu) */
	bool on_gpu; /* gpu is the device measured, for the metadata (probe_watch_gpu) */
	struct gpu gpu;
	struct probe_noise **noise; /* of the process (probe_noise.h) */
	double core_usual; /* adds a cycle of a core that earlier processes saw, or 0 (core_noise.h)
	                    */
	const struct table *wanted; /* points to measure again; NULL: all (probe_wants) */
	bool profiled; /* the wanted point runs under a profiler, without times (probe_profile) */
};

/* Curve -> parameters. Declared here so that the `fit` program can list all probes. */
typedef void (*probe_fit)(const struct table *curve, struct profile *profile);

/* A probe whose name begins with `host_` measures the host alone; every other probe needs a GPU.
 * The Makefile builds and runs the probes by this rule. */
struct probe {
	const char *name;        /* "launch" */
	const char *question;    /* one sentence, shown in --help and the report */
	const char *const *args; /* argument columns */
	size_t arg_count;
	bool needs_gpu; /* false exactly for the names that begin with host_ */
	bool alone;     /* has processes of its own; other GPU probes share theirs */
	int turn; /* order among probes that share: -1 when other probes would slow it down, by
	             resources that the driver keeps for them; 1 when it slows down others; 2
	             when the driver has work after it, as it clears large freed memory */
	double seconds;    /* default budget of one process */
	int64_t processes; /* default number of fresh processes; 0: 5 */
	bool revisits; /* asks probe_wants before each point, so noisy ones can be measured again */
	/* The points whose value chance decides per process: up to ten processes measure them.
	 * Needs `revisits`; or NULL. */
	curve_chance by_chance;
	/* The series that wait for the host or its memory, or NULL. They are noisy when other
	 * programs keep most of its processors busy. */
	bool (*by_host)(const char *series);
	/* The sweep; ends with msg_die when it is impossible here. */
	void (*measure)(struct probe_run *run);
	/* Correctness mode (--check): a line for each check; true when all is correct. Or NULL. */
	bool (*check)(struct probe_run *run);
	probe_fit fit;
};

/* What a set does when no operand names a probe; words are those of the command line. */
typedef void (*probe_whole)(const struct cli_common *common, char *const *words, size_t count);

/* The whole program, for one probe (whole: NULL) or for a set from which operands choose. Options
 * besides the common ones: --processes N, --seconds S (budget of one process), --check, --profile
 * POINT. Exit codes as in base.h: 1 when any parameter failed; the curve is kept. In a set, a probe
 * that fails or is impossible here does not stop the others. */
int probe_main(
        int argc, char **argv, const struct probe *const *list, size_t count, probe_whole whole);

/* Adds one row for this process, if it is wanted. */
void probe_record(struct probe_run *run, const char *series, const struct arg *args,
        size_t arg_count, const struct measurement *measurement);

/* Whether this process measures the point: a re-measurement leaves out most points. */
bool probe_wants(
        const struct probe_run *run, const char *series, const struct arg *args, size_t arg_count);

/* To be called by a GPU probe's measure function at its start and at its end. Notes the device for
 * the metadata. When others use the device, marks all rows of this process busy, earlier ones
 * included. */
void probe_watch_gpu(struct probe_run *run, const struct gpu *gpu);

/* Notes that a series is not measured, because device or loaded code lack its instructions: code
 * for `code` (10 x major + minor). The fit does not miss it then, and says so. */
void probe_lacks(struct probe_run *run, const struct gpu *gpu, const char *series, int code);
