/* SPDX-License-Identifier: MIT */
/* Events. Every block records them again before something waits for them:
 *   UPDATED  the next panel's columns are up to date (QUEUE_MAIN), but for work in QUEUE_PANEL
 *   CORNER   its diagonal block is, which may be earlier (QUEUE_MAIN)
 *   ARRIVED  the panel is in host memory (QUEUE_OUT)
 *   PANEL    the panel is factorized, in executor memory (QUEUE_PANEL or QUEUE_IN)
 *   FREE     only the side queue still reads the columns left of the block (QUEUE_MAIN)
 *   ASIDE    the side queue is done
 *   BEGUN    the panel is next in QUEUE_PANEL. An event, not a launch's completion event, which
 * CUDA may let wait for the kernel's end. A panel starts after the update of its columns, hence
 * after all readers of the memory of the panel before the last one: two sets of such memory
 * suffice, and one host stage. */
#include "schedule.h"

enum {
	EVENT_UPDATED,
	EVENT_CORNER,
	EVENT_ARRIVED,
	EVENT_PANEL,
	EVENT_FREE,
	EVENT_SIDE_QUEUE,
	EVENT_BEGUN
};

struct schedule schedule_of(struct executor *e, const struct plan *plan, struct matrix a,
        const struct factorization *operations, struct factor *self)
{
	return (struct schedule){e, plan, min_int64(a.m, a.n), a.n, operations, self, {0}};
}

static struct block block_at(const struct schedule *s, int64_t index, int64_t j)
{
	return (struct block){index, j, plan_width(s->plan, index, s->steps - j)};
}

struct block schedule_first(const struct schedule *s)
{
	return block_at(s, 0, 0);
}

struct block schedule_next(const struct schedule *s, struct block b)
{
	return block_at(s, b.index + 1, b.j + b.w);
}

typedef int64_t leaf_work(struct executor *, const struct plan *, struct matrix a);

static int64_t leaves_work(const struct schedule *s, leaf_work *leaf, struct matrix a)
{
	if (a.n <= s->plan->leaf)
		return leaf(s->e, s->plan, a);

	int64_t n = plan_left_half(s->plan, a.n);
	int64_t left = leaves_work(s, leaf, matrix_view(a, 0, 0, a.m, n));
	int64_t right = leaves_work(s, leaf, matrix_view(a, n, n, a.m - n, a.n - n));
	return left < 0 || right < 0 ? -1 : max_int64(left, right);
}

int64_t schedule_leaves_work(const struct schedule *s, leaf_work *leaf)
{
	struct block b = schedule_first(s);
	int64_t most = 0;

	for (; !s->plan->hybrid && b.w && most >= 0; b = schedule_next(s, b)) {
		int64_t bytes = leaves_work(s, leaf, s->operations->panel(s->self, b));
		most = bytes < 0 ? -1 : max_int64(most, bytes);
	}
	return most;
}

/* Later operations belong to the block, in this queue. */
static void turn_to(const struct schedule *s, enum queue queue, struct block b)
{
	s->e->queue = queue;
	s->e->block = b.index;
}

static bool in_place(const struct schedule *s)
{
	return s->plan->in_place && s->e->in_host.n > 0;
}

static bool stage(const struct schedule *s, struct matrix panel, struct matrix *host)
{
	return s->e->ops->stage(s->e, 0, panel.m, panel.n, panel.precision, host);
}

/* Host memory of a panel: its place in the matrix, or a stage. */
static bool host_room(
        const struct schedule *s, struct block b, struct matrix panel, struct matrix *host)
{
	if (!in_place(s))
		return stage(s, panel, host);
	*host = matrix_view(s->e->in_host, b.j, b.j, panel.m, panel.n);
	return true;
}

