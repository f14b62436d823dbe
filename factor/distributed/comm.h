/* SPDX-License-Identifier: MIT */
/* Communicators: the ranks that work on one matrix. A rank is a GPU or a process; each has an
 * executor of its own, runs the same calls in the same order, and knows the others only by this
 * interface. comm_self is one rank; comm_mpi.h and comm_nccl.h have others. */
#pragma once

#include "factor/executors/executor.h"

/* Broadcasts in flight. */
enum { COMM_SLOTS = 2 };

/* Memory of a broadcast: the same bytes on every rank, in executor memory. */
struct comm_piece {
	void *data; /* NULL for the model */
	int64_t bytes;
};

struct comm;

/* Every operation returns false after filling the executor's fault, which names the rank and the
 * operation. A wait for other ranks ends after comm->seconds without progress. */
struct comm_ops {
	void (*destroy)(struct comm *);
	/* Starts to copy root's pieces to the same pieces of all ranks, on the executor's current
	 * queue: after earlier work there. `what` and `index` name it in a fault. The slot is free
	 * again after the next arrived. */
	bool (*broadcast)(struct comm *, struct executor *, int root, int slot,
	        const struct comm_piece *pieces, int count, const char *what, int64_t index);
	/* Work that the executor gets from now on in this queue, or in one that waits for it, finds
	 * the pieces of the slot complete. */
	bool (*arrived)(struct comm *, struct executor *, int slot);
	/* Waits for all work of the executor. */
	bool (*sync)(struct comm *, struct executor *);
};

struct comm {
	const struct comm_ops *ops;
	const char *name; /* self, mpi, nccl */
	int rank, ranks;
	double seconds;
};

/* Longest wait without progress, unless the caller sets another. */
#define COMM_SECONDS 20.0

/* One rank. NULL with a fault when memory is short. */
struct comm *comm_self_new(struct fault *fault);
void comm_free(struct comm *);

/* The operations above. */
bool comm_broadcast(struct comm *, struct executor *, int root, int slot,
        const struct comm_piece *pieces, int count, const char *what, int64_t index);
bool comm_arrived(struct comm *, struct executor *, int slot);
bool comm_sync(struct comm *, struct executor *);
