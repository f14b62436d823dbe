/* SPDX-License-Identifier: MIT */
/* The kernels of the matrix product in fp32 with large tiles, for large C. */
#include "gemm_launch.cuh"

int gemm_start_large(
        int shape, bool ta, bool tb, bool vector, gemm_args<float> &args, cudaStream_t stream)
{
	switch (shape) {
	case 0:
		return gemm_start_shape<gemm_shape<float, 128, 128, 8, 64, 64, 5, 2>, false>(
		        ta, tb, vector, args, stream);
	case 1:
		return gemm_start_shape<gemm_shape<float, 128, 64, 16, 64, 32, 3, 3>, true>(
		        ta, tb, vector, args, stream);
	case 2:
		return gemm_start_shape<gemm_shape<float, 64, 128, 16, 64, 32, 3, 3>, false>(
		        ta, tb, vector, args, stream);
	}
	return (int)cudaErrorInvalidValue;
}