/* Reserves the largest panel at once: a stage that grows later would move under a copy. */
static bool reserve_stage(const struct schedule *s)
{
	struct matrix largest = {0}, host;

	for (struct block b = schedule_first(s); s->plan->hybrid && !in_place(s) && b.w;
	        b = schedule_next(s, b)) {
		struct matrix panel = s->operations->panel(s->self, b);
		if (panel.m * panel.n > largest.m * largest.n)
			largest = panel;
	}
	return largest.m == 0 || stage(s, largest, &host);
}

static bool corner(const struct schedule *s, struct block b)
{
	return !s->operations->corner_on_device || s->operations->corner_on_device(s->self, b);
}

/* QUEUE_MAIN has updated the next panel's diagonal block: starts the part that needs no more. */
static bool start_corner(const struct schedule *s, struct block b)
{
	struct executor *e = s->e;

	if (!b.w || s->plan->hybrid || !s->plan->lookahead || !s->operations->corner_on_device)
		return true;
	if (!ex_record(e, EVENT_CORNER))
		return false;
	turn_to(s, QUEUE_PANEL, b);
	return ex_wait(e, EVENT_CORNER) && corner(s, b);
}

static bool fetch(const struct schedule *s, struct block b)
{
	return !s->operations->fetch || s->operations->fetch(s->self, b);
}

static bool panel_on_device(const struct schedule *s, struct block b)
{
	struct executor *e = s->e;

	turn_to(s, QUEUE_PANEL, b);
	return fetch(s, b) && (!s->operations->panel_first || ex_record(e, EVENT_BEGUN)) &&
	       s->operations->on_device(s->self, b) && ex_record(e, EVENT_PANEL);
}

/* The queue of the host panels' copies. */
static enum queue copies(const struct schedule *s, enum queue queue)
{
	return s->plan->copies_wait ? s->e->home : queue;
}

/* What is final above a panel in place. */
static bool above_to_host(const struct schedule *s, struct block b)
{
	if (!in_place(s) || !s->operations->above)
		return true;
	struct matrix above = s->operations->above(s->self, b);
	return ex_to_host(s->e, above, matrix_view(s->e->in_host, 0, b.j, above.m, above.n));
}

static bool panel_to_host(const struct schedule *s, struct block b)
{
	struct executor *e = s->e;
	struct matrix panel = s->operations->panel(s->self, b), host;

	if (!fetch(s, b) || !ex_record(e, EVENT_UPDATED))
		return false;
	e->queue = copies(s, QUEUE_OUT);
	return ex_wait(e, EVENT_UPDATED) && host_room(s, b, panel, &host) &&
	       ex_to_host(e, panel, host) && ex_record(e, EVENT_ARRIVED) && above_to_host(s, b);
}

/* QUEUE_MAIN has updated the panel's columns: factorizes them on the device, or starts the copy to
 * the host. */
static bool start_panel(const struct schedule *s, struct block b)
{
	turn_to(s, s->e->home, b);
	if (s->plan->hybrid)
		return panel_to_host(s, b);
	if (!s->plan->lookahead)
		return corner(s, b) && fetch(s, b) && s->operations->on_device(s->self, b);
	if (!ex_record(s->e, EVENT_UPDATED))
		return false;
	s->e->queue = QUEUE_PANEL;
	return ex_wait(s->e, EVENT_UPDATED) && panel_on_device(s, b);
}

/* The host's part, while the device updates the other columns. */
static bool finish_panel(const struct schedule *s, struct block b)
{
	struct executor *e = s->e;
	struct matrix panel = s->operations->panel(s->self, b), host;

	if (!s->plan->hybrid)
		return true;
	turn_to(s, copies(s, QUEUE_IN), b);
	return host_room(s, b, panel, &host) && ex_wait_host(e, EVENT_ARRIVED) &&
	       s->operations->on_host(s->self, b, host) && ex_to_device(e, host, panel) &&
	       ex_record(e, EVENT_PANEL);
}

static bool join_panel(const struct schedule *s, struct block b)
{
	turn_to(s, s->e->home, b);
	if (!s->plan->hybrid && !s->plan->lookahead)
		return true;
	return ex_wait(s->e, EVENT_PANEL) && (!s->plan->hybrid || s->operations->back(s->self, b));
}

