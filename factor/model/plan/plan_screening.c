/* SPDX-License-Identifier: MIT */
/* A plan estimated, or refused where costs are known to mislead. */
#include "plan_search.h"

#include "factor/kernels/lu/panel_geometry.h"

#include <math.h>
#include <string.h>

/* A block wider than a leaf is made of whole ones: the narrower one at its end takes longer beside
 * products than the model knows (H100, LU of 4096 in fp64, look-ahead 2, leaves of 64: by 96
 * columns 6.09 ms, estimated 5.86; by 128 and then 64 5.86, estimated 5.79). */
static bool of_whole_leaves(const struct plan *plan)
{
	for (int64_t i = 0; i < plan->count; i++)
		if (plan->widths[i] > plan->leaf && plan->widths[i] % plan->leaf)
			return false;
	return true;
}

static int64_t narrowest(const struct plan *plan)
{
	int64_t least = plan->leaf;

	for (int64_t i = 0; i < plan->count; i++)
		least = plan->widths[i] < least ? plan->widths[i] : least;
	return least;
}

/* LU's panels that one cluster holds by the typical leaf are no narrower, of which more would be in
 * a row (H200, 3000 columns in fp64: eight blocks of 64 and then 32, 3.71 ms, estimated 3.54; by 64
 * 3.56, estimated 3.55; an earlier run 12 % more than by 64, estimated 1 % above). */
static bool needlessly_narrow(struct search *s, const struct plan *plan)
{
	const enum precision precision = s->asked.precision;
	const char *cluster = precision == SINGLE ? "gpu.panel_cluster.s" : "gpu.panel_cluster.d";

	return strcmp(s->asked.operation, "getrf") == 0 && narrowest(plan) < TYPICAL_LEAF &&
	       s->asked.m <= panel_cluster_rows(TYPICAL_LEAF, precision_bytes(precision)) &&
	       cost_known(executor_model_reader(s->e), cluster);
}

/* What the caller decides is not doubted. */
static bool doubted(struct search *s, const struct plan *plan)
{
	if (s->fixed->nb || plan->hybrid)
		return false;
	return !of_whole_leaves(plan) || (!s->fixed->leaf && needlessly_narrow(s, plan));
}

double plan_screen(struct search *s, const struct plan *plan, int64_t j)
{
	struct factor_question part = s->asked;

	if (doubted(s, plan))
		return INFINITY;
	part.plan = plan;
	part.m -= j;
	part.n -= j;
	s->choice->runs++;
	s->e->fault.text[0] = '\0';
	executor_model_restart(s->e, false);
	bool ok = model_factor_run(s->e, &part);
	double seconds = executor_model_seconds(s->e);
	if (!ok && !s->fault.text[0])
		s->fault = s->e->fault;
	return ok && !isnan(seconds) ? seconds : INFINITY;
}
