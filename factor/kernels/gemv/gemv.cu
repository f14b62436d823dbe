/* SPDX-License-Identifier: MIT */
/* Matrix-vector products. A is read once, by 16-byte loads where alignment permits, with enough
 * loads in flight to fill DRAM. Sums are formed in registers, then across the warp, the block and
 * the blocks that share a tile of y (through the workspace; the last block to finish adds up). The
 * plan fixes the order of every sum, so results repeat bit for bit.
 *
 * If A does not start on a 16-byte boundary, loads start at the boundary before it, `shift`
 * elements earlier; rows -shift .. -1 are masked. */
#include "lib/device/early_launch.cuh"
#include "gemv.h"

#include <cuda_runtime.h>

namespace
{

const int WARPS = GEMV_THREADS / 32;
const int MAX_WIDTH = 128;

template <typename T> struct product {
	int64_t m, n;
	T alpha, beta;
	const T *a; /* shift elements before A */
	int shift;
	int64_t lda;
	const T *x;
	int64_t incx;
	bool x_aligned; /* T: x - shift is aligned to 16 bytes, incx = 1 */
	T *y;
	int64_t incy;
	int lanes, splits;
	unsigned *counters;
	T *parts;
};

template <typename T, int V> struct alignas(sizeof(T) * V) pack {
	T v[V];
};

/* V elements of A, used once: they need not stay in L1. Not `.nc`, because the kernel may start
 * before the kernel that writes A ends. */
template <typename T, int V> static DEVICE pack<T, V> stream_load(const T *p)
{
	union {
		pack<T, V> values;
		uint32_t words[sizeof(T) * V / 4];
	} u;
	if (sizeof(u) == 16)
		asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		             : "=r"(u.words[0]), "=r"(u.words[1 % (sizeof(u) / 4)]),
		             "=r"(u.words[2 % (sizeof(u) / 4)]), "=r"(u.words[3 % (sizeof(u) / 4)])
		             : "l"(p));
	else if (sizeof(u) == 8)
		asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
		             : "=r"(u.words[0]), "=r"(u.words[1 % (sizeof(u) / 4)])
		             : "l"(p));
	else
		asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(u.words[0]) : "l"(p));
	return u.values;
}

/* Elements low .. high-1 of V; zeros for the others. */
template <typename T, int V> static DEVICE pack<T, V> masked_load(const T *p, int low, int high)
{
	pack<T, V> values;
#pragma unroll
	for (int v = 0; v < V; v++)
		values.v[v] = v >= low && v < high ? p[v] : T(0);
	return values;
}

template <typename T>
static DEVICE void store(const product<T> &c, int64_t i, int64_t length, T sum)
{
	if (i < 0 || i >= length)
		return;
	T *y = c.y + i * c.incy;
	*y = c.beta == T(0) ? c.alpha * sum : c.alpha * sum + c.beta * *y;
}

/* From the `width` sums in part, of one split of the tile that starts at element `first` of y, to
 * y. */
template <typename T>
static __device__ void finish(
        const product<T> &c, const T *part, int width, int64_t first, int64_t length)
{
	__shared__ bool is_last;
	const int t = threadIdx.x;
	T sum = T(0);
	if (c.splits == 1) {
		if (t < width)
			store(c, first + t, length, part[t]);
		return;
	}
	T *parts = c.parts + (int64_t)blockIdx.x * c.splits * width;
	if (t < width)
		parts[blockIdx.y * width + t] = part[t];
	__threadfence();
	__syncthreads();
	if (t == 0) /* wraps to zero at the last split */
		is_last = atomicInc(c.counters + blockIdx.x, c.splits - 1) == c.splits - 1u;
	__syncthreads();
	if (!is_last || t >= width)
		return;
	__threadfence();
#pragma unroll 8
	for (int s = 0; s < c.splits; s++)
		sum += __ldcg(parts + s * width + t);
	store(c, first + t, length, sum);
}

/* A warp is `lanes` threads along the rows, V rows each, times 32 / lanes columns. The block's
 * warps are side by side along the columns. */
