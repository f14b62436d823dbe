/* SPDX-License-Identifier: MIT */
/* The work of V^T C by 3xTF32. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "tf32_tall.h"

/* Of tf32_tall: V has k columns, C n, both `rows` rows. Fills in one work, or two where blocks
 * share tiles, and returns their number. */
size_t tf32_tall_work(const struct tf32_tall_plan *plan, int64_t k, int64_t n, int64_t rows,
        struct kernel_work *work);
