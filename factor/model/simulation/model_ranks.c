/* SPDX-License-Identifier: MIT */
#include "model_ranks.h"

#include "executor_model_internal.h"
#include "factor/model/cost/cost_broadcast.h"
#include "factor/model/law/law_lasting.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

struct model_rank {
	struct comm comm;
	struct model_ranks *all;
	struct executor *executor;
	int64_t *meeting; /* of every broadcast: the operation that ends when it begins */
	size_t count, room;
};

struct model_ranks {
	int gpus, hosts;
	struct model_rank rank[];
};

static void nothing(struct comm *comm)
{
	(void)comm;
}

static bool model_broadcast(struct comm *comm, struct executor *e, int slot,
        const struct comm_piece *pieces, int count, const char *what, int64_t index)
{
	struct model_rank *r = (struct model_rank *)comm;
	struct simulated *s = model_self(e);
	const struct work meeting = {.queue = e->queue,
	        .engine = ENGINE_HOST,
	        .tag = s->count, /* the broadcast, which follows */
	        .issue = s->host,
	        .seconds = INFINITY,
	        .share = 1};
	double bytes = 0;

	for (int i = 0; i < count; i++)
		bytes += (double)pieces[i].bytes;
	if (r->count == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->meeting = xrealloc(r->meeting, r->room * sizeof *r->meeting);
	}
	r->meeting[r->count++] = simulation_put(&s->device, meeting, -1);
	model_charge(e, PHASE_TRANSFER, "broadcast", model_shape((int64_t)bytes, 1), 0,
	        cost_broadcast(s->reader, bytes, r->all->gpus, r->all->hosts));
	s->host += model_seconds(e, s->costs->event); /* behind it, to see progress */
	return true;
}

/* It is complete for all that follows in its queue. */
static bool model_arrived(struct comm *comm, struct executor *e, int slot)
{
	return true;
}

static bool model_comm_sync(struct comm *comm, struct executor *e)
{
	return e->ops->sync(e);
}

struct model_ranks *model_ranks_new(struct executor *first, int gpus, int hosts)
{
	static const struct comm_ops ops = {
	        nothing, model_broadcast, model_arrived, model_comm_sync, NULL, NULL};
	struct model_ranks *all = xcalloc(1, sizeof *all + (size_t)gpus * sizeof *all->rank);

	all->gpus = gpus;
	all->hosts = hosts;
	for (int i = 0; i < gpus; i++) {
		struct model_rank *r = &all->rank[i];
		r->comm = (struct comm){&ops, "model", i, gpus, COMM_SECONDS, 0, 1, gpus};
		r->all = all;
		r->executor = i ? executor_model_like(first) : first;
	}
	return all;
}

void model_ranks_free(struct model_ranks *all)
{
	for (int i = 0; all && i < all->gpus; i++) {
		if (i)
			executor_free(all->rank[i].executor);
		free(all->rank[i].meeting);
	}
	free(all);
}

struct executor *model_ranks_executor(const struct model_ranks *all, int rank)
{
	return all->rank[rank].executor;
}

struct comm *model_ranks_comm(const struct model_ranks *all, int rank)
{
	return (struct comm *)(uintptr_t)&all->rank[rank].comm;
}

void model_ranks_restart(struct model_ranks *all)
{
	const bool overlap = model_self(all->rank[0].executor)->overlap;

	for (int i = 0; i < all->gpus; i++) {
		executor_model_restart(all->rank[i].executor, overlap);
		all->rank[i].count = 0;
	}
}

/* The broadcast begins on all ranks when the last one has reached it. */
static bool meet(struct model_ranks *all, size_t index)
{
	double latest = 0;

	for (int i = 0; i < all->gpus && !isnan(latest); i++) {
		struct model_rank *r = &all->rank[i];
		const double here =
		        simulation_reach(&model_self(r->executor)->device, r->meeting[index]);
		latest = isnan(here) ? NAN : fmax(latest, here);
	}
	for (int i = 0; i < all->gpus && !isnan(latest); i++)
		simulation_end(&model_self(all->rank[i].executor)->device,
		        all->rank[i].meeting[index], latest);
	return !isnan(latest);
}

/* All wait for the rank with the most arithmetic: its clock under lasting load counts. */
static void find_busiest(struct model_ranks *all)
{
	struct simulated *first = model_self(all->rank[0].executor);

	if (!law_lasting_knows(first->reader, first->lasting, first->host))
		return;
	for (int i = 0; i < all->gpus; i++) {
		struct model_result result = {.seconds = NAN};
		model_account(model_self(all->rank[i].executor), &result);
		first->busiest = fmax(first->busiest, result.term[TERM_ARITHMETIC]);
	}
}

bool model_ranks_meet(struct model_ranks *all)
{
	struct executor *first = all->rank[0].executor;
	double latest = 0;

	for (int i = 0; i < all->gpus; i++) {
		const struct model_rank *r = &all->rank[i];
		if (r->executor->fault.text[0]) {
			first->fault = r->executor->fault;
			return false;
		}
		if (r->count != all->rank[0].count)
			return fault_set(&first->fault,
			        "rank %d of the model has %zu broadcasts, rank 0 %zu", i, r->count,
			        all->rank[0].count);
	}
	for (size_t k = 0; k < all->rank[0].count; k++)
		if (!meet(all, k))
			return fault_set(&first->fault, "broadcast %zu never begins", k);
	for (int i = 0; i < all->gpus; i++)
		latest = fmax(latest, executor_model_clock(all->rank[i].executor));
	model_self(first)->host = latest;
	find_busiest(all);
	return true;
}

/* Two copies one after the other, the second one of a word of errors. */
void model_ranks_read(struct model_ranks *all, int64_t integers)
{
	static const char alpha[] = "link.d2h.pageable.alpha", beta[] = "link.d2h.pageable.beta";
	struct executor *first = all->rank[0].executor;
	struct cost_reader *r = model_self(first)->reader;
	const double bytes = (double)integers * sizeof(int);

	if (!cost_known(r, alpha) || !cost_known(r, beta))
		return;
	const struct cost cost = {.wait = true,
	        .term[TERM_TRANSFER] =
	                model_line(2 * cost_scalar(r, alpha), cost_scalar(r, beta), bytes),
	        .engine = ENGINE_HOST};
	model_charge(first, PHASE_TRANSFER, "read pivots", model_shape(integers, 1), 0, cost);
}
