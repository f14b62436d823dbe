/* SPDX-License-Identifier: MIT */
/* What counters of the hardware do not count, and what follows from them: the pattern of DRAM's
 * bytes, lines that L2 keeps, and waits of a thread for its loads. */
#pragma once

#include "factor/kernels/kernel_work.h"

/* Of a mean launch, before its hits in L2 are known. asked: of L2 by the multiprocessors, 0 where
 * no counter tells. l2_size in bytes, 0: unknown. */
void counter_conclusions(struct kernel_work *work, struct work_bytes asked, double l2_size);
