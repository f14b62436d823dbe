/* SPDX-License-Identifier: MIT */
/* LAPACKE's panels and the BLAS's products from the rows of the host_rate probe. Small panels have
 * one thread, large ones all of them (factor/kernels/lu/host_panel.h), and between the two a surface has a step:
 * rows of the one kind say nothing of the other. Of one kind and width, time is interpolated
 * between the lengths measured and goes on beyond them in a straight line: every column has its
 * start, every row its work and traffic. Below them it stays, as the start of a call or of threads
 * at every column does not shrink. Then it is interpolated between widths; below the narrowest one
 * it goes on with the first slope. Beyond the widest one LU by one thread goes on with the last;
 * else it goes block by block, as in LAPACK: a panel of that width, and the update of the columns
 * right of it. Products larger than measured keep the rate. */
#include "cost_blocks.h"

#include "factor/kernels/lu/host_panel.h"

#include <math.h>
#include <string.h>

struct query {
	bool linear, pinned;
	double word, m;
};

static bool pinned_of(double m, double n, double word)
{
	return host_panel_threads((int64_t)(m * n * word), 2) > 1;
}

/* ---- rows, by width and then length ---- */

static bool later(const struct cost_panel *a, const struct cost_panel *b)
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

static void add_row(struct cost_panels *panels, const struct parameter *row)
{
	const struct cost_panel new = {
	        argument(row, "m"), argument(row, "n"), row->estimate.value};
	size_t at = panels->count;

	if (at == PANEL_ROWS || !(new.m > 0 && new.n > 0 && new.seconds > 0) ||
	        row->arg_count != 2 || strcmp(row->status, "failed") == 0)
		return;
	for (; at > 0 && later(&panels->row[at - 1], &new); at--)
		panels->row[at] = panels->row[at - 1];
	panels->row[at] = new;
	panels->count++;
	panels->longest = fmax(panels->longest, new.m);
}

