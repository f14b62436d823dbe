/* SPDX-License-Identifier: MIT */
/* Moves registers between the warpgroups of a kernel (compute capability 9.0, in a build for
 * sm_90a). The sum stays that of the launch: a group that takes more waits until others release
 * theirs. */
#pragma once

#include "lib/base/base.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define IN_WARPGROUP(...) __VA_ARGS__
#else
#define IN_WARPGROUP(...)
#endif

/* By all warps of a group, before its main loop: COUNT registers per thread. */
template <int COUNT> static DEVICE void take_registers(void)
{
	IN_WARPGROUP(asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT)));
}

template <int COUNT> static DEVICE void leave_registers(void)
{
	IN_WARPGROUP(asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT)));
}
