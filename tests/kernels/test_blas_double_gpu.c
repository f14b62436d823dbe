/* SPDX-License-Identifier: MIT */
/* Products and triangles in double precision that are large enough for chosen kernels and for
 * separate halves and lines, against one product by cuBLAS. NaN around all matrices, and in the
 * triangle that is not touched; operands with aligned pairs of elements, as the chosen kernels need
 * them, and others. */
#include "tests/tap.h"

#ifndef FATHOM_CUDA

int main(void)
{
	skip_all("built without the CUDA Toolkit");
}

#else

#include "tests/executors/executor_memory.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

static uint64_t state = 20261122;
static cublasHandle_t blas;

/* An m x n matrix that begins with an even element, and columns an even number apart, or not. */
struct operand {
	struct block block;
	struct matrix a;
};

static struct operand operand_new(struct executor *e, int64_t m, int64_t n, bool even)
{
	_Static_assert(MARGIN_ROWS % 2 == 1, "one more row makes it even");
	struct operand x = {.block = block_new(e, DOUBLE, m + (m % 2 ? 1 : 2), n, &state)};

	x.a = matrix_view(x.block.a, even, 0, m, n);
	return x;
}

static double *operand_element(const struct operand *x, int64_t i, int64_t j)
{
	return x->block.x + x->a.offset + i + j * x->a.ld;
}

static bool inside(enum uplo uplo, int64_t i, int64_t j)
{
	return uplo == WHOLE || (uplo == LOWER ? i >= j : i <= j);
}

static void product(struct executor *e, enum trans ta, enum trans tb, struct matrix a,
        struct matrix b, double beta, struct matrix c)
{
	const double alpha = -1;

	must(e, e->ops->sync(e));
	if (cublasDgemm_64(blas, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
	            c.m, c.n, ta ? a.m : a.n, &alpha, matrix_address(a), a.ld, matrix_address(b),
	            b.ld, &beta, matrix_address(c), c.ld) != CUBLAS_STATUS_SUCCESS ||
	        cudaDeviceSynchronize() != cudaSuccess) {
		printf("Bail out! cublasDgemm failed\n");
		exit(1);
	}
}

/* Sets C's part to the result by one call of cuBLAS, on the host. On the device the rest of C, and
 * with beta = 0 all of C, is NaN. */
static void expect(struct executor *e, struct operand *c, enum uplo uplo, enum trans ta,
        enum trans tb, struct matrix a, struct matrix b, double beta)
{
	for (int64_t j = 0; j < c->a.n; j++)
		for (int64_t i = 0; i < c->a.m; i++)
			if (beta == 0 || !inside(uplo, i, j))
				*operand_element(c, i, j) = NAN;
	block_upload(e, &c->block);
	product(e, ta, tb, a, b, beta, c->a);
	double *all = block_download(e, &c->block);
	block_upload(e, &c->block);
	for (int64_t j = 0; j < c->a.n; j++)
		for (int64_t i = 0; i < c->a.m; i++)
			if (inside(uplo, i, j))
				*operand_element(c, i, j) = all[c->a.offset + i + j * c->a.ld];
	free(all);
}

static void check_syrk(struct executor *e, enum uplo uplo, enum trans trans, int64_t rows,
        int64_t n, int64_t k, double beta, bool even)
{
	const bool lower = uplo == LOWER;
	const enum trans other = trans == PLAIN ? TRANSPOSED : PLAIN;
	struct operand a = operand_new(e, trans ? k : rows, trans ? rows : k, even),
	               c = operand_new(e, lower ? rows : n, lower ? n : rows, even);
	const struct matrix top =
	        trans ? matrix_view(a.a, 0, 0, k, n) : matrix_view(a.a, 0, 0, n, k);

	expect(e, &c, uplo, trans, other, lower ? a.a : top, lower ? top : a.a, beta);
	must(e, e->ops->syrk(e, uplo, trans, -1, a.a, beta, c.a));
	ok(block_holds(e, &c.block, 4 * (double)(k + 2) * unit_roundoff(DOUBLE)),
	        "syrk %d%d %" PRId64 " x %" PRId64 " k %" PRId64 " beta %g%s: one triangle", uplo,
	        trans, rows, n, k, beta, even ? "" : ", pairs cut");
	block_free(e, &a.block);
	block_free(e, &c.block);
}

static void check_gemm(struct executor *e, enum trans ta, enum trans tb, int64_t m, int64_t n,
        int64_t k, double beta, bool even)
{
	struct operand a = operand_new(e, ta ? k : m, ta ? m : k, even),
	               b = operand_new(e, tb ? n : k, tb ? k : n, even),
	               c = operand_new(e, m, n, even);

	expect(e, &c, WHOLE, ta, tb, a.a, b.a, beta);
	must(e, e->ops->gemm(e, ta, tb, -1, a.a, b.a, beta, c.a));
	ok(block_holds(e, &c.block, 4 * (double)(k + 2) * unit_roundoff(DOUBLE)),
	        "gemm %d%d %" PRId64 " x %" PRId64 " k %" PRId64 " beta %g%s", ta, tb, m, n, k,
	        beta, even ? "" : ", pairs cut");
	block_free(e, &a.block);
	block_free(e, &b.block);
	block_free(e, &c.block);
}

int main(void)
{
	struct executor *e = cuda_or_skip();

	if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS)
		skip_all("no cuBLAS");
	for (enum uplo uplo = LOWER; uplo <= UPPER; uplo++)
		for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++) {
			check_syrk(e, uplo, trans, 4137, 4100, 800, 1, true);
			check_syrk(e, uplo, trans, 2500, 2500, 513, 0, true);
			check_syrk(e, uplo, trans, 4101, 4101, 768, 1, false);
			check_syrk(e, uplo, trans, 4103, 4103, 771, 1, true);
			check_syrk(e, uplo, trans, 2501, 2501, 401, 0, true);
		}
	for (enum trans ta = PLAIN; ta <= TRANSPOSED; ta++)
		for (enum trans tb = PLAIN; tb <= TRANSPOSED; tb++) {
			check_gemm(e, ta, tb, 1601, 1502, 801, 1, true);
			check_gemm(e, ta, tb, 1600, 1500, 800, 0, true);
			check_gemm(e, ta, tb, 1603, 1505, 803, 0, true);
			check_gemm(e, ta, tb, 1600, 1503, 801, 1, true);
		}
	check_gemm(e, PLAIN, PLAIN, 8300, 8200, 400, 1, true);
	cublasDestroy(blas);
	executor_free(e);
	return finish();
}

#endif
