/* SPDX-License-Identifier: MIT */
#include "comm.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

static void self_destroy(struct comm *comm)
{
	free(comm);
}

static bool self_broadcast(struct comm *comm, struct executor *e, int slot,
        const struct comm_piece *pieces, int count, const char *what, int64_t index)
{
	(void)comm;
	(void)e;
	(void)slot;
	(void)pieces;
	(void)count;
	(void)what;
	(void)index;
	return true;
}

static bool self_arrived(struct comm *comm, struct executor *e, int slot)
{
	(void)comm;
	(void)e;
	(void)slot;
	return true;
}

static bool self_sync(struct comm *comm, struct executor *e)
{
	(void)comm;
	return e->ops->sync(e);
}

static const struct comm_ops self_ops = {
        self_destroy, self_broadcast, self_arrived, self_sync, NULL, NULL};

struct comm *comm_self_new(struct fault *fault)
{
	struct comm *comm = calloc(1, sizeof *comm);

	if (!comm) {
		fault_set(fault, "out of host memory");
		return NULL;
	}
	*comm = (struct comm){&self_ops, "self", 0, 1, COMM_SECONDS, 0, 1, 1};
	return comm;
}

void comm_free(struct comm *comm)
{
	if (comm)
		comm->ops->destroy(comm);
}

bool comm_broadcast(struct comm *comm, struct executor *e, int slot,
        const struct comm_piece *pieces, int count, const char *what, int64_t index)
{
	return comm->ops->broadcast(comm, e, slot, pieces, count, what, index);
}

bool comm_arrived(struct comm *comm, struct executor *e, int slot)
{
	return comm->ops->arrived(comm, e, slot);
}

bool comm_sync(struct comm *comm, struct executor *e)
{
	return comm->ops->sync(comm, e);
}

bool comm_wait(struct comm *comm, struct executor *e)
{
	return comm->ops->wait(comm, e);
}

bool comm_exchange(struct comm *comm, struct executor *e, const struct comm_piece *pieces,
        int count, const char *what, int64_t index)
{
	return comm_broadcast(comm, e, 0, pieces, count, what, index) && comm_arrived(comm, e, 0);
}

bool comm_late(const struct comm *c, struct fault *fault, const char *what, int64_t index, int root)
{
	return fault_set(fault,
	        "rank %d of %d: %s %" PRId64
	        ", broadcast by rank %d: no progress for %g s (has a rank died?)",
	        c->first + c->rank * c->step, c->whole, what, index, c->first + root * c->step,
	        c->seconds);
}
