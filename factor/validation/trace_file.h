/* SPDX-License-Identifier: MIT */
/* Timelines of one factorization in a file: one row per entry, with its critical-path share; the
 * column `timeline` names the simulated or the measured one. */
#pragma once

#include "lib/base/table.h"
#include "factor/model/simulation/timeline.h"

/* FOLDER/trace_sgetrf_8192.tsv, or trace_dgeqrf_4096x512.tsv for m != n. The caller frees it. */
char *trace_file_path(
        const char *folder, const char *operation, enum precision precision, int64_t m, int64_t n);

/* A table without rows; adds the rows of a timeline, under a name. */
struct table *trace_table_new(void);
void trace_table_add(struct table *table, const char *name, const struct timeline *timeline);

/* The timeline of that name, without entries when the table has none; the table and title must
 * outlive it. NULL with a fault for an unknown lane or phase. The caller frees it. */
struct timeline *trace_table_timeline(
        const struct table *table, const char *name, const char *title, struct fault *fault);
