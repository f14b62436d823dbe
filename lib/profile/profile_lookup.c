/* SPDX-License-Identifier: MIT */
/* Values between the rows of a function: its rows form a grid that may have holes. profile_grid.c
 * reads the same functions, where they are read often, from dense tables. */
#include "profile_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"

enum { FEW = 512 }; /* rows, once for each argument and once more */

/* The usable rows of one function and the point asked for, arguments in the order of the first row.
 */
struct grid {
	const struct parameter **row;
	size_t count;
	size_t args;
	double at[PROFILE_ARGS];
	enum profile_scale scale;
	bool interval; /* low and high are asked for */
};

bool profile_row_usable(const struct parameter *row)
{
	return strcmp(row->status, "failed") != 0 && isfinite(row->estimate.value);
}

double profile_row_argument(const struct parameter *row, const char *name)
{
	for (size_t i = 0; i < row->arg_count; i++)
		if (strcmp(row->arg_name[i], name) == 0)
			return row->arg[i];
	return NAN;
}

static const char *worse(const char *a, const char *b, const char *const *order, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (strcmp(a, order[i]) == 0 || strcmp(b, order[i]) == 0)
			return order[i];
	return a;
}

const char *regime_of_both(const char *a, const char *b)
{
	return worse(a ? a : regime_name[0], b ? b : regime_name[0], regime_name, REGIMES);
}

bool regime_is_timing(const char *regime)
{
	return regime && strcmp(regime, regime_name[0]) != 0;
}

/* Two rows used together have the last regime and the worse status of the two, and the fewer
 * samples. */
static void join_quality(struct lookup *into, const struct lookup *other)
{
	static const char *const statuses[] = {"ok", "noisy", "bounded"};

	into->regime = regime_of_both(into->regime, other->regime);
	into->status = worse(into->status, other->status, statuses, ARRAY_LEN(statuses));
	if (other->estimate.samples < into->estimate.samples)
		into->estimate.samples = other->estimate.samples;
	into->extrapolated |= other->extrapolated;
}

double profile_between(
        enum profile_scale scale, double x, double x0, double y0, double x1, double y1)
{
	if (!isfinite(y0) || !isfinite(y1)) /* an open or unknown end of an interval stays so */
		return isfinite(y0) ? y1 : y0;
	const bool logarithms = scale == PROFILE_LOGARITHMIC;
	const bool log_x = logarithms && x > 0 && x0 > 0 && x1 > 0;
	const double part = log_x ? log(x / x0) / log(x1 / x0) : (x - x0) / (x1 - x0);

	return logarithms && y0 > 0 && y1 > 0 ? y0 * pow(y1 / y0, part) : y0 + part * (y1 - y0);
}

/* Rounding must not put low above the value, or high below it. */
static struct lookup interpolate(
        const struct grid *grid, double x, double x0, struct lookup a, double x1, struct lookup b)
{
	const enum profile_scale scale = grid->scale;
	struct estimate ea = a.estimate, eb = b.estimate;
	struct lookup result = a;

	join_quality(&result, &b);
	struct estimate *e = &result.estimate;
	e->value = profile_between(scale, x, x0, ea.value, x1, eb.value);
	if (!grid->interval)
		return result;
	double low = profile_between(scale, x, x0, ea.low, x1, eb.low);
	double high = profile_between(scale, x, x0, ea.high, x1, eb.high);
	e->low = low > e->value ? e->value : low;
	e->high = high < e->value ? e->value : high;
	return result;
}

/* Beyond the end (x0, end) the logarithmic slope between the end and (x1, inner) goes on. The
 * interval keeps the relative width that it has at the end row. */
static struct lookup extend(double x, double x0, struct lookup end, double x1, struct lookup inner)
{
	struct lookup result = end;
	struct estimate *e = &result.estimate;

	join_quality(&result, &inner);
	e->value = profile_between(
	        PROFILE_LOGARITHMIC, x, x0, end.estimate.value, x1, inner.estimate.value);
	double scale = end.estimate.value != 0 ? e->value / end.estimate.value : 1;
	e->low = e->value - fabs(scale) * (end.estimate.value - end.estimate.low);
	e->high = e->value + fabs(scale) * (end.estimate.high - end.estimate.value);
	result.extrapolated = true;
	return result;
}

/* Rows of a grid that agree in the arguments before d. There is room for as many behind them, for
 * each further argument. */
struct rows {
	const struct grid *grid;
	const struct parameter **row;
	size_t count, d;
};

static struct lookup solve(const struct rows *rows);

/* One value of argument d, with the answer of the rows that have that value. */
struct node {
	double x;
	struct lookup answer;
};

static struct node node_at(const struct rows *rows, double x)
{
	const size_t d = rows->d;
	struct rows same = {.grid = rows->grid, .row = rows->row + rows->count, .d = d + 1};

	for (size_t i = 0; i < rows->count; i++)
		if (rows->row[i]->arg[d] == x)
			same.row[same.count++] = rows->row[i];
	return (struct node){x, solve(&same)};
}

/* The nearest value of argument d above x (way 1) or below it (-1); infinite when there is none. */
static double next_value(const struct rows *rows, double x, int way)
{
	double best = way > 0 ? INFINITY : -INFINITY;

	for (size_t i = 0; i < rows->count; i++) {
		const double value = rows->row[i]->arg[rows->d];
		if (way > 0 ? value > x && value < best : value < x && value > best)
			best = value;
	}
	return best;
}

/* x itself where a row has it, else as next_value. */
static double this_value(const struct rows *rows, double x, int way)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->row[i]->arg[rows->d] == x)
			return x;
	return next_value(rows, x, way);
}

