/* SPDX-License-Identifier: MIT */
/* Predictions of LU, QR and Cholesky over several GPUs (factor/distributed) of one host or of many:
 * the real algorithms on a model executor for each GPU. All GPUs are the profile's. */
#pragma once

#include "factor/model/simulation/executor_model.h"

struct several_question {
	const char *operation; /* getrf, geqrf, potrf (lower triangle) */
	int64_t m, n, nb;      /* potrf: m = n. nb: columns of a block, 0: a fast one */
	enum precision precision;
	enum math math;
	int gpus, hosts; /* gpus: in all hosts, as many in each. One: the algorithm for one, with
	                    its default plan; nb is not read */
	double memory;   /* bytes of a GPU, 0: not known */
};

/* What a GPU does in the time, as a mean over all: it updates; else it waits for a panel or works
 * on one, with the update of its columns; else a broadcast goes on; else its host queues. */
enum several_share { SHARE_UPDATES, SHARE_PANELS, SHARE_BROADCASTS, SHARE_HOST, SHARES };
extern const char *const several_share_name[SHARES];

struct several_prediction {
	/* Without parts. The interval is by the parameters, without what the model's own errors on
	 * several GPUs and the assumptions add. */
	struct prediction whole;
	int64_t nb;           /* 0: of one GPU */
	double share[SHARES]; /* sum to 1; NaN of one GPU */
	double bytes;         /* of the GPU with the most columns: matrix and workspace */
	bool no_copy;         /* LU without its transposed copy, for which there is no memory */
};

/* False with out->whole.fault. Without `interval`, which takes many runs, low and high are NaN. */
bool model_several_predict(const struct profile *profile, const struct several_question *asked,
        bool interval, struct several_prediction *out);

/* The timeline of each GPU, `gpus` of them (at least two), for a question with nb; the caller frees
 * them. titles: as many, which must outlive them. False with a fault. */
bool model_several_trace(const struct profile *profile, const struct several_question *asked,
        const char *const *titles, struct timeline **timelines, struct fault *fault);

/* Rows of links that the profile lacks, as assumptions: their method begins with "assumed". */
void model_several_assume(struct profile *profile);
bool model_several_assumed(const struct parameter *row);
