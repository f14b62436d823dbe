/* SPDX-License-Identifier: MIT */
/* LAPACKE's panels and the BLAS's products from the rows of the host_rate probe. Small panels have
 * one thread, large ones all of them (lib/host_panel.h), and between the two a surface has a step:
 * rows of the one kind say nothing of the other. Of one kind and width, time is interpolated
 * between the lengths measured, grows beyond them as the length does, as work and traffic do, and
 * stays below them, as the start-up of a call or of threads at every column does not shrink; then
 * it is interpolated between widths, where the last slope goes on. Products larger than measured
 * keep the rate. */
#include "price_blocks.h"

#include "../../lib/host_panel.h"

#include <math.h>
#include <string.h>

struct query {
	bool linear, team;
	double word, m;
};

static bool team_of(double m, double n, double word)
{
	return host_panel_threads((int64_t)(m * n * word), 2) > 1;
}

/* ---- rows, by width and then length ---- */

static bool later(const struct price_panel *a, const struct price_panel *b)
{
	return a->n != b->n ? a->n > b->n : a->m > b->m;
}

static double argument(const struct parameter *row, const char *name)
{
	for (size_t i = 0; i < row->arg_count; i++)
		if (strcmp(row->arg_name[i], name) == 0)
			return row->arg[i];
	return NAN;
}

static void add_row(struct price_panels *panels, const struct parameter *row)
{
	const struct price_panel new = {
	        argument(row, "m"), argument(row, "n"), row->estimate.value};
	size_t at = panels->count;

	if (at == PANEL_ROWS || !(new.m > 0 && new.n > 0 && new.seconds > 0) ||
	        row->arg_count != 2 || strcmp(row->status, "failed") == 0)
		return;
	for (; at > 0 && later(&panels->row[at - 1], &new); at--)
		panels->row[at] = panels->row[at - 1];
	panels->row[at] = new;
	panels->count++;
}

/* The first time one value is read the ordinary way, which notes what was used. */
static const struct price_panels *panels_of(struct price_reader *r, const char *name)
{
	const struct profile *profile = r->model.profile;
	size_t i = 0;

	while (r->panels[i].name && strcmp(r->panels[i].name, name) != 0)
		i++;
	struct price_panels *panels = &r->panels[i];
	if (panels->name)
		return panels;
	panels->name = name;
	panels->count = 0;
	for (size_t k = 0; k < profile->count; k++)
		if (strcmp(profile->row[k].name, name) == 0)
			add_row(panels, &profile->row[k]);
	if (panels->count)
		model_at2(&r->model, name, "m", panels->row[0].m, "n", panels->row[0].n);
	return panels;
}

/* ---- values ---- */

static double between(const struct query *q, double x, double x0, double y0, double x1, double y1)
{
	return q->linear ? y0 + (y1 - y0) * (x - x0) / (x1 - x0)
	                 : y0 * pow(y1 / y0, log(x / x0) / log(x1 / x0));
}

static double beyond(const struct query *q, const struct price_panel *row)
{
	return row->seconds * fmax(1, q->m / row->m);
}

static bool of_kind(const struct query *q, const struct price_panel *row)
{
	return team_of(row->m, row->n, q->word) == q->team;
}

/* Time of the width whose rows begin at `first`, NaN when none is of the kind. */
static double of_width(const struct query *q, const struct price_panels *panels, size_t first)
{
	const struct price_panel *below = NULL, *above = NULL;

	for (size_t i = first; i < panels->count && panels->row[i].n == panels->row[first].n; i++) {
		const struct price_panel *row = &panels->row[i];
		if (!of_kind(q, row))
			continue;
		if (row->m <= q->m)
			below = row;
		else if (!above)
			above = row;
	}
	if (below && above)
		return between(q, q->m, below->m, below->seconds, above->m, above->seconds);
	return below || above ? beyond(q, below ? below : above) : NAN;
}

struct node {
	double n, seconds;
};

