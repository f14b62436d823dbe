/* SPDX-License-Identifier: MIT */
#include "cost_grid.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cost_grid_takes(const struct cost_surface *s, const struct parameter *row)
{
	return row->arg_count == s->args && profile_row_has_name(row, s->key, s->name) &&
	       strcmp(row->status, "failed") != 0 && isfinite(row->estimate.value);
}

double cost_grid_argument(const struct parameter *row, const char *arg)
{
	for (size_t i = 0; i < row->arg_count; i++)
		if (strcmp(row->arg_name[i], arg) == 0)
			return row->arg[i];
	return NAN;
}

/* ---- axes ---- */

struct axis {
	double at[4 * SURFACE_AXIS];
	size_t rows[4 * SURFACE_AXIS], count;
};

static void count_value(struct axis *axis, double value)
{
	size_t i = 0;

	while (i < axis->count && axis->at[i] < value)
		i++;
	if (i == axis->count || axis->at[i] != value) {
		if (isnan(value) || axis->count == ARRAY_LEN(axis->at))
			return;
		memmove(axis->at + i + 1, axis->at + i, (axis->count - i) * sizeof *axis->at);
		memmove(axis->rows + i + 1, axis->rows + i, (axis->count - i) * sizeof *axis->rows);
		axis->at[i] = value;
		axis->rows[i] = 0;
		axis->count++;
	}
	axis->rows[i]++;
}

/* Values that few rows have are no part of the grid: squares between its rows. */
static size_t keep_grid(const struct axis *axis, double *at)
{
	size_t most = 0, kept = 0;

	for (size_t i = 0; i < axis->count; i++)
		most = axis->rows[i] > most ? axis->rows[i] : most;
	for (size_t i = 0; i < axis->count && kept < SURFACE_AXIS; i++)
		if (3 * axis->rows[i] > most)
			at[kept++] = axis->at[i];
	return kept;
}

/* The row from which the slope beyond the last one is taken. */
static size_t slope_row(const double *at, size_t count)
{
	size_t row = count < 2 ? 0 : count - 2;

	while (row > 0 && profile_hard_by(at[row], at[count - 1]))
		row--;
	return row;
}

void cost_grid_axes(struct cost_surface *s, const struct profile *profile, const char *const *arg)
{
	for (size_t k = 0; k < s->args; k++) {
		struct axis axis = {.count = 0};
		for (size_t r = 0; r < profile->count; r++)
			if (cost_grid_takes(s, &profile->row[r]))
				count_value(&axis, cost_grid_argument(&profile->row[r], arg[k]));
		s->count[k] = keep_grid(&axis, s->axis[k]);
		s->slope[k] = slope_row(s->axis[k], s->count[k]);
	}
}

/* ---- values ---- */

static size_t position(const struct cost_surface *s, const size_t *index)
{
	size_t at = 0;

	for (size_t k = 0; k < s->args; k++)
		at = at * s->count[k] + index[k];
	return at;
}

size_t cost_grid_values(const struct cost_surface *s)
{
	size_t product = 1;

	for (size_t k = 0; k < s->args; k++)
		product *= s->count[k];
	return product;
}

static bool on_grid(const struct cost_surface *s, const struct parameter *row,
        const char *const *arg, size_t *index)
{
	for (size_t k = 0; k < s->args; k++) {
		double value = cost_grid_argument(row, arg[k]);
		for (index[k] = 0; index[k] < s->count[k]; index[k]++)
			if (s->axis[k][index[k]] == value)
				break;
		if (index[k] == s->count[k])
			return false;
	}
	return true;
}

/* rows: a profile of the function's alone. */
static void fill_hole(
        struct cost_surface *s, const struct profile *rows, const char *const *arg, size_t at)
{
	struct arg args[SURFACE_ARGS];
	size_t rest = at;

	for (size_t k = s->args; k-- > 0;) {
		args[k] = (struct arg){arg[k], s->axis[k][rest % s->count[k]]};
		rest /= s->count[k];
	}
	s->value[at] = profile_get(rows, s->name, args, s->args).estimate.value;
}

static void read_rows(
        struct cost_surface *s, const struct profile *profile, const char *const *arg)
{
	struct profile rows = {.row = xmalloc((profile->count + 1) * sizeof *rows.row)};
	size_t index[SURFACE_ARGS];

	for (size_t i = 0; i < cost_grid_values(s); i++)
		s->value[i] = NAN;
	for (size_t r = 0; r < profile->count; r++) {
		const struct parameter *row = &profile->row[r];
		if (!profile_row_has_name(row, s->key, s->name))
			continue;
		rows.row[rows.count++] = *row;
		if (cost_grid_takes(s, row) && on_grid(s, row, arg, index))
			s->value[position(s, index)] = row->estimate.value;
	}
	for (size_t i = 0; i < cost_grid_values(s); i++)
		if (isnan(s->value[i]))
			fill_hole(s, &rows, arg, i);
	free(rows.row);
}

/* Between rows all is linear in the logarithms, or in the numbers themselves. */
static void to_scale(struct cost_surface *s, bool linear)
{
	for (size_t k = 0; !linear && k < s->args; k++)
		for (size_t i = 0; i < s->count[k]; i++)
			s->axis[k][i] = log(fmax(s->axis[k][i], 0.5));
	for (size_t i = 0; !linear && i < cost_grid_values(s); i++)
		s->value[i] = log(s->value[i]);
}

void cost_grid_fill(
        struct cost_surface *s, const struct profile *profile, const char *const *arg, bool linear)
{
	read_rows(s, profile, arg);
	to_scale(s, linear);
}
