/* SPDX-License-Identifier: MIT */
/* Miss rates of a random pointer chain. The chain reaches each of n nodes CHAIN_SLOTS = 4 times on
 * a circle of 4 n steps, so a gap between two accesses is longer than t with probability (1 - t /
 * 4n)^3. With r = size / set and d = 1 - r: accesses independent of the cache's contents miss with
 * probability d; under LRU with d^(3/4); under random replacement with the root of m = E[1 -
 * exp(-gap m / size)], approximated by d (1 + (1 - d) (0.25 + 0.03 d)) within 0.003. A hashed index
 * gives each set a Poisson number of nodes; the average over that number smears the kink. */
#include "levels_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"

enum { LAWS = 3, TABLE_SMEARS = 13, TABLE_PLACES = 131, NORMAL_POINTS = 25 };

static const double table_reach = 1.3, smear_max = 0.6, blend_min = -1.5, huber = 2.5;

struct law_table {
	double miss[LAWS][TABLE_SMEARS][TABLE_PLACES];
};

static double sharp_miss(int law, double d)
{
	if (d <= 0)
		return 0;
	if (law == 0)
		return d;
	return law == 1 ? d * (1 + (1 - d) * (0.25 + 0.03 * d)) : pow(d, 0.75);
}

/* The number of nodes in a set is Poisson, nearly normal for many ways. */
static double normal_smear(int law, double mean, double smear)
{
	double sum = 0, weights = 0;
	for (int i = 0; i < NORMAL_POINTS; i++) {
		const double z = 6.0 * i / (NORMAL_POINTS - 1) - 3;
		const double load = mean + smear * sqrt(mean) * z, weight = exp(-z * z / 2);
		weights += weight;
		if (load > 1)
			sum += weight * load * sharp_miss(law, 1 - 1 / load);
	}
	return sum / (weights * mean);
}

static double smeared_miss(int law, double t, double smear)
{
	if (smear < 0.18)
		return normal_smear(law, exp(t), smear);
	const double ways = 1 / (smear * smear), mean = ways * exp(t);
	double sum = 0, probability = exp(-mean);
	for (int nodes = 1; nodes < 8 * mean + 20; nodes++) {
		probability *= mean / nodes;
		if (nodes > ways)
			sum += probability * nodes * sharp_miss(law, 1 - ways / nodes);
	}
	return sum / mean;
}

struct law_table *law_table_new(void)
{
	struct law_table *table = xmalloc(sizeof *table);

	for (int law = 0; law < LAWS; law++)
		for (int s = 0; s < TABLE_SMEARS; s++)
			for (int p = 0; p < TABLE_PLACES; p++)
				table->miss[law][s][p] = smeared_miss(law,
				        table_reach * (2.0 * p / (TABLE_PLACES - 1) - 1),
				        smear_max * s / (TABLE_SMEARS - 1));
	return table;
}

void law_table_free(struct law_table *table)
{
	free(table);
}

static double tabled_miss(const struct law_table *table, int law, double t, double smear)
{
	const double place = (t / table_reach + 1) / 2 * (TABLE_PLACES - 1);
	const double line = smear / smear_max * (TABLE_SMEARS - 1);
	const size_t p = (size_t)fmin(place, TABLE_PLACES - 2);
	const size_t s = (size_t)fmin(line, TABLE_SMEARS - 2);
	const double x = place - (double)p, y = line - (double)s;
	const double(*miss)[TABLE_PLACES] = table->miss[law];
	return (1 - y) * ((1 - x) * miss[s][p] + x * miss[s][p + 1]) +
	       y * ((1 - x) * miss[s + 1][p] + x * miss[s + 1][p + 1]);
}

static double one_law(const struct law_table *table, int law, double t, double smear)
{
	if (t > table_reach || (smear <= 0 && t > 0))
		return sharp_miss(law, 1 - exp(-t));
	return smear > 0 ? tabled_miss(table, law, t, smear) : 0;
}

/* Share of misses; t is the log of set size over the level's size. */
static double law_miss(const struct law_table *table, double t, double blend, double smear)
{
	if (t < -table_reach)
		return 0;
	const int low = blend < 1 ? 0 : 1;
	const double part = blend - low;
	return (1 - part) * one_law(table, low, t, smear) +
	       part * one_law(table, low + 1, t, smear);
}

size_t law_count(const struct law *law)
{
	return 1 + LAW_TERMS * law->levels;
}

