/* SPDX-License-Identifier: MIT */
/* Predictions of whole factorizations: getrf, geqrf or potrf with a plan on the model executor. */
#pragma once

#include "factor/model/simulation/executor_model.h"
#include "factor/algorithms/plan.h"

struct factor_question {
	const char *operation; /* getrf, geqrf, potrf */
	const struct plan *plan;
	int64_t m, n; /* potrf: m = n */
	int64_t ld;   /* 0: columns begin at lines of memory */
	enum precision precision;
	enum uplo uplo; /* potrf */
	enum math math;
	bool from_host; /* the matrix starts and ends in pinned host memory */
	int64_t piece;  /* then columns of the rectangles of a triangle; 0: the first block's */
};

/* Runs the factorization on the model executor: matrix and workspace are not allocated. False with
 * the executor's fault. */
bool model_factor_run(struct executor *executor, const struct factor_question *asked);

/* A model executor for it, with the matrix counted as its operands. */
struct executor *model_factor_executor(const struct profile *profile, enum model_target target,
        const struct factor_question *asked, int level);

/* As model_predict. Level 0: the standard operation count at the highest rate of gemm (3xTF32: a
 * third of the rate in TF32), or the matrix read and written once (from host memory: to the device
 * and back), whichever takes longer. */
bool model_factor_predict(const struct profile *profile, enum model_target target,
        const struct factor_question *asked, int level, struct prediction *out);

/* Standard operation counts of LAPACK Working Note 41; NaN for an unknown operation. */
double model_factor_flops(const char *operation, double m, double n);
