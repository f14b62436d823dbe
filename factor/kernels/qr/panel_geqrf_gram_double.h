/* SPDX-License-Identifier: MIT */
/* What panel_geqrf_gram.cu calls for panels in double precision (panel_geqrf_gram_double.cu). */
#pragma once

#include "panel_geqrf.h"

C_BEGIN

/* Bytes of workspace beyond that of single precision, and of shared memory a block. */
int64_t panel_gram_double_work(void);
int64_t panel_gram_double_shared(void);

/* As panel_geqrf_gram_begin and panel_geqrf_gram_end. */
int panel_gram_double_begin(double *a, int64_t lda, int64_t m, int64_t n, bool summed, int *done,
        void *work, void *stream);
int panel_gram_double_end(double *a, int64_t lda, int64_t m, int64_t n, double *tau, int *done,
        const struct block_reflector *r, void *work, void *stream);

C_END
