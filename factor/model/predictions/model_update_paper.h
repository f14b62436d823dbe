/* SPDX-License-Identifier: MIT */
/* Predictions of the paper's changes of a QR factorization (factor/papers/qr_update_paper.h): the
 * same sequences on the model executor. */
#pragma once

#include "factor/papers/qr_update_paper.h"
#include "model_update.h"

struct paper_prediction {
	double total;               /* seconds of a run without marks, to the least-squares
	                               solution; NaN: none */
	double phase[PAPER_PHASES]; /* of the change with marks */
	struct fault fault;         /* why there is none */
};

/* On the profile's GPU; how->phase timer is not read. False with out->fault. */
bool model_update_paper(const struct profile *profile, const struct update_question *asked,
        const struct qr_paper *how, struct paper_prediction *out);

/* Seconds to the solution if a kernel launched the change's kernels, by CUDA's dynamic parallelism:
 * a tail launch stands in for each launch, and the host launches one kernel. Of rows removed, the
 * change that reads no norms on the host. NaN without gpu.launch.device.tail. */
double model_update_paper_device(const struct profile *profile, const struct update_question *asked,
        const struct qr_paper *how);
