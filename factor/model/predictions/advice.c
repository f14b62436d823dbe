/* SPDX-License-Identifier: MIT */
#include "advice.h"

#include "factor/algorithms/panel_getrf.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- asking the model ---- */

static const unsigned all_but_transfer = ((1u << PHASE_COUNT) - 1) & ~(1u << PHASE_TRANSFER);

/* Adds the transfers of the host variant: from the device and back. */
static bool add_transfer(const struct profile *profile, const struct question *question,
        struct prediction *prediction)
{
	struct prediction transfer;

	if (!model_predict_without(profile, MODEL_CUDA, "host", question->m, question->n,
	            question->precision, 2, all_but_transfer, &transfer)) {
		prediction->fault = transfer.fault;
		return false;
	}
	prediction->seconds += transfer.seconds;
	prediction->low += transfer.low;
	prediction->high += transfer.high;
	for (int t = 0; t < TERM_COUNT; t++)
		prediction->parts.term[t] += transfer.parts.term[t];
	for (int t = 0; t < TERM_COUNT; t++)
		if (prediction->parts.term[t] > prediction->parts.term[prediction->parts.limiter])
			prediction->parts.limiter = (enum term)t;
	return true;
}

static void ask(
        const struct profile *profile, const struct question *question, struct answer *answer)
{
	answer->possible = model_predict(profile, answer->target, answer->variant, question->m,
	        question->n, question->precision, 2, &answer->prediction);
	if (answer->possible && answer->target == MODEL_CUDA && question->from_host)
		answer->possible = add_transfer(profile, question, &answer->prediction);
}

static int faster_first(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;
	if (x->possible != y->possible)
		return x->possible ? -1 : 1;
	double s = x->prediction.seconds, t = y->prediction.seconds;
	return x->possible ? (s > t) - (s < t) : 0;
}

size_t advice_ask(const struct profile *profile, const struct question *question, bool has_gpu,
        struct answer answer[ADVICE_ANSWERS])
{
	size_t count = 0;

	for (const char *const *v = panel_getrf_variants; *v && has_gpu; v++)
		if (!question->from_host || strcmp(*v, "host") != 0)
			answer[count++] = (struct answer){.target = MODEL_CUDA, .variant = *v};
	if (question->from_host) {
		answer[count++] = (struct answer){.target = MODEL_HOST, .variant = "blas"};
		answer[count++] = (struct answer){.target = MODEL_HOST, .variant = "host"};
	}
	for (size_t i = 0; i < count; i++)
		ask(profile, question, &answer[i]);
	qsort(answer, count, sizeof *answer, faster_first);
	return count;
}

/* ---- sensitivity ---- */

/* Seconds of the variant, as `ask` predicts them. */
static double seconds_of(
        const struct profile *profile, const struct question *question, const struct answer *answer)
{
	double seconds = model_seconds_without(profile, answer->target, answer->variant,
	        question->m, question->n, question->precision, 0);

	if (answer->target == MODEL_CUDA && question->from_host)
		seconds += model_seconds_without(profile, MODEL_CUDA, "host", question->m,
		        question->n, question->precision, all_but_transfer);
	return seconds;
}

static double seconds_if(const struct profile *profile, const struct question *question,
        const struct answer *answer, const char *name, double factor)
{
	struct profile scaled = *profile;

	scaled.row = xmalloc(profile->count * sizeof *scaled.row);
	memcpy(scaled.row, profile->row, profile->count * sizeof *scaled.row);
	profile_scale_rows(&scaled, name, factor);
	const double seconds = seconds_of(&scaled, question, answer);
	free(scaled.row);
	return isnan(seconds) ? INFINITY : seconds;
}

/* Sizes of the machine are exact. */
static bool is_measured(const char *name)
{
	static const char *const exact[] = {"gpu.compute_capability", "gpu.sm.count",
	        "gpu.sm.threads", "gpu.sm.blocks", "gpu.shared.per_block", "gpu.l2.stated"};

	for (size_t i = 0; i < ARRAY_LEN(exact); i++)
		if (strcmp(name, exact[i]) == 0)
			return false;
	return true;
}

/* A choice, the next best one, and the sensitivity found so far. */
struct rivals {
	const struct profile *profile;
	const struct question *question;
	const struct answer *choice, *rival;
	struct sensitivity found;
};

static bool tips(const struct rivals *r, const char *name, double factor)
{
	return seconds_if(r->profile, r->question, r->rival, name, factor) <
	       seconds_if(r->profile, r->question, r->choice, name, factor);
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
static void try_parameters(
        struct rivals *r, const struct model *model, double within, double factor)
{
	struct sensitivity *s = &r->found;

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

static void find_most_sensitive(struct rivals *r, const struct model *model)
{
	static const double more = 1.1;
	const double lead = r->rival->prediction.seconds / r->choice->prediction.seconds;

	for (size_t u = 0; u < model->used_count; u++) {
		const char *name = model->used[u];
		if (!is_measured(name))
			continue;
		const double mine = seconds_if(r->profile, r->question, r->choice, name, more),
		             theirs = seconds_if(r->profile, r->question, r->rival, name, more),
		             change = theirs / mine / lead - 1;
		if (isfinite(change) && (!r->found.name || fabs(change) > fabs(r->found.lead))) {
			r->found.name = name;
			r->found.lead = change;
			r->found.time = mine / r->choice->prediction.seconds - 1;
		}
	}
}

struct sensitivity advice_sensitivity(const struct profile *profile,
        const struct question *question, const struct answer *choice, const struct answer *rival)
{
	static const double steps[] = {1, 1.1, 1.25, 1.5, 2, 4, 8};
	const struct model *models[] = {&choice->prediction.model, &rival->prediction.model};
	struct rivals r = {profile, question, choice, rival, {0}};

	for (size_t m = 0; m < ARRAY_LEN(models); m++)
		find_most_sensitive(&r, models[m]);
	for (size_t i = 1; i < ARRAY_LEN(steps) && !r.found.tipping_name; i++)
		for (size_t m = 0; m < ARRAY_LEN(models); m++) {
			try_parameters(&r, models[m], steps[i - 1], steps[i]);
			try_parameters(&r, models[m], 1 / steps[i - 1], 1 / steps[i]);
		}
	return r.found;
}
