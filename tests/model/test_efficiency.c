/* SPDX-License-Identifier: MIT */
/* Efficiencies measured on one machine predict the surfaces of another one: the test of the works
 * that surfaces state. EFFICIENCY=PATTERN prints every row of these surfaces. */
#include "tests/tap.h"

#include "factor/model/efficiency/efficiency.h"
#include "lib/profile/model.h"
#include "lib/profile/profile_row.h"
#include "lib/stats/stats.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The row of the other machine at the same arguments, NULL when it has none. */
static const struct parameter *same_row(const struct profile *profile, const struct parameter *row)
{
	EACH_ROW (i, profile, row->name) {
		const struct parameter *other = &profile->row[i];
		if (other->arg_count != row->arg_count || !profile_row_usable(other))
			continue;
		size_t same = 0;
		for (size_t k = 0; k < row->arg_count; k++)
			same += profile_row_argument(other, row->arg_name[k]) == row->arg[k];
		if (same == row->arg_count)
			return other;
	}
	return NULL;
}

/* Prints the surface's median error, and adds it to `all`. */
static void close_surface(
        const char *name, double *error, size_t *count, double *all, size_t *surfaces)
{
	if (*count == 0)
		return;
	const double median = stats_median(error, *count);
	diag("%-28s %4zu rows, median |error| %6.1f %%, 9 of 10 within %6.1f %%", name, *count,
	        100 * median, 100 * stats_quantile(error, *count, 0.9));
	all[(*surfaces)++] = median;
	*count = 0;
}

static void transfer(const char *here, const char *from, const char *which, double most)
{
	struct profile *own = profile_open(here), *taken = profile_open(here),
	               *other = profile_open(from);
	double error[4096], all[256];
	size_t count = 0, surfaces = 0;
	const char *name = "", *wanted = getenv("EFFICIENCY");

	efficiency_take(taken, other);
	for (size_t i = 0; i < taken->count; i++) {
		const struct parameter *row = &taken->row[i];
		const bool asked = efficiency_has(row) && fnmatch(which, row->name, 0) == 0;
		const struct parameter *is = asked ? same_row(own, row) : NULL;
		if (!is)
			continue;
		if (strcmp(name, row->name) != 0)
			close_surface(name, error, &count, all, &surfaces);
		name = row->name;
		const double e = row->estimate.value / is->estimate.value - 1;
		error[count++] = fabs(e);
		if (wanted && fnmatch(wanted, name, 0) == 0) {
			char *text = profile_row_name(row);
			diag("  %-44s %10.2f us, measured %10.2f, %+6.1f %%", text,
			        row->estimate.value * 1e6, is->estimate.value * 1e6, 100 * e);
			free(text);
		}
	}
	close_surface(name, error, &count, all, &surfaces);
	const double median = stats_median(all, surfaces);
	if (!ok(surfaces > 0 && median <= most,
	            "%s of %s by the efficiencies of %s: the median of the surfaces' median errors "
	            "is at most %g %%",
	            which, strrchr(here, '/') + 1, strrchr(from, '/') + 1, 100 * most))
		diag("%.1f %% of %zu surfaces", 100 * median, surfaces);
	profile_free(own);
	profile_free(taken);
	profile_free(other);
}

/* What a prediction rests on. */
static const char *regime_read(const struct profile *profile, const char *name)
{
	struct model model;

	model_start(&model, profile);
	ok(model_scalar(&model, name) > 0, "%s is read", name);
	return model.regime ? model.regime : "hardware";
}

/* With all efficiencies 1 nothing rests on a timing. */
static void hardware_alone(const char *here)
{
	struct profile *own = profile_open(here), *alone = profile_copy(own);
	const double launch = profile_get(own, "gpu.launch.enqueue", NULL, 0).estimate.value;

	ok(efficiency_by_hardware(alone, own) > 0, "surfaces at efficiency 1");
	struct profile *copy = profile_copy(alone);
	is_text(regime_read(own, "gpu.cublas.gemm"), "library", "a call was timed");
	is_text(regime_read(copy, "gpu.cublas.gemm"), "hardware", "at efficiency 1 it is not");
	is_real(profile_get(copy, "gpu.cublas.gemm", NULL, 0).estimate.value, launch, 1e-9,
	        "it costs a launch");
	ok(profile_get(copy, "gpu.gemm.s.peak", NULL, 0).estimate.value ==
	                profile_get(own, "gpu.fma.s.rate", NULL, 0).estimate.value,
	        "products are as fast as the pipe");
	profile_free(copy);
	profile_free(alone);
	profile_free(own);
}

static bool is_timing(const struct parameter *row, const void *unused)
{
	(void)unused;
	return regime_is_timing(row->regime);
}

/* Rows of surfaces that the other profile does not have. */
static size_t lost(const struct profile *own, const struct profile *other)
{
	size_t count = 0;

	for (size_t i = 0; i < own->count; i++)
		count += efficiency_has(&own->row[i]) && !same_row(other, &own->row[i]);
	return count;
}

static bool is_large_instruction(const struct parameter *row, const void *unused)
{
	(void)unused;
	return fnmatch("gpu.wgmma.*", row->name, 0) == 0 ||
	       fnmatch("gpu.mma.d16.*", row->name, 0) == 0;
}

/* A build for an older architecture measures smaller instructions alone. The library has them all.
 */
static void smaller_instructions(const char *here)
{
	struct profile *own = profile_open(here), *older = profile_copy(own);

	profile_remove_if(older, is_large_instruction, NULL);
	efficiency_by_hardware(older, own);
	ok(lost(own, older) == 0, "smaller instructions stand for those of another build");
	profile_free(older);
	profile_free(own);
}

/* At efficiency 1 no timing enters, neither as a row nor through the law. */
static void timings_removed(const char *here)
{
	struct profile *own = profile_open(here), *alone = profile_copy(own),
	               *bare = profile_copy(own);
	size_t timings = 0, same = 0;

	profile_remove_if(bare, is_timing, NULL);
	efficiency_by_hardware(alone, own);
	efficiency_by_hardware(bare, own);
	for (size_t i = 0; i < alone->count; i++) {
		const struct parameter *row = &alone->row[i];
		const struct parameter *other = same_row(bare, row);
		if (!is_timing(row, NULL))
			continue;
		timings++;
		same += other && other->estimate.value == row->estimate.value;
	}
	ok(timings > 0 && same == timings,
	        "%s: without timings %zu of %zu values at efficiency 1 are the same",
	        strrchr(here, '/') + 1, same, timings);
	ok(lost(own, bare) == 0, "and all rows of surfaces have one");
	profile_free(bare);
	profile_free(alone);
	profile_free(own);
}

int main(void)
{
	timings_removed(RECORDED);
	timings_removed(OTHER_RECORDED);
	smaller_instructions(RECORDED);
	hardware_alone(RECORDED);
	transfer(RECORDED, OTHER_RECORDED, "gpu.*", 0.08);
	transfer(RECORDED "-sms-112", RECORDED, "gpu.*", 0.1);
	transfer(RECORDED "-sms-64", RECORDED, "gpu.*", 0.1);
	transfer(RECORDED "-sms-40", RECORDED, "gpu.*", 0.2);
	transfer(OTHER_RECORDED, RECORDED, "host.*", 0.12); /* others use both hosts */
	transfer(RECORDED "-x2", RECORDED, "gpu.*", 0.08);
	return finish();
}