/* The first node from x on whose answer is not extrapolated. */
static bool find_clean(const struct rows *rows, double x, int way, struct node *node)
{
	for (; isfinite(x); x = next_value(rows, x, way)) {
		*node = node_at(rows, x);
		if (!node->answer.extrapolated)
			return true;
	}
	return false;
}

/* The inner value that, with the end, gives the slope beyond the end. */
static double slope_value(const struct rows *rows, double end, int inwards)
{
	const double nearest = next_value(rows, end, inwards);
	double x = nearest;

	while (isfinite(x) && profile_hard_by(fmin(end, x), fmax(end, x)))
		x = next_value(rows, x, inwards);
	return isfinite(x) ? x : nearest;
}

static struct lookup extend_from(const struct rows *rows, double end, int inwards)
{
	const double at = rows->grid->at[rows->d], next = slope_value(rows, end, inwards);
	struct lookup only = node_at(rows, end).answer;

	if (isfinite(next))
		return extend(at, end, only, next, node_at(rows, next).answer);
	only.extrapolated = true;
	return only;
}

/* The answer between the nearest values of argument d. Where a hole of the grid makes one of them
 * extrapolate, the nearest values that do not extrapolate replace both, if both sides have one. */
static struct lookup solve(const struct rows *rows)
{
	if (rows->d == rows->grid->args)
		return (struct lookup){.estimate = rows->row[0]->estimate,
		        .found = true,
		        .regime = rows->row[0]->regime,
		        .status = rows->row[0]->status};

	const double at = rows->grid->at[rows->d];
	const double low = this_value(rows, at, -1), high = this_value(rows, at, 1);
	struct node below, above;
	if (!isfinite(low)) /* where `at` is not a number neither side has a value */
		return extend_from(rows, isfinite(high) ? high : next_value(rows, low, 1), 1);
	if (!isfinite(high))
		return extend_from(rows, low, -1);
	if (!find_clean(rows, low, -1, &below) || !find_clean(rows, high, 1, &above)) {
		below = node_at(rows, low);
		above = node_at(rows, high);
	}
	return below.x == above.x
	               ? below.answer
	               : interpolate(rows->grid, at, below.x, below.answer, above.x, above.answer);
}

/* Place of a named argument in the query, or count. */
static size_t find_arg(const char *name, const struct arg *args, size_t count)
{
	size_t i = 0;

	while (i < count && strcmp(args[i].name, name) != 0)
		i++;
	return i;
}

static bool same_args(const struct parameter *row, const struct parameter *other)
{
	for (size_t i = 0; i < row->arg_count; i++)
		if (strcmp(row->arg_name[i], other->arg_name[i]) != 0)
			return false;
	return true;
}

/* Collects the usable rows of `name` that have exactly the arguments asked for. The point gets the
 * order of the first row's arguments. */
static void collect(struct grid *grid, const struct profile *profile, const char *name,
        const struct arg *args, size_t arg_count)
{
	EACH_ROW (r, profile, name) {
		struct parameter *row = &profile->row[r];
		if (row->arg_count != arg_count || !profile_row_usable(row))
			continue;
		bool fits = grid->count == 0 || same_args(row, grid->row[0]);
		for (size_t i = 0; fits && i < arg_count; i++) {
			size_t at = find_arg(row->arg_name[i], args, arg_count);
			fits = at < arg_count;
			if (fits)
				grid->at[i] = args[at].value;
		}
		if (!fits)
			continue;
		if (!__atomic_load_n(&row->read, __ATOMIC_RELAXED)) /* predictions run in threads */
			__atomic_store_n(&row->read, true, __ATOMIC_RELAXED);
		grid->row[grid->count++] = row;
	}
	grid->args = arg_count;
}

static struct lookup look_up(const struct profile *profile, enum profile_scale scale, bool interval,
        const char *name, const struct arg *args, size_t arg_count)
{
	const struct lookup none = {
	        .estimate = {NAN, NAN, NAN, 0}, .regime = "hardware", .status = "failed"};
	const struct parameter *few[FEW];
	struct grid grid = {.row = few, .scale = scale, .interval = interval};
	size_t most = 0;

	EACH_ROW (r, profile, name)
		most += arg_count + 1;
	if (most > FEW)
		grid.row = xmalloc(most * sizeof *grid.row);
	collect(&grid, profile, name, args, arg_count);
	if (grid.count == 0) /* a constant answers for any arguments */
		collect(&grid, profile, name, NULL, 0);
	const struct rows all = {.grid = &grid, .row = grid.row, .count = grid.count};
	const struct lookup answer = grid.count ? solve(&all) : none;
	if (grid.row != few)
		free(grid.row);
	return answer;
}

struct lookup profile_get(
        const struct profile *profile, const char *name, const struct arg *args, size_t arg_count)
{
	return look_up(profile, PROFILE_LOGARITHMIC, true, name, args, arg_count);
}

struct lookup profile_interpolate(const struct profile *profile, enum profile_scale scale,
        const char *name, const struct arg *args, size_t arg_count)
{
	struct lookup answer = look_up(profile, scale, false, name, args, arg_count);

	answer.estimate.low = answer.estimate.high = NAN;
	return answer;
}

bool profile_range(
        const struct profile *profile, const char *name, const char *arg, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	EACH_ROW (r, profile, name) {
		const struct parameter *row = &profile->row[r];
		if (!profile_row_usable(row))
			continue;
		const double value = profile_row_argument(row, arg);
		*low = fmin(*low, value);
		*high = fmax(*high, value);
	}
	return *low <= *high;
}

bool profile_has(const struct profile *profile, const char *prefix)
{
	for (size_t i = 0; i < profile->count; i++)
		if (strncmp(profile->row[i].name, prefix, strlen(prefix)) == 0 &&
		        strcmp(profile->row[i].status, "failed") != 0)
			return true;
	return false;
}
