/* SPDX-License-Identifier: MIT */
#include "validate_intervals.h"

#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"
#include "factor/validation/interval_fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Predictions and measurements of a folder, which need not be linked: a calibration judges nothing.
 */
static void add_run(struct interval_fit *fit, const char *folder, row_predictor predict)
{
	struct results *of[2];
	struct comparison *rows;
	struct fault fault;
	const char *slash = strrchr(folder, '/');

	for (int i = 0; i < 2; i++) {
		char *path = xasprintf("%s/%s.tsv", folder, i ? "measurements" : "predictions");
		of[i] = results_read(path, &fault);
		if (!of[i])
			msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
		free(path);
	}
	const char *model = table_meta(of[0]->table, "model");
	if (!model || strcmp(model, cli_model()) != 0)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s/predictions.tsv is by another model than this program's: predict again",
		        folder);
	const size_t count = errors_compare(of[0], of[1], &rows);
	struct profile *profile = profile_open(folder);
	errors_find_disturbed(rows, count, profile, of[1], predict);
	profile_free(profile);
	interval_fit_add(fit, slash ? slash + 1 : folder, rows, count, &interval_table);
	free(rows);
	results_free(of[0]);
	results_free(of[1]);
}

int validate_intervals(const char *path, char *const *folder, row_predictor predict)
{
	struct interval_fit *fit = interval_fit_new();

	for (; folder && *folder; folder++)
		add_run(fit, *folder, predict);
	const struct interval_table table = interval_fit_table(fit, &interval_table);
	FILE *out = fopen(path, "w");
	if (!out)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", path);
	interval_table_write(&table, out);
	if (fclose(out) != 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", path);
	for (int k = 0; k < INTERVAL_KINDS; k++)
		printf("%s: %zu cases, %.3g spreads, efficiencies from %.3g to %.3g\n",
		        interval_kind_name[k], table.of[k].cases, table.of[k].spreads,
		        table.of[k].least, table.of[k].most);
	interval_fit_free(fit);
	return EXIT_DONE;
}

void validate_intervals_say(const struct comparison *rows, size_t count, FILE *out)
{
	enum { MOST = 64 };
	int64_t known[MOST];
	size_t seeds = 0;

	for (size_t i = 0; i < count && seeds < MOST; i++) {
		char text[32];
		if (!results_option(rows[i].predicted->options, "seed", text, sizeof text))
			continue;
		const int64_t seed = strtoll(text, NULL, 10);
		size_t at = 0;
		while (at < seeds && known[at] != seed)
			at++;
		if (at == seeds && interval_saw(&interval_table, seed))
			known[seeds++] = seed;
	}
	for (size_t i = 0; i < seeds; i++)
		fprintf(out, "%s%" PRId64,
		        i > 0        ? ", "
		        : seeds == 1 ? "Intervals were calibrated on seed "
		                     : "Intervals were calibrated on seeds ",
		        known[i]);
	if (seeds > 0)
		fprintf(out, ": how much of %s they cover judges nothing\n",
		        seeds == 1 ? "it" : "these");
}
