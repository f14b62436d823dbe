/* SPDX-License-Identifier: MIT */
#include "fathom_choices.h"

#include "../../lib/msg.h"
#include "../model/model_update.h"

#include <stdlib.h>

enum { KEPT = 64 };

struct choices {
	struct profile *profile;
	struct choice {
		struct update_question question;
		bool update;
	} kept[KEPT]; /* taken in turn */
	int64_t made;
};

struct choices *choices_new(const char *profile_path, struct fault *fault)
{
	struct profile *profile = profile_read(profile_path, fault);

	if (!profile)
		return NULL;
	struct choices *choices = xcalloc(1, sizeof *choices);
	choices->profile = profile;
	return choices;
}

void choices_free(struct choices *choices)
{
	if (!choices)
		return;
	profile_free(choices->profile);
	free(choices);
}

static bool same(const struct update_question *a, const struct update_question *b)
{
	return a->change == b->change && a->kept == b->kept && a->m == b->m && a->n == b->n &&
	       a->k == b->k && a->p == b->p && a->sides == b->sides && a->precision == b->precision;
}

static const struct choice *find(const struct choices *choices, const struct update_question *asked)
{
	for (int64_t i = 0; i < choices->made && i < KEPT; i++)
		if (same(&choices->kept[i].question, asked))
			return &choices->kept[i];
	return NULL;
}

bool choices_update(struct choices *choices, const struct update_question *asked, bool *update,
        struct fault *fault)
{
	const struct choice *known = find(choices, asked);
	struct prediction one, other;

	if (known) {
		*update = known->update;
		return true;
	}
	if (!model_update_predict(choices->profile, MODEL_CUDA, asked, &one))
		return fault_set(fault, "no prediction of the change: %s", one.fault.text);
	if (!model_refactor_predict(choices->profile, MODEL_CUDA, asked, &other))
		return fault_set(fault, "no prediction of the factorization: %s", other.fault.text);
	*update = one.seconds <= other.seconds;
	choices->kept[choices->made++ % KEPT] = (struct choice){*asked, *update};
	return true;
}
