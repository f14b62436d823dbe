/* SPDX-License-Identifier: MIT */
#include "profile_grid.h"
#include "profile_row.h"

#include <math.h>
#include <string.h>

#include "lib/base/msg.h"

static double to_scale(enum profile_scale scale, double x)
{
	return scale == PROFILE_LINEAR ? x : log(x);
}

static double from_scale(enum profile_scale scale, double x)
{
	return scale == PROFILE_LINEAR ? x : exp(x);
}

/* Arguments may be 0. */
static double argument_to_scale(enum profile_scale scale, double x)
{
	return scale == PROFILE_LINEAR ? x : log(fmax(x, 0.5));
}

static NORETURN void refuse(const char *name, const char *what, int most)
{
	msg_die(EXIT_MEASURE_FAILED, "the profile has more %s of %s than the model reads (%d)",
	        what, name, most);
}

/* ---- positions ---- */

/* Two rows of an axis, and the fraction of the way from the first to the second. */
struct pair {
	size_t low, high;
	double part;
};

/* The rows around a position. */
static struct pair pair_at(const struct profile_grid *g, size_t k, double at)
{
	const size_t count = g->count[k], last = count > 0 ? count - 1 : 0;
	struct pair pair = {g->slope[k], last, 1 + at - (double)last};

	if (g->inverse) /* flat beyond the rows */
		at = fmin(at, (double)last);
	if (last > 0 && at <= (double)last) {
		pair.low = (size_t)fmin(floor(at), (double)(last - 1));
		pair.high = pair.low + 1;
		pair.part = at - (double)pair.low;
	}
	return last > 0 ? pair : (struct pair){0, 0, 0};
}

/* The position of x (on the scale) on an axis, in intervals; beyond the last row in multiples of
 * the interval from the slope's row. */
static double locate(const struct profile_grid *g, size_t k, double x)
{
	const double *axis = g->axis[k];
	const size_t count = g->count[k];
	size_t i = 0;

	if (count < 2 || x <= axis[0])
		return 0;
	if (x > axis[count - 1])
		return (double)(count - 1) +
		       (x - axis[count - 1]) / (axis[count - 1] - axis[g->slope[k]]);
	while (axis[i + 1] < x)
		i++;
	return (double)i + (x - axis[i]) / (axis[i + 1] - axis[i]);
}

static void locate_all(const struct profile_grid *g, const double *x, double *position)
{
	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++)
		position[k] = locate(g, k, x[k]);
}

/* The values at the corners around a position, combined from the last argument to the first. */
static double mix(const struct profile_grid *g, const struct pair *pair)
{
	const size_t corners = (size_t)1 << g->args;
	double value[1 << GRID_ARGS];

	for (size_t c = 0; c < corners; c++) {
		size_t at = 0;
		for (size_t k = 0; k < GRID_ARGS && k < g->args; k++) {
			const bool high = c >> (g->args - 1 - k) & 1;
			at = at * g->count[k] + (high ? pair[k].high : pair[k].low);
		}
		value[c] = g->value[at];
	}
	for (size_t k = g->args, left = corners / 2; k-- > 0; left /= 2)
		for (size_t c = 0; c < left; c++) {
			const double low = value[2 * c], high = value[2 * c + 1];
			value[c] = pair[k].part == 0 ? low : low + pair[k].part * (high - low);
		}
	return value[0];
}

/* The weight of a correction: 1 at its row, 0 from the next rows of the table on. Beyond the last
 * row of the table it is the weight at that row. */
static double weight(
        const struct profile_grid *g, const struct grid_correction *row, const double *position)
{
	double least = 1;

	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++) {
		const double below = ceil(row->at[k]) - 1, above = floor(row->at[k]) + 1;
		const double here = fmin(position[k], (double)(g->count[k] - 1));
		const double part = here <= row->at[k] ? (here - below) / (row->at[k] - below)
		                                       : (above - here) / (above - row->at[k]);
		least = fmin(least, part);
	}
	return fmax(0, least);
}

/* On the scale. */
static double value_at(const struct profile_grid *g, const double *position)
{
	struct pair pair[GRID_ARGS] = {{0, 0, 0}};

	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++)
		pair[k] = pair_at(g, k, position[k]);
	double value = mix(g, pair);
	for (size_t i = 0; i < g->corrections; i++)
		value += weight(g, &g->correction[i], position) * g->correction[i].above;
	return value;
}

/* ---- building ---- */

static bool takes(const struct profile_grid *g, const struct parameter *row)
{
	return row->arg_count == g->args && profile_row_usable(row);
}

/* The distinct values of one argument in ascending order, and how many rows have each. */
struct axis {
	double at[4 * GRID_AXIS];
	size_t rows[4 * GRID_AXIS], count;
};

