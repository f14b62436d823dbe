/* SPDX-License-Identifier: MIT */
/* Functions of the profile as dense grids: a factorization reads the surfaces of gemm thousands of
 * times. */
#include "cost_grid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- between the rows ---- */

/* Two rows of an axis, and how far from the first to the second. */
struct pair {
	size_t low, high;
	double part;
};

/* Between which rows a place lies; beyond the last row, from which its slope is kept. */
static struct pair pair_at(const struct cost_surface *s, size_t k, double at)
{
	const size_t count = s->count[k], last = count > 0 ? count - 1 : 0;
	struct pair pair = {s->slope[k], last, 1 + at - (double)last};

	if (last > 0 && at <= (double)last) {
		pair.low = (size_t)fmin(floor(at), (double)(last - 1));
		pair.high = pair.low + 1;
		pair.part = at - (double)pair.low;
	}
	return last > 0 ? pair : (struct pair){0, 0, 0};
}

/* The place of x on an axis, in intervals; beyond the last row in the one whose slope is kept. */
static double locate(const struct cost_surface *s, size_t k, double x)
{
	const double *axis = s->axis[k];
	const size_t count = s->count[k];
	size_t i = 0;

	if (count < 2 || x <= axis[0])
		return 0;
	if (x > axis[count - 1])
		return (double)(count - 1) +
		       (x - axis[count - 1]) / (axis[count - 1] - axis[s->slope[k]]);
	while (axis[i + 1] < x)
		i++;
	return (double)i + (x - axis[i]) / (axis[i + 1] - axis[i]);
}

static double mix(const struct cost_surface *s, const struct pair *pair, size_t k, size_t at)
{
	if (k == s->args)
		return s->value[at];
	double below = mix(s, pair, k + 1, at * s->count[k] + pair[k].low);
	if (pair[k].part == 0)
		return below;
	double above = mix(s, pair, k + 1, at * s->count[k] + pair[k].high);
	return below + pair[k].part * (above - below);
}

/* In intervals of the axes. */
static void place(const struct cost_surface *s, const double *x, double *at)
{
	for (size_t k = 0; k < s->args; k++)
		at[k] = locate(s, k, x[k]);
}

/* How much a row off the grid counts: 1 there, 0 from the next rows of the grid on; beyond the last
 * row of the grid as much as at that. */
static double weight(
        const struct cost_surface *s, const struct cost_middle *row, const double *at)
{
	double least = 1;

	for (size_t k = 0; k < s->args; k++) {
		const double below = ceil(row->at[k]) - 1, above = floor(row->at[k]) + 1;
		const double here = fmin(at[k], (double)(s->count[k] - 1));
		const double part = here <= row->at[k] ? (here - below) / (row->at[k] - below)
		                                       : (above - here) / (above - row->at[k]);
		least = fmin(least, part);
	}
	return fmax(0, least);
}

static double on_surface(const struct cost_surface *s, const double *at)
{
	struct pair pair[SURFACE_ARGS];

	for (size_t k = 0; k < s->args; k++)
		pair[k] = pair_at(s, k, at[k]);
	double value = mix(s, pair, 0, 0);
	for (size_t i = 0; i < s->middles; i++)
		value += weight(s, &s->middle[i], at) * s->middle[i].above;
	return value;
}

/* A number on the scale of the axes and values. */
static double scaled(const struct cost_reader *reader, double x)
{
	return reader->linear ? x : log(fmax(x, 0.5));
}

/* Where a row lies that is inside of the grid but off it; false for others. */
static bool off_grid(const struct cost_reader *reader, const struct cost_surface *s,
        const struct parameter *row, const char *const *arg, double *at)
{
	double x[SURFACE_ARGS] = {0}, off = 0;

	if (!cost_grid_takes(s, row))
		return false;
	for (size_t k = 0; k < s->args; k++) {
		x[k] = scaled(reader, cost_grid_argument(row, arg[k]));
		if (!(x[k] >= s->axis[k][0] && x[k] <= s->axis[k][s->count[k] - 1]))
			return false;
	}
	place(s, x, at);
	for (size_t k = 0; k < s->args; k++)
		off = fmax(off, fabs(at[k] - round(at[k])));
	return off > 1e-9;
}

static void add_middles(
        const struct cost_reader *reader, struct cost_surface *s, const char *const *arg)
{
	const struct profile *profile = reader->model.profile;
	size_t count = 0;

	for (size_t r = 0; r < profile->count && count < SURFACE_MIDDLES; r++) {
		struct cost_middle *middle = &s->middle[count];
		const double value = profile->row[r].estimate.value;
		if (!off_grid(reader, s, &profile->row[r], arg, middle->at))
			continue;
		middle->above = (reader->linear ? value : log(value)) - on_surface(s, middle->at);
		count++;
	}
	s->middles = count;
}

