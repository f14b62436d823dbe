/* SPDX-License-Identifier: MIT */
#include "panels.h"

#include "factor/executors/split.h"
#include "lib/base/msg.h"

#include <inttypes.h>

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

struct plan panels_blocks(const struct distributed *a)
{
	return (struct plan){.widths = &a->layout.nb, .count = 1, .leaf = 1, .lookahead = 1};
}

void panels_plan(
        struct executor *e, enum operation operation, struct matrix panel, struct default_plan *out)
{
	plan_default(e, operation, panel.m, panel.n, panel.precision, false, out);
	out->plan.lookahead = 0;
	if (e->on_host && operation == GETRF) {
		out->widths[0] = max_int64(panel.n, 1);
		out->plan.count = 1;
		out->plan.leaf = out->widths[0];
		out->plan.panel = "host";
	}
}

int64_t panels_work(const struct schedule *schedule, const struct distributed *a,
        enum operation operation,
        int64_t (*work)(struct executor *, const struct plan *, struct matrix panel))
{
	struct default_plan chosen;
	int64_t most = 0;

	for (struct block b = schedule_first(schedule); b.w && most >= 0;
	        b = schedule_next(schedule, b)) {
		struct matrix own = panels_own(a, b);
		if (own.n == 0)
			continue;
		panels_plan(schedule->e, operation, own, &chosen);
		int64_t bytes = work(schedule->e, &chosen.plan, own);
		most = bytes < 0 ? -1 : max_int64(most, bytes);
	}
	return most;
}

bool panels_math_check(struct executor *e, const struct distributed *a)
{
	const struct matrix local = a->local;
	const int64_t word = precision_bytes(local.precision);

	if (!split_check(e))
		return false;
	if (panels_narrow(a, e))
		return true;
	const int64_t to = e->splits->alignment;
	if (local.ld * word % to == 0 && a->layout.nb * word % to == 0 &&
	        (intptr_t)matrix_address(local) % to == 0)
		return true;
	return fault_refuse(&e->fault,
	        "%s over ranks needs columns and blocks at multiples of %" PRId64
	        " bytes: leading dimension %" PRId64 ", nb %" PRId64,
	        math_name[e->math], to, local.ld, a->layout.nb);
}

bool panels_narrow(const struct distributed *a, const struct executor *e)
{
	return e->math == MATH_FP32 || a->local.precision == DOUBLE;
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
