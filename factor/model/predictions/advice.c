/* SPDX-License-Identifier: MIT */
#include "advice.h"

#include "factor/algorithms/panel_getrf.h"
#include "lib/base/msg.h"

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

/* A choice and its rival, each the panel and, as `ask` adds them, the transfers of the host
 * variant; NULL: none. */
struct pair {
	struct model_panel *panel[2][2];
};

static void change(const void *context, const struct profile *profile, const char *name)
{
	const struct pair *pair = context;

	for (int i = 0; i < 4; i++) {
		struct model_panel *panel = pair->panel[i / 2][i % 2];
		struct cost_reader *reader = panel ? model_panel_reader(panel) : NULL;
		if (!panel)
			continue;
		cost_reader_change(reader, profile, name);
		cost_hardware_change(reader->hardware, profile, name);
	}
}

static bool read_at(const void *context, const char *name)
{
	const struct pair *pair = context;
	bool any = false;

	for (int i = 0; i < 2; i++)
		any |= cost_read_at(model_panel_reader(pair->panel[i][0]), name);
	return any;
}

static double seconds_of(const void *context, int rival)
{
	struct model_panel *const *panel = ((const struct pair *)context)->panel[rival];

	return model_panel_seconds(panel[0]) + (panel[1] ? model_panel_seconds(panel[1]) : 0);
}

struct sensitivity advice_sensitivity(const struct profile *profile,
        const struct question *question, const struct answer *choice, const struct answer *rival)
{
	const struct answer *answer[] = {choice, rival};
	struct rivals rivals = {
	        .profile = profile, .change = change, .seconds_of = seconds_of, .read_at = read_at};
	struct pair pair = {{{NULL}}};

	rivals.context = &pair;
	for (int i = 0; i < 2; i++) {
		const struct answer *a = answer[i];
		pair.panel[i][0] = model_panel_new(profile, a->target, a->variant, question->m,
		        question->n, question->precision, 0);
		if (a->target == MODEL_CUDA && question->from_host)
			pair.panel[i][1] = model_panel_new(profile, MODEL_CUDA, "host", question->m,
			        question->n, question->precision, all_but_transfer);
		rivals.seconds[i] = seconds_of(&pair, i);
		rivals.model[i] = &a->prediction.model;
		rivals.law[i] = model_panel_reader(pair.panel[i][0])->hardware->model;
	}
	const struct sensitivity found = sensitivity_of(&rivals);
	for (int i = 0; i < 4; i++)
		model_panel_free(pair.panel[i / 2][i % 2]);
	return found;
}
