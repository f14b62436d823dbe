/* SPDX-License-Identifier: MIT */
#include "advise_update.h"

#include <math.h>
#include <string.h>

size_t update_ask(const struct profile *profile, enum model_target target, const char *change,
        const struct update_question *asked, struct update_answer answer[UPDATE_CHANGES])
{
	size_t count = 0;

	for (int c = 0; c < UPDATE_CHANGES; c++) {
		if (change && strcmp(change, qr_change_name[c]) != 0)
			continue;
		struct update_answer *a = &answer[count++];
		a->question = *asked;
		a->question.change = (enum qr_change)c;
		model_update_predict(profile, target, &a->question, &a->update);
		model_refactor_predict(profile, target, &a->question, &a->refactor);
	}
	return count;
}

static const char *reason(const struct update_answer *a)
{
	return isnan(a->update.seconds)     ? a->update.fault.text
	       : isnan(a->refactor.seconds) ? a->refactor.fault.text
	                                    : NULL;
}

static const char *choice(const struct update_answer *a)
{
	return a->update.seconds < a->refactor.seconds ? "update" : "refactor";
}

void update_print(const struct update_answer *answer, size_t count, FILE *out)
{
	fprintf(out, "  %-16s %12s %12s %8s  %s\n", "change", "update us", "refactor us", "speedup",
	        "choice");
	for (size_t i = 0; i < count; i++) {
		const struct update_answer *a = &answer[i];
		const char *name = qr_change_name[a->question.change];
		if (reason(a)) {
			fprintf(out, "  %-16s not possible: %s\n", name, reason(a));
			continue;
		}
		fprintf(out, "  %-16s %12.1f %12.1f %8.2f  %s\n", name, a->update.seconds * 1e6,
		        a->refactor.seconds * 1e6, a->refactor.seconds / a->update.seconds,
		        choice(a));
	}
	fprintf(out,
	        "\nPredicted times up to the least-squares solution. Refactoring copies A, uses "
	        "the default plan and makes the same Q.\n");
}

struct table *update_table(const struct update_answer *answer, size_t count)
{
	static const char *const columns[] = {
	        "change", "q", "m", "n", "k", "p", "update", "refactor", "choice", "reason"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++) {
		const struct update_answer *a = &answer[i];
		const struct update_question *q = &a->question;
		size_t r = table_add_row(table);
		table_set_text(table, r, "change", qr_change_name[q->change]);
		table_set_text(table, r, "q", q_kept_name[q->kept]);
		table_set_int(table, r, "m", q->m);
		table_set_int(table, r, "n", q->n);
		table_set_int(table, r, "k", q->k);
		table_set_int(table, r, "p", q->p);
		table_set_real(table, r, "update", a->update.seconds);
		table_set_real(table, r, "refactor", a->refactor.seconds);
		table_set_text(table, r, reason(a) ? "reason" : "choice",
		        reason(a) ? reason(a) : choice(a));
	}
	return table;
}
