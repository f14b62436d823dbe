/* SPDX-License-Identifier: MIT */
/* Number of levels by an information criterion. */
#include "levels_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"

/* Systematic error of a point beside its own error, relative. */
static const double error_floor = 0.006;
/* The scatter counts as at least this part of the variance that the errors state: the floor is then
 * 0.1 %. */
static const double least_scatter = 0.03;

static bool usable(double size, double seconds, double error)
{
	return isfinite(size) && size > 0 && isfinite(seconds) && seconds > 0 && !isnan(error);
}

static void take_points(struct search *search, const double *size, const double *seconds,
        const double *error, size_t n)
{
	struct law_points *points = &search->points;

	points->log_size = xmalloc(3 * (n + 1) * sizeof *points->log_size);
	points->log_seconds = points->log_size + n + 1;
	points->error = points->log_seconds + n + 1;
	search->first = INFINITY;
	search->last = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		if (!usable(size[i], seconds[i], error[i]))
			continue;
		points->log_size[points->n] = log(size[i]);
		points->log_seconds[points->n] = log(seconds[i]);
		points->error[points->n] = hypot(fabs(error[i]), error_floor);
		search->first = fmin(search->first, points->log_size[points->n]);
		search->last = fmax(search->last, points->log_size[points->n]);
		points->n++;
	}
}

static double *term_of(struct law *law, size_t level)
{
	return law->parameter + 1 + LAW_TERMS * level;
}

static void sort_levels(struct law *law)
{
	for (size_t i = 1; i < law->levels; i++)
		for (size_t k = i;
		        k > 0 && term_of(law, k)[LAW_SIZE] < term_of(law, k - 1)[LAW_SIZE]; k--) {
			double kept[LAW_TERMS];
			memcpy(kept, term_of(law, k), sizeof kept);
			memcpy(term_of(law, k), term_of(law, k - 1), sizeof kept);
			memcpy(term_of(law, k - 1), kept, sizeof kept);
		}
}

/* The best law with one more level: improved a little from many starts, the best of them to the
 * end. */
static double add_level(const struct search *search, struct law *law)
{
	enum { STARTS = 22 };
	struct law best = *law;
	double best_loss = INFINITY;

	for (int start = 0; start < STARTS; start++) {
		struct law tried = *law;
		double *term = term_of(&tried, tried.levels++);
		const double part = (start + 0.5) / STARTS;
		term[LAW_SIZE] = search->first + part * (search->last - search->first);
		term[LAW_STEP] = log(0.2 * law_seconds(search->table, law, term[LAW_SIZE]));
		term[LAW_BLEND] = 1;
		term[LAW_SMEAR] = 0.05;
		const double loss =
		        law_improve(search->table, &search->points, &tried, SIZE_MAX, 8);
		if (loss < best_loss) {
			best_loss = loss;
			best = tried;
		}
	}
	*law = best;
	best_loss = law_improve(search->table, &search->points, law, SIZE_MAX, 60);
	sort_levels(law);
	return best_loss;
}

static double start_law(const struct search *search, struct law *law)
{
	*law = (struct law){0};
	law->parameter[0] = stats_median(search->points.log_seconds, search->points.n);
	return law_improve(search->table, &search->points, law, SIZE_MAX, 20);
}

/* Cost of a level: size, step and shape. */
static double penalty(const struct search *search, size_t levels)
{
	return 4 * log((double)search->points.n) * (double)levels;
}

static void note_law(struct search *search, const struct law *law)
{
	search->other[law->levels] = *law;
	search->misfit[law->levels] = law_misfit(search->table, &search->points, law);
	search->tried = law->levels + 1;
}

/* Loss per degree of freedom. It is above 1 where the law misses the points, below 1 where their
 * errors are stated too large; then the uncertainty of the scatter itself is added. */
static double scatter(const struct search *search, const struct law *law)
{
	const size_t count = law_count(law);
	const size_t freedom = search->points.n > count ? search->points.n - count : 1;
	const double found = search->loss / (double)freedom;
	const double open = pow(stats_student(freedom) / 1.96, 2);

	return found > 1 ? found : fmin(1, open * fmax(found, least_scatter));
}

/* Tries up to two levels more than the best law has, as one level alone may not improve the fit. */
static void choose(struct search *search, struct law *law)
{
	struct law tried;
	double best;

	search->loss = best = start_law(search, &tried);
	*law = tried;
	note_law(search, &tried);
	while (tried.levels < LEVELS_MAX && tried.levels < law->levels + 2 &&
	        search->points.n > law_count(&tried) + 1) {
		const double loss = add_level(search, &tried);
		const double cost = loss + penalty(search, tried.levels);
		note_law(search, &tried);
		if (cost < best) {
			best = cost;
			search->loss = loss;
			*law = tried;
		}
	}
	search->scale = scatter(search, law);
}

bool levels_fit(const double *size, const double *seconds, const double *error, size_t n,
        struct levels *levels)
{
	struct search search = {0};
	struct law law;

	memset(levels, 0, sizeof *levels);
	take_points(&search, size, seconds, error, n);
	const bool enough = search.points.n >= 4;
	if (enough) {
		struct law_table *table = law_table_new();
		search.table = table;
		choose(&search, &law);
		levels_describe(&search, &law, levels);
		law_table_free(table);
	}
	free(search.points.log_size);
	return enough;
}

struct estimate levels_quotient(struct estimate a, struct estimate b)
{
	const double value = a.value / b.value;

	if (a.samples == 0 || b.samples == 0 || !isfinite(value))
		return (struct estimate){NAN, NAN, NAN, 0};
	const double below = hypot(log(a.value / a.low), log(b.high / b.value));
	const double above = hypot(log(a.high / a.value), log(b.value / b.low));
	return (struct estimate){
	        value, value * exp(-below), value * exp(above), a.samples + b.samples};
}

double levels_power_of_two(struct estimate estimate)
{
	if (estimate.samples == 0 || !(estimate.low > 0))
		return NAN;
	const double first = exp2(ceil(log2(estimate.low)));
	return first <= estimate.high && 2 * first > estimate.high ? first : NAN;
}
