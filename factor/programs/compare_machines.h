/* SPDX-License-Identifier: MIT */
/* Two machines side by side: what each operation takes on both, and every parameter. */
#pragma once

#include "lib/profile/profile.h"

struct machine_pair {
	const char *name[2];
	struct profile *profile[2];
	double tolerance; /* of what the second machine takes longer, as a fraction */
};

/* Prints both, as text (verbose: each parameter) or as JSON. False where the second machine is of
 * the first one's kind and slower by more than the tolerance. */
bool compare_machines(struct machine_pair *pair, bool json, bool verbose);
