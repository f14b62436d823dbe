/* SPDX-License-Identifier: MIT */
/* Each level's interval by the profile of the loss, and the conditions for resolved quantities. */
#include "levels_law.h"

#include <math.h>

/* 95 % of chi squared with one degree. */
static const double chi_95 = 3.84;
/* In logs of sizes: two levels nearer than `apart` are not told apart; an interval wider than
 * `widest`, or a smear above `most_smeared`, is not resolved. */
static const double apart = 0.55, widest = 0.4, most_smeared = 0.32;
static const double sharp = 0.12, much_higher = 6, foot_reach = 1.6;
static const double plateau_widest = 0.1, plateau_length = 1, unrisen = 0.25;
/* A law with a misfit below `misfit_good`, or at most `times_worse` the best one's, may be the true
 * law. */
static const double misfit_good = 0.004, misfit_bad = 0.01, times_worse = 2.5;
/* Sizes of two laws nearer than this belong to one level. */
static const double nearby = 0.1;

static size_t points_between(const struct search *search, double low, double high)
{
	size_t count = 0;

	for (size_t i = 0; i < search->points.n; i++)
		count += search->points.log_size[i] >= low && search->points.log_size[i] <= high;
	return count;
}

static double profile_loss(const struct search *search, const struct law *law, size_t held,
        double at, struct law *moved)
{
	*moved = *law;
	moved->parameter[held] = at;
	return law_improve(search->table, &search->points, moved, held, 25);
}

/* The end of the interval on one side: the loss, minimized over all other parameters, has risen by
 * chi_95. Infinite when it has not within two decades. */
static double profile_end(
        const struct search *search, const struct law *law, size_t held, double step)
{
	const double target = search->loss + chi_95 * search->scale;
	const double centre = law->parameter[held];
	struct law at = *law, moved;
	double inside = centre, inside_loss = search->loss;

	while (fabs(inside - centre) < 4.6) {
		const double outside = inside + step;
		const double loss = profile_loss(search, &at, held, outside, &moved);
		if (loss >= target) {
			const double part = (sqrt(target - search->loss) -
			                            sqrt(fmax(inside_loss - search->loss, 0))) /
			                    (sqrt(loss - search->loss) -
			                            sqrt(fmax(inside_loss - search->loss, 0)));
			return inside + step * fmin(fmax(part, 0), 1);
		}
		inside = outside;
		inside_loss = loss;
		at = moved;
		step *= 1.3;
	}
	return step > 0 ? INFINITY : -INFINITY;
}

/* Half a standard deviation of a parameter, within reason. */
static double first_step(const double *covariance, size_t count, size_t parameter, double scale)
{
	const double deviation = sqrt(scale * covariance[parameter * count + parameter]);
	return isfinite(deviation) ? fmin(fmax(deviation / 2, 0.002), 0.1) : 0.05;
}

static bool bracketed(const struct search *search, double log_size)
{
	return points_between(search, search->first, log_size - 0.02) >= 2 &&
	       points_between(search, log_size - 1.2, log_size - 0.02) >= 1 &&
	       points_between(search, log_size + 0.02, log_size + 1.1) >= 3;
}

/* Whether another level is so near that both share their points, by their smears or as the foot of
 * a much higher step. */
static bool has_near_neighbour(const struct law *law, size_t level)
{
	const double *term = law->parameter + 1 + LAW_TERMS * level;
	bool near = false;
	for (size_t i = 0; i < law->levels; i++) {
		const double *other = law->parameter + 1 + LAW_TERMS * i;
		const double distance = fabs(other[LAW_SIZE] - term[LAW_SIZE]);
		const double smears = other[LAW_SMEAR] + term[LAW_SMEAR];
		const bool foot = other[LAW_STEP] - term[LAW_STEP] > log(much_higher);
		near = near || (i != level && (distance < apart + 2 * smears ||
		                                      (foot && distance < foot_reach)));
	}
	return near;
}

