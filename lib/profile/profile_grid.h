/* SPDX-License-Identifier: MIT */
/* A function of the profile as a dense table over up to three arguments, for the functions that are
 * read thousands of times. Between the rows it is the interpolation of profile_interpolate. Below
 * the first row of an argument it keeps that row's value, because the start-up of a call does not
 * shrink with the call. Arguments that few rows have are not part of the table: such rows correct
 * it around them, less with distance, and not beyond the next rows of the table.
 *
 * Where the work of all rows is known, the table is of inverse efficiencies, which change less than
 * times from row to row and stay beyond the last one. */
#pragma once

#include "profile.h"

enum { GRID_ARGS = 3, GRID_AXIS = 32, GRID_VALUES = 512, GRID_CORRECTIONS = 32 };

struct profile_grid {
	const char *name;
	enum profile_scale scale;
	bool inverse; /* the values are seconds beyond the start over those of the hardware */
	double start;
	size_t args, count[GRID_ARGS]; /* args 0: the function is a constant */
	double first[GRID_ARGS];       /* arguments of the first row */
	double axis[GRID_ARGS]
	           [GRID_AXIS];  /* logarithms, as the values, unless the scale is linear */
	size_t slope[GRID_ARGS]; /* row that gives, with the last one, the slope beyond the rows */
	double value[GRID_VALUES]; /* the last argument runs fastest */
	struct grid_correction {
		double at[GRID_ARGS]; /* position of a row off the table, in intervals of the axes
		                       */
		double above;         /* its value less the table's, on the scale */
	} correction[GRID_CORRECTIONS];
	size_t corrections;
};

/* Builds the table of a function from its rows with exactly those arguments; without such rows from
 * the constant of that name (NaN when there is none). by_hardware: of inverse efficiencies where
 * that is possible. `name` must outlive the grid. A function with more rows than the table has room
 * for ends the program with a message. */
void profile_grid_build(struct profile_grid *grid, const struct profile *profile,
        enum profile_scale scale, bool by_hardware, const char *name, const char *const *arg,
        size_t args);

/* Argument `which` of the i-th row. */
double profile_grid_argument(const struct profile_grid *grid, size_t which, size_t i);

/* The value at the arguments; *extrapolated is set when they lie beyond the last row. */
double profile_grid_read(const struct profile_grid *grid, const double *at, bool *extrapolated);

/* One of the 2^args rows around a point (bit k of `corner`: the upper one of argument k). Returns
 * its weight in the interpolation, and its arguments in `row`. */
double profile_grid_corner(
        const struct profile_grid *grid, const double *at, size_t corner, double *row);
