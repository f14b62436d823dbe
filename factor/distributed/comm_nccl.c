/* SPDX-License-Identifier: MIT */
/* Broadcasts are kernels in the executor's streams, and order work by themselves: only sync waits.
 * It asks for progress instead: an event behind every broadcast. Without progress for too long, or
 * when NCCL reports an error, the communicator is aborted, which ends its kernels. */
#include "comm_nccl.h"

#include "factor/executors/cuda/executor_cuda.h"
#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* A wait spins until there was no progress for so long: pauses end tens of microseconds late. */
enum { PAUSE_NS = 20000 };
static const double spin_seconds = 1e-3;

/* A broadcast that has been put into a stream. */
struct sent {
	cudaEvent_t done;
	const struct comm *by;
	const char *what;
	int64_t index;
	int root;
};

/* A part notes what it has sent with its whole, which waits for all parts. */
struct ranks {
	struct comm base;
	struct nccl nccl;
	void *comm;          /* NULL after an abort */
	struct ranks *whole; /* of which this is a part, or itself */
	struct ranks *next;  /* the next part of the same whole */
	struct sent *sent;
	int64_t count, room, reached; /* since the last sync; the first `reached` are done */
};

static struct ranks *ranks_of(struct comm *comm)
{
	return (struct ranks *)comm;
}

static bool nccl_ok(const struct ranks *r, int result, struct fault *fault, const char *what)
{
	if (result == 0 || result == NCCL_IN_PROGRESS)
		return true;
	return fault_set(fault, "rank %d of %d: %s: NCCL: %s", r->base.rank, r->base.ranks, what,
	        r->nccl.error_text(result));
}

/* The whole and all parts. */
static void give_up(struct ranks *r)
{
	for (; r; r = r->next) {
		if (r->comm)
			r->nccl.abort(r->comm);
		r->comm = NULL;
	}
}

static void nccl_destroy(struct comm *comm)
{
	struct ranks *r = ranks_of(comm);

	for (struct ranks *before = r->whole; before; before = before->next)
		if (before->next == r)
			before->next = r->next;
	if (r->comm)
		r->nccl.destroy(r->comm);
	for (int64_t i = 0; i < r->room; i++)
		cudaEventDestroy(r->sent[i].done);
	free(r->sent);
	free(r);
}

