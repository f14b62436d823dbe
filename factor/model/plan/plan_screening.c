/* SPDX-License-Identifier: MIT */
/* The cost of a plan; plans whose costs are known to mislead are refused. */
#include "plan_search.h"

#include "factor/kernels/lu/panel_geometry.h"

#include <math.h>
#include <string.h>

/* A block wider than a leaf consists of whole leaves. A narrower leaf at its end takes longer
 * beside products than the model knows (docs/experiments/model-plans.md). */
static bool of_whole_leaves(const struct plan *plan)
{
	for (int64_t i = 0; i < plan->count; i++)
		if (plan->widths[i] > plan->leaf && plan->widths[i] % plan->leaf)
			return false;
	return true;
}

/* The first block of several may be narrow for accuracy (plan_first_most). */
static int64_t narrowest(const struct plan *plan)
{
	int64_t least = plan->leaf;

	for (int64_t i = plan->count > 1; i < plan->count; i++)
		least = plan->widths[i] < least ? plan->widths[i] : least;
	return least;
}

/* LU's panels that one cluster holds with the typical leaf are not narrower: more panels in a row
 * take longer than the model knows (docs/experiments/model-plans.md). */
static bool needlessly_narrow(struct search *s, const struct plan *plan)
{
	const enum precision precision = s->asked.precision;
	const char *cluster = precision == SINGLE ? "gpu.panel_cluster.s" : "gpu.panel_cluster.d";

	return strcmp(s->asked.operation, "getrf") == 0 && narrowest(plan) < TYPICAL_LEAF &&
	       s->asked.m <= panel_cluster_rows(TYPICAL_LEAF, precision_bytes(precision)) &&
	       cost_known(executor_model_reader(s->e), cluster);
}

/* QR's panels are no wider than the widest measured ones: wider ones may take another kernel, which
 * is slower by a step. */
static bool wider_than_measured(struct search *s, const struct plan *plan)
{
	const char *panels =
	        s->asked.precision == SINGLE ? "gpu.panel_geqrf.s" : "gpu.panel_geqrf.d";
	struct cost_reader *r = executor_model_reader(s->e);
	int64_t widest = 0;

	for (int64_t i = 0; i < plan->count; i++)
		widest = max_int64(widest, min_int64(plan->widths[i], plan->leaf));
	return strcmp(s->asked.operation, "geqrf") == 0 && cost_known(r, panels) &&
	       (double)widest > cost_last(r, panels, "n");
}

/* The caller's decisions are not refused. */
static bool misleads(struct search *s, const struct plan *plan)
{
	if (s->fixed->nb || plan->hybrid)
		return false;
	return !of_whole_leaves(plan) ||
	       (!s->fixed->leaf && (needlessly_narrow(s, plan) || wider_than_measured(s, plan)));
}

double plan_screen(struct search *s, const struct plan *plan, int64_t j)
{
	return misleads(s, plan) ? INFINITY : plan_seconds(s, plan, j);
}

double plan_seconds(struct search *s, const struct plan *plan, int64_t j)
{
	struct factor_question part = s->asked;

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