template <typename T, int V, int U, bool EDGE>
static DEVICE void rows_times(
        const product<T> &c, int64_t row, int group, int groups, int64_t j1, int64_t j, T (&sum)[V])
{
	const int low = EDGE ? (int)max((int64_t)0, c.shift - row) : 0;
	const int high = EDGE ? (int)min((int64_t)V, c.m + c.shift - row) : V;
	const T *a = c.a + row + (j + group) * c.lda, *x = c.x + (j + group) * c.incx;
	const int64_t a_step = groups * c.lda, x_step = groups * c.incx;
	for (j += group; j < j1; j += groups * U) {
		pack<T, V> value[U];
		T factor[U];
		const bool whole = j + (int64_t)(U - 1) * groups < j1;
#pragma unroll
		for (int u = 0; u < U; u++) {
			const bool inside = whole || j + (int64_t)u * groups < j1;
			if (EDGE)
				value[u] =
				        masked_load<T, V>(a + u * a_step, low, inside ? high : 0);
			else if (inside)
				value[u] = stream_load<T, V>(a + u * a_step);
			else
				value[u] = pack<T, V>();
			factor[u] = inside ? *(x + u * x_step) : T(0);
		}
#pragma unroll
		for (int u = 0; u < U; u++)
#pragma unroll
			for (int v = 0; v < V; v++)
				sum[v] += value[u].v[v] * factor[u];
		a += U * a_step;
		x += U * x_step;
	}
}

template <typename T, int V, int U>
__global__ void __launch_bounds__(GEMV_THREADS) plain_kernel(const product<T> c)
{
	__shared__ T by_warp[WARPS][MAX_WIDTH];
	__shared__ T part[MAX_WIDTH];
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int groups = GEMV_THREADS / c.lanes, width = c.lanes * V;
	const int along = lane % c.lanes, group = threadIdx.x / c.lanes;
	const int64_t first = (int64_t)blockIdx.x * width;
	const int64_t j0 = c.n * blockIdx.y / c.splits, j1 = c.n * (blockIdx.y + 1) / c.splits;
	T sum[V] = {};
	early_wait();
	if (first >= c.shift && first + width <= c.m + c.shift)
		rows_times<T, V, U, false>(c, first + along * V, group, groups, j1, j0, sum);
	else
		rows_times<T, V, U, true>(c, first + along * V, group, groups, j1, j0, sum);
	early_release(); /* earlier, the next kernel's blocks would take the free places */
	for (int step = c.lanes; step < 32; step *= 2)
#pragma unroll
		for (int v = 0; v < V; v++)
			sum[v] += __shfl_xor_sync(0xffffffffu, sum[v], step);
	if (lane < c.lanes)
#pragma unroll
		for (int v = 0; v < V; v++)
			by_warp[warp][along * V + v] = sum[v];
	__syncthreads();
	T total = T(0);
	if ((int)threadIdx.x < width) {
#pragma unroll
		for (int w = 0; w < WARPS; w++)
			total += by_warp[w][threadIdx.x];
		part[threadIdx.x] = total;
	}
	if (c.splits > 1)
		__syncthreads();
	finish(c, part, width, first - c.shift, c.m);
}

/* Elements of x for vector k, which starts at row k V - shift. */
template <typename T, int V> static DEVICE pack<T, V> x_load(const product<T> &c, int64_t k)
{
	pack<T, V> values;
	const int64_t i = k * V - c.shift;
	if (c.x_aligned)
		return *(const pack<T, V> *)(c.x + i);
#pragma unroll
	for (int v = 0; v < V; v++)
		values.v[v] = *(c.x + (i + v) * c.incx);
	return values;
}

/* Rows outside whole vectors: fewer than V at either end. */
template <typename T, int V, int C>
static DEVICE void edge_rows(
        const product<T> &c, int64_t thread, const int64_t (&offset)[C], T (&sum)[C])
{
	const int64_t head = c.shift ? min(c.m, (int64_t)(V - c.shift)) : 0;
	const int64_t tail = (c.m - head) % V;
	if (thread >= head + tail)
		return;
	const int64_t i = thread < head ? thread : c.m - tail + thread - head;
	const T factor = *(c.x + i * c.incx);
#pragma unroll
	for (int k = 0; k < C; k++)
		sum[k] += *(c.a + offset[k] + c.shift + i) * factor;
}

/* A thread has C columns, V rows of each at a time. `lanes` warps of the block are side by side
 * along the rows, the others along the columns. */
