/* SPDX-License-Identifier: MIT */
/* The sweep of one kernel (sweep_blocks.cuh): its variants by the number of rows beside a window's
 * own, and its launch.
 *
 * Cost: for every window, the longer of block 0's window and the other blocks' tiles.
 * Experiments: docs/experiments/band-sweep.md. */
#include "lib/base/base.h"
#include "lib/device/current.h"
#include "lib/device/resident.h"
#include "sweep_blocks.cuh"
#include "sweep_kernel.h"

namespace
{

static_assert((int)WIDTH == (int)SWEEP_KERNEL_COLUMNS, "one width");

template <typename real, int P, bool SLIDES>
__global__ void __launch_bounds__(SWEEP_THREADS, 1)
        sweep_down_kernel(const __grid_constant__ struct sweep<real> g)
{
	extern __shared__ uint4 memory[];
	struct window_memory<real, P> &s = *(struct window_memory<real, P> *)memory;
	if (blockIdx.x == 0)
		lead<real, P, SLIDES>(g, s);
	else
		follow<real, P, SLIDES>(g, s);
}

/* ---- launch ---- */

struct variant {
	enum precision precision;
	int p;
	const void *sliding, *added;
	size_t bytes;
};

template <typename real, int P> constexpr struct variant variant_of(void)
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, P,
	        (const void *)sweep_down_kernel<real, P, true>,
	        (const void *)sweep_down_kernel<real, P, false>,
	        sizeof(struct window_memory<real, P>)};
}

const struct variant variants[] = {variant_of<float, 16>(), variant_of<float, 32>(),
        variant_of<float, 64>(), variant_of<float, 128>(), variant_of<float, 256>(),
        variant_of<double, 16>(), variant_of<double, 32>(), variant_of<double, 64>(),
        variant_of<double, 128>()};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Blocks of each variant that the current context runs at once; 0: the variant cannot run. */
const int *residents(void)
{
	static thread_local uint64_t known_context;
	static thread_local int known[VARIANTS];
	const struct current *current = gpu_current();
	for (int i = 0; i < VARIANTS && current->context != known_context; i++) {
		const struct variant *v = &variants[i];
		const bool fits = kernel_takes_shared(v->sliding, (int64_t)v->bytes) &&
		                  kernel_takes_shared(v->added, (int64_t)v->bytes);
		known[i] = fits ? grid_resident(v->sliding, SWEEP_THREADS, v->bytes) : 0;
	}
	cudaGetLastError(); /* clears a refusal */
	known_context = current->context;
	return known;
}

const struct variant *choose(enum precision precision, int64_t p)
{
	const int64_t rows = sweep_kernel_rows(precision, p);
	for (int i = 0; i < VARIANTS; i++)
		if (variants[i].precision == precision && variants[i].p == rows)
			return &variants[i];
	return NULL;
}

int64_t windows_of(const struct band *x)
{
	return (x->of.r.n - x->k + WIDTH - 1) / WIDTH;
}

int64_t flag_bytes(const struct band *x)
{
	return (READY + windows_of(x) + 3) / 4 * 16;
}

template <typename real> struct strided<real> upright(struct matrix a) {
	return {(real *)matrix_address(a), 1, a.ld};
}

template <typename real>
struct strided<real> transposed(struct matrix a) {
	return {(real *)matrix_address(a), a.ld, 1};
}

template <typename real>
int launch(const struct variant *v, int residents, const struct band *x, void *work, void *stream)
{
	const struct system *of = &x->of, *tail = x->added ? x->added : of;
	struct sweep<real> g = {
	};
	g.part[0] = {upright<real>(of->r), upright<real>(tail->r), of->r.n};
	g.part[1] = {upright<real>(of->d), upright<real>(tail->d), of->d.n};
	g.part[2] = {transposed<real>(of->q), transposed<real>(tail->q), of->q.m};
	g.first = x->k;
	g.rows = of->r.m;
	g.tail_rows = (int)x->p;
	g.windows = (int)windows_of(x);
	g.d_tiles = (int)((of->d.n + WIDTH - 1) / WIDTH);
	g.q_tiles = (int)((of->q.m + WIDTH - 1) / WIDTH);
	g.flags = (uint32_t *)work;
	g.published = (real *)((char *)work + flag_bytes(x));
	const int64_t blocks = 1 + (int64_t)g.windows + g.d_tiles + g.q_tiles;
	const int error =
	        (int)cudaMemsetAsync(work, 0, (size_t)flag_bytes(x), (cudaStream_t)stream);
	if (error)
		return error;
	return resident_launch(x->added ? v->added : v->sliding,
	        blocks < residents ? (int)blocks : residents, 0, SWEEP_THREADS, v->bytes, &g,
	        stream);
}

} // namespace

extern "C" bool sweep_kernel_fits(enum precision precision, int64_t p)
{
	const struct variant *v = choose(precision, p);
	return v && residents()[v - variants] > 1;
}

extern "C" int64_t sweep_kernel_work(const struct band *x)
{
	const struct variant *v = choose(x->of.r.precision, x->p);
	const int64_t words = v ? (int64_t)(2 * WIDTH + v->p) * WIDTH : 0;
	return flag_bytes(x) + windows_of(x) * words * precision_bytes(x->of.r.precision);
}

extern "C" int sweep_kernel(const struct band *x, void *work, void *stream)
{
	const struct variant *v = choose(x->of.r.precision, x->p);
	if (!v || residents()[v - variants] < 2)
		return (int)cudaErrorInvalidValue;
	if (windows_of(x) <= 0 || x->p <= 0)
		return 0;
	return x->of.r.precision == SINGLE
	               ? launch<float>(v, residents()[v - variants], x, work, stream)
	               : launch<double>(v, residents()[v - variants], x, work, stream);
}
