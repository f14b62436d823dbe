/* SPDX-License-Identifier: MIT */
/* Products of a warpgroup on the tensor cores of compute capability 9.0a: d += a b in TF32, d 64 x
 * 128, a 64 x 8 in registers, b 8 x 128 in shared memory. Of warp w and lane (g, t), g = lane / 4
 * and t = lane % 4: a[0] and a[1] are rows 16 w + g and 16 w + g + 8 of a's column t, a[2] and a[3]
 * of column t + 4; d[4 j] and d[4 j + 1] are columns 8 j + 2 t and 8 j + 2 t + 1 of row 16 w + g,
 * d[4 j + 2] and d[4 j + 3] of row 16 w + g + 8. Of b 8 x 4 numbers (columns x rows) lie together,
 * a column's 16 bytes beside each other: first rows 0 .. 3 of columns 0 .. 7, then rows 4 .. 7,
 * then the next 8 columns. */
#ifndef FATHOM_WARPGROUP_CUH
#define FATHOM_WARPGROUP_CUH

#include "base.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HAVE_WARPGROUP 1
#endif

const int WARPGROUP_ROWS = 64, WARPGROUP_COLUMNS = 128, WARPGROUP_DEPTH = 8;

/* Where b's row i of column j lies, in words. */
static __device__ __forceinline__ int warpgroup_place(int i, int j)
{
	return j / 8 * 64 + i / 4 * 32 + j % 8 * 4 + i % 4;
}

#ifdef HAVE_WARPGROUP

static __device__ __forceinline__ uint64_t warpgroup_describe(const void *shared)
{
	const uint64_t address = __cvta_generic_to_shared(shared);
	const uint64_t along_rows = 128, along_columns = 256; /* bytes */
	return (address & 0x3ffff) >> 4 | along_rows >> 4 << 16 | along_columns >> 4 << 32;
}

/* Before the first product, and after registers that products use were written. */
static __device__ __forceinline__ void warpgroup_begin()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* The products so far are a group; waits until at most `pending` groups are not done. */
static __device__ __forceinline__ void warpgroup_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int pending> static __device__ __forceinline__ void warpgroup_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/* What this thread stored in shared memory is for products that begin after a barrier. */
static __device__ __forceinline__ void warpgroup_publish()
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#define EIGHT(i)                                                                                   \
	"+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),                \
	        "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

static __device__ __forceinline__ void warpgroup_product(
        float (&d)[64], const uint32_t (&a)[4], uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
	             "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,"
	             "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,"
	             "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,"
	             "%59,%60,%61,%62,%63}, {%64,%65,%66,%67}, %68, 1, 1, 1;"
	             : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48),
	             EIGHT(56)
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#undef EIGHT

#endif
#endif
