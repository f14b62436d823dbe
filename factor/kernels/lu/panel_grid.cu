/* SPDX-License-Identifier: MIT */
/* The LU panel of many multiprocessors: rows in registers as in factor/kernels/lu/panel_cluster.cu, in blocks of
 * one cooperative kernel that exchange through L2.
 *
 * Two warps of a block hold no rows. One brings the pivots: it takes the best of its block's heads,
 * publishes it, and waits for those of all blocks. The other brings the pivot rows: the block that
 * holds one publishes it once its head has won, and everybody has a column's time to read it.
 * Values travel with a tag in words of 8 bytes, so that whoever sees the tag has the value
 * (lib/device/exchange.cuh).
 *
 * Floor: the panel once from memory and once back; per column a store to L2 and a read that sees it
 * (0.3 us on an H200), and what factor/kernels/lu/panel_cluster.cu names between two exchanges (0.35 us).
 *
 * Log (H200, fp32, 64 columns, us a column, launch and transfers included). Predicted 1.1; measured
 * 1.4 with 8 blocks, 1.8 with 32 (16384 rows), 2.2 with 128 (65536 rows);
 * factor/kernels/lu/panel_resident.cu 2.3, 3.3, 3.8. All blocks look at the same lines of L2: with eight copies
 * of them 1.4, 1.7 and 1.9. Of a column's 2700 cycles, clock reads included, 510 go by until the
 * block's heads are there, 400 until the best of them is published, 1300 until all blocks' are
 * there, 400 until the pivot is known: the last to publish decides, and what the two warps do waits
 * for its turn between the updates of the others. Twice the blocks with half the rows are no
 * faster; multiprocessors that products beside may not share, and a launch before the kernel before
 * has ended, change 1 %. Clusters of 16 whose blocks agree through distributed shared memory, so
 * that one head a cluster goes through L2: 1.5 predicted for 65536 rows, measured 1.66 for 16384
 * (1.73 before) and 1.85 for 32768 (1.80), since a hop more takes what fewer heads give; and the
 * device has room for seven of them, 65536 rows need eight.
 *
 * How a warp looks at what its lanes wait for: 64 columns of 16384 and 65536 rows took 117 and 127
 * us, in fp64 150 (16384 rows), where a lane that was done left the loop, 122, 133 and 163 without
 * a vote behind it, 104, 116 and 131 where all look until none waits. More registers for the warps
 * that hold rows: no change. Multipliers read at once (factor/kernels/lu/panel_cluster.cu): 102, 105, 115 before,
 * 100, 104, 114 for 16384, 32768, 65536 rows, in fp64 as before; the update among the exchange 105
 * to 113. (The panel of Householder reads ten times as much at a look, and there the same takes up
 * to 1.6 times as long, factor/kernels/lu/panel_sums.cuh.) */
#include "panel_grid_exchange.cuh"
#include "panel_hold.cuh"

