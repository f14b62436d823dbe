/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *path_of(const struct measure *measure, const char *name)
{
	return xasprintf("%s/%s", measure->common.output, name);
}

static bool same_meta(const struct table *a, const struct table *b, const char *key)
{
	const char *x = table_meta(a, key), *y = table_meta(b, key);
	return x && y && strcmp(x, y) == 0;
}

bool measure_continues(const struct measure *measure, const struct table *old,
        const struct table *fresh, const char *key, const char *path, size_t rows)
{
	if (measure->again || !same_meta(old, fresh, "fathom") ||
	        !same_meta(old, fresh, "machine") || (key && !same_meta(old, fresh, key))) {
		if (!measure->again)
			msg_warn("starting afresh: %s is of another version, machine%s", path,
			        key ? " or predictions" : "");
		return false;
	}
	msg_warn("%s: %zu rows kept (--again measures them again)", path, rows);
	return true;
}

static void read_predictions(struct measure *measure, const struct study *study, char sha[65])
{
	char *source = path_of(measure, study->source);

	measure->predictions = results_read(source, &measure->fault);
	if (!measure->predictions || !table_sha256(source, sha, &measure->fault))
		msg_die(EXIT_MEASURE_FAILED, "%s; run %s first", measure->fault.text,
		        study->remedy);
	free(source);
}

/* Stamped rows: those that the file has of this program, machine and predictions. */
static void open_results(struct measure *measure, const struct study *study, const char *sha)
{
	struct results *fresh = measure->results = results_new(), *old;
	const char *key = study->source ? "predictions_sha256" : NULL;

	measure_stamp(measure, fresh->table);
	if (key)
		table_meta_set(fresh->table, key, "%s", sha);
	if (!study->continues || measure->again || access(measure->path, F_OK) != 0)
		return;
	old = results_read(measure->path, &measure->fault);
	if (!old)
		msg_warn("starting afresh: %s", measure->fault.text);
	else if (measure_continues(
	                 measure, old->table, fresh->table, key, measure->path, old->count))
		results_append(fresh, old);
	results_free(old);
	measure->kept = fresh->count;
}

void measure_save(struct measure *measure)
{
	if (!results_write(measure->results, measure->path, &measure->fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", measure->fault.text);
}

bool measure_over(const struct measure *measure)
{
	return *measure->plan.stop || clock_now() - measure->start > measure->budget;
}

bool measure_in_time(struct measure *measure)
{
	const bool over = measure_over(measure);

	measure->late += over && !*measure->plan.stop;
	return !over;
}

static void say(const struct measure *measure, const struct study *study)
{
	const struct results *results = measure->results;

	msg_progress_end();
	if (results->count && study->print)
		study->print(results, stdout);
	if (results->count)
		printf("%s: %zu rows, %zu disturbed, %zu refused, %zu failed, %.0f s\n",
		        measure->path, results->count, results_count_disturbed(results),
		        measure->refused, measure->failed, clock_now() - measure->start);
	if (*measure->plan.stop)
		msg_warn("interrupted: all rows so far are kept%s",
		        study->continues ? "; the same command continues" : "");
	else if (measure->late)
		msg_warn("the budget of %.0f s is spent: %zu shapes are not measured%s",
		        measure->budget, measure->late,
		        study->continues ? "; the same command continues" : "");
}

int measure_study(struct measure *measure, const struct study *study)
{
	char sha[65] = "", *profile = path_of(measure, "profile.tsv");

	if (measure->budget <= 0)
		measure->budget = study->budget;
	if (study->source)
		read_predictions(measure, study, sha);
	measure_open(measure);
	measure->path = path_of(measure, study->file);
	open_results(measure, study, sha);
	measure->profile = profile_read(profile, &measure->fault);
	measure->start = clock_now();
	study->measure(measure);
	say(measure, study);
	const bool all =
	        !measure->failed && !*measure->plan.stop && (study->continues || !measure->late);
	results_free(measure->predictions);
	results_free(measure->results);
	profile_free(measure->profile);
	free(measure->path);
	free(profile);
	measure_close(measure);
	return all ? EXIT_DONE : EXIT_MEASURE_FAILED;
}
