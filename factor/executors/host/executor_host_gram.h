/* SPDX-License-Identifier: MIT */
/* The host executor's Gram-Schmidt, on all OpenMP threads; the program may bind them to cores. */
#ifndef FATHOM_EXECUTOR_HOST_GRAM_H
#define FATHOM_EXECUTOR_HOST_GRAM_H

#include "factor/executors/executor.h"
#include "factor/kernels/gram_schmidt/gram_loops.h"

bool host_column_norms(struct executor *, struct matrix a, struct matrix norms);
int64_t host_gram_work(struct executor *, struct matrix a);
bool host_gram_dots(struct executor *, const struct gram_schmidt *g, int64_t j);
bool host_gram_update(struct executor *, const struct gram_schmidt *g, int64_t j);
bool host_gram_fused(struct executor *, const struct gram_schmidt *g, int64_t j);
bool host_gram_panel(struct executor *, const struct gram_schmidt *g);
bool host_gram_apply(
        struct executor *, struct matrix q, struct matrix r, struct matrix a, bool single);

/* Selects the loops of all later calls (NULL: the project's own). */
void host_gram_use(struct executor *, const struct gram_loops *loops);

#endif
