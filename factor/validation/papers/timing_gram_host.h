/* SPDX-License-Identifier: MIT */
/* Times Gram-Schmidt on the host, by so many threads, of which each has a core of its own. The
 * matrix, random, is made anew in place before each run by the threads that work on it: no copy is
 * kept, so that matrices larger than the last cache fit into small machines, and what a cache can
 * hold is there. */
#ifndef FATHOM_TIMING_GRAM_HOST_H
#define FATHOM_TIMING_GRAM_HOST_H

#include "factor/papers/gram_compilers.h"
#include "factor/validation/timing.h"

#include "lib/host/core_noise.h"

struct gram_run {
	const char *form;               /* of gram_schmidt_kernels.h */
	const struct gram_loops *loops; /* NULL: the project's own */
	int64_t nb, k;                  /* the first k columns alone are made orthonormal */
	int threads;
};

/* Of `count` ways to take an m x n matrix: estimates, check ratios and notes as in timing.h into
 * candidate (results alone). quiet: the cores, the quietest first; NULL: threads run where the
 * system puts them. */
bool timing_gram_host(struct executor *host, const struct core_noise *noise, enum precision precision,
        int64_t m, int64_t n, const struct gram_run *run, const struct timing_plan *plan,
        struct candidate *candidate, size_t count, struct fault *fault);

#endif
