/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's loops, compiled by several compilers. */
#pragma once

#include "factor/kernels/gram_schmidt/gram_loops.h"

/* The loops by gcc (the project's own), clang or gfortran (single precision). NULL if the compiler
 * was missing at build time, or if this processor cannot run its code. */
const struct gram_loops *gram_loops_by(const char *compiler);
extern const char *const gram_compilers[]; /* NULL-terminated */
