/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/msg.h"
#include "profile_row.h"

void model_start(struct model *model, const struct profile *profile)
{
	*model = (struct model){.profile = profile};
}

/* Notes a name as used, by the profile's own string, which outlives the caller's. */
static void note_used(struct model *model, const char *name)
{
	for (size_t i = 0; i < model->used_count; i++)
		if (strcmp(model->used[i], name) == 0)
			return;
	const size_t first = profile_first(model->profile, name);
	if (first == model->profile->count)
		return;
	if (model->used_count == MODEL_USED)
		msg_die(EXIT_MEASURE_FAILED, "bug: one prediction reads more than %d parameters",
		        MODEL_USED);
	model->used[model->used_count++] = model->profile->row[first].name;
}

static void note_missing(
        struct model *model, const char *name, const struct arg *args, size_t count)
{
	char *text = model->missing_name;
	size_t size = sizeof model->missing_name;

	if (model->missing)
		return;
	model->missing = true;
	if (count == 0)
		snprintf(text, size, "%s", name);
	else if (count == 1)
		snprintf(text, size, "%s[%s=%g]", name, args[0].name, args[0].value);
	else
		snprintf(text, size, "%s[%s=%g,%s=%g%s]", name, args[0].name, args[0].value,
		        args[1].name, args[1].value, count > 2 ? ",..." : "");
}

bool model_range(struct model *model, const char *name, const char *arg, double *low, double *high)
{
	if (!profile_range(model->profile, name, arg, low, high))
		return false;
	note_used(model, name);
	return true;
}

double model_value(struct model *model, const char *name, const struct arg *args, size_t count)
{
	struct lookup found = profile_interpolate(model->profile, model->scale, name, args, count);

	if (!found.found) {
		note_missing(model, name, args, count);
		return NAN;
	}
	note_used(model, name);
	model->extrapolated |= found.extrapolated;
	if (!model->profile->hardware_alone)
		model->regime = regime_of_both(model->regime, found.regime);
	return found.estimate.value;
}

double model_scalar(struct model *model, const char *name)
{
	return model_value(model, name, NULL, 0);
}

double model_at2(struct model *model, const char *name, const char *arg1, double value1,
        const char *arg2, double value2)
{
	const struct arg args[] = {{arg1, value1}, {arg2, value2}};

	return model_value(model, name, args, 2);
}

void model_note_simpler(struct model *model, const char *operation)
{
	for (size_t i = 0; i < model->simpler_count; i++)
		if (strcmp(model->simpler[i], operation) == 0)
			return;
	if (model->simpler_count < MODEL_SIMPLER)
		model->simpler[model->simpler_count++] = operation;
}

void model_simpler_text(const struct model *model, char *text, size_t size)
{
	int used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < model->simpler_count && (size_t)used < size; i++)
		used += snprintf(text + used, size - (size_t)used, "%s%s",
		        i ? ", " : "without rows of their own, by launch + bytes / bandwidth: ",
		        model->simpler[i]);
}

struct profile model_rows(const struct model *model)
{
	struct profile part = {0};

	for (size_t u = 0; u < model->used_count; u++)
		EACH_ROW (i, model->profile, model->used[u])
			profile_put(&part, &model->profile->row[i]);
	return part;
}

double model_line(double alpha, double beta, double bytes)
{
	return alpha + bytes / beta;
}

double model_flops_getrf(double m, double n)
{
	return m * n * n - n * n * n / 3 - n * n / 2 + 5 * n / 6;
}

double model_flops_ger(double m, double n)
{
	return 2 * m * n;
}