/* A smooth step is located from points far beyond it. */
static bool seen_from_afar(const struct search *search, const struct law *law, size_t level)
{
	const double *term = law->parameter + 1 + LAW_TERMS * level;
	const double end = level + 1 < law->levels ? (term + LAW_TERMS)[LAW_SIZE] : INFINITY;
	return term[LAW_SMEAR] < sharp ||
	       (search->last - term[LAW_SIZE] > 1 && end - term[LAW_SIZE] > 1.8);
}

/* The level of the law nearest to that size. */
static double nearest_size(const struct law *law, double size)
{
	double nearest = INFINITY;

	for (size_t i = 0; i < law->levels; i++) {
		const double other = law->parameter[1 + LAW_TERMS * i + LAW_SIZE];
		if (fabs(other - size) < fabs(nearest - size))
			nearest = other;
	}
	return nearest;
}

/* Whether every possible law has a level at the value or nearby. The interval is extended to these
 * levels. */
static bool undisputed(
        const struct search *search, double value, double more, double *low, double *high)
{
	double possible = INFINITY;
	for (size_t k = 0; k < search->tried; k++)
		possible = fmin(possible, times_worse * search->misfit[k]);
	possible = fmin(fmax(possible, misfit_good), misfit_bad);
	const double first = fmin(*low - more, value - nearby);
	const double last = fmax(*high + more, value + nearby);
	for (size_t k = 0; k < search->tried; k++) {
		if (search->misfit[k] > possible)
			continue;
		const double other = nearest_size(&search->other[k], value);
		if (!(other >= first && other <= last))
			return false;
		if (other < *low - more || other > *high + more) {
			*low = fmin(*low, other);
			*high = fmax(*high, other);
		}
	}
	return true;
}

/* The size by the law with the least Akaike criterion, with the misfit as scatter. A small,
 * uncertain level farther out bends the level before it. */
static double refined(const struct search *search, const struct law *law, double value)
{
	const double n = (double)search->points.n;
	double least = INFINITY, size = value;

	for (size_t k = law->levels; k < search->tried; k++) {
		const double cost = 2 * (n * log(search->misfit[k]) + LAW_TERMS * (double)k);
		const double other = nearest_size(&search->other[k], value);
		if (cost < least && fabs(other - value) <= nearby) {
			least = cost;
			size = other;
		}
	}
	return size;
}

static double bound(double log_size)
{
	return isfinite(log_size) ? exp(log_size) : NAN;
}

static void find_size(const struct search *search, const struct law *law, const double *covariance,
        size_t i, struct level *level)
{
	const size_t held = 1 + LAW_TERMS * i + LAW_SIZE;
	const double *term = law->parameter + 1 + LAW_TERMS * i;
	const double step = first_step(covariance, law_count(law), held, search->scale);
	const double value = term[LAW_SIZE];
	double low = profile_end(search, law, held, -step);
	double high = profile_end(search, law, held, step);
	/* unevenly filled sets, and replacement that no blend describes */
	const double more = hypot(0.035, 0.45 * term[LAW_SMEAR]);
	const bool agreed = undisputed(search, value, more, &low, &high);

	const double size = refined(search, law, value);
	low = fmin(low, size);
	high = fmax(high, size);
	level->size = (struct estimate){exp(size), bound(size - hypot(size - low, more)),
	        bound(size + hypot(high - size, more)), search->points.n};
	level->resolved = high - low <= widest && bracketed(search, value) &&
	                  term[LAW_SMEAR] <= most_smeared && !has_near_neighbour(law, i) &&
	                  seen_from_afar(search, law, i) && agreed;
	if (!level->resolved) {
		const double wide = 0.3 + 1.5 * term[LAW_SMEAR];
		level->size.value = NAN;
		level->size.low *= exp(-wide);
		level->size.high *= exp(wide);
	}
}

