/* SPDX-License-Identifier: MIT */
/* Timelines of one factorization in a file: a row an entry, the simulated and the measured in the
 * column `timeline`, and what each entry is owed. */
#ifndef FATHOM_TRACE_FILE_H
#define FATHOM_TRACE_FILE_H

#include "lib/base/table.h"
#include "factor/model/simulation/timeline.h"

/* FOLDER/trace_sgetrf_8192.tsv, m first where it is not n: trace_dgeqrf_4096x512.tsv. The caller
 * frees it. */
char *trace_file_path(
        const char *folder, const char *operation, enum precision precision, int64_t m, int64_t n);

/* A table without rows; the rows of a timeline, under a name. */
struct table *trace_table_new(void);
void trace_table_add(struct table *table, const char *name, const struct timeline *timeline);

/* The timeline of that name, without entries when the table has none of it; the table and title
 * must outlive it. NULL with a fault for a lane or phase that is none. The caller frees it. */
struct timeline *trace_table_timeline(
        const struct table *table, const char *name, const char *title, struct fault *fault);

#endif
