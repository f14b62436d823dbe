/* SPDX-License-Identifier: MIT */
/* Predictions of Kerr's benchmark (factor/papers/kerr.h): the same sequences on the model executor,
 * on the profile's GPU. */
#pragma once

#include "factor/model/simulation/executor_model.h"
#include "factor/papers/kerr.h"

struct kerr_prediction {
	double total;              /* seconds of a run without marks; NaN: none */
	double phase[KERR_PHASES]; /* of a run with marks */
	struct fault fault;        /* why there is none */
};

/* In single precision, of dense matrices. False with out->fault. */
bool model_kerr(const struct profile *profile, enum kerr_variant variant, int64_t m, int64_t n,
        int64_t r, struct kerr_prediction *out);

/* A run without marks at a level, with an interval at level 2. False with out->fault. lda: of A, 0
 * for m; Q is dense. */
struct kerr_question {
	enum kerr_variant variant;
	int64_t m, n, r, lda;
	enum precision precision;
};
bool model_kerr_predict(const struct profile *profile, const struct kerr_question *question,
        int level, struct prediction *out);

/* QR with the whole Q in which the host has `share` columns (factor/papers/kerr_balance.h):
 * seconds, NaN when the profile does not suffice. model_kerr_share: the share with the least, of 0
 * and powers of two up to half of the columns. */
double model_kerr_balance(
        const struct profile *profile, int64_t m, int64_t n, int64_t r, int64_t share);
int64_t model_kerr_share(const struct profile *profile, int64_t m, int64_t n, int64_t r);
