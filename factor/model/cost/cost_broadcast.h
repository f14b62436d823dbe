/* SPDX-License-Identifier: MIT */
/* Broadcasts between GPUs. */
#pragma once

#include "cost.h"

/* From one of `gpus` GPUs, as many in each host, to all others. */
struct cost cost_broadcast(struct cost_reader *, double bytes, int gpus, int hosts);
