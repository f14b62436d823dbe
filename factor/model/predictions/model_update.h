/* SPDX-License-Identifier: MIT */
/* Predictions of a change of a QR factorization, and of a new factorization
 * (factor/algorithms/qr_update.h). */
#pragma once

#include "factor/model/simulation/executor_model.h"
#include "factor/algorithms/qr_refactor.h"

/* Seconds of the change, and of a new factorization of the changed matrix (qr_refactor), at
 * level 2. With right-hand sides both end with the least-squares solution. False, with out->fault
 * and NaN, when it is refused or a parameter is missing. There is no interval. */
bool model_update_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out);
bool model_refactor_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out);

/* A matrix without data; the factors of a question, as large as the change needs them. */
struct matrix model_shape_of(int64_t m, int64_t n, enum precision precision);
struct qr_factors model_update_factors(const struct update_question *asked);

/* A model executor for a question, with the factors counted as its operands. */
struct executor *model_update_executor(const struct profile *profile, enum model_target target,
        const struct update_question *asked);
