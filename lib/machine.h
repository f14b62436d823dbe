/* SPDX-License-Identifier: MIT */
/* The machine at hand as key/value facts: what every file's metadata quotes and data/<machine>/machine.tsv holds. */
#ifndef FATHOM_MACHINE_H
#define FATHOM_MACHINE_H

#include "base.h"
#include "gpu.h"
#include "table.h"

/* Table with columns key, value: device properties (gpu.*), driver, runtime, NVML facts, host (host.*: cpu, sockets, NUMA,
 * caches, memory, kernel, virtualization, governor), BLAS and LAPACK in use (library path, configuration, threads),
 * GPU locality and binding. gpu is NULL when there is none; gpu_reason then says why. */
struct table *machine_describe(const struct gpu *gpu, const char *gpu_reason);

/* Adds the metadata every data file carries: probe or program name, fathom version and commit, machine id, device
 * name and uuid, driver, CUDA runtime, date in UTC, host, command line. */
void machine_stamp(struct table *table, const char *program, const struct gpu *gpu, int argc, char **argv);

/* Stable id: short hex digest of host name, CPU model and GPU uuid. */
const char *machine_id(const struct gpu *gpu);

/* data/local when it holds a profile, else the recorded machine given by the environment variable MACHINE, else
 * data/nvidia-h200. What is chosen is for the caller to say. Folders are relative to the fathom root (FATHOM_HOME or the
 * folder above the executable's build/). */
const char *machine_data_folder(void);

/* One sentence when the profile's driver, runtime, device or machine differ from the machine at hand, else NULL. */
const char *machine_stale(const struct table *profile, const struct gpu *gpu);

#endif
