/* SPDX-License-Identifier: MIT */
#include "gram_reference.h"

#include "factor/kernels/gram_schmidt/gram_levels.h"
#include "factor/kernels/gram_schmidt/gram_threads.h"
#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <math.h>
#include <stdlib.h>

/* As the host_gram probe: columns of a length that every sweep has, a quarter of the second cache a
 * thread, few steps. */
enum { BYTES = 65536, ROWS = BYTES / sizeof(float), GAP = 32, STEPS = 4, ALIGNMENT = 64 };
static const double span = 0.04, most = 1.25;

static double stated(const struct profile *profile, const char *name)
{
	const struct lookup found = profile_get(profile, name, NULL, 0);
	return found.found ? found.estimate.value : NAN;
}

static double expected(const struct profile *profile, int threads)
{
	const struct arg args[] = {{"threads", threads}, {"bytes", BYTES}, {"level", GRAM_QUARTER}};
	double low, high;

	if (!profile_range(profile, "host.gram.dots", "threads", &low, &high) ||
	        (threads != (int)low && threads != (int)high))
		return NAN;
	return profile_get(profile, "host.gram.dots", args, ARRAY_LEN(args)).estimate.value +
	       profile_get(profile, "host.gram.update", args, ARRAY_LEN(args)).estimate.value;
}

static struct matrix new_matrix(int64_t m, int64_t n, int64_t ld)
{
	const size_t bytes = (size_t)(ld * n) * sizeof(float);
	float *data = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);

	if (!data)
		msg_die(EXIT_NOT_POSSIBLE, "not enough memory");
	for (int64_t i = 0; i < ld * n; i++)
		data[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-23f - 1;
	return (struct matrix){data, 0, m, n, ld, SINGLE};
}

/* Seconds of a step: the mean, which long waits for a core show in. */
static double measured(int threads, int64_t n, double l2)
{
	const struct gram_threads all = {gram_loops(), threads, (int64_t)l2};
	const int steps = threads < STEPS ? threads : STEPS;
	int info = 0;
	struct matrix sums = new_matrix(n, 1, n);
	struct gram_schmidt g = {.a = new_matrix(ROWS, n, ROWS + GAP),
	        .r = new_matrix(n, n, n),
	        .norms = new_matrix(n, 1, n),
	        .work = sums.data,
	        .info = &info};
	int64_t done = 0;
	double start = clock_now();

	for (int64_t i = 0; i < 2 * steps || clock_now() - start < span; i++) {
		gram_threads_dots(&all, &g, i % steps);
		gram_threads_update(&all, &g, i % steps);
		done++;
		if (i + 1 == 2 * steps) { /* the matrix is in the caches */
			start = clock_now();
			done = 0;
		}
	}
	const double seconds = (clock_now() - start) / (double)done;
	free(g.a.data);
	free(g.r.data);
	free(g.norms.data);
	free(sums.data);
	return seconds;
}

double gram_reference(const struct profile *profile, int threads)
{
	const double l1 = stated(profile, "host.l1.stated"), l2 = stated(profile, "host.l2.stated"),
	             wanted = expected(profile, threads);

	if (isnan(l1 + l2 + wanted))
		return NAN;
	const double columns = gram_columns_at(GRAM_QUARTER, BYTES, l1, l2);
	return measured(threads, threads * (int64_t)columns, l2) / wanted;
}

const struct parameter *gram_reference_row(const struct profile *profile, int threads)
{
	EACH_ROW (i, profile, "host.gram.update") {
		const struct parameter *row = &profile->row[i];
		if (profile_row_usable(row) && profile_row_argument(row, "threads") == threads &&
		        profile_row_argument(row, "bytes") == BYTES &&
		        profile_row_argument(row, "level") == GRAM_QUARTER)
			return row;
	}
	return NULL;
}

bool gram_reference_slow(double before, double after)
{
	return fmax(before, after) > most;
}
