/* SPDX-License-Identifier: MIT */
/* Shared by the resident panels of Householder and Gram-Schmidt: every thread holds ROWS rows of
 * the panel in registers, column j always in register 0. Holds the products of a column with the
 * others (panel_sums.cuh sums over blocks), the update, and the choice of a kernel. */
#pragma once

#include "panel_registers.h"
#include "panel_sums.cuh"
#include "lib/device/current.h"
#include "lib/device/resident.h"

#include <cuda_runtime.h>

/* Lane l of the warp gets the sum of value[l] over the lanes: lanes exchange halves of the values,
 * then halves of the halves. */
template <int HALF, typename real> static DEVICE real transposed_sum(real (&value)[2 * HALF])
{
	const bool upper = threadIdx.x & HALF;
	real rest[HALF];
#pragma unroll
	for (int i = 0; i < HALF; i++) {
		const real send = upper ? value[i] : value[i + HALF];
		const real keep = upper ? value[i + HALF] : value[i];
		rest[i] = keep + __shfl_xor_sync(0xffffffffu, send, HALF);
	}
	if constexpr (HALF > 1)
		return transposed_sum<HALF / 2>(rest);
	else
		return rest[0];
}

/* The warp's sums of x times columns 0 .. count-1. */
template <typename real, int COLUMNS, int ROWS, int THREADS, int CLUSTER>
static DEVICE void warp_sums(const real (&a)[ROWS][COLUMNS], const real (&x)[ROWS],
        scratch<real, COLUMNS, THREADS, CLUSTER> &s, int count)
{
#pragma unroll
	for (int chunk = 0; chunk < COLUMNS / 32; chunk++) {
		if (32 * chunk >= count)
			break;
		real product[32];
#pragma unroll
		for (int i = 0; i < 32; i++) {
			product[i] = x[0] * a[0][32 * chunk + i];
#pragma unroll
			for (int r = 1; r < ROWS; r++)
				product[i] += x[r] * a[r][32 * chunk + i];
		}
		s.warp_part[threadIdx.x / 32][32 * chunk + threadIdx.x % 32] =
		        transposed_sum<16>(product);
	}
}

/* Columns 1 .. count-1 minus v times their multipliers, each moved one column to the left. */
template <typename real, int COLUMNS, int ROWS>
static DEVICE void update(
        real (&a)[ROWS][COLUMNS], const real (&v)[ROWS], const real *times, int count)
{
	const int WIDTH = 16 / (int)sizeof(real);
#pragma unroll
	for (int chunk = 0; chunk < COLUMNS / 32; chunk++) {
		if (32 * chunk >= count)
			break;
#pragma unroll
		for (int i = 32 * chunk; i < 32 * chunk + 32; i += WIDTH) {
			struct alignas(16) {
				real value[WIDTH];
			} t = *(const decltype(t) *)(times + i);
#pragma unroll
			for (int k = i; k < i + WIDTH; k++)
#pragma unroll
				for (int r = 0; r < ROWS; r++)
					if (k > 0)
						a[r][k - 1] = a[r][k] - v[r] * t.value[k - i];
		}
	}
}

template <int ROWS, int THREADS> static DEVICE int row_of(int r)
{
	return ((int)blockIdx.x * ROWS + r) * THREADS + (int)threadIdx.x;
}

/* Blocks of a kernel that the current context holds at once. Launch bounds give one per
 * multiprocessor; the number of clusters depends on the grouping of multiprocessors. */
static inline int64_t register_panel_most(
        const struct register_panel *table, int count, const struct register_panel *v)
{
	static thread_local uint64_t known_context;
	static thread_local int clusters[REGISTER_PANELS];
	const struct current *current = gpu_current();
	if (!current->cooperative)
		return 0;
	if (v->cluster == 1)
		return current->sm_count;
	if (current->context != known_context) {
		for (int i = 0; i < count; i++)
			clusters[i] = table[i].cluster > 1
			                      ? cluster_resident(table[i].kernel, table[i].cluster,
			                                table[i].threads, 0)
			                      : 0;
		known_context = current->context;
	}
	return v->cluster * clusters[v - table];
}

/* The first kernel of the table that takes the panel with at most `most` blocks; NULL if none does.
 * A file has one table. */
static inline const struct register_panel *register_panel_choose(const struct register_panel *table,
        int count, enum precision precision, int64_t m, int64_t n, int64_t most)
{
	for (int i = 0; i < count; i++) {
		const struct register_panel *v = &table[i];
		if (register_panel_takes(v, precision, m, n, most) &&
		        register_panel_blocks(v, m) <= register_panel_most(table, count, v))
			return v;
	}
	return NULL;
}

/* Bytes of the error word and the slots. */
static inline int64_t register_panel_work(const struct register_panel *v, int64_t m)
{
	const int64_t record = v->columns * 2 * precision_bytes(v->precision);
	return 16 + 2 * (register_panel_blocks(v, m) + 1) * record;
}

/* Cooperative; in clusters if the kernel needs them. */
static inline int register_panel_launch(
        const struct register_panel *v, int64_t m, void *work, void *argument, cudaStream_t stream)
{
	const cudaError_t error =
	        cudaMemsetAsync(work, 0, (size_t)register_panel_work(v, m), stream);
	if (error != cudaSuccess)
		return (int)error;
	cudaLaunchAttribute attribute[2] = {};
	attribute[0].id = cudaLaunchAttributeCooperative;
	attribute[0].val.cooperative = 1;
	attribute[1].id = cudaLaunchAttributeClusterDimension;
	attribute[1].val.clusterDim = {(unsigned)v->cluster, 1, 1};
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3((unsigned)register_panel_blocks(v, m));
	config.blockDim = dim3((unsigned)v->threads);
	config.stream = stream;
	config.attrs = attribute;
	config.numAttrs = v->cluster > 1 ? 2 : 1;
	void *arguments[] = {argument};
	return (int)cudaLaunchKernelExC(&config, v->kernel, arguments);
}