/* Reads one value the ordinary way, which notes what was used or is missing. */
static struct cost_surface *build(struct cost_reader *reader, struct cost_surface *s,
        const char *name, const char *const *arg, const double *at, size_t args)
{
	const struct profile *profile = reader->model.profile;
	struct arg first[SURFACE_ARGS];

	s->name = name;
	s->key = profile_name_key(name);
	s->args = args;
	s->middles = 0;
	cost_grid_axes(s, profile, arg);
	for (size_t k = 0; k < args; k++)
		first[k] = (struct arg){arg[k], s->count[k] ? s->axis[k][0] : at[k]};
	s->value[0] = model_value(&reader->model, name, first, args);
	if (cost_grid_values(s) == 0 ||
	        cost_grid_values(s) > SURFACE_VALUES) { /* a constant, or nothing */
		s->args = 0;
		if (!reader->linear)
			s->value[0] = log(s->value[0]);
		return s;
	}
	cost_grid_fill(s, profile, arg, reader->linear);
	add_middles(reader, s, arg);
	return s;
}

static struct cost_surface *surface_of(struct cost_reader *reader, const char *name,
        const char *const *arg, const double *at, size_t args)
{
	struct cost_surface *unused = NULL;
	unsigned char *last = &reader->last[(uintptr_t)name / 8 % COST_SURFACES];

	if (reader->surface[*last].name == name)
		return &reader->surface[*last];
	for (size_t i = COST_SURFACES; i-- > 0;) {
		struct cost_surface *s = &reader->surface[i];
		if (!s->name)
			unused = s;
		if (!s->name || (s->name != name && strcmp(s->name, name) != 0))
			continue;
		*last = (unsigned char)i;
		return s;
	}
	assert(unused);
	return build(reader, unused, name, arg, at, args);
}

/* ---- reading ---- */

double cost_surface(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count)
{
	const struct cost_surface *s = surface_of(reader, name, arg, at, count);
	double x[SURFACE_ARGS] = {0}, in[SURFACE_ARGS];

	for (size_t k = 0; k < s->args; k++)
		x[k] = scaled(reader, at[k]);
	place(s, x, in);
	for (size_t k = 0; k < s->args; k++) /* a single row has nothing to go on by */
		reader->model.extrapolated |= in[k] > (double)(s->count[k] - 1) + 1e-12 ||
		                              (s->count[k] == 1 && x[k] > s->axis[k][0] + 1e-12);
	double value = on_surface(s, in);
	return reader->linear ? value : exp(value);
}

/* The i-th row of one of the arguments. */
static double row_at(
        const struct cost_reader *reader, const struct cost_surface *s, size_t which, size_t i)
{
	return reader->linear ? s->axis[which][i] : exp(s->axis[which][i]);
}

/* Of the 2^args rows around a point one, and how much it counts. */
static double corner(const struct cost_reader *reader, const struct cost_surface *s,
        const double *in, size_t which, double *row)
{
	double part = 1;

	for (size_t k = 0; k < s->args; k++) {
		const struct pair pair = pair_at(s, k, in[k]);
		const bool up = which >> k & 1;
		part *= up ? pair.part : 1 - pair.part;
		row[k] = row_at(reader, s, k, up ? pair.high : pair.low);
	}
	return part;
}

double cost_along(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, cost_course course, const void *self)
{
	const struct cost_surface *s = surface_of(reader, name, arg, at, count);
	double x[SURFACE_ARGS] = {0}, in[SURFACE_ARGS], row[SURFACE_ARGS], between = 0;

	if (s->args == 0)
		return 1;
	for (size_t k = 0; k < s->args; k++)
		x[k] = scaled(reader, at[k]);
	place(s, x, in);
	for (size_t which = 0; which < (size_t)1 << s->args; which++) {
		const double part = corner(reader, s, in, which, row), here = course(row, self);
		between += part * (reader->linear ? here : log(here));
	}
	return course(at, self) / (reader->linear ? between : exp(between));
}

double cost_surface_begin(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which)
{
	const struct cost_surface *s = surface_of(reader, name, arg, at, count);

	return s->args == 0 ? 0 : row_at(reader, s, which, 0);
}

double cost_surface_end(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which)
{
	const struct cost_surface *s = surface_of(reader, name, arg, at, count);

	return s->args == 0 ? INFINITY : row_at(reader, s, which, s->count[which] - 1);
}

double cost_surface1(struct cost_reader *reader, const char *name, const char *arg, double at)
{
	return cost_surface(reader, name, &arg, &at, 1);
}

double cost_surface2(struct cost_reader *reader, const char *name, const char *arg1, double at1,
        const char *arg2, double at2)
{
	return cost_surface(
	        reader, name, (const char *const[]){arg1, arg2}, (const double[]){at1, at2}, 2);
}

/* Below the smallest row a surface says what that does. */
double cost_surface_traffic(struct cost_reader *reader, const char *curve, double bytes)
{
	return cost_surface1(reader, curve, "bytes", bytes) -
	       cost_surface1(reader, curve, "bytes", 0);
}
