/* SPDX-License-Identifier: MIT */
/* Shared by the probes that time cuBLAS calls and our own kernels: the device with a library and a
 * stream, device memory, and the measurement of one call. Calls follow each other in one stream
 * behind a hold, between stamps of both clocks, which makes the host's part invisible. The time of
 * two stamps with nothing between them is subtracted. */
#pragma once

#include "factor/tuning/tuning.h"
#include "lib/base/base.h"
#include "lib/base/msg.h"
#include "lib/base/precision.h"
#include "lib/device/gpu.h"
#include "lib/host/clock.h"
#include "lib/probe/probe.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>

struct blas_rate {
	struct probe_run *run;
	struct gpu gpu;
	struct tuning tuning; /* for it */
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream;
	cublasHandle_t blas;
	void *workspace;
	double hz;    /* the SM clock with little load, after the start or a rest */
	double empty; /* seconds between two stamps with nothing between */
	double span;  /* seconds of a sample of short calls */
	double end;   /* clock_now() from which no further point is begun */
	double limit; /* the longest call taken, seconds */
	size_t dropped;
	void (*refresh)(void *context); /* before each sample, not timed; or NULL */
};

static inline void blas_check(cublasStatus_t status, const char *call)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, cublasGetStatusString(status));
}
#define BLAS(call) blas_check(call, #call)

/* Opens the device that the command line names and starts its clock; ends the probe as not possible
 * when there is none. Close waits for all work. */
void blas_rate_open(struct blas_rate *rate, struct probe_run *run);
void blas_rate_close(struct blas_rate *rate);

/* Waits until the SM clock, which large products lower, has risen again, or takes the clock of then
 * after a whole rest in vain. The time budget of the sweep is extended by the wait. */
void blas_rate_rest(struct blas_rate *rate);

/* Samples the call that put(context) puts into rate->stream, and records it. expected: the least
 * seconds that it should take, 0 when unknown. Returns the seconds measured, NaN when the call was
 * left out. blas_rate_point: expected 0, the series is <kind>_<letter of the precision>. */
double blas_rate_measure(struct blas_rate *rate, void (*put)(void *), void *context,
        double expected, const char *series, const struct arg *args, size_t arg_count);
double blas_rate_point(struct blas_rate *rate, void (*put)(void *), void *context, const char *kind,
        enum precision precision, const struct arg *args, size_t arg_count);

/* The same of a call, in a row of such calls, without a record. */
double blas_rate_in_row(struct blas_rate *rate, void (*put)(void *), void *context);

/* One sample of so many calls, which together take milliseconds: without a hold, since the host is
 * far ahead. False when it failed. */
bool blas_rate_sample(struct blas_rate *rate, void (*put)(void *), void *context, int count,
        struct sample *sample);

/* Whether blas_rate_point would measure it. */
bool blas_rate_wants(const struct blas_rate *rate, const char *kind, enum precision precision,
        const struct arg *args, size_t arg_count);

/* Bytes of device memory for matrices: wanted, or quarters of it until half of the free memory
 * suffices, with a warning, but not below `least`. Ends the probe as not possible when `least`
 * takes more. */
int64_t blas_rate_memory(int64_t wanted, int64_t least);

/* Device memory of zeros; and its release, once the stream's work is done. */
void *blas_rate_room(int64_t bytes);
void blas_rate_release(const struct blas_rate *rate, void *const *pieces, size_t count);

/* Random numbers between -1 and 1 that differ with the run's seed and with `number` (below 8), in
 * the stream. */
void blas_rate_fill(const struct blas_rate *rate, enum precision precision, void *data,
        int64_t count, uint64_t number);

/* The first elements of device memory, as doubles, after the stream's work; the caller frees. */
double *blas_rate_fetch(
        const struct blas_rate *rate, enum precision precision, const void *from, int64_t count);