template <typename T, int V, int C, int U>
__global__ void __launch_bounds__(GEMV_THREADS) transposed_kernel(const product<T> c)
{
	__shared__ T by_warp[WARPS][C];
	__shared__ T part[WARPS * C];
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int width = WARPS / c.lanes * C, threads = c.lanes * 32;
	const int64_t first = (int64_t)blockIdx.x * width, column = first + warp / c.lanes * C;
	const int thread = threadIdx.x % threads;
	int64_t offset[C];
#pragma unroll
	for (int k = 0; k < C; k++) /* past the last column: the last one again */
		offset[k] = min(column + k, c.n - 1) * c.lda;

	/* whole vectors, split at multiples of 32 */
	const int64_t k_first = c.shift > 0, k_end = (c.m + c.shift) / V;
	const int64_t chunk = ((k_end - k_first + c.splits - 1) / c.splits + 31) / 32 * 32;
	const int64_t k0 = k_first + chunk * blockIdx.y, k1 = min(k0 + chunk, k_end);
	T sum[C] = {};
	early_wait();
	for (int64_t k = k0 + thread; k < k1; k += threads * U) {
		pack<T, V> value[U][C], factor[U];
		const bool whole = k + (U - 1) * threads < k1;
#pragma unroll
		for (int u = 0; u < U; u++) {
			const bool inside = whole || k + u * threads < k1;
#pragma unroll
			for (int j = 0; j < C; j++)
				value[u][j] = inside ? stream_load<T, V>(c.a + offset[j] +
				                                         (k + u * threads) * V)
				                     : pack<T, V>();
			factor[u] = inside ? x_load<T, V>(c, k + u * threads) : pack<T, V>();
		}
#pragma unroll
		for (int u = 0; u < U; u++)
#pragma unroll
			for (int j = 0; j < C; j++)
#pragma unroll
				for (int v = 0; v < V; v++)
					sum[j] += value[u][j].v[v] * factor[u].v[v];
	}
	early_release(); /* earlier, the next kernel's blocks would take the free places */
	if (V > 1 && blockIdx.y == 0)
		edge_rows<T, V, C>(c, thread, offset, sum);
#pragma unroll
	for (int j = 0; j < C; j++)
#pragma unroll
		for (int step = 16; step > 0; step /= 2)
			sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], step);
	if (lane == 0)
#pragma unroll
		for (int j = 0; j < C; j++)
			by_warp[warp][j] = sum[j];
	__syncthreads();
	if ((int)threadIdx.x < width) {
		const int j = threadIdx.x % C, w0 = (int)threadIdx.x / C * c.lanes;
		T total = T(0);
		for (int w = 0; w < c.lanes; w++)
			total += by_warp[w0 + w][j];
		part[threadIdx.x] = total;
	}
	if (c.splits > 1)
		__syncthreads();
	finish(c, part, width, first, c.n);
}

/* Loads narrower than 16 bytes: enough of them for 64 bytes. */
template <typename T, int V> void (*narrow_kernel(bool transposed))(const product<T>)
{
	const int loads = 64 / (sizeof(T) * V);
	if (transposed)
		return transposed_kernel<T, V, 2, loads / 2>;
	return plain_kernel<T, V, loads>;
}

template <typename T>
void (*kernel_of(bool transposed, const struct gemv_plan *p))(const product<T>)
{
	const int most = 16 / sizeof(T);
	if (p->vector == 1)
		return narrow_kernel<T, 1>(transposed);
	if (p->vector < most)
		return narrow_kernel<T, 2>(transposed);
	if (!transposed)
		return p->unroll == 4 ? plain_kernel<T, most, 4> : plain_kernel<T, most, 8>;
	if (p->columns == 1)
		return transposed_kernel<T, most, 1, 4>;
	if (p->columns == 2)
		return transposed_kernel<T, most, 2, 4>;
	return p->unroll == 1 ? transposed_kernel<T, most, 4, 1> : transposed_kernel<T, most, 4, 2>;
}

template <typename T>
int launch(
        const struct gemv_call *call, const struct gemv_plan *plan, void *work, cudaStream_t stream)
{
	const uintptr_t bytes = sizeof(T) * (unsigned)plan->vector;
	const bool unread = call->alpha == 0;
	product<T> c;
	c.m = unread && call->transposed ? 0 : call->m;
	c.n = unread && !call->transposed ? 0 : call->n;
	c.alpha = (T)call->alpha;
	c.beta = (T)call->beta;
	c.shift = gemv_shift(call, plan->vector);
	c.a = (const T *)call->a - c.shift;
	c.lda = call->lda;
	c.x = (const T *)call->x;
	c.incx = call->incx;
	c.x_aligned = call->incx == 1 && (uintptr_t)(c.x - c.shift) % bytes == 0;
	c.y = (T *)call->y;
	c.incy = call->incy;
	c.lanes = plan->lanes;
	c.splits = plan->splits;
	c.counters = (unsigned *)work;
	c.parts = (T *)((char *)work + GEMV_COUNTERS);

	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3((unsigned)plan->tiles, (unsigned)plan->splits);
	config.blockDim = dim3(GEMV_THREADS);
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = plan->early;
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	return (int)cudaLaunchKernelEx(&config, kernel_of<T>(call->transposed, plan), c);
}

} // namespace

extern "C" int gemv_tuned(
        const struct gemv_call *call, const struct gemv_plan *plan, void *work, void *stream)
{
	if (call->m == 0 || call->n == 0)
		return (int)cudaSuccess;
	return call->precision == SINGLE ? launch<float>(call, plan, work, (cudaStream_t)stream)
	                                 : launch<double>(call, plan, work, (cudaStream_t)stream);
}
