/* SPDX-License-Identifier: MIT */
/* Products in TF32 and FP16 by warpgroups (compute capability 9.0), with operands in shared memory,
 * the inner dimension down their columns: the ring of stages that brings them, the products, and
 * the tensor maps for the copies. */
#pragma once

#include "lib/device/cluster.cuh"
#include "lib/device/current.h"
#include "lib/device/driver.h"
#include "lib/device/warpgroup.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

namespace
{

const int SLAB_BYTES = 128; /* of a column in a stage: the swizzled length */
const int ALIGNED = 1024;   /* alignment of swizzled memory */
const int WIDE = 192;       /* most columns of the right operand at once */

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/* The awaited event is a copy or an arrival of this block's own warps. On a timeout the kernel
 * fails instead of hanging. */
DEVICE void wait_stage(uint32_t barrier, uint32_t parity)
{
	const int MOST = 1 << 24;
	int turns = 0;
	while (!mailbox_is_full(barrier, parity))
		if (++turns == MOST)
			__trap();
}

/* A place in the ring, and its phase. */
template <int STAGES> struct interval {
	int stage;
	uint32_t parity;

	DEVICE void next(void)
	{
		if (++stage == STAGES) {
			stage = 0;
			parity ^= 1;
		}
	}
};

/* Copies a box from row i and column j on. */
DEVICE void load_box(uint32_t to, const CUtensorMap *map, int i, int j, uint32_t full)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
	             "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
	             "l"(map), "r"(i), "r"(j), "r"(full)
	             : "memory");
}

/* Descriptor of columns with 128 swizzled bytes, eight columns side by side. */
DEVICE uint64_t describe(uint32_t address)
{
	const uint64_t eight_rows = 1024, swizzled = 1;
	return (uint64_t)(address & 0x3ffff) >> 4 | (uint64_t)1 << 16 | eight_rows >> 4 << 32 |
	       swizzled << 62;
}

#define EIGHT(i)                                                                                   \
	"+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),                \
	        "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

/* The registers of the result, in groups of 32 or 16. */
#define SUMS_32                                                                                    \
	"%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"   \
	"%24,%25,%26,%27,%28,%29,%30,%31"
#define SUMS_48 SUMS_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define SUMS_64 SUMS_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define SUMS_96                                                                                    \
	SUMS_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,"    \
	        "%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define FIRST_32 EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)
#define FIRST_48 FIRST_32, EIGHT(32), EIGHT(40)
#define FIRST_64 FIRST_48, EIGHT(48), EIGHT(56)
#define FIRST_96 FIRST_64, EIGHT(64), EIGHT(72), EIGHT(80), EIGHT(88)

/* d += a^T b with COUNT sums d of a thread. shape: the instruction's; rest: its last operands. */
#define PRODUCT(COUNT, shape, rest)                                                                \
	asm volatile("wgmma.mma_async.sync.aligned." shape " {" SUMS_##COUNT "}, " rest ";"        \
	             : FIRST_##COUNT                                                               \
	             : "l"(a), "l"(b))

/* 64 columns of a and twice COUNT of b, 8 of the inner dimension in TF32, 16 in FP16. */
DEVICE void product(float (&d)[96], uint64_t a, uint64_t b)
{
	PRODUCT(96, "m64n192k8.f32.tf32.tf32", "%96, %97, 1, 1, 1");
}

DEVICE void product_half(float (&d)[96], uint64_t a, uint64_t b)
{
	PRODUCT(96, "m64n192k16.f32.f16.f16", "%96, %97, 1, 1, 1, 0, 0");
}

DEVICE void product(float (&d)[64], uint64_t a, uint64_t b)
{
	PRODUCT(64, "m64n128k8.f32.tf32.tf32", "%64, %65, 1, 1, 1");
}

DEVICE void product(float (&d)[48], uint64_t a, uint64_t b)
{
	PRODUCT(48, "m64n96k8.f32.tf32.tf32", "%48, %49, 1, 1, 1");
}

DEVICE void product(float (&d)[32], uint64_t a, uint64_t b)
{
	PRODUCT(32, "m64n64k8.f32.tf32.tf32", "%32, %33, 1, 1, 1");
}
#undef PRODUCT
#undef EIGHT

DEVICE void begin_products(void)
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

DEVICE void commit_products(void)
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int pending> DEVICE void wait_products(void)
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/* Must precede any use of the sums. */
template <int COUNT> DEVICE void settle(float (&sum)[COUNT])
{
#pragma unroll
	for (int x = 0; x < COUNT; x++)
		asm volatile("" : "+f"(sum[x])::"memory");
}

#endif

int encode(CUtensorMap *map, CUtensorMapDataType type, int rank, void *address,
        const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box)
{
	static const PFN_cuTensorMapEncodeTiled_v12000 function =
	        (PFN_cuTensorMapEncodeTiled_v12000)driver_function("cuTensorMapEncodeTiled", 12000);
	const cuuint32_t steps[] = {1, 1, 1};
	if (!function)
		return (int)cudaErrorNotSupported;
	const CUresult result = function(map, type, (cuuint32_t)rank, address, sizes, strides, box,
	        steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
	        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	return result == CUDA_SUCCESS ? (int)cudaSuccess : (int)cudaErrorInvalidValue;
}

} // namespace
