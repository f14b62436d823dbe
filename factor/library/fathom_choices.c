/* SPDX-License-Identifier: MIT */
#include "fathom_choices.h"

#include "lib/base/msg.h"
#include "factor/model/efficiency/efficiency.h"
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

struct reading {
	const char *path;
	struct fault *fault;
	struct choices *choices; /* NULL with the fault: the profile is not readable */
};

static void read_choices(void *context)
{
	struct reading *r = context;
	struct profile *profile = profile_read(r->path, r->fault);

	if (!profile)
		return;
	efficiency_prepare(profile);
	r->choices = xcalloc(1, sizeof *r->choices);
	r->choices->profile = profile;
}

struct choices *choices_new(const char *profile_path, struct fault *fault)
{
	struct reading r = {profile_path, fault, NULL};

	return msg_guard_memory(read_choices, &r, fault) ? r.choices : NULL;
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

struct asking {
	const struct choices *choices;
	const struct update_question *asked;
	struct choice made;
	struct fault *fault;
	bool good;
};

/* Rounded sizes may be impossible where there is hardly room: ask for the exact ones then. */
static void ask(void *context)
{
	struct asking *a = context;

	a->good = predict(a->choices, &a->made.question, &a->made, a->fault) ||
	          predict(a->choices, a->asked, &a->made, a->fault);
}

bool choices_update(struct choices *choices, const struct update_question *asked, bool *update,
        struct fault *fault)
{
	struct asking a = {choices, asked, {.question = round_question(asked)}, fault, false};
	const struct choice *known = find(choices, &a.made.question);

	if (known) {
		*update = known->update;
		return true;
	}
	if (!msg_guard_memory(ask, &a, fault) || !a.good)
		return false;
	choices->kept[choices->made++ % KEPT] = a.made;
	*update = a.made.update;
	return true;
}
