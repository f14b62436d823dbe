/* SPDX-License-Identifier: MIT */
/* Registers of a kernel's warpgroups (compute capability 9.0, in a build for it): some give up what
 * others take. Together they have as many as the kernel is launched with: who wants more waits
 * until others have given theirs up. */
#ifndef FATHOM_WARPGROUP_CUH
#define FATHOM_WARPGROUP_CUH

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define IN_WARPGROUP(...) __VA_ARGS__
#else
#define IN_WARPGROUP(...)
#endif

/* By all warps of a group, at the beginning of what is all that it does from there on: so many a
 * thread. */
template <int COUNT> static __device__ __forceinline__ void take_registers(void)
{
	IN_WARPGROUP(asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT)));
}

template <int COUNT> static __device__ __forceinline__ void leave_registers(void)
{
	IN_WARPGROUP(asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT)));
}

#endif