namespace
{

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void factorize(const struct grid<real> &g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	/* an address that the compiler keeps instead of working it out again and again */
	unsigned char *base = memory;
	asm volatile("" : "+l"(base));
	__builtin_assume(__isShared(base));
	struct shared<real, COLUMNS> &s = *(struct shared<real, COLUMNS> *)base;
	const struct seat t = take_seat((int)blockIdx.x, (int)blockDim.x - 32 * OTHERS);
	const uint32_t warps = (uint32_t)t.threads / 32;

	for (int k = (int)threadIdx.x; k < COLUMNS + 4; k += (int)blockDim.x)
		s.rows.pivot_row[TURNS - 1][k] = real(0);
	if (threadIdx.x == 0) {
		arrivals_set(s.rows.full, TURNS, 1);
		arrivals_set(s.rows.own_full, TURNS, warps);
		arrivals_set(s.proposed, TURNS, warps);
		arrivals_set(s.row, TURNS, 1);
	}
	__syncthreads();
	/* a vote, so that the compiler knows that no warp parts */
	if (__any_sync(0xffffffffu, (int)threadIdx.x < t.threads))
		hold_rows<false, real, COLUMNS, ROWS>(g.panel, s.rows, t,
		        exchange_of_grid<real, COLUMNS>{&s, t},
		        (struct multipliers<real, ROWS> *)(base + sizeof s));
	else if (__any_sync(0xffffffffu, (int)threadIdx.x < t.threads + 32))
		bring_pivots(g, s, t);
	else
		bring_rows(g, s, t);
}

#endif

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(THREADS, 1) grid_kernel(const struct grid<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	factorize<real, COLUMNS, ROWS>(g);
#endif
}

/* ---- choice of a kernel ---- */

template <typename real, int COLUMNS, int ROWS> constexpr struct variant variant_of(void)
{
	return rows_variant<real, COLUMNS, ROWS>(sizeof(struct shared<real, COLUMNS>),
	        (const void *)grid_kernel<real, COLUMNS, ROWS>);
}

const struct variant variants[] = {
        variant_of<float, 32, 4>(),
        variant_of<float, 64, 2>(),
        variant_of<float, 128, 1>(),
        variant_of<double, 32, 2>(),
        variant_of<double, 64, 1>(),
};

enum { VARIANTS = sizeof variants / sizeof *variants };

int64_t bytes_of(const struct variant *v, int64_t columns)
{
	return v->fixed_bytes + (columns + 1) * PANEL_CLUSTER_THREADS * v->multiplier_bytes;
}

/* What the current device has for these kernels: asked once a device, not in every call. */
struct answer {
	int device, most_blocks;
	bool takes[VARIANTS]; /* which are allowed the shared memory of their widest panels */
};

int attribute_of(int device, enum cudaDeviceAttr attribute)
{
	int value = 0;
	return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess ? value : 0;
}

struct answer ask(int device)
{
	const int sms = attribute_of(device, cudaDevAttrMultiProcessorCount);
	const bool able = attribute_of(device, cudaDevAttrComputeCapabilityMajor) >= 9 &&
	                  attribute_of(device, cudaDevAttrCooperativeLaunch);
	struct answer answer = {device, !able ? 0 : sms < MOST_BLOCKS ? sms : MOST_BLOCKS, {}};
	for (int i = 0; i < VARIANTS && able; i++)
		answer.takes[i] =
		        cudaFuncSetAttribute(variants[i].kernel,
		                cudaFuncAttributeMaxDynamicSharedMemorySize,
		                (int)bytes_of(&variants[i], variants[i].columns)) == cudaSuccess;
	cudaGetLastError(); /* a size that the device refuses is an answer here */
	return answer;
}

/* Few blocks with more rows are no slower than more blocks to exchange with, and leave more to
 * others. */
int blocks_of(const struct variant *v, int64_t m)
{
	const int64_t rows = (int64_t)PANEL_CLUSTER_THREADS * v->rows;
	return (int)((m + rows - 1) / rows);
}

/* NULL when no kernel takes the panel. */
const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	static thread_local struct answer known = {-1, 0, {}};
	int device;
	if (cudaGetDevice(&device) != cudaSuccess)
		return NULL;
	if (device != known.device)
		known = ask(device);
	for (int i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		if (v->precision == precision && n <= v->columns && n <= m && known.takes[i] &&
		        m <= panel_grid_rows(n, precision_bytes(precision), known.most_blocks))
			return v;
	}
	return NULL;
}

template <typename real>
int run(const struct variant *v, const struct panel<real> &panel, void *slots, uint32_t tag,
        void *stream)
{
	struct grid<real> g = {
		panel, (uint64_t *)slots, tag
	};
	void *arguments[] = {&g};
	return (int)cudaLaunchCooperativeKernel(v->kernel, dim3((unsigned)blocks_of(v, panel.m)),
	        dim3(THREADS), arguments, (size_t)bytes_of(v, panel.n), (cudaStream_t)stream);
}

} // namespace

extern "C" bool panel_grid_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int64_t panel_grid_work(void)
{
	return (int64_t)sizeof(uint64_t) * TURNS * layout<double>::TURN;
}

extern "C" int panel_grid(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        int *pivots, void *work, uint32_t tag, int *error, void *stream)
{
	const struct variant *v = choose(precision, m, n);
	uint32_t *gave_up = (uint32_t *)error;
	if (!v)
		return (int)cudaErrorInvalidValue;
	return precision == SINGLE
	               ? run<float>(v, {(float *)a, lda, (int)m, (int)n, pivots, gave_up}, work,
	                         tag, stream)
	               : run<double>(v, {(double *)a, lda, (int)m, (int)n, pivots, gave_up}, work,
	                         tag, stream);
}
