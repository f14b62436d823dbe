/* SPDX-License-Identifier: MIT */
/* The references of a shape's cases (factor/validation/reference.h), by the code of the probes. */
#include "measure.h"

#include "factor/calibration/host_rate/host_rate.h"
#include "factor/validation/reference.h"
#include "lib/device/held_calls.h"

#include <stdlib.h>
#include <string.h>

struct references {
	struct core_noise *noise; /* NULL: the calling thread is on any core */
	struct rates *rates;      /* NULL: no memory */
	struct null_launches *launches;
};

struct references *references_new(struct measure *m)
{
	struct references *r = xcalloc(1, sizeof *r);

	r->noise = m->topology ? &m->noise : NULL;
	r->rates = host_rate_open(r->noise);
	r->launches = m->executor[0] ? null_launches_new() : NULL;
	return r;
}

void references_free(struct references *r)
{
	host_rate_free(r->rates);
	null_launches_free(r->launches);
	free(r);
}

/* As the launch probe: long enough for the median of some dozens of samples. */
static bool sample_launches(struct references *r, struct measurement *measurement)
{
	static const double seconds = 0.01;
	const struct sample_plan plan = sample_plan_default(seconds);

	if (!r->launches)
		return false;
	return r->noise ? core_noise_sample_run(r->noise, null_launches_sample, r->launches, &plan,
	                          0, measurement)
	                : sample_run(null_launches_sample, r->launches, &plan, 0, measurement);
}

static bool sample_reference(
        struct references *r, const struct reference *reference, struct measurement *measurement)
{
	if (strcmp(reference->of->name, REFERENCE_LAUNCH) == 0)
		return sample_launches(r, measurement);
	return r->rates && host_rate_again(r->rates, reference->of->name, reference_m(reference),
	                           reference_n(reference), measurement);
}

/* Whether the cases before the i-th one have the reference, too. */
static bool is_done(const struct measure *m, size_t i, const struct reference *reference)
{
	for (size_t before = 0; before < i; before++) {
		struct reference others[REFERENCES];
		const size_t count = references_of(m->profile, &m->row[before], others);
		for (size_t o = 0; o < count; o++)
			if (result_same_case(&others[o].row, &reference->row))
				return true;
	}
	return false;
}

void references_measure(
        struct references *r, struct measure *m, size_t rows, struct results *results)
{
	for (size_t i = 0; i < rows && m->profile; i++) {
		struct reference reference[REFERENCES];
		const size_t count = references_of(m->profile, &m->row[i], reference);
		for (size_t k = 0; k < count; k++) {
			struct measurement now;
			if (!*m->plan.stop && !is_done(m, i, &reference[k]) &&
			        sample_reference(r, &reference[k], &now) && now.seconds.samples)
				reference_add(results, reference[k].row, &now.seconds);
		}
	}
}

void references_keep(struct measure *m, const struct result *row, const double ratio[2])
{
	struct reference reference[REFERENCES];
	const bool wanted = m->predictions && m->profile;
	const size_t count = wanted ? references_of(m->profile, row, reference) : 0;

	for (size_t i = 0; i < 2 * count && ratio[i % 2] > 0; i++) {
		const double seconds = ratio[i % 2] * reference[i / 2].of->estimate.value;
		reference_add(m->results, reference[i / 2].row,
		        &(struct estimate){seconds, seconds, seconds, 1});
	}
}
