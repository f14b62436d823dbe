/* SPDX-License-Identifier: MIT */
/* GPUs of the model that work on one matrix: a model executor and a communicator for each. An
 * algorithm runs on one after the other, and waits for nobody: broadcasts are put into the queues
 * with an open begin. model_ranks_meet then goes through them in their order. A broadcast begins
 * when all ranks have reached it, and ends on all at once; none can begin before the one before it
 * has ended, so that the link has one at a time. What is beside it on a rank goes on. */
#pragma once

#include "executor_model.h"
#include "factor/distributed/comm.h"

struct model_ranks;

/* The first executor is the caller's and must outlive the others. gpus: in all hosts. */
struct model_ranks *model_ranks_new(struct executor *first, int gpus, int hosts);
void model_ranks_free(struct model_ranks *);

struct executor *model_ranks_executor(const struct model_ranks *, int rank);
struct comm *model_ranks_comm(const struct model_ranks *, int rank);

/* Sets the clocks of all to zero, with the first executor's `overlap`. */
void model_ranks_restart(struct model_ranks *);

/* Whenever all ranks have been through the algorithm: the broadcasts happen, and the first
 * executor's host is as late as the last one that knows of the end. False, with the first
 * executor's fault, where a rank failed or their calls differ. */
bool model_ranks_meet(struct model_ranks *);

/* After that: the first executor's host reads so many integers of pivots and info, as all ranks do
 * at once. Nothing where the profile lacks pageable copies. */
void model_ranks_read(struct model_ranks *, int64_t integers);
