/* SPDX-License-Identifier: MIT */
/* Operations of a window of w columns with l rows, applied to c columns: 4 l w c. A sweep down over
 * n columns takes 2 (w + p) n^2 for R and 4 m (w + p) n for Q, one up three halves of that with
 * w = p. */
#include "sweep.h"

#include "schedule.h"

static int64_t panel_bytes(struct executor *e, int64_t rows, enum precision precision)
{
	int64_t most = 0;

	for (int64_t m = SWEEP_COLUMNS; m < 2 * rows; m *= 2) {
		struct matrix a = {NULL, 0, smaller(m, larger(rows, SWEEP_COLUMNS)), SWEEP_COLUMNS,
		        larger(m, rows), precision};
		most = larger(most, e->ops->geqrf_work(e, a));
	}
	return most;
}

bool sweep_band_fits(struct executor *e, enum precision precision, int64_t p)
{
	return p > 0 && e->ops->band_fits && e->ops->band_fits(e, precision, p);
}

static int64_t band_bytes(struct executor *e, int64_t columns, int64_t p, enum precision precision)
{
	struct band band = {.of.r = {NULL, 0, columns, columns, columns, precision}, .p = p};

	return sweep_band_fits(e, precision, p) ? e->ops->band_work(e, &band) : 0;
}

struct sweep sweep_carve(struct executor *e, struct carver *carver, int64_t nb, int64_t rows,
        int64_t columns, int64_t p, enum precision precision)
{
	struct sweep s = {.e = e, .nb = nb};

	s.reflectors =
	        reflectors_carve(carver, larger(rows, SWEEP_COLUMNS), SWEEP_COLUMNS, precision);
	s.tau = carve_matrix(carver, SWEEP_COLUMNS, 1, precision);
	s.panel_work = carve_bytes(carver, panel_bytes(e, rows, precision));
	s.band_work = carve_bytes(carver, band_bytes(e, columns, p, precision));
	s.work = reflector_work_carve(carver, SWEEP_COLUMNS, columns, precision);
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

bool sweep_window(const struct sweep *s, struct system y, struct matrix panel, int64_t i, int64_t c)
{
	struct executor *e = s->e;
	int64_t m = panel.m, n = panel.n;
	struct reflectors h = {
	        room_for(s->reflectors.v, m, n), matrix_view(s->reflectors.t, 0, 0, n, n)};
	struct matrix tau = matrix_view(s->tau, 0, 0, n, 1);

	return ex_panel_reflectors(e, panel, tau, h.v, h.t, s->panel_work) &&
	       ex_fill(e, LOWER, 0, 0, matrix_view(panel, 1, 0, m - 1, smaller(n, m - 1))) &&
	       apply(s, y, h, i, c);
}

bool sweep_down(const struct sweep *s, struct system y, int64_t k, int64_t p)
{
	int64_t end = smaller(y.r.m, y.r.n);
	bool ok = true;

	if (sweep_band_fits(s->e, y.r.precision, p))
		return ex_band_sweep(s->e, &(struct band){y, NULL, k, p}, s->band_work);
	for (int64_t j = k, w; ok && p > 0 && j < end; j += w) {
		w = smaller(s->nb, end - j);
		int64_t rows = smaller(w + p, y.r.m - j);
		ok = sweep_window(s, y, matrix_view(y.r, j, j, rows, w), j, j + w);
	}
	return ok;
}

/* The spike first, which fills R's rows back to the first column of their window; then R, all of it
 * in one call where there is such a one. */
bool sweep_up(const struct sweep *s, struct system y, struct matrix spike, int64_t k)
{
	int64_t p = spike.n, rows = y.r.m - k - p, first = k + p;
	struct system below = {.r = matrix_view(y.r, first, 0, rows, y.r.n),
	        .d = matrix_view(y.d, first, 0, y.d.n == 0 ? 0 : y.d.m - first, y.d.n),
	        .q = matrix_view(y.q, 0, first, y.q.m, y.q.m == 0 ? 0 : y.q.n - first)};
	bool ok = true;

	for (int64_t base = y.r.m - p, w; ok && base > k; base -= w) {
		w = smaller(s->nb, base - k);
		int64_t i = base - w; /* the window's first row; what r has there begins in i - k */
		ok = sweep_window(s, y, matrix_view(spike, i, 0, w + p, p), i, i - k);
	}
	return ok && sweep_down(s, below, 0, s->nb - 1);
}
