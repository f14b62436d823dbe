/* SPDX-License-Identifier: MIT */
/* Copies of operand tiles from global into shared memory: asynchronous where the hardware can
 * (sm_80), else through registers. In shared memory a tile lies depth by depth, its rows (of op(A),
 * columns of op(B)) contiguous, whichever way it lies in global memory. */
#ifndef FATHOM_GEMM_COPY_CUH
#define FATHOM_GEMM_COPY_CUH

#include "lib/base/base.h"

/* BYTES (4, 8 or 16) bytes, of which the first `valid` are read and the rest become zero. */
template <int BYTES>
static __device__ __forceinline__ void copy_start(void *to, const void *from, int valid)
{
#if __CUDA_ARCH__ >= 800
	const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
	if (BYTES == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared),
		             "l"(from), "r"(valid)
		             : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared),
		             "l"(from), "n"(BYTES), "r"(valid)
		             : "memory");
#else
	for (int i = 0; i < BYTES / 4; i++)
		((unsigned *)to)[i] = 4 * i < valid ? ((const unsigned *)from)[i] : 0;
#endif
}

/* The same with all bytes valid. */
template <int BYTES> static __device__ __forceinline__ void copy_start(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
	const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
	if (BYTES == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from)
		             : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from),
		             "n"(BYTES)
		             : "memory");
#else
	if (BYTES == 16)
		*(float4 *)to = *(const float4 *)from;
	else if (BYTES == 8)
		*(double *)to = *(const double *)from;
	else
		*(float *)to = *(const float *)from;
#endif
}

/* Starts the copy of *from where it is `there`, else writes `otherwise`, neither where it is not
 * wanted. Has no branch, after which the next copy's address could not be in registers before this
 * one has been read from them: 32 copies of a warp took 200 cycles each, so 75 (potrf_kernels.cu).
 */
template <typename T>
static __device__ __forceinline__ void copy_or_set(
        T *to, const T *from, bool wanted, bool there, T otherwise)
{
	const int copied = wanted && there, set = wanted && !there;
#if __CUDA_ARCH__ >= 800
	const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
	if (sizeof(T) == 8)
		asm volatile("{\n.reg .pred p, q;\nsetp.ne.s32 p, %2, 0;\nsetp.ne.s32 q, %3, 0;\n"
		             "@p cp.async.ca.shared.global [%0], [%1], 8;\n"
		             "@q st.shared.f64 [%0], %4;\n}" ::"r"(shared),
		             "l"(from), "r"(copied), "r"(set), "d"((double)otherwise)
		             : "memory");
	else
		asm volatile("{\n.reg .pred p, q;\nsetp.ne.s32 p, %2, 0;\nsetp.ne.s32 q, %3, 0;\n"
		             "@p cp.async.ca.shared.global [%0], [%1], 4;\n"
		             "@q st.shared.f32 [%0], %4;\n}" ::"r"(shared),
		             "l"(from), "r"(copied), "r"(set), "f"((float)otherwise)
		             : "memory");
#else
	if (copied)
		*to = *from;
	else if (set)
		*to = otherwise;
#endif
}

/* Ends a group of copies. */
static __device__ __forceinline__ void copy_commit(void)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most PENDING groups of this thread are unfinished. */
template <int PENDING> static __device__ __forceinline__ void copy_wait(void)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

/* How THREADS threads copy a tile of ROWS x DEPTH of one operand. ALONG: rows are contiguous in
 * global memory (op(A) = A, op(B) = B^T) and VECTOR of them travel in one copy; otherwise depth is
 * contiguous and a warp reads 8 of it of 4 rows: whole sectors from memory, and different banks
 * because of the pitch. */
template <typename T, bool ALONG, int VECTOR, int ROWS, int DEPTH, int THREADS> struct tile_copy {
	static const int PITCH = ALONG && sizeof(T) == 4 ? ROWS : ROWS + 4;
	static const int PER_DEPTH = ROWS / VECTOR; /* ALONG: threads side by side */
	static const int STEP = ALONG ? THREADS / PER_DEPTH : THREADS / 8;
	static const int BYTES = VECTOR * (int)sizeof(T);
	static const int COPIES = ROWS * DEPTH / VECTOR / THREADS; /* of a thread */
	static_assert(!ALONG || (THREADS % PER_DEPTH == 0 && DEPTH % STEP == 0), "whole copies");
	static_assert(ALONG || (ROWS % STEP == 0 && DEPTH % 8 == 0), "whole copies");

	/* Row and depth of this thread's first copy. */
	static __device__ __forceinline__ int row(void)
	{
		return ALONG ? threadIdx.x % PER_DEPTH * VECTOR : threadIdx.x / 8;
	}

	static __device__ __forceinline__ int depth(void)
	{
		return ALONG ? threadIdx.x / PER_DEPTH : threadIdx.x % 8;
	}

	static __device__ __forceinline__ int64_t offset(int64_t row, int64_t depth, int64_t ld)
	{
		return ALONG ? row + depth * ld : depth + row * ld;
	}

	/* Copy number i of a whole tile; at chains from the thread's first element. */
	static __device__ __forceinline__ void start_one(T *tile, const T *&chain, int64_t ld, int i)
	{
		T *to = tile + depth() * PITCH + row();
		if constexpr (ALONG) {
			copy_start<BYTES>(to + i * STEP * PITCH, chain);
			chain += STEP * ld;
		} else {
			const int d = i % (DEPTH / 8) * 8;
			copy_start<BYTES>(to + d * PITCH + i / (DEPTH / 8) * STEP, chain + d);
			if (d == DEPTH - 8)
				chain += STEP * ld;
		}
	}

	/* All copies of a tile of which only `rows` and `depths` are there. An address outside the
	 * matrix is never formed for a copy that reads nothing. */
	static __device__ __forceinline__ void start_edge(
	        T *tile, const T *from, int64_t ld, int rows, int depths)
	{
		T *to = tile + depth() * PITCH + row();
		rows -= row();
		depths -= depth();
		if constexpr (ALONG) {
			const int inside = min(max(rows, 0), VECTOR) * (int)sizeof(T);
#pragma unroll
			for (int i = 0; i < DEPTH / STEP; i++) {
				const int valid = i * STEP < depths ? inside : 0;
				copy_start<BYTES>(to + i * STEP * PITCH,
				        valid ? from + i * STEP * ld : from, valid);
			}
		} else {
#pragma unroll
			for (int i = 0; i < ROWS / STEP; i++)
#pragma unroll
				for (int d = 0; d < DEPTH; d += 8) {
					const int valid = i * STEP < rows && d < depths ? BYTES : 0;
					copy_start<BYTES>(to + d * PITCH + i * STEP,
					        valid ? from + i * STEP * ld + d : from, valid);
				}
		}
	}
};

#endif
