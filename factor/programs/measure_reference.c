/* SPDX-License-Identifier: MIT */
/* The references of a shape's cases (factor/validation/reference.h), by the code of the probes. */
#include "measure.h"

#include "factor/calibration/host_rate/host_rate.h"
#include "factor/validation/reference.h"

#include <stdlib.h>
#include <string.h>

static bool sample_host(
        struct measure *m, const struct reference *reference, struct measurement *measurement)
{
	if (!m->rates && !m->no_rates)
		m->rates = host_rate_open(m->topology ? &m->noise : NULL);
	m->no_rates = !m->rates;
	return m->rates && host_rate_again(m->rates, reference->name, reference_m(reference),
	                           reference_n(reference), measurement);
}

/* Whether the cases before the i-th one have the reference, too. */
static bool is_done(const struct measure *m, size_t i, const struct reference *reference)
{
	for (size_t before = 0; before < i; before++) {
		struct reference others[REFERENCES];
		const size_t count = references_of(m->profile, &m->row[before], others);
		for (size_t r = 0; r < count; r++)
			if (result_same_case(&others[r].row, &reference->row))
				return true;
	}
	return false;
}

void measure_references(struct measure *m, size_t rows, struct results *results)
{
	for (size_t i = 0; i < rows && m->profile; i++) {
		struct reference reference[REFERENCES];
		const size_t count = references_of(m->profile, &m->row[i], reference);
		for (size_t r = 0; r < count; r++) {
			struct measurement measurement;
			if (!*m->plan.stop && !is_done(m, i, &reference[r]) &&
			        sample_host(m, &reference[r], &measurement))
				reference_add(results, &reference[r], &measurement.seconds);
		}
	}
}
