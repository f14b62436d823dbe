/* SPDX-License-Identifier: MIT */
#include "sensitivity.h"

#include "factor/model/efficiency/efficiency.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"

#include <math.h>
#include <stdlib.h>

/* The parameters that any answer read, and a view of the profile in which they move. */
struct trial {
	const struct rivals *r;
	struct profile view;
	const char *name[4 * MODEL_USED];
	size_t count;
	bool apart[4 * MODEL_USED]; /* a timing of known work that is read without the law */
	struct cost_hardware *law;  /* for these */
};

/* Sizes of the machine are exact, and gpu.bank.clock says at which clock rows were measured. */
static bool is_exact(const char *name)
{
	static const char *const exact[] = {"gpu.compute_capability", "gpu.sm.count",
	        "gpu.sm.threads", "gpu.sm.blocks", "gpu.shared.per_block", "gpu.l2.stated",
	        "gpu.bank.clock"};

	return profile_word_in(name, exact, ARRAY_LEN(exact));
}

static void add_parameters(struct trial *t, const struct model *model)
{
	for (size_t u = 0; model && u < model->used_count; u++)
		if (!profile_word_in(model->used[u], t->name, t->count))
			t->name[t->count++] = model->used[u];
}

static const struct parameter *first_row(const struct trial *t, const char *name)
{
	return &t->view.row[profile_first(&t->view, name)];
}

static bool is_timing(const struct trial *t, const char *name)
{
	return regime_is_timing(first_row(t, name)->regime);
}

/* Tells the answers which parameters are no longer where the profile has them, or no longer where
 * the trial had them. */
static void tell(const struct trial *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!profile_is_tried(&t->view, t->name[i]))
			continue;
		t->r->change(t->r->context, &t->view, t->name[i]);
		cost_hardware_change(t->law, &t->view, t->name[i]);
	}
}

static void follow_law(struct trial *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!t->apart[i])
			continue;
		efficiency_follow(t->law, &t->view, t->name[i]);
		if (profile_is_tried(&t->view, t->name[i]))
			t->r->change(t->r->context, &t->view, t->name[i]);
	}
}

static void seconds_if(struct trial *t, const char *name, double factor, double seconds[2])
{
	profile_try(&t->view, name, factor, t->name, t->count);
	tell(t);
	follow_law(t);
	for (int rival = 0; rival < 2; rival++) {
		seconds[rival] = t->r->seconds_of(t->r->context, rival);
		if (isnan(seconds[rival]))
			seconds[rival] = INFINITY;
	}
	tell(t);
	profile_try_end(&t->view, t->r->profile, t->name, t->count);
}

static bool tips(struct trial *t, const char *name, double factor)
{
	double seconds[2];

	seconds_if(t, name, factor, seconds);
	return seconds[1] < seconds[0];
}

/* The factor from which on the rival wins, to half a percent. `within` does not tip the choice,
 * `beyond` does. */
static double tipping_point(struct trial *t, const char *name, double within, double beyond)
{
	static const double enough = 1.005;

	while (fmax(within, beyond) > enough * fmin(within, beyond)) {
		const double middle = sqrt(within * beyond);
		*(tips(t, name, middle) ? &beyond : &within) = middle;
	}
	return beyond;
}

/* A parameter that tips the choice within this factor, or within that of a smaller change that
 * another one needs. */
static const double farthest = 8;

static void try_tipping(struct trial *t, struct sensitivity *s, const char *name)
{
	const double least = s->tipping_name ? exp(fabs(log(s->tipping))) : farthest,
	             factor[] = {least, 1 / least};

	for (size_t i = 0; i < ARRAY_LEN(factor); i++) {
		if (!tips(t, name, factor[i]))
			continue;
		const double point = tipping_point(t, name, 1, factor[i]);
		if (s->tipping_name && fabs(log(point)) >= fabs(log(s->tipping)))
			continue;
		s->tipping_name = name;
		s->tipping = point;
	}
}

static void try_lead(struct trial *t, struct sensitivity *s, const char *name)
{
	static const double more = 1.1;
	const double *before = t->r->seconds;
	double seconds[2];

	seconds_if(t, name, more, seconds);
	const double change = seconds[1] / seconds[0] / (before[1] / before[0]) - 1;
	if (!(fabs(change) > fabs(s->lead)) || !isfinite(change))
		return;
	s->name = name;
	s->lead = change;
	s->time = seconds[0] / before[0] - 1;
}

/* Timings of known work come last: the hardware rows behind them say more. */
static void try_parameters(struct trial *t, struct sensitivity *s, bool known_work)
{
	const bool lead = !s->name, tipping = !s->tipping_name;

	for (size_t i = 0; i < t->count; i++) {
		if (is_exact(t->name[i]) || (first_row(t, t->name[i])->hardware > 0) != known_work)
			continue;
		if (lead)
			try_lead(t, s, t->name[i]);
		if (tipping)
			try_tipping(t, s, t->name[i]);
	}
}

struct sensitivity sensitivity_of(const struct rivals *r)
{
	struct trial *t = xcalloc(1, sizeof *t);
	struct sensitivity found = {0};

	t->r = r;
	t->view = profile_view(r->profile);
	for (int rival = 0; rival < 2; rival++) {
		add_parameters(t, r->model[rival]);
		add_parameters(t, r->law[rival]);
	}
	for (size_t i = 0; i < t->count; i++)
		t->apart[i] = r->read_at && first_row(t, t->name[i])->hardware > 0 &&
		              r->read_at(r->context, t->name[i]);
	t->law = efficiency_hardware_new(&t->view);
	try_parameters(t, &found, false);
	try_parameters(t, &found, true);
	found.timing = found.name && is_timing(t, found.name);
	found.tipping_timing = found.tipping_name && is_timing(t, found.tipping_name);
	efficiency_hardware_free(t->law);
	profile_view_free(&t->view);
	free(t);
	return found;
}
