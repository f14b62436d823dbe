/* SPDX-License-Identifier: MIT */
/* Operations of a window of w columns with l rows, applied to c columns: 4 l w c. A sweep down over
 * n columns takes 2 (w + p) n^2 for R and 4 m (w + p) n for Q. A sweep up of windows of w rows
 * takes the same with p and w exchanged, and then a sweep down over w rows. */
#include "sweep.h"

static int64_t panel_bytes(struct executor *e, int64_t rows, enum precision precision)
{
	int64_t most = 0;

	for (int64_t m = SWEEP_COLUMNS; m < 2 * rows; m *= 2) {
		struct matrix a = {NULL, 0, min_int64(m, max_int64(rows, SWEEP_COLUMNS)),
		        SWEEP_COLUMNS, max_int64(m, rows), precision};
		most = max_int64(most, e->ops->geqrf_work(e, a));
	}
	return most;
}

bool sweep_band_fits(struct executor *e, enum precision precision, int64_t p)
{
	return p > 0 && ex_band_fits(e, precision, p);
}

static int64_t band_bytes(struct executor *e, int64_t columns, int64_t p, enum precision precision)
{
	struct band band = {.of.r = {NULL, 0, columns, columns, columns, precision}, .p = p};

	return sweep_band_fits(e, precision, p) ? e->ops->band_work(e, &band) : 0;
}

struct sweep sweep_workspace(struct executor *e, struct workspace *workspace, int64_t rows,
        int64_t columns, int64_t p, enum precision precision)
{
	struct sweep s = {.e = e};
	int64_t band = p > 0 ? p : SWEEP_UP_ROWS - 1;

	s.reflectors = reflectors_workspace(
	        workspace, max_int64(rows, SWEEP_COLUMNS), SWEEP_COLUMNS, precision);
	for (int i = 0; i < SWEEP_TURNS; i++)
		s.up[i] = reflectors_workspace(
		        workspace, SWEEP_UP_ROWS + SWEEP_COLUMNS, SWEEP_COLUMNS, precision);
	s.tau = workspace_matrix(workspace, SWEEP_COLUMNS, 1, precision);
	s.panel_work = workspace_bytes(workspace, panel_bytes(e, rows, precision));
	s.band_work = workspace_bytes(workspace, band_bytes(e, columns, band, precision));
	s.work = reflector_work_workspace(workspace, SWEEP_COLUMNS, columns, precision);
	return s;
}

static bool apply(const struct sweep *s, struct system y, struct reflectors h, int64_t i, int64_t c)
{
	struct executor *e = s->e;
	int64_t rows = h.v.m;

	return (c >= y.r.n || reflectors_apply(e, LEFT, TRANSPOSED, h, s->work,
	                              matrix_view(y.r, i, c, rows, y.r.n - c))) &&
	       (y.d.n == 0 || reflectors_apply(e, LEFT, TRANSPOSED, h, s->work,
	                              matrix_view(y.d, i, 0, rows, y.d.n))) &&
	       (y.q.m == 0 || reflectors_apply(e, RIGHT, PLAIN, h, s->work,
	                              matrix_view(y.q, 0, i, y.q.m, rows)));
}

static struct reflectors in_room(struct reflectors room, struct matrix panel)
{
	return (struct reflectors){
	        room_for(room.v, panel.m, panel.n), matrix_view(room.t, 0, 0, panel.n, panel.n)};
}

static bool make(const struct sweep *s, struct matrix panel, struct reflectors h)
{
	struct executor *e = s->e;
	int64_t m = panel.m, n = panel.n;

	return ex_panel_reflectors(
	               e, panel, matrix_view(s->tau, 0, 0, n, 1), h.v, h.t, false, s->panel_work) &&
	       ex_fill(e, LOWER, 0, 0, matrix_view(panel, 1, 0, m - 1, min_int64(n, m - 1)));
}

bool sweep_window(const struct sweep *s, struct system y, struct matrix panel, int64_t i, int64_t c)
{
	struct reflectors h = in_room(s->reflectors, panel);

	return make(s, panel, h) && apply(s, y, h, i, c);
}

bool sweep_down(const struct sweep *s, struct system y, int64_t k, int64_t p)
{
	int64_t end = min_int64(y.r.m, y.r.n);
	bool ok = true;

	if (sweep_band_fits(s->e, y.r.precision, p))
		return ex_band_sweep(s->e, &(struct band){y, NULL, k, p}, s->band_work);
	for (int64_t j = k, w; ok && p > 0 && j < end; j += w) {
		w = min_int64(SWEEP_COLUMNS, end - j);
		int64_t rows = min_int64(w + p, y.r.m - j);
		ok = sweep_window(s, y, matrix_view(y.r, j, j, rows, w), j, j + w);
	}
	return ok;
}

/* Per turn: its reflectors exist; nothing reads them any more. */
enum { EVENT_BEGIN, EVENT_MADE, EVENT_APPLIED = EVENT_MADE + SWEEP_TURNS };

/* Windows of the spike wait only for each other: they are factorized in QUEUE_PANEL. */
static bool spike_up(const struct sweep *s, struct system y, struct matrix spike, int64_t k)
{
	struct executor *e = s->e;
	int64_t p = spike.n;
	bool ok = ex_record(e, EVENT_BEGIN);

	for (int64_t base = y.r.m - p, w, index = 0; ok && base > k; base -= w, index++) {
		w = min_int64(SWEEP_UP_ROWS, base - k);
		int64_t i = base - w; /* the window's first row; what r has there begins in i - k */
		int turn = (int)(index % SWEEP_TURNS);
		struct matrix panel = matrix_view(spike, i, 0, w + p, p);
		struct reflectors h = in_room(s->up[turn], panel);
		e->queue = QUEUE_PANEL;
		ok = ex_wait(e, index < SWEEP_TURNS ? EVENT_BEGIN : EVENT_APPLIED + turn) &&
		     make(s, panel, h) && ex_record(e, EVENT_MADE + turn);
		e->queue = QUEUE_MAIN;
		ok = ok && ex_wait(e, EVENT_MADE + turn) && apply(s, y, h, i, i - k) &&
		     ex_record(e, EVENT_APPLIED + turn);
	}
	return ok;
}

/* The spike first, which fills R's rows back to the first column of their window; then R, in one
 * call where the executor has it. */
bool sweep_up(const struct sweep *s, struct system y, struct matrix spike, int64_t k)
{
	int64_t first = k + spike.n, rows = y.r.m - first;
	struct system below = {.r = matrix_view(y.r, first, 0, rows, y.r.n),
	        .d = matrix_view(y.d, first, 0, y.d.n == 0 ? 0 : y.d.m - first, y.d.n),
	        .q = matrix_view(y.q, 0, first, y.q.m, y.q.m == 0 ? 0 : y.q.n - first)};

	return spike_up(s, y, spike, k) && sweep_down(s, below, 0, SWEEP_UP_ROWS - 1);
}
