/* SPDX-License-Identifier: MIT */
/* The Gram-Schmidt process as cases: rows, hold-out lists, predictions. Rows: operation
 * gramschmidt, the form as variant (cublas and openblas are the blas form), option shape=NXxNY for
 * the paper's kernels. Rows on the host by threads have the options threads=T and, if not the
 * project's compiler, compiler=NAME; k is the number of columns that are done, 0 for all. */
#pragma once

#include "lib/profile/profile.h"
#include "factor/validation/draw.h"
#include "timing_gram_host.h"

/* shape: NULL for the usual one. */
struct gram_way {
	const char *variant;
	int64_t nb;
	const char *shape;
};

bool results_is_gram(const struct result *row);

/* A row without results; the form of a row, for gram_schmidt_kernels.h. */
struct result gram_case(const struct gram_way *way, const char *executor, enum precision precision,
        int64_t m, int64_t n);
void gram_form(const struct result *row, char form[32]);

/* The same on the host by threads. gram_row ignores run->loops; compiler: NULL for the project's
 * own. The form of gram_run_of points into the row. */
struct result gram_row(enum precision precision, int64_t m, int64_t n, const struct gram_run *run,
        const char *compiler);
bool results_is_host_gram(const struct result *row);
struct gram_run gram_run_of(const struct result *row);

/* Fills seconds and regime with the prediction at a level for the row's executor, with an interval
 * if asked (gram_row_predict: at level 2). False with the row's note. Not for other compilers. */
bool gram_predict(const struct profile *profile, int level, bool interval, struct result *row);
bool gram_row_predict(const struct profile *profile, int level, struct result *row);

/* The largest number of threads in the profile, 1 without any; the model's width of blocks in
 * single precision. */
int gram_threads(const struct profile *profile);
int64_t gram_width(const struct profile *profile, int64_t m, int64_t n, int64_t k, int threads);

/* Add the predictions of a hold-out list, fixed off the powers of two or drawn, at three levels;
 * return how many cases were refused. predict_gram_host: by all threads, some also by one, and a
 * matrix larger than the last cache. */
size_t predict_gram(struct results *results, const struct profile *profile, const char *executor,
        bool quick, const struct draw *draw);
size_t predict_gram_host(struct results *results, const struct profile *profile, bool quick,
        const struct draw *draw);