/* Columns j .. j+n-1, which may be those of the next panel. */
static bool update(
        const struct schedule *s, struct block b, int64_t j, int64_t n, struct block panel)
{
	turn_to(s, s->e->home, b);
	if (n == 0)
		return true;
	bool ok =
	        (!s->operations->update_corner || s->operations->update_corner(s->self, b, j, n)) &&
	        start_corner(s, panel);
	turn_to(s, s->e->home, b);
	return ok && s->operations->update(s->self, b, j, n);
}

/* ---- beside the next panel on the device ---- */

static bool beside_panel(const struct schedule *s)
{
	return s->plan->lookahead && !s->plan->hybrid;
}

/* Waits until the panel is next in its queue. */
static bool let_panel_begin(const struct schedule *s)
{
	return !beside_panel(s) || !s->operations->panel_first || ex_wait(s->e, EVENT_BEGUN);
}

/* The first part of an update: before the panel begins, beside the update of its columns, or beside
 * the panel. */
static bool begin_update_beside(const struct schedule *s, struct block b, int64_t j, int64_t n)
{
	bool has_top = n > 0 && s->operations->top, has_ready = n > 0 && s->operations->ready;
	bool early = s->plan->lookahead > 1;

	turn_to(s, s->e->home, b);
	return (early || let_panel_begin(s)) &&
	       (!has_top || s->operations->top(s->self, b, j, n)) &&
	       (!has_ready || s->operations->ready(s->self, b, j, n)) &&
	       (!early || let_panel_begin(s));
}

static bool update_beside(const struct schedule *s, struct block b, int64_t j, int64_t n)
{
	struct block none = {0};

	turn_to(s, s->e->home, b);
	s->e->shares = beside_panel(s);
	bool ok = n == 0               ? true
	          : s->operations->top ? s->operations->bottom(s->self, b, j, n)
	                               : update(s, b, j, n, none);
	s->e->shares = false;
	return ok;
}

/* Side-queue work of block b. Nothing reads the columns left of b when its first update is done,
 * which comes after all updates of the block before. */
static bool side_queue(const struct schedule *s, struct block b)
{
	struct executor *e = s->e;

	if (!s->operations->side_queue)
		return true;
	turn_to(s, s->e->home, b);
	if (!s->plan->lookahead)
		return s->operations->side_queue(s->self, b);
	if (!ex_record(e, EVENT_FREE))
		return false;
	e->queue = s->plan->hybrid ? QUEUE_PANEL : QUEUE_OUT;
	return ex_wait(e, EVENT_FREE) && s->operations->side_queue(s->self, b) &&
	       ex_record(e, EVENT_SIDE_QUEUE);
}

/* Whether QUEUE_PANEL updates the next panel's columns. */
static bool has_next_update(const struct schedule *s, struct block b, struct block next)
{
	return s->operations->next_update && beside_panel(s) && next.w &&
	       (s->plan->lookahead > 1 || !s->operations->narrow ||
	               s->operations->narrow(s->self, b, next.w));
}

/* From panel to panel in QUEUE_PANEL, which waits for what QUEUE_MAIN did before this block. */
static bool next_update(const struct schedule *s, struct block b, struct block next)
{
	struct executor *e = s->e;

	turn_to(s, s->e->home, b);
	bool ok = ex_record(e, EVENT_UPDATED) && join_panel(s, b);
	turn_to(s, QUEUE_PANEL, b);
	return ok && ex_wait(e, EVENT_UPDATED) && s->operations->next_update(s->self, b, next.w) &&
	       panel_on_device(s, next);
}

static bool pause(const struct schedule *s, struct block b)
{
	if (!s->operations->pauses || !s->operations->pauses(s->self, b))
		return true;
	return join_panel(s, b) && s->operations->pause(s->self, b);
}

/* ---- the second level of blocks ---- */

