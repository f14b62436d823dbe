/* SPDX-License-Identifier: MIT */
/* Makes profile.tsv from recorded curves, by the fit of every probe. Needs no hardware. */
#include "lib/base/cli.h"
#include "lib/probe/probe_fits.h"
#include "lib/probe/probe_kept.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/profile/profile.h"
#include "lib/profile/profile_odd.h"
#include "lib/base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct source {
	const char *name;
	void (*fit)(const struct table *curve, struct profile *profile);
	struct table *curve; /* NULL: not measured */
};

#define PROBE(name) {#name, name##_fit, NULL},
static const struct source sources[] = {
#include "probe_list.h"
};
#undef PROBE

static struct table *read_curve(const char *folder, const char *name)
{
	struct fault fault;
	char *path = xasprintf("%s/%s.tsv", folder, name);
	struct table *curve = NULL;

	if (access(path, F_OK) == 0) {
		curve = curve_read(path, &fault);
		if (!curve)
			msg_die(EXIT_MEASURE_FAILED, "%s; measure it again with fathom %s",
			        fault.text, name);
	} else {
		msg_note("%s does not exist: no parameters of %s", path, name);
	}
	free(path);
	return curve;
}

static const char *said(const struct source *source, const char *key)
{
	const char *value = source->curve ? table_meta(source->curve, key) : NULL;

	return value ? value : "";
}

/* Containers of one host differ in its name, ids of earlier versions hold that name. */
static bool same_host(const struct source *a, const struct source *b)
{
	const char *one = said(a, "machine"), *other = said(b, "machine");
	const size_t length = strcspn(one, "-");

	return strcmp(said(a, "host"), said(b, "host")) == 0 ||
	       (length > 0 && length == strcspn(other, "-") && strncmp(one, other, length) == 0);
}

/* Refuses curves of different machines. */
static void require_one_machine(const struct source *source, const char *key)
{
	const struct source *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const struct source *now = &source[i];
		if (!said(now, key)[0])
			continue;
		if (!first)
			first = now;
		const bool same = strcmp(key, "host") == 0
		                          ? same_host(first, now)
		                          : strcmp(said(first, key), said(now, key)) == 0;
		if (!same)
			msg_die(EXIT_MEASURE_FAILED,
			        "%s.tsv and %s.tsv come from different machines (%s %s and %s): "
			        "measure both on one, or remove one",
			        first->name, now->name, key, said(first, key), said(now, key));
	}
}

/* Copies the machine's keys, first from curves measured on a GPU. */
static void copy_machine(struct table *profile, const struct source *source)
{
	static const char *const key[] = {"machine", "host", "cpu", "gpu", "gpu_uuid",
	        "gpu_locality", "driver", "cuda", "processors", "cpu_quota"};

	for (int want_gpu = 1; want_gpu >= 0; want_gpu--)
		for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
			const struct table *curve = source[i].curve;
			if (!curve || (table_meta(curve, "gpu_uuid") != NULL) != (want_gpu == 1))
				continue;
			for (size_t k = 0; k < ARRAY_LEN(key); k++)
				if (table_meta(curve, key[k]) && !table_meta(profile, key[k]))
					table_meta_set(
					        profile, key[k], "%s", table_meta(curve, key[k]));
		}
}

/* Notes the first and last date of the measurements, the probes of the profile, and whether any run
 * was quick. */
static void note_probes(struct table *profile, const struct source *source)
{
	const char *first = NULL, *last = NULL, *quick = "no";
	char *names = xstrdup("");

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		if (!source[i].curve)
			continue;
		const char *date = said(&source[i], "date");
		if (date[0] && (!first || strcmp(date, first) < 0))
			first = date;
		if (date[0] && (!last || strcmp(date, last) > 0))
			last = date;
		if (strcmp(said(&source[i], "quick"), "yes") == 0)
			quick = "yes";
		xappend(&names, "%s%s", names[0] ? " " : "", source[i].name);
	}
	table_meta_set(profile, "date", "%s", last ? last : "unknown");
	table_meta_set(profile, "measured_from", "%s", first ? first : "unknown");
	table_meta_set(profile, "probes", "%s", names);
	table_meta_set(profile, "quick", "%s", quick);
	free(names);
}

/* The id of the machine, with its GPU where one was measured; NULL: no curve has it. */
static const char *machine_of(const struct source *source)
{
	const char *machine = NULL;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const bool gpu = said(&source[i], "gpu_uuid")[0];
		if (said(&source[i], "machine")[0] && (gpu || !machine))
			machine = said(&source[i], "machine");
	}
	return machine;
}

