/* SPDX-License-Identifier: MIT */
/* The host executor's Gram-Schmidt, on all OpenMP threads; the program may bind them to cores. */
#pragma once

#include "factor/executors/executor.h"
#include "factor/kernels/gram_schmidt/gram_loops.h"

/* Selects the loops of all later calls (NULL: the project's own). */
void host_gram_use(struct executor *, const struct gram_loops *loops);
