/* SPDX-License-Identifier: MIT */
/* Predictions, measurements and their comparison, for tests. */
#pragma once

#include "factor/validation/errors.h"

#include <stdlib.h>

struct tables {
	struct results *p, *q;
	struct comparison *rows;
	size_t count;
};

static inline struct tables tables_new(void)
{
	return (struct tables){.p = results_new(), .q = results_new()};
}

static inline void compare(struct tables *t)
{
	t->count = errors_compare(t->p, t->q, &t->rows);
}

static inline void tables_free(struct tables *t)
{
	free(t->rows);
	results_free(t->p);
	results_free(t->q);
}
