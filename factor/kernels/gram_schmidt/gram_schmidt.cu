/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's passes: the choice of gram_schmidt_pass.cuh's kernel, its workspace, its
 * launch. */
#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "gram_pass_plan.h"
#include "gram_schmidt_pass.cuh"

namespace
{

template <typename T>
struct gram_pass_plan plan_of(
        enum gram_step step, const struct gram_schmidt *g, int64_t columns, const struct gpu *gpu)
{
	return gram_pass_plan(
	        step, g->a.precision, g->a.m, columns, aligned<T>(g), gpu->l2_bytes, gpu->sm_count);
}

/* ---- workspace: two columns, and two sets of parts of dot products ---- */

template <typename T> int64_t column_room(int64_t m)
{
	const int64_t line = 16 / sizeof(T);
	return (m + line - 1) / line * line;
}

template <typename T> int64_t parts_room(int64_t m, int64_t n)
{
	const int64_t wide = gram_pass_chunks(m, 16 / sizeof(T), 1),
	              single = gram_pass_chunks(m, 1, 4);
	return column_room<T>((wide > single ? wide : single) * n);
}

template <typename T> T *column_at(const struct gram_schmidt *g, int64_t j)
{
	return (T *)g->work + (j & 1) * column_room<T>(g->a.m);
}

template <typename T> T *parts_at(const struct gram_schmidt *g, int64_t j)
{
	return (T *)g->work + 2 * column_room<T>(g->a.m) + (j & 1) * parts_room<T>(g->a.m, g->a.n);
}

/* ---- launches ---- */

template <typename T, int V, int U>
cudaError_t launch(enum gram_step step, const struct pass<T> &p, cudaStream_t stream)
{
	void (*kernel)(const struct pass<T>) = step == GRAM_DOTS ? pass_kernel<T, V, U, false, true>
	                                       : step == GRAM_UPDATE
	                                               ? pass_kernel<T, V, U, true, false>
	                                               : pass_kernel<T, V, U, true, true>;
	return early_launch(kernel, (int64_t)p.groups * p.chunks, THREADS, 0, p, stream);
}

template <typename T>
cudaError_t start(enum gram_step step, const struct gram_schmidt *g, int64_t j,
        const struct gpu *gpu, cudaStream_t stream)
{
	const int V = 16 / sizeof(T);
	const int64_t n = g->a.n, done = step == GRAM_DOTS ? 0 : 1;
	/* partial products have the shape of the pass that made them */
	const struct gram_pass_plan s = plan_of<T>(step, g, n - j - done, gpu);
	struct pass<T> p = {
		(T *)matrix_address(g->a), (T *)matrix_address(g->r),
		        (const T *)matrix_address(g->norms), column_at<T>(g, j), parts_at<T>(g, j),
		        column_at<T>(g, j + done), parts_at<T>(g, j + done), g->a.m, g->a.ld,
		        g->r.ld, (int)n, (int)j,
		        (int)plan_of<T>(step, g, n - j, gpu).chunks, s.each, s.groups,
		        (int)s.chunks, g->dependent, g->first, g->info
	};
	if (s.vector == 1)
		return launch<T, 1, 4>(step, p, stream);
	if (s.unroll == 1)
		return launch<T, V, 1>(step, p, stream);
	return s.unroll == 2 ? launch<T, V, 2>(step, p, stream) : launch<T, V, 4>(step, p, stream);
}

template <typename T> int64_t bytes_of(int64_t m, int64_t n)
{
	return (2 * column_room<T>(m) + 2 * parts_room<T>(m, n)) * (int64_t)sizeof(T);
}

} // namespace

extern "C" int64_t gram_schmidt_bytes(enum precision precision, int64_t m, int64_t n)
{
	return precision == SINGLE ? bytes_of<float>(m, n) : bytes_of<double>(m, n);
}

extern "C" int gram_schmidt_pass(enum gram_step step, const struct gram_schmidt *g, int64_t j,
        const struct gpu *gpu, void *stream)
{
	return (int)(g->a.precision == SINGLE
	                     ? start<float>(step, g, j, gpu, (cudaStream_t)stream)
	                     : start<double>(step, g, j, gpu, (cudaStream_t)stream));
}

extern "C" int gram_schmidt_norms(struct matrix a, struct matrix norms, void *stream)
{
	if (a.n == 0)
		return (int)cudaSuccess;
	if (a.precision == SINGLE)
		norms_kernel<<<(unsigned)a.n, THREADS, 0, (cudaStream_t)stream>>>(
		        (const float *)matrix_address(a), a.ld, a.m,
		        (float *)matrix_address(norms));
	else
		norms_kernel<<<(unsigned)a.n, THREADS, 0, (cudaStream_t)stream>>>(
		        (const double *)matrix_address(a), a.ld, a.m,
		        (double *)matrix_address(norms));
	return (int)cudaGetLastError();
}