/* Adds the rows of the profile in the folder that no curve replaces. */
static struct probe_kept keep_rows(
        struct profile *profile, const struct source *source, const char *folder)
{
	const char *measured[ARRAY_LEN(sources)];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (source[i].curve)
			measured[count++] = source[i].name;
	struct probe_kept kept = probe_kept_read(folder, measured, count);
	probe_kept_add(profile, &kept, machine_of(source), folder);
	return kept;
}

/* Prints on how many of the host's cores the probes met interference. */
static void say_shared_cores(const struct source *source, FILE *out)
{
	size_t least = 0, most = 0, known = 0;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const char *text =
		        source[i].curve ? table_meta(source[i].curve, "shared_cores") : NULL;
		size_t cores = 0;
		if (!text || strcmp(text, "unknown") == 0)
			continue;
		for (const char *at = strchr(text, '('); at; at = strchr(at + 1, '('))
			cores++;
		least = known == 0 || cores < least ? cores : least;
		most = cores > most ? cores : most;
		known++;
	}
	if (most == 0)
		return;
	fprintf(out, "interference on ");
	if (least < most)
		fprintf(out, "%zu to ", least);
	fprintf(out, "%zu of the host's cores: results that depend on the host are less certain\n",
	        most);
}

/* Prints what device or code could not run, and why. */
static void say_not_measured(const struct source *source, FILE *out)
{
	static const char mark[] = "unavailable.";

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		for (size_t k = 0; source[i].curve && k < source[i].curve->meta_count; k++) {
			const char *key = source[i].curve->meta_key[k];
			if (strncmp(key, mark, strlen(mark)) == 0)
				fprintf(out, "not measured: %s of %s (%s)\n", key + strlen(mark),
				        source[i].name, source[i].curve->meta_value[k]);
		}
}

int main(int argc, char **argv)
{
	const struct cli_program program = {
	        .name = "fathom-fit",
	        .summary = "Fits the parameters of the profile to the recorded curves.",
	        .examples = "fathom fit\n"
	                    "fathom fit --output data/nvidia-h200 --verbose\n",
	        .details = "Reads OUTPUT/<probe>.tsv, writes OUTPUT/profile.tsv and prints it; "
	                   "long functions are shortened unless --verbose. Parameters of probes "
	                   "whose curve is not there stay as they are in profile.tsv. Needs no "
	                   "hardware.",
	};
	struct cli_common common = {0};
	struct source source[ARRAY_LEN(sources)];
	struct profile *profile = profile_new();
	size_t curves = 0;

	cli_parse(argc, argv, &program, &common, NULL);
	cli_refuse_sms(false);
	memcpy(source, sources, sizeof source);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		source[i].curve = read_curve(common.output, source[i].name);
		curves += source[i].curve != NULL;
	}
	if (curves == 0)
		msg_die(EXIT_MEASURE_FAILED, "no curves in %s: fathom probe measures them",
		        common.output);
	require_one_machine(source, "host");
	require_one_machine(source, "gpu_uuid");
	require_one_machine(source, "gpu_sms");
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (source[i].curve)
			source[i].fit(source[i].curve, profile);
	struct probe_kept kept = keep_rows(profile, source, common.output);
	struct table *table = profile_to_table(profile);
	table_meta_set(table, "program", "fit");
	table_meta_set(table, "fathom", "%s", cli_version());
	copy_machine(table, source);
	note_probes(table, source);
	probe_kept_note(table, &kept);
	probe_kept_free(&kept);
	table_save(table, "%s/profile.tsv", common.output);
	msg_note("wrote %s/profile.tsv", common.output);
	if (common.json) {
		cli_write_json(table, "parameters");
	} else {
		FILE *out = wrap_open();
		profile_print(profile, common.verbose, out);
		profile_print_counts(profile, out);
		say_shared_cores(source, out);
		say_not_measured(source, out);
		wrap_close(out, stdout);
	}
	const size_t odd = profile_say_odd(profile);
	size_t failed = profile_failed(profile), total = profile->count;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		table_free(source[i].curve);
	table_free(table);
	profile_free(profile);
	if (failed)
		msg_die(EXIT_MEASURE_FAILED, "%zu of %zu parameters failed (see status)", failed,
		        total);
	return odd ? EXIT_MEASURE_FAILED : EXIT_DONE;
}
