/* SPDX-License-Identifier: MIT */
#include "panels.h"

struct panels panels_workspace(struct executor *e, const struct distributed *a,
        struct workspace *workspace, int64_t widest)
{
	struct panels p = {.e = e, .a = a};

	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		p.columns[i] = workspace_matrix(workspace, a->layout.m, widest, a->local.precision);
	return p;
}

struct matrix panels_room(const struct panels *p, struct block b, int64_t m)
{
	return room_for(p->columns[block_turn(b)], m, b.w);
}

bool panels_send(struct panels *p, struct block b, struct matrix room, struct comm_piece other)
{
	const struct distributed *a = p->a;
	const struct comm_piece pieces[] = {
	        {room.data, room.ld * room.n * precision_bytes(room.precision)}, other};
	const int turn = (int)block_turn(b);

	p->waits[turn] = true;
	return comm_broadcast(a->comm, p->e, block_cyclic_rank(&a->layout, a->comm->ranks, b.j),
	        turn, pieces, other.bytes > 0 ? 2 : 1, "panel", b.index);
}

bool panels_arrived(struct panels *p, struct block b)
{
	const int turn = (int)block_turn(b);

	if (!p->waits[turn])
		return true;
	p->waits[turn] = false;
	return comm_arrived(p->a->comm, p->e, turn);
}

void panels_plan(struct executor *e, enum operation operation, int64_t m, int64_t n,
        enum precision precision, struct default_plan *out)
{
	plan_default(e, operation, m, n, precision, false, out);
	out->plan.lookahead = 0;
	if (e->on_host && operation == GETRF) {
		out->widths[0] = max_int64(n, 1);
		out->plan.count = 1;
		out->plan.leaf = out->widths[0];
		out->plan.panel = "host";
	}
}

struct outer panels_enter(struct executor *e)
{
	struct outer outer = {e->home, e->queue, e->block, e->split};

	e->home = e->queue;
	return outer;
}

void panels_leave(struct executor *e, struct outer outer)
{
	e->home = outer.home;
	e->queue = outer.queue;
	e->block = outer.block;
	e->split = outer.split;
}
