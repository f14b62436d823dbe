/* SPDX-License-Identifier: MIT */
/* Facts of this machine: for data/<machine>/machine.tsv and the metadata of every file. */
#pragma once

#include "lib/base/base.h"
#include "gpu.h"
#include "gpu_warnings.h"
#include "lib/base/table.h"

/* Table with columns key, value: device properties (gpu.*), driver, runtime, NVML facts, host
 * (host.*: cpu, sockets, NUMA, caches, memory, kernel, virtualization, governor), BLAS and LAPACK
 * in use (library path, configuration, threads), GPU locality and binding. gpu is NULL when there
 * is none; gpu_reason then says why. */
struct table *machine_describe(const struct gpu *gpu, const char *gpu_reason);

/* Adds the metadata of every data file: program, fathom's version and commit, machine id, device
 * name and uuid, driver, CUDA runtime, date in UTC, host, processors, command line. */
void machine_stamp(
        struct table *table, const char *program, const struct gpu *gpu, int argc, char **argv);

/* What to know before this GPU is measured here. */
void machine_gpu_warnings(const struct gpu *gpu, struct gpu_warnings *warnings);

/* Stable id: short hex digest of the CPU model and the number of processors, then "-" and that of
 * the GPU's uuid (and of the part of it that is used) when there is one: "5fff5b6a-0123abcd". A
 * file of a host probe, which opens no GPU, has the first part only. The host's name is no part of
 * it: every container has its own. */
const char *machine_id(const struct gpu *gpu);

/* Whether two ids are of one machine: equal, or equal hosts where one of them knows no GPU. */
bool machine_same(const char *a, const char *b);

/* Whether two ids have the same first part: hosts that are alike. NULL is like none. */
bool machine_same_host(const char *a, const char *b);

/* Whether an id, perhaps of an earlier version that used the host's name, is of this machine. */
bool machine_is_here(const char *id, const struct gpu *gpu);

/* The folder that readers (advise, report) take a machine's data from: that of the environment
 * variable FATHOM_DATA, else data/$MACHINE (or data/papers/$MACHINE, of a paper), else data/local
 * when it holds a profile, else the recorded machine. data/ lies in the fathom root: FATHOM_HOME,
 * the folder above the executable's build/, or share/fathom where it is installed. The text lives
 * for three more calls. choice, when not NULL, receives one sentence that says which folder it is
 * and why.
 */
enum { MACHINE_CHOICE = 256 };
const char *machine_data_choose(char choice[MACHINE_CHOICE]);
const char *machine_data_folder(void);               /* the same without the sentence */
const char *machine_data_named(const char *machine); /* data/NAME or data/papers/NAME */

/* The same of a recorded machine; ends the program with bad usage where there is none. */
const char *machine_data_recorded_as(const char *machine);

/* "data/" under fathom's root; the caller frees it. */
char *machine_data_root(void);

/* Letters of a date up to the time of day. */
int machine_day_length(const char *date);

/* The same as machine_data_choose for the options --machine (or NULL) and --output, whose default
 * is preset; ends the program when both are given. */
const char *machine_data_asked(
        const char *machine, const char *output, const char *preset, char choice[MACHINE_CHOICE]);

/* Whether the environment names the folder. */
bool machine_data_given(void);

/* The recorded machine (machine_data.c names it) where this machine's profile has no GPU, to answer
 * questions about GPUs. Otherwise as machine_data_choose. */
const char *machine_data_recorded(char choice[MACHINE_CHOICE]);

/* One sentence when machine, device, driver, runtime or processors differ from the profile's; else
 * NULL. */
const char *machine_stale(const struct table *profile, const struct gpu *gpu);