/* The first time one value is read the ordinary way, which notes what was used. */
static const struct cost_panels *panels_of(struct cost_reader *r, const char *name)
{
	const struct profile *profile = r->model.profile;
	size_t i = 0;

	while (r->panels[i].name && strcmp(r->panels[i].name, name) != 0)
		i++;
	struct cost_panels *panels = &r->panels[i];
	if (panels->name)
		return panels;
	panels->name = name;
	panels->count = 0;
	panels->longest = 0;
	const uint32_t key = profile_name_key(name);
	for (size_t k = 0; k < profile->count; k++)
		if (profile_row_has_name(&profile->row[k], key, name))
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

static bool of_kind(const struct query *q, const struct cost_panel *row)
{
	return pinned_of(row->m, row->n, q->word) == q->pinned;
}

/* Of a length beyond the last row, before which there may be another one. */
static double beyond(
        const struct query *q, const struct cost_panel *before, const struct cost_panel *last)
{
	double slope = last->seconds / last->m;

	if (before)
		slope = fmax(0, (last->seconds - before->seconds) / (last->m - before->m));
	return last->seconds + slope * (q->m - last->m);
}

/* Time of the width whose rows begin at `first`, NaN when none is of the kind. */
static double of_kind_and_width(
        const struct query *q, const struct cost_panels *panels, size_t first)
{
	const struct cost_panel *before = NULL, *below = NULL, *above = NULL;

	for (size_t i = first; i < panels->count && panels->row[i].n == panels->row[first].n; i++) {
		const struct cost_panel *row = &panels->row[i];
		if (!of_kind(q, row))
			continue;
		if (row->m <= q->m) {
			before = below;
			below = row;
		} else if (!above) {
			above = row;
		}
	}
	if (below && above)
		return between(q, q->m, below->m, below->seconds, above->m, above->seconds);
	return below ? beyond(q, before, below) : above ? above->seconds : NAN;
}

/* The length of the first row of a width that is of the kind, NaN when there is none. */
static double shortest(const struct query *q, const struct cost_panels *panels, size_t first)
{
	for (size_t i = first; i < panels->count && panels->row[i].n == panels->row[first].n; i++)
		if (of_kind(q, &panels->row[i]))
			return panels->row[i].m;
	return NAN;
}

/* Below the shortest row of all threads: what one thread takes, and more by as much as all threads
 * do there. */
static double of_width(const struct query *q, const struct cost_panels *panels, size_t first)
{
	struct query there = *q, one = *q;
	double seconds = of_kind_and_width(q, panels, first);

	there.m = shortest(q, panels, first);
	one.pinned = !q->pinned;
	const double other = of_kind_and_width(&one, panels, first);
	if (isnan(seconds) || isnan(other))
		return isnan(seconds) ? other : seconds;
	if (!q->pinned || q->m >= there.m)
		return seconds;
	there.pinned = false;
	return fmin(seconds, other * fmax(1, seconds / of_kind_and_width(&there, panels, first)));
}

/* Time at a width: between those of the two widths around it, or on with the slope of the two
 * widest, or narrowest. */
static double at_width(const struct query *q, const struct cost_panels *panels, double n)
{
	double width[2] = {NAN, NAN}, seconds[2] = {NAN, NAN};

	for (size_t i = 0; i < panels->count && !(width[0] > 0 && width[1] >= n); i++) {
		if (i > 0 && panels->row[i].n == panels->row[i - 1].n)
			continue;
		width[0] = width[1];
		seconds[0] = seconds[1];
		width[1] = panels->row[i].n;
		seconds[1] = of_width(q, panels, i);
	}
	if (isnan(width[0]))
		return seconds[1];
	struct query scale = *q;
	scale.linear = q->linear && width[0] <= n && n <= width[1];
	const double on = between(&scale, n, width[0], seconds[0], width[1], seconds[1]);
	return n < width[0] ? fmin(on, seconds[0]) : on;
}

double cost_host_gemm(struct cost_reader *r, enum precision precision, double edge)
{
	const char *name = precision == SINGLE ? "host.gemm.s" : "host.gemm.d";
	const double high = cost_last(r, name, "n");
	double times = 1;

	if (edge > high) {
		r->model.extrapolated = true;
		times = pow(edge / high, 3);
		edge = high;
	}
	return times * cost_surface1(r, name, "n", edge);
}

/* Of as many operations as a square gemm. */
static double at_gemm_rate(struct cost_reader *r, double operations, enum precision precision)
{
	return cost_host_gemm(r, precision, cbrt(operations / 2));
}

/* The same by one thread, which is measured in single precision at a few sizes: between the
 * precisions as with all threads. */
static double by_one_thread(struct cost_reader *r, double operations, enum precision precision)
{
	static const char name[] = "host.gemm.threads.s";
	const double n = cost_last(r, name, "n");

	if (isnan(n))
		return at_gemm_rate(r, operations, precision);
	const double ratio = cost_host_gemm(r, precision, n) / cost_host_gemm(r, SINGLE, n);
	return ratio * cost_at2(r, name, "n", n, "threads", 1) * operations / (2 * n * n * n);
}

static double of_panel(
        struct cost_reader *r, const struct cost_panels *panels, struct matrix a, bool pinned)
{
	const struct query q = {r->linear, pinned, (double)precision_bytes(a.precision), (double)a.m};

	r->model.extrapolated |=
	        q.m > panels->longest || (double)a.n > panels->row[panels->count - 1].n;
	return at_width(&q, panels, (double)a.n);
}

/* operations: of the update, for each row, column of a block and column right of it. */
static double by_blocks(struct cost_reader *r, const struct cost_panels *panels, struct matrix a,
        bool pinned, double operations)
{
	const int64_t widest = (int64_t)panels->row[panels->count - 1].n;
	double seconds = 0;

	r->model.extrapolated |= a.n > widest;
	while (a.n > 0) {
		const struct matrix block = {
		        NULL, 0, a.m, a.n < widest ? a.n : widest, a.ld, a.precision};
		const double right = (double)(a.n - block.n),
		             update = operations * (double)a.m * (double)block.n * right;
		seconds += of_panel(r, panels, block, pinned);
		if (right > 0)
			seconds += pinned ? at_gemm_rate(r, update, a.precision)
			                : by_one_thread(r, update, a.precision);
		a.m = a.m > block.n ? a.m - block.n : 1;
		a.n -= block.n;
	}
	return seconds;
}

static const struct cost_panels *getrf_of(struct cost_reader *r, struct matrix a)
{
	return panels_of(r, a.precision == SINGLE ? "host.getrf.s" : "host.getrf.d");
}

static bool pinned_for(struct matrix a)
{
	return pinned_of((double)a.m, (double)a.n, (double)precision_bytes(a.precision));
}

static double constant(struct cost_reader *r, const struct cost_panels *panels, struct matrix a)
{
	return cost_at2(r, panels->name, "m", (double)a.m, "n", (double)a.n);
}

/* The update is a product. */
double cost_host_getrf(struct cost_reader *r, struct matrix a)
{
	const struct cost_panels *panels = getrf_of(r, a);

	if (!panels->count)
		return constant(r, panels, a);
	return pinned_for(a) ? by_blocks(r, panels, a, true, 2) : of_panel(r, panels, a, false);
}

/* The update is two products. */
double cost_host_geqrf(struct cost_reader *r, struct matrix a)
{
	const struct cost_panels *panels =
	        panels_of(r, a.precision == SINGLE ? "host.geqrf.s" : "host.geqrf.d");

	return panels->count ? by_blocks(r, panels, a, pinned_for(a), 4) : constant(r, panels, a);
}

/* An older profile has no surface for it: half the operations of getrf, by one thread. */
static double diagonal(
        struct cost_reader *r, const char *name, int64_t n, enum precision precision)
{
	struct matrix block = {NULL, 0, n, n, n, precision};

	if (cost_known(r, name))
		return cost_surface1(r, name, "n", (double)n);
	const struct cost_panels *panels = getrf_of(r, block);
	return (panels->count ? of_panel(r, panels, block, false) : constant(r, panels, block)) / 2;
}

/* The diagonal block; a triangular solve with the rows below it (a upper: columns right of it) goes
 * at the rate of a square gemm of as many operations. */
double cost_host_potrf(struct cost_reader *r, struct matrix a)
{
	const char *name = a.precision == SINGLE ? "host.potrf.s" : "host.potrf.d";
	int64_t n = a.m < a.n ? a.m : a.n, rest = a.m + a.n - 2 * n;
	double seconds = diagonal(r, name, n, a.precision);

	if (rest)
		seconds += at_gemm_rate(r, (double)n * (double)n * (double)rest, a.precision);
	return seconds;
}
