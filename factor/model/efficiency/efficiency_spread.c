/* SPDX-License-Identifier: MIT */
/* How far an efficiency lies from the interpolation between its neighbours: each row of a surface
 * is left out and computed from the next ones along each argument. */
#include "efficiency_internal.h"

#include "lib/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rows {
	const struct parameter *row;
	const double *value; /* the logarithm of what is interpolated; NaN: not usable */
	size_t count;
};

static bool same_but(const struct parameter *a, const struct parameter *b, size_t but)
{
	if (a->arg_count != b->arg_count)
		return false;
	for (size_t k = 0; k < a->arg_count; k++)
		if (k != but && a->arg[k] != b->arg[k])
			return false;
	return true;
}

/* The next row along an argument, above (side 1) or below (-1); NULL: none. */
static const struct parameter *next(const struct rows *s, size_t i, size_t arg, int side)
{
	const struct parameter *row = &s->row[i], *best = NULL;

	for (size_t j = 0; j < s->count; j++) {
		const struct parameter *other = &s->row[j];
		const double ahead = side * (other->arg[arg] - row->arg[arg]);
		if (ahead > 0 && !isnan(s->value[j]) && same_but(row, other, arg) &&
		        (!best || ahead < side * (best->arg[arg] - row->arg[arg])))
			best = other;
	}
	return best;
}

static double on_scale(double x)
{
	return log(fmax(x, 0.5));
}

/* The error of the interpolation along an argument, NaN at an end. Two rows hard by each other show
 * a step where it is: neither stands for the other. */
static double left_out(const struct rows *s, size_t i, size_t arg)
{
	const struct parameter *low = next(s, i, arg, -1), *high = next(s, i, arg, 1);
	const double x = s->row[i].arg[arg];

	if (!low || !high || profile_hard_by(low->arg[arg], x) ||
	        profile_hard_by(x, high->arg[arg]))
		return NAN;
	return s->value[i] - profile_between(PROFILE_LINEAR, on_scale(x), on_scale(low->arg[arg]),
	                             s->value[low - s->row], on_scale(high->arg[arg]),
	                             s->value[high - s->row]);
}

/* The sum of the squares over the arguments between whose rows predictions interpolate, NaN where
 * there is none. */
static double square_of(const struct rows *s, const struct surface *surface, size_t i)
{
	double sum = NAN;

	for (size_t k = 0; k < s->row[i].arg_count && !isnan(s->value[i]); k++) {
		const double off = surface_interpolates(surface, s->row[i].arg_name[k])
		                           ? left_out(s, i, k)
		                           : NAN;
		if (!isnan(off))
			sum = (isnan(sum) ? 0 : sum) + off * off;
	}
	return sum;
}

/* Logarithms of efficiencies where they are interpolated, else of times (profile_grid.h). */
static void take_values(const struct parameter *row, size_t count, double *value)
{
	bool by_time = false;

	for (size_t i = 0; i < count; i++)
		by_time = by_time || !(row[i].hardware > 0);
	for (size_t i = 0; i < count; i++) {
		const double body = row[i].estimate.value - (by_time ? 0 : row[i].start);
		value[i] = efficiency_has(&row[i]) && body > 0
		                   ? log(by_time ? body : body / row[i].hardware)
		                   : NAN;
	}
}

/* Writes the squares into the rows' spread, NaN where a row cannot be left out. Returns their mean,
 * NaN when there is none. */
static double take_squares(struct parameter *row, size_t count)
{
	double *value = xcalloc(count, sizeof *value), sum = 0;
	const struct rows s = {row, value, count};
	const struct surface *surface = surface_of(row->name);
	size_t known = 0;

	take_values(row, count, value);
	for (size_t i = 0; i < count; i++) {
		row[i].spread = square_of(&s, surface, i);
		sum += isnan(row[i].spread) ? 0 : row[i].spread;
		known += !isnan(row[i].spread);
	}
	free(value);
	return known ? sum / (double)known : NAN;
}

/* Surfaces whose scatter is alike: of the GPU or the host, of a library or our own kernels. */
enum { GROUPS = 4 };
struct group {
	double *mean, usual; /* squares: of the surfaces, and their median */
	size_t count;
};

static size_t group_of(const struct parameter *row)
{
	return (strcmp(row->regime, "calibrated") == 0 ? 2 : 0) +
	       (strncmp(row->name, "host.", strlen("host.")) == 0 ? 1 : 0);
}

/* The relative spread of the efficiency of a term that reads the row, from squares: its own, its
 * surface's and its group's; NaN: not known. Few rows say little of a scatter, so all three count.
 */
static double spread_of(double own, double surface, double usual)
{
	if (isnan(surface))
		surface = usual;
	if (isnan(own))
		own = surface;
	return sqrt((own + surface + usual) / 3);
}

void efficiency_spread(struct profile *profile)
{
	double *surface = xcalloc(profile->count + 1, sizeof *surface);
	struct group group[GROUPS] = {{NULL, 0, 0}};

	for (int c = 0; c < GROUPS; c++)
		group[c].mean = xcalloc(profile->count + 1, sizeof *surface);
	for (size_t i = 0, end; i < profile->count; i = end) {
		struct group *of = &group[group_of(&profile->row[i])];
		end = efficiency_surface_end(profile, i);
		surface[i] = take_squares(&profile->row[i], end - i);
		for (size_t r = i + 1; r < end; r++)
			surface[r] = surface[i];
		if (surface[i] > 0)
			of->mean[of->count++] = surface[i];
	}
	for (int c = 0; c < GROUPS; c++)
		group[c].usual = group[c].count ? stats_median(group[c].mean, group[c].count) : 0;
	for (size_t i = 0; i < profile->count; i++) {
		struct parameter *row = &profile->row[i];
		row->spread = efficiency_has(row) ? spread_of(row->spread, surface[i],
		                                            group[group_of(row)].usual)
		                                  : 0;
	}
	for (int c = 0; c < GROUPS; c++)
		free(group[c].mean);
	free(surface);
}
