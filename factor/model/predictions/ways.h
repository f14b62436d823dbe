/* SPDX-License-Identifier: MIT */
/* Ways to do an operation on the GPU, each with its predicted time: math and place of the panels of
 * a factorization, library or own kernel of a product, form of Gram-Schmidt. */
#pragma once

#include "factor/model/simulation/executor_model.h"
#include "factor/algorithms/plan_default.h"
#include "factor/executors/executor.h"

enum way_operation {
	WAY_GETRF,
	WAY_GEQRF,
	WAY_POTRF,
	WAY_GEMM,
	WAY_GEMV,
	WAY_GRAM,
	WAY_OPERATIONS
};
extern const char *const way_operation_name[WAY_OPERATIONS];

struct way_question {
	enum way_operation operation;
	int64_t m, n, k; /* k: of gemm; rows of B */
	enum precision precision;
	bool from_host;   /* a factorization's matrix starts and ends in host memory */
	enum trans trans; /* of gemv */
	double memory;    /* bytes that the GPU has; 0: unknown */
};

struct way {
	char name[64], detail[96]; /* in words; the plan */
	double seconds, low, high; /* low, high: by way_interval */
	double hardware;           /* with all efficiencies 1; NaN: not asked, or unknown */
	const char *regime;        /* of the prediction */
	char simpler[256];         /* operations without rows of their own; empty: none */
	struct model_result parts;
	struct fault fault; /* why there is no prediction; seconds are then NaN */
	/* what is asked */
	enum math math;
	bool hybrid, blas_only;
	const char *form; /* of Gram-Schmidt */
	int64_t nb;
};

enum { MOST_WAYS = 16 };

/* Fills in the ways, the fastest first; those without a prediction last. by_hardware: the profile
 * with all efficiencies 1, or NULL. */
size_t ways_of(const struct profile *profile, const struct profile *by_hardware,
        const struct way_question *asked, struct way way[MOST_WAYS]);

/* Seconds of one of them on another profile; its plan stays. NaN: no prediction. */
double way_seconds(
        const struct profile *profile, const struct way_question *asked, const struct way *way);

/* Sets the ends that the profile's intervals give its time, without what the model's own errors
 * add: many runs of the model. */
void way_interval(const struct profile *profile, const struct way_question *asked, struct way *way);

/* What takes most of its time: a phase of a factorization, else a term. */
const char *way_limiter(const struct way_question *asked, const struct way *way);

/* Floating-point operations of the question. */
double way_flops(const struct way_question *asked);

/* Questions that stand for all: operations, small and large, in both precisions. */
enum { WAY_EXAMPLES = 14 };
extern const struct way_question way_example[WAY_EXAMPLES];
