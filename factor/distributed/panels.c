/* SPDX-License-Identifier: MIT */
#include "panels.h"

#include "factor/executors/split.h"
#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- rooms ---- */

/* Several process rows: rows of a room that begins with the block of rows from row i on, the same
 * on all ranks; whole blocks. */
static int64_t blocks_room(const struct distributed *a, int64_t i)
{
	const int64_t nb = panels_block_rows(&a->layout), rows = grid_rows(&a->grid);
	const int64_t blocks = (a->layout.m - i + nb - 1) / nb;

	return max_int64((blocks + rows - 1) / rows, 1) * nb;
}

struct panels panels_workspace(struct executor *e, const struct distributed *a,
        struct workspace *workspace, int64_t widest)
{
	const int64_t m = grid_rows(&a->grid) == 1 ? a->layout.m : blocks_room(a, 0);
	struct panels p = {.e = e, .a = a, .kept_block = -1};

	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		p.columns[i] = workspace_matrix(workspace, m, widest, a->local.precision);
	return p;
}

struct matrix panels_room(const struct panels *p, struct block b, int64_t i)
{
	const struct distributed *a = p->a;
	const int64_t m = distributed_rows_before(a, a->layout.m) - distributed_rows_before(a, i);
	struct matrix room = room_for(p->columns[block_turn(b)], m, b.w);

	if (grid_rows(&a->grid) > 1)
		room.ld = blocks_room(a, i);
	return room;
}

/* ---- gathered panels ---- */

struct matrix panels_like_workspace(const struct panels *p, struct workspace *workspace)
{
	const struct matrix one = p->columns[0];

	return workspace_matrix(workspace, grid_rows(&p->a->grid) * one.m, one.n, one.precision);
}

void panels_gather_workspace(struct panels *p, struct workspace *workspace)
{
	const int64_t rows = grid_rows(&p->a->grid);
	const struct matrix one = p->columns[0];

	if (rows == 1)
		return;
	p->others = workspace_matrix(workspace, one.m, rows * one.n, one.precision);
	p->whole = panels_like_workspace(p, workspace);
}

struct matrix panels_like(const struct panels *p, struct block b, struct matrix room)
{
	const int64_t ld = grid_rows(&p->a->grid) * blocks_room(p->a, b.j);

	return (struct matrix){room.data, 0, p->a->layout.m - b.j, b.w, ld, room.precision};
}

struct matrix panels_whole(const struct panels *p, struct block b)
{
	return panels_like(p, b, p->whole);
}

/* The room of a process row, which is this rank's own or one of others. */
static struct matrix room_of(const struct panels *p, struct block b, int row)
{
	struct matrix room = panels_room(p, b, b.j);

	if (row == grid_my_row(&p->a->grid))
		return room;
	return (struct matrix){
	        p->others.data, row * room.ld * room.n, room.ld, room.n, room.ld, room.precision};
}

/* Blocks of rows stand one below the other in a process row's room, and columns behind each other:
 * a column for each block of each column. In the whole panel the blocks of the process rows take
 * turns. */
static struct matrix blocks_of_room(struct matrix room, int64_t nb)
{
	return (struct matrix){
	        room.data, room.offset, nb, room.ld / nb * room.n, nb, room.precision};
}

static struct matrix blocks_of_whole(
        const struct panels *p, struct block b, int row, struct matrix whole)
{
	const struct distributed *a = p->a;
	const int rows = grid_rows(&a->grid);
	const int64_t nb = panels_block_rows(&a->layout), ld = rows * nb;
	const int64_t turn = (row - block_cyclic_row(&a->layout, rows, b.j) + rows) % rows;

	return (struct matrix){whole.data, whole.offset + turn * nb, nb, whole.ld / ld * whole.n,
	        ld, whole.precision};
}

bool panels_gather(struct panels *p, struct block b)
{
	const int rows = grid_rows(&p->a->grid);
	const int64_t nb = panels_block_rows(&p->a->layout);
	struct comm_piece *pieces = xcalloc((size_t)rows, sizeof *pieces);

	for (int row = 0; row < rows; row++) {
		const struct matrix room = room_of(p, b, row);
		pieces[row] = (struct comm_piece){matrix_address(room),
		        room.ld * room.n * precision_bytes(room.precision), row};
	}
	bool ok = comm_exchange(p->a->grid.column, p->e, pieces, rows, "rows of panel", b.index);
	for (int row = 0; ok && row < rows; row++)
		ok = ex_copy(p->e, WHOLE, blocks_of_room(room_of(p, b, row), nb),
		        blocks_of_whole(p, b, row, panels_whole(p, b)));
	free(pieces);
	return ok;
}

