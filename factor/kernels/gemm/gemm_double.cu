/* SPDX-License-Identifier: MIT */
/* The kernels of the matrix product in fp64. */
#include "gemm_double.cuh"
#include "gemm_launch.cuh"

namespace
{

template <class S, bool TA, bool TB, bool VECTOR>
int start_kernel(gemm_args<double> &args, cudaStream_t stream)
{
	const int bytes =
	        gemm_double_block<S, TA, TB, VECTOR>::RING_BYTES + double_tile<S, VECTOR>::BYTES;
	const int blocks = gemm_deal(args, gpu_current()->sm_count * S::RESIDENT);
	const auto kernel = gemm_double_kernel<S, TA, TB, VECTOR>;
	const int error = kernel_allow_shared((const void *)kernel);
	if (error)
		return error;
	kernel<<<blocks, S::THREADS, bytes, stream>>>(args);
	return (int)cudaGetLastError();
}

template <class S, bool VECTOR>
int start_transposed(bool ta, bool tb, gemm_args<double> &args, cudaStream_t stream)
{
	if (ta)
		return tb ? start_kernel<S, true, true, VECTOR>(args, stream)
		          : start_kernel<S, true, false, VECTOR>(args, stream);
	return tb ? start_kernel<S, false, true, VECTOR>(args, stream)
	          : start_kernel<S, false, false, VECTOR>(args, stream);
}

template <class S>
int start_shape(bool ta, bool tb, bool vector, gemm_args<double> &args, cudaStream_t stream)
{
	return vector ? start_transposed<S, true>(ta, tb, args, stream)
	              : start_transposed<S, false>(ta, tb, args, stream);
}

} // namespace

int gemm_start(
        int shape, bool ta, bool tb, bool vector, gemm_args<double> &args, cudaStream_t stream)
{
	if (shape == GEMM_DOUBLE)
		return start_shape<gemm_double_shape<64, 64, 16, 32, 32, 3, 2>>(
		        ta, tb, vector, args, stream);
	return (int)cudaErrorInvalidValue;
}
