/* SPDX-License-Identifier: MIT */
#include "advise.h"

#include "lib/base/msg.h"
#include "lib/base/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of the widest change that is simulated. */
enum { MOST_COLUMNS = 131072 };

void update_question_check(const struct update_question *asked)
{
	if (asked->m == 0 || asked->n == 0 || asked->p == 0)
		msg_die(EXIT_BAD_USAGE,
		        "give the factorization's size and how much changes: --m ROWS --n COLUMNS "
		        "--p COUNT");
	if (asked->m < asked->n)
		msg_die(EXIT_BAD_USAGE,
		        "give at least as many rows as columns: m = "
		        "%" PRId64 ", n = %" PRId64,
		        asked->m, asked->n);
	if (asked->n + asked->p > MOST_COLUMNS)
		msg_die(EXIT_BAD_USAGE,
		        "%" PRId64 " columns and %" PRId64
		        " rows or columns that change: give at most %d together",
		        asked->n, asked->p, MOST_COLUMNS);
}

struct update_answer {
	struct update_question question;
	struct prediction update, refactor; /* NaN with a fault: impossible, or no cost known */
};

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

static void print_updates(const struct update_answer *answer, size_t count, FILE *out)
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

static struct table *update_table(const struct update_answer *answer, size_t count)
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

void advise_update(const struct update_question *asked, const char *change,
        const struct profile_context *context)
{
	const struct profile *profile = context->profile;
	const enum model_target target =
	        profile_has(profile, "gpu.launch.") ? MODEL_CUDA : MODEL_HOST;
	const bool from_host = asked->from_host && target == MODEL_CUDA;
	struct update_answer answer[UPDATE_CHANGES];
	size_t count = 0, possible = 0;

	for (int c = 0; c < UPDATE_CHANGES; c++) {
		struct update_answer *a = &answer[count];
		if (change && strcmp(change, qr_change_name[c]) != 0)
			continue;
		a->question = *asked;
		a->question.change = (enum qr_change)c;
		a->question.from_host = from_host;
		model_update_predict(profile, target, &a->question, &a->update);
		model_refactor_predict(profile, target, &a->question, &a->refactor);
		possible += reason(a) == NULL;
		count++;
	}
	if (context->common.json) {
		struct table *table = update_table(answer, count);
		profile_context_stamp(table, context);
		table_meta_set(
		        table, "from", "%s", from_host || target == MODEL_HOST ? "host" : "device");
		cli_write_json(table, "update");
		table_free(table);
	} else {
		FILE *out = wrap_open();
		fprintf(out,
		        "QR factorization of %" PRId64 " x %" PRId64
		        ", Q %s, %s precision%s: %" PRId64 " rows or columns at %" PRId64 "\n",
		        asked->m, asked->n, q_kept_name[asked->kept],
		        asked->precision == SINGLE ? "single" : "double",
		        from_host ? ", in host memory" : "", asked->p, asked->k);
		advise_describe(context, out);
		fputc('\n', out);
		print_updates(answer, count, out);
		wrap_close(out, stdout);
	}
	if (!possible)
		msg_die(EXIT_NOT_POSSIBLE, "none of it is possible here: %s", reason(&answer[0]));
}
