/* SPDX-License-Identifier: MIT */
/* A matrix in host memory on its way to the executor before a factorization, and back after it. A
 * triangle travels as rectangles, `width` columns each, that cover it (LAWN 202): narrow ones carry
 * less of the other triangle, n (n + width) / 2 elements, wide ones start fewer copies, n / width.
 * What they carry of the other triangle comes back as it was when both ways use one width.
 *
 * Copies are at full speed from and to pinned host memory. They follow what was put into QUEUE_MAIN
 * before, and what is put there later follows them. */
#ifndef FATHOM_HOST_TRANSFER_H
#define FATHOM_HOST_TRANSFER_H

#include "factor/executors/executor.h"

/* uplo WHOLE: all of the matrix, width does not matter. host and a have the same size; host.data is
 * host memory. False with the executor's fault on failure. */
bool matrix_to_device(
        struct executor *, enum uplo uplo, int64_t width, struct matrix host, struct matrix a);
bool matrix_to_host(
        struct executor *, enum uplo uplo, int64_t width, struct matrix a, struct matrix host);

#endif