static bool reserve_event(struct ranks *r, struct cuda *x)
{
	cudaEvent_t event;

	if (r->count < r->room)
		return true;
	if (!cuda_ok(x, cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event"))
		return false;
	r->sent = xrealloc(r->sent, (size_t)(r->room + 1) * sizeof *r->sent);
	r->sent[r->room++] = (struct sent){.done = event};
	return true;
}

/* A fault names the last other rank that has a piece. */
static bool nccl_broadcast(struct comm *comm, struct executor *e, int slot,
        const struct comm_piece *pieces, int count, const char *what, int64_t index)
{
	struct ranks *r = ranks_of(comm), *whole = r->whole;
	struct cuda *x = self(e);
	int root = comm->rank;

	(void)slot;
	if (!r->comm)
		return fault_set(&e->fault, "rank %d of %d: its group has failed before",
		        comm->rank, comm->ranks);
	const bool begun =
	        reserve_event(whole, x) && nccl_ok(r, r->nccl.group_start(), &e->fault, what);
	bool ok = begun;
	for (int i = 0; ok && i < count; i++) {
		if (pieces[i].bytes == 0)
			continue;
		ok = nccl_ok(r,
		        r->nccl.broadcast(pieces[i].data, pieces[i].data, (size_t)pieces[i].bytes,
		                NCCL_UINT8, pieces[i].root, r->comm, stream_of(x)),
		        &e->fault, what);
		if (pieces[i].root != comm->rank)
			root = pieces[i].root;
	}
	const int ended = begun ? r->nccl.group_end() : 0;
	if (!ok || !nccl_ok(r, ended, &e->fault, what))
		return false;
	struct sent *sent = &whole->sent[whole->count++];
	*sent = (struct sent){sent->done, comm, what, index, root};
	return cuda_ok(x, cudaEventRecord(sent->done, stream_of(x)), what);
}

static bool nccl_arrived(struct comm *comm, struct executor *e, int slot)
{
	(void)comm;
	(void)e;
	(void)slot;
	return true;
}

/* Whether NCCL reports an error of the whole or of a part. */
static bool healthy(const struct ranks *r, struct fault *fault)
{
	int error = 0;

	for (; r; r = r->next)
		if (r->comm && (!nccl_ok(r, r->nccl.async_error(r->comm, &error), fault, "state") ||
		                       !nccl_ok(r, error, fault, "another rank")))
			return false;
	return true;
}

/* Whether the executor's streams are idle, or only the current one; counts the broadcasts that are
 * done. */
static bool look(struct ranks *r, struct cuda *x, bool all, bool *idle)
{
	if (!healthy(r, &x->base.fault))
		return false;
	while (r->reached < r->count && cudaEventQuery(r->sent[r->reached].done) == cudaSuccess)
		r->reached++;
	*idle = true;
	for (int queue = 0; queue < QUEUE_COUNT; queue++) {
		const bool asked = all || queue == (int)x->base.queue;
		const cudaError_t state = asked && x->lanes[queue].busy
		                                  ? cudaStreamQuery(x->lanes[queue].stream)
		                                  : cudaSuccess;
		if (state == cudaErrorNotReady)
			*idle = false;
		else if (!cuda_ok(x, (int)state, "wait for the GPU"))
			return false;
	}
	cudaGetLastError(); /* "not ready" is no failure of a later launch */
	return true;
}

static bool late(const struct ranks *r, struct fault *fault)
{
	const struct comm *c = &r->base;

	if (r->reached == r->count)
		return fault_set(fault, "rank %d of %d: its GPU made no progress for %g s", c->rank,
		        c->ranks, c->seconds);
	const struct sent *sent = &r->sent[r->reached];
	return comm_late(sent->by, fault, sent->what, sent->index, sent->root);
}

static void pause_since(double since)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (clock_now() - since < spin_seconds)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}

static bool wait_for(struct comm *comm, struct executor *e, bool all)
{
	struct ranks *r = ranks_of(comm)->whole;
	double since = clock_now();
	int64_t before = r->reached;
	bool idle = false, ok = look(r, self(e), all, &idle);

	while (ok && !idle) {
		pause_since(since);
		if (r->reached > before)
			since = clock_now();
		before = r->reached;
		ok = clock_now() - since > comm->seconds ? late(r, &e->fault)
		                                         : look(r, self(e), all, &idle);
	}
	if (!ok)
		give_up(r);
	return ok;
}

static bool nccl_wait(struct comm *comm, struct executor *e)
{
	return wait_for(comm, e, false);
}

static bool nccl_sync(struct comm *comm, struct executor *e)
{
	struct ranks *r = ranks_of(comm)->whole;
	const bool ok = wait_for(comm, e, true);

	r->count = r->reached = 0;
	return ok && e->ops->sync(e);
}

/* ---- constructors ---- */

static struct comm *nccl_split(
        struct comm *comm, int first, int step, int ranks, struct fault *fault);

static struct ranks *ranks_new(int rank, int ranks, double seconds, struct fault *fault)
{
	static const struct comm_ops ops = {
	        nccl_destroy, nccl_broadcast, nccl_arrived, nccl_sync, nccl_wait, nccl_split};
	struct ranks *r = calloc(1, sizeof *r);

	if (!r) {
		fault_set(fault, "out of host memory");
		return NULL;
	}
	r->base = (struct comm){&ops, "nccl", rank, ranks, seconds, 0, 1, ranks};
	r->whole = r;
	if (nccl_open(&r->nccl, fault))
		return r;
	free(r);
	return NULL;
}

bool comm_nccl_all(
        struct comm **comms, int count, const int *devices, double seconds, struct fault *fault)
{
	void **made = calloc((size_t)count, sizeof *made);
	struct ranks *r = NULL;
	bool ok = made || fault_set(fault, "out of host memory");

	for (int i = 0; i < count; i++)
		comms[i] = NULL;
	for (int i = 0; ok && i < count; i++) {
		r = ranks_new(i, count, seconds, fault);
		comms[i] = r ? &r->base : NULL;
		ok = r != NULL;
	}
	ok = ok && nccl_ok(r, r->nccl.init_all(made, count, devices), fault, "start NCCL");
	cudaGetLastError(); /* clears the errors of NCCL's own attempts */
	for (int i = 0; i < count; i++) {
		if (comms[i])
			ranks_of(comms[i])->comm = made[i];
		if (!ok) {
			comm_free(comms[i]);
			comms[i] = NULL;
		}
	}
	free(made);
	return ok;
}

bool comm_nccl_id(struct nccl_id *id, struct fault *fault)
{
	struct ranks *r = ranks_new(0, 1, COMM_SECONDS, fault);
	bool ok = r && nccl_ok(r, r->nccl.unique_id(id), fault, "make an id");

	free(r);
	return ok;
}

/* NCCL waits for the other ranks without a bound: a thread of its own does. */
struct start {
	struct ranks *ranks;
	struct nccl_id id; /* of a whole */
	void *whole;       /* NCCL's; NULL: a whole starts */
	int device, result;
};

static void *start_rank(void *context)
{
	struct start *s = context;
	struct ranks *r = s->ranks;

	s->result = -1;
	if (cudaSetDevice(s->device) == cudaSuccess)
		s->result =
		        s->whole ? r->nccl.split(
		                           s->whole, r->base.first, r->base.rank, &r->comm, NULL)
		                 : r->nccl.init_rank(&r->comm, r->base.ranks, s->id, r->base.rank);
	cudaGetLastError();
	return NULL;
}

static struct timespec end_of(double seconds)
{
	const double most = 1e9; /* decades */
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	const double end = (double)until.tv_nsec * 1e-9 + fmin(seconds, most);
	until.tv_sec += (time_t)end;
	until.tv_nsec = (long)((end - floor(end)) * 1e9);
	return until;
}

/* After the bound the thread, its memory and the communicator that it splits are left behind, as it
 * cannot be ended. Takes r. */
static struct comm *start_bounded(struct ranks *r, struct nccl_id id, struct fault *fault)
{
	const int rank = r->base.first + r->base.rank * r->base.step, ranks = r->base.whole;
	struct start *s = calloc(1, sizeof *s);
	pthread_t thread;

	if (!s) {
		fault_set(fault, "out of host memory");
		free(r);
		return NULL;
	}
	*s = (struct start){.ranks = r, .id = id, .whole = r->whole == r ? NULL : r->whole->comm};
	if (cudaGetDevice(&s->device) != cudaSuccess ||
	        pthread_create(&thread, NULL, start_rank, s) != 0) {
		fault_set(fault, "rank %d of %d: no thread to start NCCL", rank, ranks);
		comm_free(&r->base);
		free(s);
		return NULL;
	}
	const struct timespec until = end_of(r->base.seconds);
	if (pthread_timedjoin_np(thread, NULL, &until) != 0) {
		fault_set(fault, "rank %d of %d: the other ranks did not come for %g s", rank,
		        ranks, r->base.seconds);
		if (s->whole)
			r->whole->comm = NULL;
		return NULL;
	}
	bool ok = s->result >= 0 && nccl_ok(r, s->result, fault, "start NCCL");
	if (s->result < 0)
		fault_set(fault, "rank %d of %d: no GPU to start NCCL", rank, ranks);
	free(s);
	if (ok)
		return &r->base;
	comm_free(&r->base);
	return NULL;
}

struct comm *comm_nccl_rank(
        int rank, int ranks, struct nccl_id id, double seconds, struct fault *fault)
{
	struct ranks *r = ranks_new(rank, ranks, seconds, fault);

	return r ? start_bounded(r, id, fault) : NULL;
}

static struct comm *nccl_split(
        struct comm *comm, int first, int step, int ranks, struct fault *fault)
{
	const struct nccl_id none = {{0}};
	struct ranks *r, *whole = ranks_of(comm);

	if (!whole->comm) {
		fault_set(fault, "rank %d of %d: its group has failed before", comm->rank,
		        comm->ranks);
		return NULL;
	}
	if (!whole->nccl.split) {
		fault_set(fault, "this NCCL (%d) is too old for a grid: 2.18 can split ranks",
		        whole->nccl.version);
		return NULL;
	}
	r = ranks_new((comm->rank - first) / step, ranks, comm->seconds, fault);
	if (!r)
		return NULL;
	r->base.first = first;
	r->base.step = step;
	r->base.whole = comm->ranks;
	r->whole = whole;
	struct comm *part = start_bounded(r, none, fault);
	if (part) {
		r->next = whole->next;
		whole->next = r;
	}
	return part;
}
