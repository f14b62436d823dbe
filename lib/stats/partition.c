/* SPDX-License-Identifier: MIT */
#include "partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bimodality.h"
#include "lib/base/msg.h"
#include "pointer_chain.h"

enum { POWER_ROUNDS = 40, SHUFFLES = 39 };

/* A pattern below this share of the time is no partition. */
static const double least_share = 0.015;

/* Subtracts the mean of n values `stride` apart; NaN are left out. */
static void subtract_mean(double *x, size_t n, size_t stride)
{
	double sum = 0, known = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i * stride])) {
			sum += x[i * stride];
			known++;
		}
	for (size_t i = 0; i < n; i++)
		x[i * stride] -= known > 0 ? sum / known : 0;
}

/* Subtracts row and column means; missing values become 0. */
static void centre(double *table, size_t rows, size_t columns)
{
	for (int round = 0; round < 3; round++) {
		for (size_t c = 0; c < columns; c++)
			subtract_mean(table + c, rows, columns);
		for (size_t r = 0; r < rows; r++)
			subtract_mean(table + r * columns, columns, 1);
	}
	for (size_t i = 0; i < rows * columns; i++)
		table[i] = isnan(table[i]) ? 0 : table[i];
}

static double normalize(double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	for (size_t i = 0; i < n; i++)
		x[i] /= sum > 0 ? sqrt(sum) : 1;
	return sqrt(sum);
}

/* Largest singular value; left (rows) and right (columns) are its vectors of length 1. */
static double leading(const double *table, size_t rows, size_t columns, double *left, double *right,
        uint64_t *seed)
{
	double value = 0;

	for (size_t c = 0; c < columns; c++)
		right[c] = chain_random(seed, 1000) / 500.0 - 1;
	for (int round = 0; round < POWER_ROUNDS; round++) {
		for (size_t r = 0; r < rows; r++) {
			left[r] = 0;
			for (size_t c = 0; c < columns; c++)
				left[r] += table[r * columns + c] * right[c];
		}
		normalize(left, rows);
		memset(right, 0, columns * sizeof *right);
		for (size_t r = 0; r < rows; r++)
			for (size_t c = 0; c < columns; c++)
				right[c] += table[r * columns + c] * left[r];
		value = normalize(right, columns);
	}
	return value;
}

static void shuffle_columns(double *table, size_t rows, size_t columns, uint64_t *seed)
{
	for (size_t c = 0; c < columns; c++)
		for (size_t r = rows - 1; r > 0; r--) {
			const size_t other = chain_random(seed, (uint32_t)(r + 1));
			const double kept = table[r * columns + c];
			table[r * columns + c] = table[other * columns + c];
			table[other * columns + c] = kept;
		}
}

/* Whether no shuffled table has as large a singular value: p <= 1 / (SHUFFLES + 1). */
static bool stands_out(const double *table, size_t rows, size_t columns, double value)
{
	double *shuffled = xmalloc((rows * columns + rows + columns) * sizeof *shuffled);
	double *left = shuffled + rows * columns, *right = left + rows;
	uint64_t seed = 5;
	bool beaten = false;

	memcpy(shuffled, table, rows * columns * sizeof *shuffled);
	for (int i = 0; i < SHUFFLES && !beaten; i++) {
		shuffle_columns(shuffled, rows, columns, &seed);
		beaten = leading(shuffled, rows, columns, left, right, &seed) >= value;
	}
	free(shuffled);
	return !beaten;
}

/* Medians over the pairs below and above the average. */
static void sooner_and_later(const double *seconds, size_t readers, size_t items, const int *group,
        const double *right, struct partition *found)
{
	double *sooner = xmalloc(2 * readers * items * sizeof *sooner),
	       *later = sooner + readers * items;
	size_t sooners = 0, laters = 0;

	for (size_t r = 0; r < readers; r++)
		for (size_t i = 0; i < items; i++) {
			const double value = seconds[r * items + i];
			if (isnan(value))
				continue;
			if ((group[r] == 1) == (right[i] > 0))
				later[laters++] = value;
			else
				sooner[sooners++] = value;
		}
	found->sooner = stats_median_interval(sooner, sooners);
	found->later = stats_median_interval(later, laters);
	free(sooner);
}

struct partition partition_find(const double *seconds, size_t readers, size_t items, int *group)
{
	struct partition found = {0};
	uint64_t seed = 3;

	memset(group, 0, readers * sizeof *group);
	if (readers < 4 || items < 4)
		return found;
	double *table = xmalloc((readers * items + readers + items) * sizeof *table);
	double *left = table + readers * items, *right = left + readers, total = 0, measured = 0;
	memcpy(table, seconds, readers * items * sizeof *table);
	for (size_t i = 0; i < readers * items; i++)
		if (!isnan(seconds[i])) {
			total += seconds[i];
			measured++;
		}
	centre(table, readers, items);
	const double value = leading(table, readers, items, left, right, &seed);
	const double share =
	        2 * value / sqrt((double)(readers * items)) / (total / fmax(measured, 1));
	found.separation = bimodality_find(left, readers, group);
	if (measured == 0)
		found.groups = 0;
	else if (share < least_share || !stands_out(table, readers, items, value))
		found.groups = 1;
	else
		found.groups = bimodality_count(found.separation);
	if (found.groups == 2) {
		sooner_and_later(seconds, readers, items, group, right, &found);
		const int first = group[0];
		for (size_t r = 0; r < readers; r++)
			group[r] ^= first;
	}
	free(table);
	return found;
}
