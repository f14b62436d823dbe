/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's loops as several compilers make them. */
#ifndef FATHOM_GRAM_COMPILERS_H
#define FATHOM_GRAM_COMPILERS_H

#include "factor/kernels/gram_schmidt/gram_loops.h"

/* By gcc (the project's own), clang or gfortran (single precision); NULL where it was not there
 * when this was built, or made code that this processor does not have. */
const struct gram_loops *gram_loops_by(const char *compiler);
extern const char *const gram_compilers[]; /* NULL-terminated */

#endif
