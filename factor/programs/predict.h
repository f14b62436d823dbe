/* SPDX-License-Identifier: MIT */
/* The parts of `predict`. Cases and tables without a cost in the profile have no rows. */
#pragma once

#include "lib/profile/profile.h"
#include "lib/base/table.h"
#include "factor/model/predictions/model_several.h"
#include "factor/validation/draw.h"
#include "profile_context.h"

/* Both add a row at each level for every case of a hold-out list, fixed (draw NULL) or drawn, and
 * return how many cases were refused (their rows say why). LU panels of an executor, for a few also
 * phase by phase. Whole factorizations on the GPU by a grid of plans (drawn shapes: by some plans
 * of it and a drawn width) and by the model's plan (plan=model), resident and from host memory;
 * panels of QR and Cholesky on the GPU and on the host CPU. */
size_t predict_panels(struct results *results, const struct profile *profile, const char *executor,
        bool quick, const struct draw *draw);
size_t predict_whole(struct results *results, const struct profile *profile, bool quick,
        const struct draw *draw);

/* Fill a row of these with its prediction at a level, by the plan that it names; false with its
 * note. */
bool panel_row_predict(const struct profile *profile, int level, struct result *row);
bool whole_row_predict(const struct profile *profile, int level, struct result *row);

/* The phases (bits) that a row of an LU panel leaves out. */
unsigned panel_phases_skipped(const struct result *row);

/* `predict getrf --gpus 8`: the time of one factorization over several GPUs, what limits it, and
 * what the answer rests on. several_check ends the program with one sentence where the question is
 * impossible. */
struct several_request {
	struct several_question asked;
	const char *precision, *math; /* as given */
	int64_t gpus, hosts;
};
void several_check(struct several_request *, char *const *operands);
void predict_several(const struct several_request *, const struct profile_context *);

/* Simulated breakdown of the time of whole factorizations by phase, against their size: the table
 * of breakdown.h for square matrices in single precision, in every place. The caller frees it. */
struct table *predict_breakdown(const struct profile *profile, bool quick);

/* LAWN 202's own factorizations (lawn_plan.h) of squares in single precision: resident, from host
 * memory (from=host), and without each optimization (without=NAME). The caller frees the table. */
struct table *predict_lawn(const struct profile *profile, bool quick);

/* LU, QR and Cholesky over 1 to 64 GPUs, eight in a host: strong scaling of some matrices, and weak
 * scaling of as many elements for each GPU. Links that the profile lacks are assumed. The caller
 * frees the table. */
struct table *predict_scaling(const struct profile *profile, bool quick);

/* Bounds of whole factorizations on the GPU, simulated: the benchmark's shapes (quick: small
 * squares) by the model's plan with panels on the device. Columns: seconds of the whole; bound_s:
 * its operations at the highest rate of products, or its bytes (model_factor_predict, level 0);
 * default_s: by the default plan; panels_s, updates_s, others_s (row swaps, triangular solves,
 * copies): one part of the work alone; without_..._s: the rest when that part takes no time. A
 * kernel that belongs to several parts is left out with each. The caller frees the table. */
struct table *predict_bounds(const struct profile *profile, bool quick);
