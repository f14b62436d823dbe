/* SPDX-License-Identifier: MIT */
/* The rows of kerr.tsv, one for each phase of a configuration of Kerr's benchmark, as text. */
#pragma once

#include "lib/stats/stats.h"
#include "lib/base/table.h"

#include <stdio.h>

struct kerr_row {
	char variant[16]; /* of kerr.h; lapack: LAPACKE on the host; gemv_NAME: Figure 2 */
	char phase[16];   /* of kerr.h; total: a run without marks, from call to completion */
	int64_t m, n;
	int64_t r, threads; /* width of blocks; of lapack; else 0 */
	double flops;       /* Table 1's, of totals with its blocks of 32 */
	struct estimate seconds;
	double predicted;                                     /* seconds; NaN: not predicted */
	double residual, orthogonality, triangularity, limit; /* of kerr_protocol.h; NaN for totals
	                                                         of matrices too large for it */
	char note[128]; /* the reason for no time; else empty */
};

struct kerr_rows {
	struct table *table; /* metadata */
	struct kerr_row *row;
	size_t count;
};

struct kerr_rows *kerr_rows_new(void);
void kerr_rows_free(struct kerr_rows *);
void kerr_rows_add(struct kerr_rows *, const struct kerr_row *);

/* The row of the same variant, phase, shape, width and threads, or NULL. */
const struct kerr_row *kerr_rows_find(const struct kerr_rows *, const struct kerr_row *like);

/* Writes rows and metadata atomically; reads them, NULL with a fault on failure. */
bool kerr_rows_write(const struct kerr_rows *, const char *path, struct fault *fault);
struct kerr_rows *kerr_rows_read(const char *path, struct fault *fault);

/* Prints phases predicted and measured, the model's choice of the width, gemv, the host. */
void kerr_rows_print(const struct kerr_rows *, FILE *out);