static void count_value(struct axis *axis, const char *name, double value)
{
	size_t i = 0;

	while (i < axis->count && axis->at[i] < value)
		i++;
	if (i == axis->count || axis->at[i] != value) {
		if (isnan(value))
			return;
		if (axis->count == ARRAY_LEN(axis->at))
			refuse(name, "values of an argument", (int)ARRAY_LEN(axis->at));
		memmove(axis->at + i + 1, axis->at + i, (axis->count - i) * sizeof *axis->at);
		memmove(axis->rows + i + 1, axis->rows + i, (axis->count - i) * sizeof *axis->rows);
		axis->at[i] = value;
		axis->rows[i] = 0;
		axis->count++;
	}
	axis->rows[i]++;
}

/* Values that less than a third as many rows have as the most frequent value are left out. */
static size_t keep_frequent(const struct axis *axis, const char *name, double *at)
{
	size_t most = 0, kept = 0;

	for (size_t i = 0; i < axis->count; i++)
		most = axis->rows[i] > most ? axis->rows[i] : most;
	for (size_t i = 0; i < axis->count; i++) {
		if (3 * axis->rows[i] <= most)
			continue;
		if (kept == GRID_AXIS)
			refuse(name, "values of an argument", GRID_AXIS);
		at[kept++] = axis->at[i];
	}
	return kept;
}

/* The row from which, to the last one, the slope beyond the rows is taken. */
static size_t slope_row(const double *at, size_t count)
{
	size_t row = count < 2 ? 0 : count - 2;

	while (row > 0 && profile_hard_by(at[row], at[count - 1]))
		row--;
	return row;
}

static void find_axes(struct profile_grid *g, const struct profile *profile, const char *const *arg)
{
	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++) {
		struct axis axis = {.count = 0};
		EACH_ROW (r, profile, g->name)
			if (takes(g, &profile->row[r]))
				count_value(&axis, g->name,
				        profile_row_argument(&profile->row[r], arg[k]));
		g->count[k] = keep_frequent(&axis, g->name, g->axis[k]);
		g->first[k] = g->axis[k][0];
		g->slope[k] = slope_row(g->axis[k], g->count[k]);
	}
}

static size_t size_of(const struct profile_grid *g)
{
	size_t product = 1;

	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++)
		product *= g->count[k];
	return product;
}

/* The row's place in the table; false when one of its arguments is none of the table's. */
static bool on_table(const struct profile_grid *g, const struct parameter *row,
        const char *const *arg, size_t *at)
{
	*at = 0;
	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++) {
		const double value = profile_row_argument(row, arg[k]);
		size_t i = 0;
		while (i < g->count[k] && g->axis[k][i] != value)
			i++;
		if (i == g->count[k])
			return false;
		*at = *at * g->count[k] + i;
	}
	return true;
}

/* A place without a row gets profile_get's answer. */
static void fill_hole(
        struct profile_grid *g, const struct profile *profile, const char *const *arg, size_t at)
{
	struct arg args[GRID_ARGS];
	size_t rest = at;

	for (size_t k = g->args; k-- > 0;) {
		args[k] = (struct arg){arg[k], g->axis[k][rest % g->count[k]]};
		rest /= g->count[k];
	}
	g->value[at] = profile_interpolate(profile, PROFILE_LOGARITHMIC, g->name, args, g->args)
	                       .estimate.value;
}

/* How many steps two places of the table are apart. */
static size_t steps_apart(const struct profile_grid *g, size_t a, size_t b)
{
	size_t steps = 0;

	for (size_t k = g->args; k-- > 0; a /= g->count[k], b /= g->count[k]) {
		const size_t x = a % g->count[k], y = b % g->count[k];
		steps += x > y ? x - y : y - x;
	}
	return steps;
}

/* The best of the nearest rows of inverse efficiencies. */
static double best_nearby(const struct profile_grid *g, const bool *known, size_t at)
{
	const size_t size = size_of(g);
	size_t nearest = SIZE_MAX;
	double best = NAN;

	for (size_t i = 0; i < size; i++) {
		const size_t steps = known[i] ? steps_apart(g, at, i) : SIZE_MAX;
		if (steps < nearest || (known[i] && steps == nearest && g->value[i] < best)) {
			nearest = steps;
			best = g->value[i];
		}
	}
	return best;
}

static void read_rows(struct profile_grid *g, const struct profile *profile, const char *const *arg)
{
	const size_t size = size_of(g);
	bool known[GRID_VALUES] = {false};
	size_t at;

	EACH_ROW (r, profile, g->name) {
		const struct parameter *row = &profile->row[r];
		if (takes(g, row) && on_table(g, row, arg, &at)) {
			g->value[at] = row->estimate.value;
			known[at] = true;
		}
	}
	for (size_t i = 0; i < size; i++) {
		if (!known[i])
			fill_hole(g, profile, arg, i);
		if (!known[i] && g->inverse) /* flat beyond the rows */
			g->value[i] = fmax(g->value[i], best_nearby(g, known, i));
	}
}