/* Base and the steps before level i, with the interval of the linearized fit. */
static void find_latency(const struct search *search, const struct law *law,
        const double *covariance, size_t i, struct level *level)
{
	const size_t count = law_count(law);
	double seconds = exp(law->parameter[0]), slope[LAW_PARAMETERS] = {seconds}, variance = 0;

	for (size_t k = 0; k < i; k++) {
		const size_t step = 1 + LAW_TERMS * k + LAW_STEP;
		slope[step] = exp(law->parameter[step]);
		seconds += slope[step];
	}
	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b < count; b++)
			if (slope[a] > 0 && slope[b] > 0)
				variance += slope[a] * slope[b] * covariance[a * count + b];
	const double half = hypot(
	        3 * sqrt(fmax(variance, 0) * search->scale), (i > 0 ? 0.02 : 0.006) * seconds);
	const double *left = law->parameter + 1 + LAW_TERMS * (i - 1);
	const double *right = law->parameter + 1 + LAW_TERMS * i;
	const double before = i > 0 ? left[LAW_SIZE] + 2 * left[LAW_SMEAR] : search->first - 1;
	const double after =
	        i < law->levels ? right[LAW_SIZE] - 2 * right[LAW_SMEAR] : search->last;
	level->latency = (struct estimate){
	        seconds, fmax(seconds - half, 0), seconds + half, search->points.n};
	level->latency_resolved = half <= plateau_widest * seconds &&
	                          after - before > plateau_length &&
	                          points_between(search, before, after - 0.02) >= 2;
	if (!level->latency_resolved)
		level->latency.value = NAN;
}

static void find_step(const struct search *search, const struct law *law, size_t i, double step,
        struct level *level)
{
	const size_t held = 1 + LAW_TERMS * i + LAW_STEP;
	const double value = law->parameter[held];
	const double low = profile_end(search, law, held, -step);
	const double high = profile_end(search, law, held, step);
	/* the law's shape is uncertain where the points do not rise to the whole step */
	const double *term = law->parameter + 1 + LAW_TERMS * i;
	const double end = i + 1 < law->levels ? term[LAW_TERMS + LAW_SIZE] : search->last;
	const double more = hypot(0.02, unrisen * exp(term[LAW_SIZE] - end));

	level->step = (struct estimate){exp(value), bound(value - hypot(value - low, more)),
	        bound(value + hypot(high - value, more)), search->points.n};
	level->step_resolved =
	        hypot(high - low, 2 * more) <= 2 * widest && !has_near_neighbour(law, i);
	if (!level->step_resolved)
		level->step.value = NAN;
}

static void unresolve(struct levels *levels)
{
	for (size_t i = 0; i <= levels->count; i++) {
		struct level *level = &levels->level[i];
		level->resolved = level->latency_resolved = level->step_resolved = false;
		level->size.value = level->latency.value = level->step.value = NAN;
	}
}

void levels_describe(const struct search *search, const struct law *law, struct levels *levels)
{
	double covariance[LAW_PARAMETERS * LAW_PARAMETERS];

	law_covariance(search->table, &search->points, law, covariance);
	levels->count = law->levels;
	levels->misfit = law_misfit(search->table, &search->points, law);
	levels->lawful = search->scale < 25;
	for (size_t i = 0; i <= law->levels; i++) {
		struct level *level = &levels->level[i];
		find_latency(search, law, covariance, i, level);
		if (i > 0 && !levels->level[i - 1].resolved) {
			level->latency_resolved = false;
			level->latency.value = NAN;
		}
		if (i == law->levels) {
			level->size =
			        (struct estimate){NAN, exp(search->last), NAN, search->points.n};
			level->step = (struct estimate){NAN, NAN, NAN, 0};
			continue;
		}
		find_size(search, law, covariance, i, level);
		find_step(search, law, i,
		        first_step(covariance, law_count(law), 1 + LAW_TERMS * i + LAW_STEP,
		                search->scale),
		        level);
	}
	if (!levels->lawful)
		unresolve(levels);
}
