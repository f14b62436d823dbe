/* SPDX-License-Identifier: MIT */
#include "block_cyclic.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

bool distributed_check(struct executor *e, const struct distributed *a)
{
	const struct block_cyclic *d = &a->layout;

	if (d->m < 0 || d->n < 0 || d->nb < 1)
		return fault_refuse(&e->fault,
		        "a matrix of %" PRId64 " x %" PRId64 " in blocks of %" PRId64 " columns",
		        d->m, d->n, d->nb);
	if (d->first < 0 || d->first >= a->comm->ranks)
		return fault_refuse(
		        &e->fault, "first block on rank %d of %d", d->first, a->comm->ranks);
	int64_t columns = block_cyclic_before(d, a->comm->rank, a->comm->ranks, d->n);
	if (a->local.m != d->m || a->local.n != columns)
		return fault_refuse(&e->fault,
		        "rank %d has %" PRId64 " x %" PRId64 ": its columns are %" PRId64
		        " x %" PRId64,
		        a->comm->rank, a->local.m, a->local.n, d->m, columns);
	if (a->local.ld < max_int64(d->m, 1))
		return fault_refuse(&e->fault,
		        "leading dimension %" PRId64 " is smaller than the %" PRId64 " rows",
		        a->local.ld, d->m);
	return true;
}

static void put(void *column, int64_t i, enum precision precision, double value)
{
	if (precision == SINGLE)
		((float *)column)[i] = (float)value;
	else
		((double *)column)[i] = value;
}

bool distributed_fill(struct executor *e, const struct distributed *a,
        double (*element)(void *context, int64_t i, int64_t j), void *context)
{
	const struct block_cyclic *d = &a->layout;
	bool ok = distributed_check(e, a);
	void *column = xmalloc((size_t)(max_int64(d->m, 1) * precision_bytes(a->local.precision)));

	for (int64_t j = 0; ok && d->m > 0 && j < d->n; j++) {
		if (!distributed_owns(a, j))
			continue;
		for (int64_t i = 0; i < d->m; i++)
			put(column, i, a->local.precision, element(context, i, j));
		ok = e->ops->upload(e, column, d->m, distributed_columns(a, 0, j, 1));
	}
	free(column);
	return ok;
}

/* ---- block by block, through room for one block in the memory of every rank ---- */

struct passage {
	struct executor *e;
	const struct distributed *a;
	int root;
	bool scatters;
	struct matrix host; /* the whole matrix, on root */
};

static bool pass_block(const struct passage *p, struct matrix room, int64_t j)
{
	const struct distributed *a = p->a;
	const int rank = a->comm->rank, owner = block_cyclic_rank(&a->layout, a->comm->ranks, j);
	const struct matrix mine = distributed_columns(a, 0, j, room.n);
	const struct matrix host = matrix_view(p->host, 0, j, room.m, room.n);
	const struct comm_piece piece = {
	        room.data, room.m * room.n * precision_bytes(room.precision)};
	const struct executor_ops *ops = p->e->ops;
	bool ok = true;

	if (p->scatters && rank == p->root)
		ok = ops->upload(p->e, matrix_address(host), host.ld, room);
	if (!p->scatters && rank == owner)
		ok = ops->duplicate(p->e, mine, room);
	ok = ok &&
	     comm_broadcast(
	             a->comm, p->e, p->scatters ? p->root : owner, 0, &piece, 1, "columns", j) &&
	     comm_arrived(a->comm, p->e, 0) && comm_sync(a->comm, p->e);
	if (ok && p->scatters && rank == owner)
		ok = ops->duplicate(p->e, room, mine);
	if (ok && !p->scatters && rank == p->root)
		ok = ops->download(p->e, room, matrix_address(host), host.ld);
	return ok;
}

static bool pass(const struct passage *p)
{
	const struct block_cyclic *d = &p->a->layout;
	struct matrix room = {NULL, 0, d->m, 0, max_int64(d->m, 1), p->a->local.precision};
	bool ok = distributed_check(p->e, p->a) &&
	          p->e->ops->alloc(p->e,
	                  d->m * min_int64(d->nb, d->n) * precision_bytes(room.precision),
	                  &room.data);

	p->e->queue = QUEUE_MAIN;
	for (int64_t j = 0; ok && d->m > 0 && j < d->n; j += d->nb) {
		room.n = min_int64(d->nb, d->n - j);
		ok = pass_block(p, room, j);
	}
	if (room.data)
		p->e->ops->release(p->e, room.data);
	return ok;
}

static struct passage passage_of(
        struct executor *e, const struct distributed *a, int root, const void *host, int64_t ld)
{
	const struct matrix whole = {
	        (void *)(uintptr_t)host, 0, a->layout.m, a->layout.n, ld, a->local.precision};

	return (struct passage){.e = e, .a = a, .root = root, .host = whole};
}

bool distributed_scatter(
        struct executor *e, const struct distributed *a, int root, const void *host, int64_t ld)
{
	struct passage p = passage_of(e, a, root, host, ld);

	p.scatters = true;
	return pass(&p);
}

bool distributed_gather(
        struct executor *e, const struct distributed *a, int root, void *host, int64_t ld)
{
	const struct passage p = passage_of(e, a, root, host, ld);

	return pass(&p);
}
