/* SPDX-License-Identifier: MIT */
/* What the parts of `measure --kerr` share. */
#ifndef FATHOM_MEASURE_KERR_H
#define FATHOM_MEASURE_KERR_H

#include "factor/validation/papers/kerr_protocol.h"
#include "factor/validation/papers/kerr_rows.h"
#include "measure.h"

enum { KERR_RUNS = 5, KERR_THREADS = 4 };

struct kerr_bench {
	struct measure *measure;
	const struct bench_request *request;
	struct kerr_rows *rows;
	struct profile *profile; /* for the predictions; NULL: none here */
	char *path;
	double start;
	bool warm[KERR_VARIANTS]; /* has run: its code is loaded */
	/* of the size at hand */
	struct executor *e;
	struct matrix a0, a, q;
	struct kerr_room room;
	float *host; /* a0 */
	/* of the host: seconds and rows of the size before, by number of threads; 0: none yet */
	struct {
		double seconds;
		int64_t m;
	} before[KERR_THREADS];
};

/* Whether nothing new is to be started. */
bool kerr_bench_late(const struct kerr_bench *);

/* A row of the size at hand without results; adding it, with the median of the samples when the
 * errors are within their limits. */
struct kerr_row kerr_bench_row(
        const struct kerr_bench *, const char *variant, const char *phase, int64_t r);
void kerr_bench_add(struct kerr_bench *, struct kerr_row *row, const double *sample, size_t count,
        const struct kerr_errors *errors);

/* measure_kerr_host.c: LAPACKE with 1, 2, 4 and all threads on the matrix at hand, where it ends in
 * time. */
void measure_kerr_host(struct kerr_bench *);

/* measure_kerr_gemv.c: products with a square matrix of as many rows, on the GPU. Overwrites q and
 * a. */
void measure_kerr_gemv(struct kerr_bench *);

#endif
