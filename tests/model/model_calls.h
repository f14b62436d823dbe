/* SPDX-License-Identifier: MIT */
/* What the tests of operations on the model executor share: made-up operands, and what the
 * synthetic profile has calls cost. Microseconds. */
#pragma once

#include "model_profile.h"

#include "factor/model/simulation/executor_model.h"

/* One operation of our own or the library: queued, done, and the wait of 5. */
enum { WAIT = 5 };
static const double queued = 2, library = 2.75, started = 1;

static inline struct matrix block(int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, m, SINGLE};
}

static inline double us(struct executor *e)
{
	return executor_model_result(e).seconds * 1e6;
}

static inline struct executor *fresh(const struct profile *p)
{
	return executor_model_new(p, MODEL_CUDA, 2);
}

/* A call alone on the restarted executor e takes `want` microseconds. */
#define COSTS(call, want, relative, what)                                                          \
	do {                                                                                       \
		executor_model_restart(e, false);                                                  \
		call;                                                                              \
		is_real(us(e), want, relative, what);                                              \
	} while (0)

static inline double link_us(const struct profile *p, const char *name, double bytes)
{
	return profile_get(p, name, &(struct arg){"bytes", bytes}, 1).estimate.value * 1e6;
}
