/* SPDX-License-Identifier: MIT */
/* Times Gram-Schmidt on the host by a number of threads, each on a core of its own. Products by the
 * BLAS have at most as many threads, which are not bound. Before each run the threads that work on
 * the random matrix make it again in place. No copy is kept: matrices larger than the last cache
 * fit into small machines, and the cache holds the matrix as far as it can. */
#pragma once

#include "factor/papers/gram_compilers.h"
#include "factor/validation/timing.h"

#include "lib/host/core_noise.h"
#include "lib/profile/profile.h"

struct gram_run {
	const char
	        *form; /* of gram_schmidt_kernels.h; plain, fixed: the paper's code (gram_plain) */
	const struct gram_loops *loops; /* NULL: the project's own */
	const struct gram_plain *plain; /* of the paper's code */
	int64_t nb, k;                  /* only the first k columns are made orthonormal */
	int64_t lda;                    /* 0: columns begin at cache lines */
	int threads;
};

/* Times `count` ways to orthonormalize an m x n matrix: estimates, check ratios and notes into
 * candidate (results alone). Disturbed are also those with threads that take longer for the
 * profile's passes before or after (profile NULL: unknown). noise: the cores, the quietest first;
 * NULL: the system places threads. */
bool timing_gram_host(struct executor *host, const struct profile *profile,
        const struct core_noise *noise, enum precision precision, int64_t m, int64_t n,
        const struct gram_run *run, const struct timing_plan *plan, struct candidate *candidate,
        size_t count, struct fault *fault);
