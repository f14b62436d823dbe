/* SPDX-License-Identifier: MIT */
#include "advise.h"

#include "factor/model/efficiency/efficiency_class.h"
#include "factor/model/predictions/sensitivity.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct form_answer {
	enum law_form form;
	bool own;                        /* as the user described it */
	struct kernel_work *work;        /* with efficiencies in this form */
	enum efficiency_class class;     /* of the longest work */
	struct law_answer law, hardware; /* with them, and at 1 */
	struct model model;              /* parameters read */
};

void kernel_describe(struct kernel_request *request)
{
	struct kernel_counters *d = &request->described;
	struct fault fault;

	if (request->file && request->ncu)
		msg_die(EXIT_BAD_USAGE, "--file and --ncu both describe the kernel: give one");
	if (request->ncu) {
		if (!kernel_counters_read(request->ncu, true, d, &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	} else {
		struct kernel_work *work = xcalloc(KERNELS_OF_A_FILE, sizeof *work);
		*d = (struct kernel_counters){.work = work, .count = 1, .measured = NAN};
		work->launches = 1;
		if (request->file)
			d->count = kernel_read_file(work, request->file, &fault);
		if (d->count == 0)
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	}
	for (size_t i = 0; i < d->count; i++)
		if (!kernel_set_texts(&d->work[i], &request->texts, &fault) ||
		        !kernel_complete(&d->work[i], &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
}

/* ---- the forms ---- */

static int faster_first(const void *a, const void *b)
{
	const double x = ((const struct form_answer *)a)->law.seconds,
	             y = ((const struct form_answer *)b)->law.seconds;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

/* Every form by a reader of its own, so that each knows its own parameters. */
static void ask(const struct profile *profile, const struct efficiency_classes *classes,
        const struct kernel_counters *d, struct form_answer answer[FORM_COUNT])
{
	struct cost_reader *reader = xmalloc(sizeof *reader);
	enum law_form own = law_own_form(&d->work[0]);

	for (int f = 0; f < FORM_COUNT; f++) {
		struct form_answer *a = &answer[f];
		cost_reader_start(reader, profile);
		*a = (struct form_answer){.form = (enum law_form)f, .own = f == (int)own};
		a->work = xmalloc(d->count * sizeof *a->work);
		memcpy(a->work, d->work, d->count * sizeof *a->work);
		a->hardware = law_answer_in_form(reader, d->work, d->count, a->form);
		a->class = efficiency_class_set(reader, classes, a->work, d->count, a->form);
		a->law = law_answer_in_form(reader, a->work, d->count, a->form);
		if (!isnan(a->law.seconds))
			law_interval(reader, a->work, d->count, a->form, &a->law);
		a->model = reader->model;
	}
	free(reader);
	qsort(answer, FORM_COUNT, sizeof *answer, faster_first);
}

/* What sensitivity_of asks: two forms, by a reader with all that does not change. */
struct pair {
	size_t count; /* of works */
	const struct form_answer *answer;
	struct cost_reader *reader[2];
};

static void change(const void *context, const struct profile *profile, const char *name)
{
	const struct pair *pair = context;

	for (int i = 0; i < 2; i++)
		cost_reader_change(pair->reader[i], profile, name);
}

static double seconds_of(const void *context, int rival)
{
	const struct pair *pair = context;
	struct cost_reader *reader = pair->reader[rival];

	reader->model.missing = false;
	const struct form_answer *a = &pair->answer[rival];
	return law_answer_in_form(reader, a->work, pair->count, a->form).seconds;
}

static struct sensitivity sensitivity(
        const struct profile *profile, size_t count, const struct form_answer *answer)
{
	struct pair pair = {count, answer, {NULL}};
	struct rivals rivals = {
	        .profile = profile, .change = change, .seconds_of = seconds_of, .context = &pair};

	for (int i = 0; i < 2; i++) {
		pair.reader[i] = xmalloc(sizeof *pair.reader[i]);
		cost_reader_start(pair.reader[i], profile);
		rivals.model[i] = &answer[i].model;
		rivals.seconds[i] = answer[i].law.seconds;
	}
	const struct sensitivity found = sensitivity_of(&rivals);
	for (int i = 0; i < 2; i++)
		free(pair.reader[i]);
	return found;
}

/* ---- output ---- */

static const struct form_answer *own_form(const struct form_answer answer[FORM_COUNT])
{
	for (int f = 0; f < FORM_COUNT; f++)
		if (answer[f].own)
			return &answer[f];
	return answer;
}

static struct table *answer_table(const struct kernel_counters *d,
        const struct efficiency_classes *classes, const struct form_answer answer[FORM_COUNT])
{
	static const char *const first[] = {"form", "seconds", "low", "high", "chosen", "described",
	        "limiter", "hardware_seconds", "class", "efficiency", "points", "device_seconds",
	        "kernel_seconds", "measured_seconds"};
	const char *columns[ARRAY_LEN(first) + LAW_TERMS + 1];
	size_t width = 0;

	for (size_t c = 0; c < ARRAY_LEN(first); c++)
		columns[width++] = first[c];
	for (int t = 0; t < LAW_TERMS; t++)
		columns[width++] = law_term_name[t];
	columns[width++] = "reason";
	struct table *table = table_new(columns, width);
	for (int f = 0; f < FORM_COUNT; f++) {
		const struct law_answer *law = &answer[f].law;
		const size_t r = table_add_row(table);
		table_set_text(table, r, "form", law_form_name[answer[f].form]);
		table_set_int(table, r, "described", answer[f].own);
		if (isnan(law->seconds)) {
			table_set_text(table, r, "reason", law->fault.text);
			continue;
		}
		table_set_real(table, r, "seconds", law->seconds);
		table_set_real(table, r, "low", law->low);
		table_set_real(table, r, "high", law->high);
		table_set_int(table, r, "chosen", f == 0);
		table_set_text(table, r, "limiter", law_term_name[law->limiter]);
		table_set_real(table, r, "hardware_seconds", answer[f].hardware.seconds);
		table_set_text(table, r, "class", efficiency_class_name[answer[f].class]);
		table_set_real(table, r, "efficiency", classes->of[answer[f].class].efficiency);
		table_set_int(table, r, "points", (int64_t)classes->of[answer[f].class].points);
		table_set_real(table, r, "device_seconds", law->device);
		table_set_real(table, r, "kernel_seconds", law->body);
		if (answer[f].own)
			table_set_real(table, r, "measured_seconds", d->measured);
		for (int t = 0; t < LAW_TERMS; t++)
			table_set_real(table, r, law_term_name[t], law->term[t]);
	}
	return table;
}

static void print_forms(const struct form_answer answer[FORM_COUNT], FILE *out)
{
	fprintf(out, "  %-12s %12s  %-23s %-11s %s\n", "form", "us", "95 % interval", "limiter",
	        "of that");
	for (int f = 0; f < FORM_COUNT; f++) {
		const struct law_answer *law = &answer[f].law;
		char interval[48];
		if (isnan(law->seconds)) {
			fprintf(out, "  %-12s refused: %s\n", law_form_name[answer[f].form],
			        law->fault.text);
			continue;
		}
		snprintf(
		        interval, sizeof interval, "%.2f .. %.2f", law->low * 1e6, law->high * 1e6);
		fprintf(out, "%c %-12s %12.2f  %-23s %-11s %.0f %%%s\n", f ? ' ' : '*',
		        law_form_name[answer[f].form], law->seconds * 1e6, interval,
		        law_term_name[law->limiter], 100 * law->term[law->limiter] / law->seconds,
		        answer[f].own ? "  (as described)" : "");
	}
}

static void print_terms(const struct form_answer *own, FILE *out)
{
	const char *between = "";

	if (isnan(own->law.seconds))
		return;
	fprintf(out, "\nTerms of %s, each as if alone:", law_form_name[own->form]);
	for (int t = 0; t < LAW_TERMS; t++) {
		if (!(own->law.term[t] > 0))
			continue;
		fprintf(out, "%s %s %.3g us (%.0f %%)", between, law_term_name[t],
		        own->law.term[t] * 1e6, 100 * own->law.term[t] / own->law.seconds);
		between = ",";
	}
	fprintf(out, ".\n");
}

/* What the hardware says, and what kernels of the class reach of it. */
static void print_class(
        const struct form_answer *own, const struct efficiency_classes *classes, FILE *out)
{
	const struct class_default *d = &classes->of[own->class];

	if (isnan(own->law.seconds))
		return;
	fprintf(out, "The hardware alone: %.2f us. ", own->hardware.seconds * 1e6);
	if (d->points == 0)
		fprintf(out, "No default efficiency: there is no calibration.\n");
	else
		fprintf(out,
		        "With the efficiency %.2f of its class (%s: median of %zu points of our "
		        "kernels%s, 95 %% of them %.2f to %.2f): %.2f us.\n",
		        d->efficiency, efficiency_class_name[own->class], d->points,
		        d->of_all ? " of all classes, since its own has too few" : "", d->low,
		        d->high, own->law.seconds * 1e6);
}

static void print_choice(const struct profile *profile, size_t works,
        const struct form_answer answer[FORM_COUNT], FILE *out)
{
	const struct law_answer *best = &answer[0].law, *next = &answer[1].law;
	const char *rival = law_form_name[answer[1].form];

	fprintf(out, "Choice: %s, limited by %s%s.\n", law_form_name[answer[0].form],
	        law_term_name[best->limiter],
	        answer[0].model.extrapolated ? "; some parameters are extrapolated" : "");
	if (isnan(next->seconds))
		return;
	fprintf(out, "Next best: %s, %.2f times as long%s.\n", rival, next->seconds / best->seconds,
	        next->low <= best->high ? "; the intervals overlap" : "");
	const struct sensitivity s = sensitivity(profile, works, answer);
	if (s.tipping_name)
		fprintf(out, "The choice tips to %s when %s is %.2f times what was measured.\n",
		        rival, s.tipping_name, s.tipping);
	else
		fprintf(out, "No single parameter within a factor of 8 tips the choice.\n");
}

static void print_measured(
        const struct kernel_counters *d, const struct form_answer *own, FILE *out)
{
	if (d->lacking[0])
		fprintf(out, "The file has no counters of these, which count as none: %s.\n",
		        d->lacking);
	if (isnan(d->measured) || isnan(own->law.seconds))
		return;
	fprintf(out, "Measured by ncu%s%s", d->machine[0] ? ", " : "", d->machine);
	if (d->clock > 0)
		fprintf(out, ", at %.3g GHz", d->clock / 1e9);
	fprintf(out,
	        ": %.2f us without launches; the hardware law for this machine: %.2f us, %.0f %% "
	        "of "
	        "it.\n",
	        d->measured * 1e6, own->hardware.body * 1e6,
	        100 * own->hardware.body / d->measured);
}

static void print_kernel(const struct kernel_counters *d, const struct form_answer *own, FILE *out)
{
	const struct kernel_work *w = &d->work[0];
	const struct law_place *p = &own->law.place;

	fprintf(out, "%s%s%.0f launch%s of %.0f block%s of %.0f threads", d->name,
	        d->name[0] ? ": " : "", w->launches, w->launches == 1 ? "" : "es", w->blocks,
	        w->blocks == 1 ? "" : "s", w->threads);
	if (p->resident >= 1 && p->waves >= 1)
		fprintf(out, ", %.0f resident on a multiprocessor, %.0f round%s", p->resident,
		        p->waves, p->waves == 1 ? "" : "s");
	if (d->count > 1)
		fprintf(out, "; and %zu more kernel%s or grid%s", d->count - 1,
		        d->count == 2 ? "" : "s", d->count == 2 ? "" : "s");
	fprintf(out, "\n");
}

void advise_kernel(struct kernel_request *request, const struct profile_context *context)
{
	struct kernel_counters *d = &request->described;
	struct form_answer answer[FORM_COUNT];
	const struct efficiency_classes classes = efficiency_classes_of(context->measured);

	if (!profile_has(context->profile, "gpu."))
		msg_die(EXIT_MEASURE_FAILED, "%s: its profile has no GPU: name another --machine",
		        context->choice);
	ask(context->profile, &classes, d, answer);
	if (context->common.json) {
		struct table *table = answer_table(d, &classes, answer);
		profile_context_stamp(table, context);
		table_meta_set(table, "question", "kernel %s", d->name);
		cli_write_json(table, "kernel");
		table_free(table);
	} else {
		FILE *out = wrap_open();
		print_kernel(d, own_form(answer), out);
		advise_describe(context, out);
		fputc('\n', out);
		print_forms(answer, out);
		print_terms(own_form(answer), out);
		print_class(own_form(answer), &classes, out);
		if (!isnan(answer[0].law.seconds))
			print_choice(context->profile, d->count, answer, out);
		print_measured(d, own_form(answer), out);
		wrap_close(out, stdout);
	}
	free(d->work);
	for (int f = 0; f < FORM_COUNT; f++)
		free(answer[f].work);
	if (isnan(answer[0].law.seconds))
		msg_die(EXIT_MEASURE_FAILED, "no form can be predicted here: %s",
		        own_form(answer)->law.fault.text);
}
