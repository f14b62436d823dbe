/* SPDX-License-Identifier: MIT */
#include "sensitivity.h"

#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double seconds_if(const struct rivals *r, int rival, const char *name, double factor)
{
	struct profile scaled = profile_view(r->profile);

	profile_scale_rows(&scaled, name, factor);
	const double seconds = r->seconds_of(&scaled, r->context, rival, name);
	profile_view_free(&scaled);
	return isnan(seconds) ? INFINITY : seconds;
}

/* Sizes of the machine are exact, and gpu.bank.clock says at which clock rows were measured. */
static bool is_measured(const char *name)
{
	static const char *const exact[] = {"gpu.compute_capability", "gpu.sm.count",
	        "gpu.sm.threads", "gpu.sm.blocks", "gpu.shared.per_block", "gpu.l2.stated",
	        "gpu.bank.clock"};

	for (size_t i = 0; i < ARRAY_LEN(exact); i++)
		if (strcmp(name, exact[i]) == 0)
			return false;
	return true;
}

static bool tips(const struct rivals *r, const char *name, double factor)
{
	return seconds_if(r, 1, name, factor) < seconds_if(r, 0, name, factor);
}

/* The factor from which on the rival wins, to half a percent. `within` does not tip the choice,
 * `beyond` does. */
static double tipping_point(const struct rivals *r, const char *name, double within, double beyond)
{
	static const double enough = 1.005;

	while (fmax(within, beyond) > enough * fmin(within, beyond)) {
		const double middle = sqrt(within * beyond);
		*(tips(r, name, middle) ? &beyond : &within) = middle;
	}
	return beyond;
}

/* Changes the parameters of a model by a factor, one at a time; `within` is the factor of the step
 * before. */
static void try_parameters(const struct rivals *r, struct sensitivity *s, const struct model *model,
        double within, double factor)
{
	for (size_t u = 0; u < model->used_count; u++) {
		const char *name = model->used[u];
		if (!is_measured(name) || !tips(r, name, factor))
			continue;
		const double point = tipping_point(r, name, within, factor);
		if (!s->tipping_name || fabs(log(point)) < fabs(log(s->tipping))) {
			s->tipping_name = name;
			s->tipping = point;
		}
	}
}

static void find_most_sensitive(
        const struct rivals *r, struct sensitivity *s, const struct model *model)
{
	static const double more = 1.1;
	const double lead = r->seconds[1] / r->seconds[0];

	for (size_t u = 0; u < model->used_count; u++) {
		const char *name = model->used[u];
		if (!is_measured(name))
			continue;
		const double mine = seconds_if(r, 0, name, more),
		             theirs = seconds_if(r, 1, name, more),
		             change = theirs / mine / lead - 1;
		if (isfinite(change) && (!s->name || fabs(change) > fabs(s->lead))) {
			s->name = name;
			s->lead = change;
			s->time = mine / r->seconds[0] - 1;
		}
	}
}

struct sensitivity sensitivity_of(const struct rivals *r)
{
	static const double steps[] = {1, 1.1, 1.25, 1.5, 2, 4, 8};
	struct sensitivity found = {0};

	for (int m = 0; m < 2; m++)
		find_most_sensitive(r, &found, r->model[m]);
	for (size_t i = 1; i < ARRAY_LEN(steps) && !found.tipping_name; i++)
		for (int m = 0; m < 2; m++) {
			try_parameters(r, &found, r->model[m], steps[i - 1], steps[i]);
			try_parameters(r, &found, r->model[m], 1 / steps[i - 1], 1 / steps[i]);
		}
	return found;
}