double law_seconds(const struct law_table *table, const struct law *law, double log_size)
{
	double seconds = exp(law->parameter[0]);

	for (size_t i = 0; i < law->levels; i++) {
		const double *term = law->parameter + 1 + LAW_TERMS * i;
		seconds += exp(term[LAW_STEP]) * law_miss(table, log_size - term[LAW_SIZE],
		                                         term[LAW_BLEND], term[LAW_SMEAR]);
	}
	return seconds;
}

double law_misfit(
        const struct law_table *table, const struct law_points *points, const struct law *law)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < points->n; i++) {
		const double off =
		        points->log_seconds[i] - log(law_seconds(table, law, points->log_size[i]));
		const double weight = pow(points->error[i], -2);
		sum += weight * off * off;
		weights += weight;
	}
	return sqrt(sum / weights);
}

/* ---- least squares ---- */

/* A weak prior keeps the shape of a level where it is likely, when no point determines it. */
static double prior_centre(size_t parameter)
{
	return parameter > 0 && (parameter - 1) % LAW_TERMS == LAW_BLEND ? 1 : 0;
}

static double prior_weight(size_t parameter)
{
	if (parameter == 0)
		return 0;
	switch ((parameter - 1) % LAW_TERMS) {
	case LAW_BLEND:
		return 0.25;
	case LAW_SMEAR:
		return 1 / (0.4 * 0.4);
	default:
		return 1e-6;
	}
}

static void keep_within(struct law *law)
{
	for (size_t i = 0; i < law->levels; i++) {
		double *term = law->parameter + 1 + LAW_TERMS * i;
		term[LAW_STEP] = fmax(term[LAW_STEP], law->parameter[0] - 9);
		term[LAW_BLEND] = fmin(fmax(term[LAW_BLEND], blend_min), 2);
		term[LAW_SMEAR] = fmin(fmax(term[LAW_SMEAR], 0), smear_max);
	}
}

static double loss_of(
        const struct law_table *table, const struct law_points *points, const struct law *law)
{
	double loss = 0;

	for (size_t j = 0; j < points->n; j++) {
		const double expected = log(law_seconds(table, law, points->log_size[j]));
		const double r = fabs(points->log_seconds[j] - expected) / points->error[j];
		loss += r < huber ? r * r : huber * (2 * r - huber);
	}
	for (size_t a = 0; a < law_count(law); a++) {
		const double off = law->parameter[a] - prior_centre(a);
		if (prior_weight(a) > 1e-3)
			loss += prior_weight(a) * off * off;
	}
	return loss;
}

/* Derivatives of the log of the expected seconds at one size, by every parameter. Returns the
 * seconds. */
static double slopes(
        const struct law_table *table, const struct law *law, double log_size, double *slope)
{
	static const double nudge = 1e-3;
	const double seconds = law_seconds(table, law, log_size);

	slope[0] = exp(law->parameter[0]) / seconds;
	for (size_t i = 0; i < law->levels; i++) {
		const double *term = law->parameter + 1 + LAW_TERMS * i;
		double *to = slope + 1 + LAW_TERMS * i;
		const double t = log_size - term[LAW_SIZE];
		const double share = exp(term[LAW_STEP]) / seconds;
		const double miss = law_miss(table, t, term[LAW_BLEND], term[LAW_SMEAR]);
		const double blend = term[LAW_BLEND] > 1 ? -nudge : nudge;
		const double smear = term[LAW_SMEAR] > smear_max / 2 ? -0.02 : 0.02;
		to[LAW_STEP] = share * miss;
		to[LAW_SIZE] =
		        share *
		        (law_miss(table, t - 0.01, term[LAW_BLEND], term[LAW_SMEAR]) -
		                law_miss(table, t + 0.01, term[LAW_BLEND], term[LAW_SMEAR])) /
		        0.02;
		to[LAW_BLEND] =
		        share *
		        (law_miss(table, t, term[LAW_BLEND] + blend, term[LAW_SMEAR]) - miss) /
		        blend;
		to[LAW_SMEAR] =
		        share *
		        (law_miss(table, t, term[LAW_BLEND], term[LAW_SMEAR] + smear) - miss) /
		        smear;
	}
	return seconds;
}

