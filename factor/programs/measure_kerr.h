/* SPDX-License-Identifier: MIT */
/* Shared by the parts of `measure --kerr`. */
#pragma once

#include "factor/validation/papers/kerr_protocol.h"
#include "factor/validation/papers/kerr_rows.h"
#include "measure.h"

enum { KERR_RUNS = 5, KERR_THREADS = 4 };

struct kerr_bench {
	struct measure *measure;
	struct kerr_rows *rows;
	const struct profile *profile; /* for the predictions; NULL: none */
	bool warm[KERR_VARIANTS];      /* has run: its code is loaded */
	bool vendor_warm;              /* the same of cuSOLVER */
	/* of the current size */
	struct timing_fixture memory; /* only its memory is used */
	struct executor *e;
	struct matrix a0, a, q;
	struct kerr_room room;
	float *host; /* a0 */
	/* the host's seconds and rows at the size before, by number of threads; 0: none yet */
	struct {
		double seconds;
		int64_t m;
	} before[KERR_THREADS];
};

/* A row of the current size without results; adds it, with the median of the samples when the
 * errors are within their limits. */
struct kerr_row kerr_bench_row(
        const struct kerr_bench *, const char *variant, const char *phase, int64_t r);
void kerr_bench_add(struct kerr_bench *, struct kerr_row *row, const double *sample, size_t count,
        const struct kerr_errors *errors);

/* Times up to KERR_RUNS runs, all of one matrix: the i-th run's seconds into sample[i]. The first
 * run counts only when it is long and warm: code is loaded, memory touched. Long runs are fewer
 * than KERR_RUNS. Runs on a core that others use are left out, as long as these take no more than
 * the time. False when a run failed. */
typedef bool kerr_run(void *context, size_t i, double *seconds);
bool kerr_bench_runs(struct measure *, kerr_run *run, void *context, bool warm,
        double sample[KERR_RUNS], size_t *count);

/* measure_kerr_gemv.c: products with a square matrix of as many rows and its transpose, on the GPU.
 * Overwrites q and a. */
enum kerr_product { KERR_CUBLAS, KERR_PAPER, KERR_TUNED, KERR_PRODUCTS };
void measure_kerr_gemv(struct kerr_bench *);

/* Predicted seconds of such a product, of `calls` in a row; NaN: not known. */
double kerr_gemv_predicted(
        const struct kerr_bench *, enum kerr_product product, bool transposed, int calls);

/* measure_kerr_balance.c: with columns of A on the host; rows of phase share_N, N columns. */
void measure_kerr_balance(struct kerr_bench *);

/* measure_kerr_reference.c: cuSOLVER's geqrf and orgqr, and LAPACK's on the host. */
void measure_kerr_vendor(struct kerr_bench *);
void measure_kerr_lapack(struct kerr_bench *);