bool panels_take(struct panels *p, struct block b, struct matrix whole)
{
	return ex_copy(p->e, WHOLE, blocks_of_whole(p, b, grid_my_row(&p->a->grid), whole),
	        blocks_of_room(panels_room(p, b, b.j), panels_block_rows(&p->a->layout)));
}

/* ---- along process rows ---- */

bool panels_send(struct panels *p, struct block b, struct matrix room,
        const struct comm_piece *others, int count)
{
	const struct grid *grid = &p->a->grid;
	const int root = block_cyclic_column(&p->a->layout, grid_columns(grid), b.j);
	const int turn = (int)block_turn(b);
	struct comm_piece pieces[1 + PANELS_OTHERS] = {
	        {room.data, room.ld * room.n * precision_bytes(room.precision), root}};

	for (int i = 0; i < count; i++)
		pieces[1 + i] = (struct comm_piece){others[i].data, others[i].bytes, root};
	p->waits[turn] = true;
	return comm_broadcast(grid->row, p->e, turn, pieces, 1 + count, "panel", b.index);
}

static bool turn_arrived(struct panels *p, int turn)
{
	if (!p->waits[turn])
		return true;
	p->waits[turn] = false;
	return comm_arrived(p->a->grid.row, p->e, turn);
}

bool panels_arrived(struct panels *p, struct block b)
{
	return turn_arrived(p, (int)block_turn(b));
}

bool panels_all_arrived(struct panels *p)
{
	bool ok = true;

	for (int turn = 0; ok && turn < BLOCKS_IN_FLIGHT; turn++)
		ok = turn_arrived(p, turn);
	return ok;
}

void panels_keep(struct panels *p, struct block b, struct matrix part)
{
	if (p->kept_block != b.index)
		split_keep(p->e, part);
	p->kept_block = b.index;
}

/* ---- plans and checks ---- */

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

int64_t panels_work(const struct panels *p, const struct schedule *schedule,
        enum operation operation,
        int64_t (*work)(struct executor *, const struct plan *, struct matrix panel))
{
	const struct distributed *a = p->a;
	struct default_plan chosen;
	int64_t most = 0;

	for (struct block b = schedule_first(schedule); b.w && most >= 0;
	        b = schedule_next(schedule, b)) {
		const bool gathered = p->whole.n > 0;
		if (!distributed_owns(a, b.j) || (!gathered && !distributed_owns_row(a, b.j)))
			continue;
		const struct matrix panel = gathered ? panels_whole(p, b) : panels_own(a, b);
		panels_plan(schedule->e, operation, panel, &chosen);
		int64_t bytes = work(schedule->e, &chosen.plan, panel);
		most = bytes < 0 ? -1 : max_int64(most, bytes);
	}
	return most;
}

static bool narrow(const struct distributed *a, const struct executor *e)
{
	return e->math == MATH_FP32 || a->local.precision == DOUBLE;
}

bool panels_layout_check(struct executor *e, const struct distributed *a)
{
	return distributed_check(e, a) &&
	       (grid_rows(&a->grid) == 1 || a->layout.mb == a->layout.nb ||
	               fault_refuse(&e->fault,
	                       "blocks of %" PRId64 " x %" PRId64
	                       ": several process rows need square ones",
	                       a->layout.mb, a->layout.nb));
}

bool panels_check(struct executor *e, const struct distributed *a)
{
	const struct matrix local = a->local;
	const int64_t word = precision_bytes(local.precision);

	if (!panels_layout_check(e, a) || !split_check(e))
		return false;
	if (narrow(a, e))
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

struct factorization panels_operations(const struct factorization *operations,
        const struct distributed *a, const struct executor *e)
{
	struct factorization own = *operations;

	if (!narrow(a, e))
		own.next_update = NULL;
	return own;
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
