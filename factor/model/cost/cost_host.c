/* SPDX-License-Identifier: MIT */
/* LAPACKE's panels and the BLAS's products from the rows of the host_rate probe. Small panels run
 * on one thread, large ones on all (factor/kernels/lu/host_panel.h). Between the two the time makes
 * a step, so rows of one kind do not tell of the other. Within one kind and width time is
 * interpolated between the measured lengths. Beyond them it goes on in a straight line: every
 * column has its start, every row its work and traffic. Below them it stays, as the start of a
 * call, or of threads at every column, does not shrink. Between widths it is interpolated again;
 * below the narrowest width the first slope goes on. Beyond the widest, LU by one thread goes on
 * with the last slope; others go block by block as in LAPACK: a panel of that width, and the update
 * of the columns right of it. Products larger than measured keep the rate. */
#include "cost_blocks.h"

#include "factor/kernels/lu/host_panel.h"
#include "lib/base/msg.h"

#include <math.h>
#include <string.h>

struct query {
	enum profile_scale scale;
	bool pinned, solve;
	double word, m;
};

static bool pinned_of(double m, double n, double word)
{
	return host_panel_threads((int64_t)(m * n * word), 2) > 1;
}

static bool pinned_solve(double m, double n)
{
	return host_solve_threads(m, n, 2) > 1;
}

/* ---- rows, by width and then length ---- */

static bool later(const struct cost_panel *a, const struct cost_panel *b)
{
	return a->n != b->n ? a->n > b->n : a->m > b->m;
}

static void add_row(struct cost_panels *panels, const struct parameter *row)
{
	const struct cost_panel new = {profile_row_argument(row, "m"),
	        profile_row_argument(row, "n"), row->estimate.value};
	size_t at = panels->count;

	if (!(new.m > 0 && new.n > 0 && new.seconds > 0) || row->arg_count != 2 ||
	        strcmp(row->status, "failed") == 0)
		return;
	if (at == PANEL_ROWS)
		msg_die(EXIT_MEASURE_FAILED,
		        "the profile has more rows of %s than the model reads (%d)", panels->name,
		        PANEL_ROWS);
	for (; at > 0 && later(&panels->row[at - 1], &new); at--)
		panels->row[at] = panels->row[at - 1];
	panels->row[at] = new;
	panels->count++;
	panels->longest = fmax(panels->longest, new.m);
}

/* At the first call one value is read the ordinary way, which notes the parameter as used. */
static const struct cost_panels *panels_of(struct cost_reader *r, const char *name)
{
	const struct profile *profile = r->model.profile;
	size_t i = 0;

	while (i + 1 < COST_PANELS && r->panels[i].name && strcmp(r->panels[i].name, name) != 0)
		i++;
	struct cost_panels *panels = &r->panels[i];
	if (panels->name)
		return panels;
	panels->name = name;
	panels->count = 0;
	panels->longest = 0;
	EACH_ROW (k, profile, name)
		add_row(panels, &profile->row[k]);
	if (panels->count)
		model_at2(&r->model, name, "m", panels->row[0].m, "n", panels->row[0].n);
	return panels;
}

/* ---- values ---- */

static bool of_kind(const struct query *q, const struct cost_panel *row)
{
	return (q->solve ? pinned_solve(row->m, row->n) : pinned_of(row->m, row->n, q->word)) ==
	       q->pinned;
}

/* Seconds beyond the last row; `before` is the row before it, or NULL. */
static double beyond(
        const struct query *q, const struct cost_panel *before, const struct cost_panel *last)
{
	double slope = last->seconds / last->m;

	if (before)
		slope = fmax(0, (last->seconds - before->seconds) / (last->m - before->m));
	return last->seconds + slope * (q->m - last->m);
}

/* Seconds at the width whose rows begin at `first`, NaN when none is of the kind, and the length of
 * the first row that is. */
static double of_kind_and_width(
        const struct query *q, const struct cost_panels *panels, size_t first, double *shortest)
{
	const struct cost_panel *before = NULL, *below = NULL, *above = NULL;

	*shortest = NAN;
	for (size_t i = first; i < panels->count && panels->row[i].n == panels->row[first].n; i++) {
		const struct cost_panel *row = &panels->row[i];
		if (!of_kind(q, row))
			continue;
		*shortest = fmin(*shortest, row->m);
		if (row->m <= q->m) {
			before = below;
			below = row;
		} else if (!above) {
			above = row;
		}
	}
	if (below && above)
		return profile_between(
		        q->scale, q->m, below->m, below->seconds, above->m, above->seconds);
	return below ? beyond(q, before, below) : above ? above->seconds : NAN;
}

/* Below the shortest row of all threads: the time of one thread, times the factor that all threads
 * take more at that row. */
static double of_width(const struct query *q, const struct cost_panels *panels, size_t first)
{
	struct query there = *q, one = *q;
	double any, seconds = of_kind_and_width(q, panels, first, &there.m);

	one.pinned = !q->pinned;
	const double other = of_kind_and_width(&one, panels, first, &any);
	if (isnan(seconds) || isnan(other))
		return isnan(seconds) ? other : seconds;
	if (!q->pinned || q->m >= there.m)
		return seconds;
	there.pinned = false;
	return fmin(
	        seconds, other * fmax(1, seconds / of_kind_and_width(&there, panels, first, &any)));
}

