/* SPDX-License-Identifier: MIT */
/* Predictions of Kerr's benchmark (../kerr.h): the same sequences on the model executor. */
#pragma once

#include "factor/model/simulation/executor_model.h"
#include "factor/papers/kerr.h"

struct kerr_prediction {
	double total;              /* seconds of a run without marks; NaN: none */
	double phase[KERR_PHASES]; /* of a run with marks */
	struct fault fault;        /* why there is none */
};

/* On the profile's GPU, single precision. False with out->fault. */
bool model_kerr(const struct profile *profile, enum kerr_variant variant, int64_t m, int64_t n,
        int64_t r, struct kerr_prediction *out);
