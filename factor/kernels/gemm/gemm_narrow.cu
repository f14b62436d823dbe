/* SPDX-License-Identifier: MIT */
/* The kernels of the matrix product in fp32 with small or narrow tiles, for small or narrow C. */
#include "gemm_launch.cuh"

int gemm_start_narrow(
        int shape, bool ta, bool tb, bool vector, gemm_args<float> &args, cudaStream_t stream)
{
	switch (shape) {
	case 3:
		return gemm_start_shape<gemm_shape<float, 64, 64, 16, 32, 32, 3, 4>, true>(
		        ta, tb, vector, args, stream);
	case 4:
		return gemm_start_shape<gemm_shape<float, 128, 32, 16, 32, 32, 3, 4>, false>(
		        ta, tb, vector, args, stream);
	case 5:
		return gemm_start_shape<gemm_shape<float, 32, 128, 16, 32, 32, 3, 4>, false>(
		        ta, tb, vector, args, stream);
	}
	return (int)cudaErrorInvalidValue;
}