/* Seconds at a width: interpolated between the two widths around it, or with the slope of the two
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
	const bool inside = width[0] <= n && n <= width[1];
	const double on = profile_between(inside ? q->scale : PROFILE_LOGARITHMIC, n, width[0],
	        seconds[0], width[1], seconds[1]);
	return n < width[0] ? fmin(on, seconds[0]) : on;
}

struct cost cost_by_host(double seconds)
{
	return (struct cost){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

double cost_host_gemm(struct cost_reader *r, enum precision precision, double edge)
{
	const char *name = OF_PRECISION("host.gemm", precision);
	const double high = cost_last(r, name, "n");
	double times = 1;

	if (edge > high) {
		r->model.extrapolated = true;
		times = pow(edge / high, 3);
		edge = high;
	}
	return times * cost_surface1(r, name, "n", edge);
}

/* Seconds of so many operations at the rate of a square gemm with as many. */
static double at_gemm_rate(struct cost_reader *r, double operations, enum precision precision)
{
	return cost_host_gemm(r, precision, cbrt(operations / 2));
}

/* The same on one thread, which is measured in single precision at a few sizes; the ratio of the
 * precisions is that of all threads. */
static double by_one_thread(struct cost_reader *r, double operations, enum precision precision)
{
	static const char name[] = "host.gemm.threads.s";
	const double n = cost_last(r, name, "n");

	if (isnan(n))
		return at_gemm_rate(r, operations, precision);
	const double ratio = cost_host_gemm(r, precision, n) / cost_host_gemm(r, SINGLE, n);
	return ratio * cost_at2(r, name, "n", n, "threads", 1) * operations / (2 * n * n * n);
}

static double at(struct cost_reader *r, const struct cost_panels *panels, struct query q, double n)
{
	r->model.extrapolated |= q.m > panels->longest || n > panels->row[panels->count - 1].n;
	return at_width(&q, panels, n);
}

static double of_panel(
        struct cost_reader *r, const struct cost_panels *panels, struct matrix a, bool pinned)
{
	const struct query q = {.scale = r->model.scale,
	        .pinned = pinned,
	        .word = (double)precision_bytes(a.precision),
	        .m = (double)a.m};

	return at(r, panels, q, (double)a.n);
}

/* operations: those of the update for each row, column of a block, and column right of the block.
 */
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
	return panels_of(r, OF_PRECISION("host.getrf", a.precision));
}

static bool pinned_for(struct matrix a)
{
	return pinned_of((double)a.m, (double)a.n, (double)precision_bytes(a.precision));
}

static double constant(struct cost_reader *r, const struct cost_panels *panels, struct matrix a)
{
	return cost_at2(r, panels->name, "m", (double)a.m, "n", (double)a.n);
}

/* The update is one product. */
/* Two products with V, at the rate of squares. */
struct cost cost_host_reflect(struct cost_reader *r, struct matrix v, struct matrix c)
{
	return cost_by_host(at_gemm_rate(r, 4 * product_steps(c.m, c.n, v.n), c.precision));
}

struct cost cost_by_host_getrf(struct cost_reader *r, struct matrix a)
{
	const struct cost_panels *panels = getrf_of(r, a);

	return cost_by_host(!panels->count  ? constant(r, panels, a)
	                    : pinned_for(a) ? by_blocks(r, panels, a, true, 2)
	                                    : of_panel(r, panels, a, false));
}

/* The update is two products. */
struct cost cost_by_host_geqrf(struct cost_reader *r, struct matrix a)
{
	const struct cost_panels *panels = panels_of(r, OF_PRECISION("host.geqrf", a.precision));

	return cost_by_host(
	        panels->count ? by_blocks(r, panels, a, pinned_for(a), 4) : constant(r, panels, a));
}

/* A profile without the surface: half the operations of getrf, on one thread. */
static double diagonal(struct cost_reader *r, const char *name, int64_t n, enum precision precision)
{
	struct matrix block = {NULL, 0, n, n, n, precision};

	if (cost_known(r, name))
		return cost_surface1(r, name, "n", (double)n);
	const struct cost_panels *panels = getrf_of(r, block);
	return (panels->count ? of_panel(r, panels, block, false) : constant(r, panels, block)) / 2;
}

/* A triangular solve with the rows below the block of a panel. A profile without them: at the rate
 * of a square gemm of as many operations. */
static double rows_below(struct cost_reader *r, struct matrix panel)
{
	const struct cost_panels *panels =
	        panels_of(r, OF_PRECISION("host.potrf_rows", panel.precision));

	const double m = (double)panel.m, n = (double)panel.n;
	const struct query q = {
	        .scale = r->model.scale, .pinned = pinned_solve(m, n), .solve = true, .m = m};

	return panels->count ? at(r, panels, q, n)
	                     : at_gemm_rate(r, n * n * (m - n), panel.precision);
}

/* The diagonal block, and the rows below it (a upper: the columns right of it). */
struct cost cost_by_host_potrf(struct cost_reader *r, struct matrix a)
{
	const char *name = OF_PRECISION("host.potrf", a.precision);
	const int64_t n = a.m < a.n ? a.m : a.n, m = a.m + a.n - n;
	double seconds = diagonal(r, name, n, a.precision);

	if (m > n)
		seconds += rows_below(r, (struct matrix){NULL, 0, m, n, m, a.precision});
	return cost_by_host(seconds);
}