/* Time at a width from the two widths around it, or from the two widest. */
static double at_width(const struct query *q, const struct price_panels *panels, double n)
{
	struct node node[2] = {{0, NAN}, {0, NAN}};

	for (size_t i = 0; i < panels->count && node[1].n < n; i++) {
		if (i > 0 && panels->row[i].n == panels->row[i - 1].n)
			continue;
		double seconds = of_width(q, panels, i);
		if (isnan(seconds))
			continue;
		node[0] = node[1];
		node[1] = (struct node){panels->row[i].n, seconds};
	}
	if (isnan(node[0].seconds)) { /* the narrowest */
		double times = n / node[1].n;
		return times > 1 ? node[1].seconds * times * times : node[1].seconds;
	}
	struct query scale = *q;
	scale.linear = q->linear && n <= node[1].n;
	return between(&scale, n, node[0].n, node[0].seconds, node[1].n, node[1].seconds);
}

static double panel(struct price_reader *r, const char *name, enum precision precision, double m,
        double n, bool team)
{
	const struct price_panels *panels = panels_of(r, name);
	struct query q = {r->linear, team, (double)precision_bytes(precision), m};

	if (!panels->count) /* a constant, or nothing */
		return price_at2(r, name, "m", m, "n", n);
	double seconds = at_width(&q, panels, n);
	if (isnan(seconds)) { /* only the other kind was measured */
		q.team = !team;
		seconds = at_width(&q, panels, n);
	}
	const struct price_panel *last = &panels->row[panels->count - 1];
	r->model.extrapolated |= n > last->n || (n == last->n && m > last->m);
	return seconds;
}

double price_host_getrf(struct price_reader *r, struct matrix a)
{
	double m = (double)a.m, n = (double)a.n, word = (double)precision_bytes(a.precision);

	return panel(r, a.precision == SINGLE ? "host.getrf.s" : "host.getrf.d", a.precision, m, n,
	        team_of(m, n, word));
}

double price_host_gemm(struct price_reader *r, enum precision precision, double edge)
{
	const char *name = precision == SINGLE ? "host.gemm.s" : "host.gemm.d";
	double low, high, times = 1;

	if (profile_range(r->model.profile, name, "n", &low, &high) && edge > high) {
		r->model.extrapolated = true;
		times = pow(edge / high, 3);
		edge = high;
	}
	return times * price_surface1(r, name, "n", edge);
}

/* Of as many operations as a square gemm. */
static double at_gemm_rate(struct price_reader *r, double operations, enum precision precision)
{
	return price_host_gemm(r, precision, cbrt(operations / 2));
}

/* Beyond the widest panel measured it goes block by block, as LAPACK does: a panel of that width,
 * and the update of the columns right of it, which is two products. */
double price_host_geqrf(struct price_reader *r, struct matrix a)
{
	enum { WIDEST = 128 }; /* of the host_rate probe */
	const char *name = a.precision == SINGLE ? "host.geqrf.s" : "host.geqrf.d";
	const bool team = team_of((double)a.m, (double)a.n, (double)precision_bytes(a.precision));
	double seconds = 0;

	for (int64_t j = 0; j < a.n; j += WIDEST) {
		int64_t rest = a.n - j, width = rest < WIDEST ? rest : WIDEST;
		double rows = (double)(a.m - j), right = (double)(rest - width);
		seconds += panel(r, name, a.precision, rows, (double)width, team);
		if (right > 0)
			seconds += at_gemm_rate(r, 4 * rows * right * (double)width, a.precision);
	}
	return seconds;
}

/* The diagonal block, and a triangular solve with the rows below it (a upper: columns right of it)
 * at the rate of a square gemm of as many operations. */
double price_host_potrf(struct price_reader *r, struct matrix a)
{
	int64_t n = a.m < a.n ? a.m : a.n, rest = a.m + a.n - 2 * n;
	struct matrix diagonal = {NULL, 0, n, n, n, a.precision};
	double seconds = price_host_getrf(r, diagonal) / 2;

	if (rest)
		seconds += at_gemm_rate(r, (double)n * (double)n * (double)rest, a.precision);
	return seconds;
}