/* Normal equations: curvature (row-major) and gradient of half the loss. */
static void normal_equations(const struct law_table *table, const struct law_points *points,
        const struct law *law, double *curvature, double *gradient)
{
	const size_t count = law_count(law);
	double slope[LAW_PARAMETERS];

	memset(curvature, 0, count * count * sizeof *curvature);
	memset(gradient, 0, count * sizeof *gradient);
	for (size_t j = 0; j < points->n; j++) {
		const double seconds = slopes(table, law, points->log_size[j], slope);
		const double off = points->log_seconds[j] - log(seconds);
		const double r = fabs(off) / points->error[j];
		const double weight =
		        (r < huber ? 1 : huber / r) / (points->error[j] * points->error[j]);
		for (size_t a = 0; a < count; a++) {
			gradient[a] += weight * slope[a] * off;
			for (size_t b = 0; b <= a; b++)
				curvature[a * count + b] += weight * slope[a] * slope[b];
		}
	}
	for (size_t a = 0; a < count; a++) {
		curvature[a * count + a] += prior_weight(a);
		if (prior_weight(a) > 1e-3)
			gradient[a] += prior_weight(a) * (prior_centre(a) - law->parameter[a]);
		for (size_t b = 0; b < a; b++)
			curvature[b * count + a] = curvature[a * count + b];
	}
}

/* Cholesky factor in place (lower); false when not positive definite. */
static bool factor(double *matrix, size_t count)
{
	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b <= a; b++) {
			double sum = matrix[a * count + b];
			for (size_t k = 0; k < b; k++)
				sum -= matrix[a * count + k] * matrix[b * count + k];
			if (a == b && !(sum > 0))
				return false;
			matrix[a * count + b] = a == b ? sqrt(sum) : sum / matrix[b * count + b];
		}
	return true;
}

static void solve(const double *lower, size_t count, double *x)
{
	for (size_t a = 0; a < count; a++) {
		for (size_t k = 0; k < a; k++)
			x[a] -= lower[a * count + k] * x[k];
		x[a] /= lower[a * count + a];
	}
	for (size_t a = count; a-- > 0;) {
		for (size_t k = a + 1; k < count; k++)
			x[a] -= lower[k * count + a] * x[k];
		x[a] /= lower[a * count + a];
	}
}

/* A damped step; false when the damped matrix is not definite. */
static bool damped_step(const double *curvature, const double *gradient, size_t count, size_t held,
        double damping, double *step)
{
	double matrix[LAW_PARAMETERS * LAW_PARAMETERS];

	memcpy(matrix, curvature, count * count * sizeof *matrix);
	memcpy(step, gradient, count * sizeof *step);
	for (size_t a = 0; a < count; a++)
		matrix[a * count + a] *= 1 + damping;
	if (held < count) {
		for (size_t a = 0; a < count; a++)
			matrix[a * count + held] = matrix[held * count + a] = 0;
		matrix[held * count + held] = 1;
		step[held] = 0;
	}
	if (!factor(matrix, count))
		return false;
	solve(matrix, count, step);
	return true;
}

double law_improve(const struct law_table *table, const struct law_points *points, struct law *law,
        size_t held, int rounds)
{
	const size_t count = law_count(law);
	double curvature[LAW_PARAMETERS * LAW_PARAMETERS], gradient[LAW_PARAMETERS];
	double step[LAW_PARAMETERS], damping = 1e-2;

	keep_within(law);
	double loss = loss_of(table, points, law);
	for (int round = 0; round < rounds && damping < 1e6; round++) {
		normal_equations(table, points, law, curvature, gradient);
		double gain = 0;
		for (; damping < 1e6; damping *= 6) {
			struct law tried = *law;
			if (!damped_step(curvature, gradient, count, held, damping, step))
				continue;
			for (size_t a = 0; a < count; a++)
				tried.parameter[a] += fmin(fmax(step[a], -0.7), 0.7);
			keep_within(&tried);
			const double now = loss_of(table, points, &tried);
			if (now < loss) {
				gain = loss - now;
				loss = now;
				*law = tried;
				damping = fmax(damping / 10, 1e-7);
				break;
			}
		}
		if (gain < 1e-4 * (1 + loss) * 0.1)
			break;
	}
	return loss;
}

void law_covariance(const struct law_table *table, const struct law_points *points,
        const struct law *law, double *covariance)
{
	const size_t count = law_count(law);
	double curvature[LAW_PARAMETERS * LAW_PARAMETERS], gradient[LAW_PARAMETERS];
	double column[LAW_PARAMETERS];

	normal_equations(table, points, law, curvature, gradient);
	const bool definite = factor(curvature, count);
	for (size_t b = 0; b < count; b++) {
		memset(column, 0, sizeof column);
		column[b] = 1;
		if (definite)
			solve(curvature, count, column);
		for (size_t a = 0; a < count; a++)
			covariance[a * count + b] = definite ? column[a] : INFINITY;
	}
}
