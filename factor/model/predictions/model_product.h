/* SPDX-License-Identifier: MIT */
/* Predictions of products in a row. */
#pragma once

#include "factor/algorithms/product.h"
#include "factor/model/simulation/executor_model.h"

/* Seconds of one call on the GPU, of product->calls in a row with the wait at their end. Level 0:
 * the highest rate of gemm or the bandwidth, whichever takes longer. False with out->fault (and
 * NaN) when the profile does not suffice. */
bool model_product_predict(const struct profile *profile, const struct product *product, int level,
        struct prediction *out);
