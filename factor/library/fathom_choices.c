/* SPDX-License-Identifier: MIT */
#include "fathom_choices.h"

#include "lib/base/msg.h"
#include "factor/model/predictions/model_update.h"

#include <stdlib.h>

enum { KEPT = 256, K_PARTS = 16, SIZE_STEPS = 32 };

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

/* Five significant bits. */
static int64_t rounded(int64_t x)
{
	int64_t step = 1;

	while (x >= SIZE_STEPS * step)
		step *= 2;
	return (x + step / 2) / step * step;
}

static struct update_question round_question(const struct update_question *asked)
{
	bool rows = asked->change == QR_ADD_ROWS || asked->change == QR_REMOVE_ROWS;
	struct update_question q = *asked;
	int64_t whole = rows ? q.m : q.n, part = (q.k * K_PARTS + whole / 2) / whole;

	q.m = rounded(q.m);
	q.n = rounded(q.n);
	q.p = rounded(q.p);
	q.k = part * (rows ? q.m : q.n) / K_PARTS;
	return q;
}

static bool predict(const struct choices *choices, const struct update_question *asked,
        struct choice *made, struct fault *fault)
{
	struct prediction one, other;

	if (!model_update_predict(choices->profile, MODEL_CUDA, asked, &one))
		return fault_set(fault, "no prediction of the change: %s", one.fault.text);
	if (!model_refactor_predict(choices->profile, MODEL_CUDA, asked, &other))
		return fault_set(fault, "no prediction of the factorization: %s", other.fault.text);
	made->update = one.seconds <= other.seconds;
	return true;
}

bool choices_update(struct choices *choices, const struct update_question *asked, bool *update,
        struct fault *fault)
{
	struct choice made = {.question = round_question(asked)};
	const struct choice *known = find(choices, &made.question);

	if (known) {
		*update = known->update;
		return true;
	}
	/* Rounded sizes may be impossible where there is hardly room: ask for the exact ones then.
	 */
	if (!predict(choices, &made.question, &made, fault) &&
	        !predict(choices, asked, &made, fault))
		return false;
	choices->kept[choices->made++ % KEPT] = made;
	*update = made.update;
	return true;
}
