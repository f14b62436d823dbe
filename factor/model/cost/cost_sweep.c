/* SPDX-License-Identifier: MIT */
/* A downward sweep in one kernel, level 2, from the block_kernel probe's sweeps of a sliding band
 * and of added rows: over n columns and n/2 (all of R), with one tile of Q and with enough tiles to
 * give every block but the first the same number. One block makes the windows one after the other;
 * the others apply each window to the tiles right of it, to right-hand sides and to Q. A window
 * takes the longer of the two times. */
#include "cost_blocks.h"

#include <math.h>

enum { WIDTH = SWEEP_KERNEL_COLUMNS };

static const char *surface_name(enum precision precision)
{
	return OF_PRECISION("gpu.band_sweep", precision);
}

/* A profile without sliding bands uses the surface of added rows. */
static const char *surface_of(struct cost_reader *r, const struct band *band)
{
	const enum precision precision = band->of.r.precision;
	const char *slides = OF_PRECISION("gpu.band_slide", precision);

	return band->added || !cost_known(r, slides) ? surface_name(precision) : slides;
}

bool cost_band_fits(struct cost_reader *r, enum precision precision, int64_t p)
{
	return sweep_kernel_rows(precision, p) > 0 && cost_known(r, surface_name(precision));
}

static double tiles(double count)
{
	return ceil(count / WIDTH);
}

/* Tiles that the block with the most of them has. */
static double of_a_block(struct cost_reader *r, double count)
{
	return ceil(count / (cost_scalar(r, "gpu.sm.count") - 1));
}

/* Seconds of the first window, of a window alone, and of a tile of the other blocks. */
struct parts {
	double start, window, tile;
};

static struct parts parts_of(struct cost_reader *r, const char *name, int64_t p)
{
	static const char *const axes[] = {"p", "n", "rows"};
	const double any[] = {(double)p, 1, 1};
	const double n = round(cost_surface_end(r, name, axes, any, 3, 1));
	const double rows = round(cost_surface_end(r, name, axes, any, 3, 2));
	double seconds[2][2];

	for (int few = 0; few < 2; few++)
		for (int half = 0; half < 2; half++) {
			const double at[] = {(double)p, half ? n / 2 : n, few ? WIDTH : rows};
			seconds[few][half] = cost_surface(r, name, axes, at, 3);
		}
	const double windows = n / 2 / WIDTH;
	const double window = (seconds[1][0] - seconds[1][1]) / windows;
	return (struct parts){.start = fmax(0, seconds[1][1] - windows * window),
	        .window = window,
	        .tile = (seconds[0][0] - seconds[0][1]) / windows / of_a_block(r, tiles(rows))};
}

struct cost cost_band_sweep(struct cost_reader *r, const struct band *band)
{
	const enum precision precision = band->of.r.precision;
	const struct parts part =
	        parts_of(r, surface_of(r, band), sweep_kernel_rows(precision, band->p));
	const double windows = tiles((double)(band->of.r.n - band->k));
	const double others = tiles((double)band->of.d.n) + tiles((double)band->of.q.m);
	const double clear = cost_scalar(r, "gpu.copy.enqueue");
	struct cost cost = {.enqueue = clear + cost_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = cost_share(r, 1 + windows + others),
	        .term[TERM_LAUNCH] = clear + cost_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_BARRIER] = part.window};
	double seconds = part.start;

	for (double i = 0; i < windows; i++)
		seconds += fmax(
		        part.window, of_a_block(r, others + fmax(0, windows - i - 2)) * part.tile);
	return cost_as_measured(cost, seconds);
}
