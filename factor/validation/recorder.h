/* SPDX-License-Identifier: MIT */
/* An executor around another one that runs for real: every operation goes through unchanged, and
 * what ran when becomes a timeline of the records that the model executor makes.
 *
 * Method: one mark (a timed CUDA event on the GPU) after each operation that is put into a queue,
 * and the host's clock before and after its call. An operation begins when the one before it in
 * its queue is over, and what the queue waits for, and the host has put it: by the same rule the
 * model's do, so that a mark before each operation would tell nothing more. Chosen over stamping
 * kernels, which are launches of their own, and over CUPTI, which is no part of the runtime, adds
 * to every launch, and sees kernels but not the operations that they belong to. What the marks
 * cost is measured by runs with and without the recorder (trace_run.h): about a microsecond of its
 * queue each on an NVIDIA H200, which was 7 % of an LU with n = 8192 in 118 steps and counts into
 * the operations' times.
 *
 * The two clocks are brought together before every run: marks between two readings of the host's
 * clock on an idle device. */
#ifndef FATHOM_RECORDER_H
#define FATHOM_RECORDER_H

#include "factor/executors/executor.h"
#include "factor/model/simulation/timeline.h"

/* The executor to run on; inner must outlive it and is not freed with it. Never NULL. */
struct executor *recorder_new(struct executor *inner);

/* Forgets what was recorded; aligns the clocks and starts the timeline's. Waits for the device.
 * False with the executor's fault. */
bool recorder_start(struct executor *recorder);

/* What ran since the start; after a sync. NULL with the executor's fault. The caller frees it;
 * title must outlive it. Seconds: until the last sync was over. */
struct timeline *recorder_timeline(struct executor *recorder, const char *title);

/* Half of the interval that the offset between the two clocks lies in, seconds. */
double recorder_uncertainty(const struct executor *recorder);

#endif