static void put_on_scale(struct profile_grid *g)
{
	const size_t size = size_of(g);

	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++)
		for (size_t i = 0; i < g->count[k]; i++)
			g->axis[k][i] = argument_to_scale(g->scale, g->axis[k][i]);
	for (size_t i = 0; i < size; i++)
		g->value[i] = to_scale(g->scale, g->value[i]);
}

/* The position of a row that lies within the table but on none of its places; false for others. */
static bool off_table(const struct profile_grid *g, const struct parameter *row,
        const char *const *arg, double *position)
{
	double x[GRID_ARGS] = {0}, off = 0;

	if (!takes(g, row))
		return false;
	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++) {
		x[k] = argument_to_scale(g->scale, profile_row_argument(row, arg[k]));
		if (!(x[k] >= g->axis[k][0] && x[k] <= g->axis[k][g->count[k] - 1]))
			return false;
	}
	locate_all(g, x, position);
	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++)
		off = fmax(off, fabs(position[k] - round(position[k])));
	return off > 1e-9;
}

static void add_corrections(
        struct profile_grid *g, const struct profile *profile, const char *const *arg)
{
	size_t count = 0;

	EACH_ROW (r, profile, g->name) {
		double position[GRID_ARGS] = {0};
		if (!off_table(g, &profile->row[r], arg, position))
			continue;
		if (count == GRID_CORRECTIONS)
			refuse(g->name, "rows off the grid", GRID_CORRECTIONS);
		struct grid_correction *c = &g->correction[count++];
		memcpy(c->at, position, sizeof position);
		c->above =
		        to_scale(g->scale, profile->row[r].estimate.value) - value_at(g, position);
	}
	g->corrections = count;
}

static const double least_inverse = 1e-3;

/* Rows with inverse efficiencies in place of seconds, where the work of all is known. The lower end
 * of a noisy row may lie before the start: such a row keeps a little. */
static bool invert(struct profile_grid *g, const struct profile *profile, struct profile *inverse)
{
	g->start = INFINITY;
	EACH_ROW (r, profile, g->name) {
		if (!(profile->row[r].hardware > 0))
			return false;
		g->start = fmin(g->start, profile->row[r].start);
	}
	EACH_ROW (r, profile, g->name) {
		struct parameter row = profile->row[r];
		row.estimate.value =
		        fmax(least_inverse, (row.estimate.value - g->start) / row.hardware);
		profile_put(inverse, &row);
	}
	return inverse->count > 0;
}

void profile_grid_build(struct profile_grid *g, const struct profile *profile,
        enum profile_scale scale, bool by_hardware, const char *name, const char *const *arg,
        size_t args)
{
	struct profile inverse = {0};

	g->name = name;
	g->scale = scale;
	g->args = args;
	g->corrections = 0;
	g->inverse = by_hardware && invert(g, profile, &inverse);
	const struct profile *rows = g->inverse ? &inverse : profile;
	find_axes(g, rows, arg);
	if (size_of(g) > GRID_VALUES)
		refuse(name, "rows", GRID_VALUES);
	if (size_of(g) == 0) {
		g->args = 0;
		g->inverse = false;
		g->value[0] = to_scale(scale, profile_get(profile, name, NULL, 0).estimate.value);
	} else {
		read_rows(g, rows, arg);
		put_on_scale(g);
		add_corrections(g, rows, arg);
	}
	profile_view_free(&inverse);
}

/* ---- reading ---- */

double profile_grid_argument(const struct profile_grid *g, size_t which, size_t i)
{
	return from_scale(g->scale, g->axis[which][i]);
}

double profile_grid_read(const struct profile_grid *g, const double *at, bool *extrapolated)
{
	double x[GRID_ARGS] = {0}, position[GRID_ARGS] = {0};

	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++)
		x[k] = argument_to_scale(g->scale, at[k]);
	locate_all(g, x, position);
	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++) /* a single row has no slope */
		*extrapolated |= position[k] > (double)(g->count[k] - 1) + 1e-12 ||
		                 (g->count[k] == 1 && x[k] > g->axis[k][0] + 1e-12);
	return from_scale(g->scale, value_at(g, position));
}

double profile_grid_corner(
        const struct profile_grid *g, const double *at, size_t corner, double *row)
{
	double part = 1;

	for (size_t k = 0; k < GRID_ARGS && k < g->args; k++) {
		const double x = argument_to_scale(g->scale, at[k]);
		const struct pair pair = pair_at(g, k, locate(g, k, x));
		const bool up = corner >> k & 1;
		part *= up ? pair.part : 1 - pair.part;
		row[k] = profile_grid_argument(g, k, up ? pair.high : pair.low);
	}
	return part;
}
