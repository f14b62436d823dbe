/* SPDX-License-Identifier: MIT */
/* An executor around another one: every operation runs unchanged on the inner executor, and the
 * times become a timeline with the model executor's records.
 *
 * Method: one mark (a timed CUDA event on the GPU) after each operation in a queue, and the host's
 * clock before and after each call. An operation begins when the operation before it in its queue
 * and the events that the queue waits for are over, and the host has put it. The model executor has
 * the same rule, hence a mark before each operation would add nothing. Runs with and without the
 * recorder measure the cost of the marks (trace_run.h).
 *
 * The two clocks are aligned before every run: marks between two readings of the host's clock on an
 * idle device. */
#pragma once

#include "factor/executors/executor.h"
#include "factor/model/simulation/timeline.h"

/* A recorder around inner, which must outlive it and is not freed with it. Never NULL. */
struct executor *recorder_new(struct executor *inner);

/* Drops the records, aligns the clocks and starts the timeline's clock. Waits for the device. False
 * with the executor's fault. */
bool recorder_start(struct executor *recorder);

/* The timeline since the start, after a sync. NULL with the executor's fault. The caller frees it;
 * title must outlive it. Its seconds end with the last sync. */
struct timeline *recorder_timeline(struct executor *recorder, const char *title);

/* Half of the interval of the offset between the two clocks, seconds. */
double recorder_uncertainty(const struct executor *recorder);
