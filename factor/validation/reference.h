/* SPDX-License-Identifier: MIT */
/* References: rows of the profile that a prediction rests on. `measure` measures them again before
 * and after the cases of a shape, by the probe's own code. Where a reference no longer takes the
 * probe's time, the host has changed since, or the probe was disturbed, and an error of the case
 * may be no error of the model (errors.h).
 *
 * Rows of measurements.tsv: operation reference; the profile's name as variant; size, precision,
 * executor, lda and seed of the cases; options of=OPERATION of the cases and row=MxN of the
 * profile's row. */
#pragma once

#include "lib/profile/profile.h"
#include "results.h"

enum { REFERENCES = 2 }; /* of a case, at most */

#define REFERENCE_LAUNCH "gpu.launch.enqueue"

struct reference {
	struct result row; /* without its time */
	const char *moves; /* pattern of the names of the profile's rows that move with it */
	const struct parameter *of;
};

/* The rows that a case rests on, where the profile has one next to its shape: host.getrf, geqrf or
 * potrf where LAPACK factorizes panels on the host, host.ger for panels by level-2 calls there,
 * host.gram.update for Gram-Schmidt there, and on the GPU gpu.launch.enqueue for a sequence of
 * calls. Returns their number. */
size_t references_of(const struct profile *profile, const struct result *of,
        struct reference reference[REFERENCES]);

/* The row's m and n; 0 where it has none. A square has m = n. */
int reference_m(const struct reference *reference);
int reference_n(const struct reference *reference);

/* Whether a row is a reference's. */
bool reference_is(const struct result *row);

/* Adds one more measurement of a reference's row. The time is the quickest one, as others only slow
 * down, and the interval spans all. */
void reference_add(struct results *results, struct result row, const struct estimate *now);

/* Measured time over the profile's; 1 when it is not measured, when both intervals meet, or within
 * 5 %. */
double reference_ratio(const struct reference *reference, const struct results *measurements);