/* Where the columns end that b updates by itself. */
static int64_t own_end(const struct schedule *s, struct block b)
{
	const int64_t half = plan_half(s->plan), behind = (b.index / half + 2) * half;

	while (s->plan->coarse && b.w && b.index < behind)
		b = schedule_next(s, b);
	return s->plan->coarse && b.w ? b.j : s->columns;
}

/* The blocks of half a coarse block, of which b is the last, as one. */
static struct block half_of(const struct schedule *s, struct block b)
{
	struct block half = b;

	while (half.index % plan_half(s->plan)) {
		half.index--;
		const int64_t w = plan_width(s->plan, half.index, half.j);
		half.j -= w;
		half.w += w;
	}
	return half;
}

/* Whether columns from `end` on are updated after this block. */
static bool ends_half(const struct schedule *s, struct block b, int64_t end)
{
	return end < s->columns && (b.index + 1) % plan_half(s->plan) == 0;
}

/* Reads columns of the half's earlier blocks, which the side queue has changed. */
static bool coarse_update(const struct schedule *s, struct block b, int64_t end)
{
	if (!ends_half(s, b, end))
		return true;
	turn_to(s, s->e->home, b);
	s->e->shares = beside_panel(s);
	bool ok = (!s->operations->side_queue || !s->plan->lookahead ||
	                  ex_wait(s->e, EVENT_SIDE_QUEUE)) &&
	          s->operations->coarse(s->self, half_of(s, b), end, s->columns - end);
	s->e->shares = false;
	return ok;
}

/* ---- all blocks ---- */

/* Without look-ahead: everything right of the block before the next panel. */
static bool step_alone(const struct schedule *s, struct block b)
{
	struct block next = schedule_next(s, b);
	int64_t end = own_end(s, b);
	bool early = ends_half(s, b, end); /* the coarse update needs the side queue's work */

	return join_panel(s, b) && update(s, b, next.j, end - next.j, next) &&
	       (!early || side_queue(s, b)) && coarse_update(s, b, end) &&
	       (!next.w || start_panel(s, next)) && (early || side_queue(s, b)) &&
	       (!next.w || finish_panel(s, next));
}

/* After the panel of b: the update right of it with the next panel in between. */
static bool step(const struct schedule *s, struct block b)
{
	struct block next = schedule_next(s, b);
	int64_t end = own_end(s, b), right = end - next.j, strip = next.w ? next.w : right;
	int64_t j = next.j + strip, rest = right - strip;

	bool ok = has_next_update(s, b, next)
	                  ? next_update(s, b, next)
	                  : join_panel(s, b) && update(s, b, next.j, strip, next) &&
	                            (!next.w || start_panel(s, next));
	return ok && begin_update_beside(s, b, j, rest) && side_queue(s, b) &&
	       update_beside(s, b, j, rest) && coarse_update(s, b, end) &&
	       (!next.w || finish_panel(s, next));
}

/* Beside the first panel, in QUEUE_MAIN: its readers come later there, or wait for a later UPDATED.
 */
static bool begin(const struct schedule *s, struct block first)
{
	turn_to(s, s->e->home, first);
	return !s->operations->begin ||
	       (let_panel_begin(s) && s->operations->begin(s->self, first));
}

bool schedule_run(const struct schedule *s)
{
	struct block first = schedule_first(s);

	s->e->queue = s->e->home;
	if (!first.w)
		return true;
	s->e->split = s->split;
	bool ok = reserve_stage(s) && start_corner(s, first) && start_panel(s, first) &&
	          begin(s, first) && finish_panel(s, first);
	for (struct block b = first; ok && b.w; b = schedule_next(s, b))
		ok = pause(s, b) && (s->plan->lookahead ? step : step_alone)(s, b);
	turn_to(s, s->e->home, (struct block){0});
	s->e->split = (struct split_room){0};
	return ok && (!s->operations->side_queue || !s->plan->lookahead ||
	                     ex_wait(s->e, EVENT_SIDE_QUEUE));
}
