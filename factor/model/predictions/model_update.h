/* SPDX-License-Identifier: MIT */
/* Update or refactor? Predictions of both (../qr_update.h). */
#ifndef FATHOM_MODEL_UPDATE_H
#define FATHOM_MODEL_UPDATE_H

#include "factor/model/simulation/executor_model.h"
#include "factor/algorithms/qr_refactor.h"

/* Seconds of the change; of the matrix as it is after it, factorized again (qr_refactor). With
 * right-hand sides both end in the least-squares solution. NaN, with out->fault, when it is refused
 * or a parameter is missing. As model_predict otherwise, at level 2. */
bool model_update_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out);
bool model_refactor_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out);

#endif
