/* SPDX-License-Identifier: MIT */
/* Timed Gram-Schmidt on random squares: no seed makes a matrix whose last column depends on the
 * others, which would be called wrong. With these seeds random numbers alone do so. */
#include "tests/tap.h"

#include "factor/executors/host/executor_host.h"
#include "factor/validation/papers/timing_gram_schmidt.h"

#include <inttypes.h>
#include <signal.h>

static void test_seed(struct executor *e, const char *form, uint64_t seed)
{
	const volatile sig_atomic_t never = 0;
	struct gram_entry entry = {.executor = e, .nb = 8};
	const struct timing_plan plan = {.warm_seconds = 1e-4,
	        .max_seconds = 1e-3,
	        .target = 0.1,
	        .seed = seed,
	        .ld = 24,
	        .stop = &never};
	struct fault fault = {0};

	snprintf(entry.form, sizeof entry.form, "%s", form);
	struct candidate candidate = candidate_gram_schmidt(&entry, form);
	const bool good = timing_gram_schmidt(e, SINGLE, 24, 24, 0, &plan, &candidate, 1, &fault);
	ok(good && !candidate.fault.text[0] && candidate.residual < 30,
	        "%s, seed %" PRIu64 ": residual ratio %.2g %s%s", form, seed, candidate.residual,
	        fault.text, candidate.fault.text);
}

int main(void)
{
	static const uint64_t seeds[] = {155742, 243798, 256640, 770658};
	struct fault fault;
	struct executor *e = executor_host_new(&fault);

	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		test_seed(e, "fused", seeds[i]);
		test_seed(e, "blocked", seeds[i]);
	}
	executor_free(e);
	return finish();
}
