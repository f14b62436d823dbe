/* SPDX-License-Identifier: MIT */
/* Cost laws. They read the profile and shapes, nothing else. */
#pragma once

#include "lib/base/base.h"
#include "profile.h"

/* A reader of the profile that remembers which parameters a cost rests on. */
enum { MODEL_USED = 128, MODEL_SIMPLER = 24 };
struct model {
	const struct profile *profile;
	enum profile_scale scale;     /* between the rows of functions */
	const char *used[MODEL_USED]; /* names of the parameters read, each once */
	size_t used_count;
	const char *regime; /* of all values read; NULL: hardware */
	bool extrapolated;  /* some value was */
	bool missing;       /* the profile lacks a parameter, missing_name; costs are then NaN */
	char missing_name[96];
	/* operations whose cost is a simpler law's, because the profile lacks rows of theirs; each
	   once */
	const char *simpler[MODEL_SIMPLER];
	size_t simpler_count;
};

void model_start(struct model *model, const struct profile *profile);

/* Value of a scalar / of a function with two arguments. NaN (and missing) when it is not in
 * the profile. */
double model_scalar(struct model *model, const char *name);
double model_at2(struct model *model, const char *name, const char *arg1, double value1,
        const char *arg2, double value2);

/* The same at any arguments (at most PROFILE_ARGS). */
double model_value(struct model *model, const char *name, const struct arg *args, size_t count);

/* The least and the largest value of an argument in the rows of a function. False, and nothing
 * noted, when there are none. */
bool model_range(struct model *model, const char *name, const char *arg, double *low, double *high);

void model_note_simpler(struct model *model, const char *operation);

/* One phrase that names these operations; "" when there are none. */
void model_simpler_text(const struct model *model, char *text, size_t size);

/* The rows of the parameters read so far. Their texts stay the profile's: the caller frees them by
 * profile_view_free. */
struct profile model_rows(const struct model *model);

/* LAWN 202 eq. (2): alpha + bytes/beta. */
double model_line(double alpha, double beta, double bytes);

/* Standard operation counts of LAPACK Working Note 41. */
double model_flops_getrf(double m, double n);
double model_flops_ger(double m, double n);
