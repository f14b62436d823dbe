/* SPDX-License-Identifier: MIT */
#include "vendor_emulation.h"

#include "lib/base/base.h"

#include <cuda_runtime_api.h>

#include <stdlib.h>
#include <string.h>

enum { EDGE = 1024 }; /* of the small matrix */

bool vendor_emulation_set(cusolverDnHandle_t handle, enum precision precision, bool emulated)
{
#if CUDART_VERSION >= 13000
	/* cuSOLVER's numbers of its modes: the second is not in the header of 13.0. */
	const int mode = !emulated ? 1 : precision == SINGLE ? 2 : 4;

	return cusolverDnSetMathMode(handle, (cusolverMathMode_t)mode) == CUSOLVER_STATUS_SUCCESS &&
	       cusolverDnSetEmulationStrategy(handle, CUDA_EMULATION_STRATEGY_EAGER) ==
	               CUSOLVER_STATUS_SUCCESS;
#else
	(void)handle, (void)precision;
	return !emulated;
#endif
}

/* Memory of one factorization. */
struct room {
	void *a, *work;
	int *info, count;
};

static bool take(struct room *room, cusolverDnHandle_t handle, enum precision precision)
{
	const size_t word = (size_t)precision_bytes(precision);
	const bool sized =
	        (precision == SINGLE ? cusolverDnSgetrf_bufferSize(
	                                       handle, EDGE, EDGE, NULL, EDGE, &room->count)
	                             : cusolverDnDgetrf_bufferSize(handle, EDGE, EDGE, NULL, EDGE,
	                                       &room->count)) == CUSOLVER_STATUS_SUCCESS;

	return sized && cudaMalloc(&room->a, EDGE * EDGE * word) == cudaSuccess &&
	       cudaMalloc(&room->work, (size_t)room->count * word) == cudaSuccess &&
	       cudaMalloc((void **)&room->info, sizeof *room->info) == cudaSuccess;
}

/* LU without pivoting of `from`, on the host, into `to`. */
static bool factorize(const struct room *room, cusolverDnHandle_t handle, cudaStream_t stream,
        enum precision precision, const void *from, void *to)
{
	const size_t bytes = (size_t)EDGE * EDGE * (size_t)precision_bytes(precision);

	if (cudaMemcpy(room->a, from, bytes, cudaMemcpyHostToDevice) != cudaSuccess ||
	        cudaDeviceSynchronize() != cudaSuccess)
		return false;
	const cusolverStatus_t status = precision == SINGLE
	                                        ? cusolverDnSgetrf(handle, EDGE, EDGE, room->a,
	                                                  EDGE, room->work, NULL, room->info)
	                                        : cusolverDnDgetrf(handle, EDGE, EDGE, room->a,
	                                                  EDGE, room->work, NULL, room->info);

	return status == CUSOLVER_STATUS_SUCCESS && cudaStreamSynchronize(stream) == cudaSuccess &&
	       cudaMemcpy(to, room->a, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}

/* Random numbers from -1 to 1, and a diagonal that needs no pivoting. */
static void fill(void *a, enum precision precision)
{
	uint64_t state = 1;

	for (int i = 0; i < EDGE * EDGE; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		const double x = i % (EDGE + 1) ? (double)(int64_t)state * 0x1p-63 : EDGE;
		if (precision == SINGLE)
			((float *)a)[i] = (float)x;
		else
			((double *)a)[i] = x;
	}
}

bool vendor_emulation_differs(cusolverDnHandle_t handle, cudaStream_t stream,
        enum precision precision, struct fault *fault)
{
	const size_t bytes = (size_t)EDGE * EDGE * (size_t)precision_bytes(precision);
	struct room room = {0};
	char *a = xmalloc(bytes), *plain = xmalloc(bytes), *emulated = xmalloc(bytes);

	fill(a, precision);
	const bool has = vendor_emulation_set(handle, precision, true);
	bool ok = !has || (take(&room, handle, precision) &&
	                          factorize(&room, handle, stream, precision, a, emulated));
	ok = vendor_emulation_set(handle, precision, false) && ok;
	ok = ok && (!has || factorize(&room, handle, stream, precision, a, plain));
	const bool differs = has && ok && memcmp(plain, emulated, bytes) != 0;
	if (!ok)
		fault_set(fault, "cuSOLVER: a small LU failed in the emulated mode");
	cudaFree(room.a);
	cudaFree(room.work);
	cudaFree(room.info);
	free(a);
	free(plain);
	free(emulated);
	return differs;
}
