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
	int root; /* the rank that has it */
};

struct comm;

/* Every operation returns false after filling the executor's fault, which names the rank and the
 * operation. A wait for other ranks ends after comm->seconds without progress. */
struct comm_ops {
	void (*destroy)(struct comm *);
	/* Starts to copy every piece from its root to the same piece of all ranks, on the
	 * executor's current queue: after earlier work there. `what` and `index` name it in a
	 * fault. The slot is free again after the next arrived. */
	bool (*broadcast)(struct comm *, struct executor *, int slot,
	        const struct comm_piece *pieces, int count, const char *what, int64_t index);
	/* Work that the executor gets from now on in this queue, or in one that waits for it, finds
	 * the pieces of the slot complete. */
	bool (*arrived)(struct comm *, struct executor *, int slot);
	/* Waits for all work of the executor; wait: for that in its current queue. */
	bool (*sync)(struct comm *, struct executor *);
	bool (*wait)(struct comm *, struct executor *);
	/* A communicator of some of the ranks: first, first + step .. , of which this rank is one.
	 * Every rank calls this, for its own part; parts have different first ranks. It is freed
	 * before its whole. */
	struct comm *(*split)(struct comm *, int first, int step, int ranks, struct fault *);
};

struct comm {
	const struct comm_ops *ops;
	const char *name; /* self, mpi, nccl */
	int rank, ranks;
	double seconds;
	int first, step, whole; /* rank i is rank first + i step of `whole` ranks */
};

/* Longest wait without progress, unless the caller sets another. */
#define COMM_SECONDS 20.0

/* One rank. NULL with a fault when memory is short. */
struct comm *comm_self_new(struct fault *fault);
void comm_free(struct comm *);

/* The operations above. */
bool comm_broadcast(struct comm *, struct executor *, int slot, const struct comm_piece *pieces,
        int count, const char *what, int64_t index);
bool comm_arrived(struct comm *, struct executor *, int slot);
bool comm_sync(struct comm *, struct executor *);
bool comm_wait(struct comm *, struct executor *);

/* A broadcast that has arrived. */
bool comm_exchange(struct comm *, struct executor *, const struct comm_piece *pieces, int count,
        const char *what, int64_t index);

/* The fault of a rank that has waited too long for a broadcast by root. */
bool comm_late(const struct comm *, struct fault *fault, const char *what, int64_t index, int root);
