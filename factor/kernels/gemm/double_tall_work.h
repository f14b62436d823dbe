/* SPDX-License-Identifier: MIT */
/* The work of V^T C and C += alpha V W of tall matrices in double precision. */
#pragma once

#include "double_tall.h"
#include "factor/kernels/kernel_work.h"

/* Of double_tall: V has k columns, C n, both `rows` rows. Fills in one work, or two where several
 * teams share the rows, and returns their number. */
size_t double_tall_work(const struct double_tall_plan *plan, int64_t k, int64_t n, int64_t rows,
        struct kernel_work *work);

/* Of double_tall_update. */
void double_tall_update_work(const struct double_tall_plan *plan, int64_t k, int64_t n,
        int64_t rows, struct kernel_work *work);

/* Of double_tall_update_gram, with no rows skipped. */
void double_tall_update_gram_work(const struct double_tall_plan *plan, int64_t k, int64_t n,
        int64_t rows, struct kernel_work *work);
