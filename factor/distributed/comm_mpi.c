/* SPDX-License-Identifier: MIT */
/* Broadcasts are nonblocking and in pieces of at most PIECE_BYTES. They progress while a rank waits
 * for one of them. A rank waits with a bound: when another one has died or hangs, it fails with a
 * message. All ranks that wait find out at about the same time. Each gives the ranks before it time
 * to report first, so that their program ends with one message. */
#include "comm_mpi.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { PIECE_BYTES = 4 << 20, SPINS = 1000, PAUSE_NS = 100000 };

/* The message of a rank comes this much later than that of the rank before it. */
enum { APART_MS = 2000, APART_MOST_MS = 6000 };

struct request {
	MPI_Request of; /* MPI_REQUEST_NULL when it is complete */
	int root;
};

struct slot {
	struct request *requests;
	int count, room;
	const char *what;
	int64_t index;
};

struct mpi {
	struct comm base;
	MPI_Comm ranks;
	struct slot slots[COMM_SLOTS];
};

static struct mpi *self(struct comm *comm)
{
	return (struct mpi *)comm;
}

static bool mpi_ok(int result, struct fault *fault, int rank, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (result == MPI_SUCCESS)
		return true;
	MPI_Error_string(result, text, &length);
	return fault_set(fault, "rank %d: %s: MPI: %s", rank, what, text);
}

static void mpi_destroy(struct comm *comm)
{
	for (int i = 0; i < COMM_SLOTS; i++)
		free(self(comm)->slots[i].requests);
	MPI_Comm_free(&self(comm)->ranks);
	free(comm);
}

static bool add_piece(
        struct mpi *m, struct slot *slot, void *data, int bytes, int root, struct fault *fault)
{
	if (slot->count == slot->room) {
		slot->room = 2 * slot->room + 4;
		slot->requests =
		        xrealloc(slot->requests, (size_t)slot->room * sizeof *slot->requests);
	}
	struct request *request = &slot->requests[slot->count++];
	request->root = root;
	return mpi_ok(MPI_Ibcast(data, bytes, MPI_BYTE, root, m->ranks, &request->of), fault,
	        m->base.rank, slot->what);
}

static bool mpi_broadcast(struct comm *comm, struct executor *e, int slot_index,
        const struct comm_piece *pieces, int count, const char *what, int64_t index)
{
	struct slot *slot = &self(comm)->slots[slot_index];
	bool ok = true;

	if (slot->count > 0)
		return fault_set(&e->fault,
		        "rank %d: %s %" PRId64 ": its slot still has %s %" PRId64, comm->rank, what,
		        index, slot->what, slot->index);
	slot->what = what;
	slot->index = index;
	for (int i = 0; ok && i < count; i++)
		for (int64_t at = 0; ok && at < pieces[i].bytes; at += PIECE_BYTES)
			ok = add_piece(self(comm), slot, (char *)pieces[i].data + at,
			        (int)min_int64(PIECE_BYTES, pieces[i].bytes - at), pieces[i].root,
			        &e->fault);
	return ok;
}

/* One test of all requests; done: how many are complete. */
static bool test(struct mpi *m, struct slot *slot, int *done, struct fault *fault)
{
	int complete = 1;

	*done = 0;
	for (int i = 0; i < slot->count; i++) {
		if (!mpi_ok(MPI_Test(&slot->requests[i].of, &complete, MPI_STATUS_IGNORE), fault,
		            m->base.rank, slot->what))
			return false;
		*done += complete;
	}
	return true;
}

static void pause_after(int64_t spins)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (spins < SPINS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}

static bool give_up(const struct mpi *m, const struct slot *slot, struct fault *fault)
{
	const int64_t rank = m->base.first + m->base.rank * m->base.step;
	const int64_t later_ms = min_int64(rank * APART_MS, APART_MOST_MS);
	const struct timespec pause = {later_ms / 1000, later_ms % 1000 * 1000000};
	int i = 0;

	nanosleep(&pause, NULL);
	while (i + 1 < slot->count && slot->requests[i].of == MPI_REQUEST_NULL)
		i++;
	return comm_late(&m->base, fault, slot->what, slot->index, slot->requests[i].root);
}

static bool mpi_arrived(struct comm *comm, struct executor *e, int slot_index)
{
	struct mpi *m = self(comm);
	struct slot *slot = &m->slots[slot_index];
	double since = clock_now();
	int before = 0, done;

	for (int64_t spins = 0;; spins++) {
		if (!test(m, slot, &done, &e->fault))
			return false;
		if (done == slot->count)
			break;
		if (done > before)
			since = clock_now();
		before = done;
		if (clock_now() - since > comm->seconds)
			return give_up(m, slot, &e->fault);
		pause_after(spins);
	}
	slot->count = 0;
	return true;
}

static bool mpi_sync(struct comm *comm, struct executor *e)
{
	bool ok = true;

	for (int i = 0; ok && i < COMM_SLOTS; i++)
		ok = mpi_arrived(comm, e, i);
	return ok && e->ops->sync(e);
}

static bool mpi_wait(struct comm *comm, struct executor *e)
{
	(void)comm;
	(void)e;
	return true; /* the host's operations are complete when their calls return */
}

static struct comm *mpi_split(
        struct comm *comm, int first, int step, int ranks, struct fault *fault);

/* Of the ranks of `from` that give the same color, in their order. */
static struct comm *mpi_part(MPI_Comm from, int color, int key, double seconds, struct fault *fault)
{
	static const struct comm_ops ops = {
	        mpi_destroy, mpi_broadcast, mpi_arrived, mpi_sync, mpi_wait, mpi_split};

	struct mpi *m = calloc(1, sizeof *m);
	int rank = 0, ranks = 1;

	if (!m) {
		fault_set(fault, "out of host memory");
		return NULL;
	}
	if (mpi_ok(MPI_Comm_split(from, color, key, &m->ranks), fault, key, "split ranks") &&
	        mpi_ok(MPI_Comm_set_errhandler(m->ranks, MPI_ERRORS_RETURN), fault, 0, "errors") &&
	        mpi_ok(MPI_Comm_rank(m->ranks, &rank), fault, 0, "rank") &&
	        mpi_ok(MPI_Comm_size(m->ranks, &ranks), fault, rank, "number of ranks")) {
		m->base = (struct comm){&ops, "mpi", rank, ranks, seconds, 0, 1, ranks};
		return &m->base;
	}
	free(m);
	return NULL;
}

static struct comm *mpi_split(
        struct comm *comm, int first, int step, int ranks, struct fault *fault)
{
	struct comm *part = mpi_part(self(comm)->ranks, first, comm->rank, comm->seconds, fault);

	(void)ranks;
	if (part) {
		part->first = first;
		part->step = step;
		part->whole = comm->ranks;
	}
	return part;
}

struct comm *comm_mpi_new(MPI_Comm world, double seconds, struct fault *fault)
{
	int rank = 0;

	return mpi_ok(MPI_Comm_rank(world, &rank), fault, 0, "rank")
	               ? mpi_part(world, 0, rank, seconds, fault)
	               : NULL;
}
