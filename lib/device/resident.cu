/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "resident.h"
#include "current.h"
#include "gpu.h"

extern "C" int grid_resident(const void *kernel, int threads, size_t shared_bytes)
{
	int per_sm = 0;
	if (!gpu_current()->cooperative)
		return 0;
	if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, shared_bytes) !=
	        cudaSuccess) {
		cudaGetLastError(); /* the caller's own calls will say so */
		return 0;
	}
	return per_sm * gpu_current()->sm_count;
}

static cudaLaunchConfig_t configuration(int blocks, int cluster, int threads, size_t shared_bytes,
        void *stream, cudaLaunchAttribute *attribute)
{
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3((unsigned)blocks);
	config.blockDim = dim3((unsigned)threads);
	config.dynamicSmemBytes = shared_bytes;
	config.stream = (cudaStream_t)stream;
	config.attrs = attribute;
	config.numAttrs = 1;
	if (cluster > 0) {
		attribute->id = cudaLaunchAttributeClusterDimension;
		attribute->val.clusterDim = {(unsigned)cluster, 1, 1};
	} else {
		attribute->id = cudaLaunchAttributeCooperative;
		attribute->val.cooperative = 1;
	}
	return config;
}

extern "C" int cluster_resident(const void *kernel, int cluster, int threads, size_t shared_bytes)
{
	if (cluster > gpu_current()->max_cluster)
		return 0;
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config =
	        configuration(cluster, cluster, threads, shared_bytes, NULL, &attribute);
	int clusters = 0;
	if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
	                cudaSuccess ||
	        cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	const int room = gpu_current()->sm_count / cluster; /* known for the whole device alone */
	return clusters < room ? clusters : room;
}

extern "C" bool cluster_takes(struct cluster_answer *last, const void *kernel, int cluster,
        int threads, size_t shared_bytes)
{
	const uint64_t context = gpu_current()->context;
	if (context != last->context) {
		last->takes = kernel_takes_shared(kernel, (int64_t)shared_bytes) &&
		              cluster_resident(kernel, cluster, threads, shared_bytes) > 0;
		last->context = context;
		cudaGetLastError(); /* clears a refused size */
	}
	return context != 0 && last->takes;
}

/* Asks for the shared memory that the device allows a block and the kernel does not use yet. */
extern "C" bool cluster_takes_alone(
        struct cluster_answer *last, const void *kernel, int cluster, int threads)
{
	const struct current *current = gpu_current();
	cudaFuncAttributes attributes;
	if (current->context != last->context &&
	        cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess)
		last->whole = (size_t)current->shared_per_block - attributes.sharedSizeBytes;
	return cluster_takes(last, kernel, cluster, threads, last->whole);
}

extern "C" int resident_launch(const void *kernel, int blocks, int cluster, int threads,
        size_t shared_bytes, void *argument, void *stream)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config =
	        configuration(blocks, cluster, threads, shared_bytes, stream, &attribute);
	void *arguments[] = {argument};
	return (int)cudaLaunchKernelExC(&config, kernel, arguments);
}

extern "C" int early_cluster_launch(const void *kernel, int blocks, int cluster, int threads,
        size_t shared_bytes, void *argument, void *stream)
{
	cudaLaunchAttribute attribute[2];
	cudaLaunchConfig_t config =
	        configuration(blocks, cluster, threads, shared_bytes, stream, attribute);
	void *arguments[] = {argument};
	attribute[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute[1].val.programmaticStreamSerializationAllowed = 1;
	config.numAttrs = 2;
	return (int)cudaLaunchKernelExC(&config, kernel, arguments);
}
