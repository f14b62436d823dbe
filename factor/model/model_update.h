/* SPDX-License-Identifier: MIT */
/* Update or refactor? Predictions of both (../qr_update.h). */
#ifndef FATHOM_MODEL_UPDATE_H
#define FATHOM_MODEL_UPDATE_H

#include "executor_model.h"
#include "../qr_update.h"

struct update_question {
	enum qr_change change;
	enum q_kept kept;
	int64_t m, n; /* before the change */
	int64_t k, p;
	int64_t sides; /* right-hand sides */
	enum precision precision;
};

/* Seconds of the change; of a QR factorization, with the default plan, of the matrix as it is after
 * it, Q^T B and, where it is kept, Q. NaN, with out->fault, when it is refused or a parameter is
 * missing. As model_predict otherwise, at level 2. */
bool model_update_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out);
bool model_refactor_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out);

#endif
