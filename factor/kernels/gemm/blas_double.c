/* SPDX-License-Identifier: MIT */
#include "blas_double.h"

enum { ALIGNMENT = 16, OFFERS = 32 };

/* The wanted kernel for each op(A) op(B), and a large product to query it with. cuBLAS has no 128 x
 * 128 tiles for A B. A^T B^T is never used. */
static const struct wanted {
	bool ta, tb;
	int64_t m, n, k;
	uint32_t tile;
	uint16_t instruction;
} wanted[] = {
        {false, true, 14336, 2048, 2048, CUBLASLT_MATMUL_TILE_128x128,
                CUBLASLT_MATMUL_INNER_SHAPE_MMA16816},
        {true, false, 14336, 2048, 2048, CUBLASLT_MATMUL_TILE_128x128,
                CUBLASLT_MATMUL_INNER_SHAPE_MMA16816},
        {false, false, 16384, 12288, 512, CUBLASLT_MATMUL_TILE_64x128,
                CUBLASLT_MATMUL_INNER_SHAPE_MMA1688},
};

static cublasOperation_t operation(bool transposed)
{
	return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

struct layout {
	cublasLtMatmulDescOpaque_t product;
	cublasLtMatrixLayoutOpaque_t a, b, c;
};

static bool set_operation(
        struct layout *x, cublasLtMatmulDescAttributes_t attribute, bool transposed)
{
	const cublasOperation_t op = operation(transposed);

	return cublasLtMatmulDescSetAttribute(&x->product, attribute, &op, sizeof op) ==
	       CUBLAS_STATUS_SUCCESS;
}

static bool set_matrix(
        cublasLtMatrixLayoutOpaque_t *x, bool transposed, int64_t m, int64_t n, int64_t ld)
{
	const uint64_t rows = (uint64_t)(transposed ? n : m), columns = (uint64_t)(m + n) - rows;

	return cublasLtMatrixLayoutInit(x, CUDA_R_64F, rows, columns, ld) == CUBLAS_STATUS_SUCCESS;
}

static bool lay_out(struct layout *x, const struct gemm_problem *p)
{
	return cublasLtMatmulDescInit(&x->product, CUBLAS_COMPUTE_64F, CUDA_R_64F) ==
	               CUBLAS_STATUS_SUCCESS &&
	       set_operation(x, CUBLASLT_MATMUL_DESC_TRANSA, p->ta) &&
	       set_operation(x, CUBLASLT_MATMUL_DESC_TRANSB, p->tb) &&
	       set_matrix(&x->a, p->ta, p->m, p->k, p->lda) &&
	       set_matrix(&x->b, p->tb, p->k, p->n, p->ldb) &&
	       set_matrix(&x->c, false, p->m, p->n, p->ldc);
}

static bool prefer(cublasLtMatmulPreferenceOpaque_t *x, cublasLtMatmulPreferenceAttributes_t what,
        uint32_t value)
{
	return cublasLtMatmulPreferenceSetAttribute(x, what, &value, sizeof value) ==
	       CUBLAS_STATUS_SUCCESS;
}

/* One kernel without workspace (the default), for operands aligned to pairs of elements. */
static bool set_preference(cublasLtMatmulPreferenceOpaque_t *x)
{
	return cublasLtMatmulPreferenceInit(x) == CUBLAS_STATUS_SUCCESS &&
	       prefer(x, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
	               CUBLASLT_REDUCTION_SCHEME_NONE) &&
	       prefer(x, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, ALIGNMENT) &&
	       prefer(x, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, ALIGNMENT) &&
	       prefer(x, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, ALIGNMENT) &&
	       prefer(x, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, ALIGNMENT);
}

static bool is_wanted(const struct wanted *w, const cublasLtMatmulAlgo_t *kernel)
{
	uint32_t tile = 0;
	uint16_t instruction = 0;

	return cublasLtMatmulAlgoConfigGetAttribute(kernel, CUBLASLT_ALGO_CONFIG_TILE_ID, &tile,
	               sizeof tile, NULL) == CUBLAS_STATUS_SUCCESS &&
	       cublasLtMatmulAlgoConfigGetAttribute(kernel, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID,
	               &instruction, sizeof instruction, NULL) == CUBLAS_STATUS_SUCCESS &&
	       tile == w->tile && instruction == w->instruction;
}

static bool choose(cublasLtHandle_t blas, const struct wanted *w, cublasLtMatmulAlgo_t *kernel)
{
	const struct gemm_problem problem = {.precision = DOUBLE,
	        .ta = w->ta,
	        .tb = w->tb,
	        .m = w->m,
	        .n = w->n,
	        .k = w->k,
	        .lda = w->ta ? w->k : w->m,
	        .ldb = w->tb ? w->n : w->k,
	        .ldc = w->m};
	cublasLtMatmulPreferenceOpaque_t preference;
	cublasLtMatmulHeuristicResult_t offer[OFFERS];
	struct layout x;
	int count = 0;

	if (!lay_out(&x, &problem) || !set_preference(&preference) ||
	        cublasLtMatmulAlgoGetHeuristic(blas, &x.product, &x.a, &x.b, &x.c, &x.c,
	                &preference, OFFERS, offer, &count) != CUBLAS_STATUS_SUCCESS)
		return false;
	for (int i = 0; i < count; i++)
		if (offer[i].state == CUBLAS_STATUS_SUCCESS && is_wanted(w, &offer[i].algo)) {
			*kernel = offer[i].algo;
			return true;
		}
	return false;
}

void blas_double_open(struct blas_double *x, const struct tuning *tuning, cublasHandle_t blas)
{
	*x = (struct blas_double){.tuning = tuning};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		const struct wanted *w = &wanted[i];
		x->has[w->ta][w->tb] =
		        choose(/* cuBLAS documents that its handles are valid for cublasLt */
		                (cublasLtHandle_t)blas, w, &x->kernel[w->ta][w->tb]);
	}
}

bool blas_double_aligned(const double *a, int64_t ld)
{
	return (uintptr_t)a % ALIGNMENT == 0 && ld * (int64_t)sizeof *a % ALIGNMENT == 0;
}

/* False where the library rejects the kernel for this product. */
static bool chosen(const struct blas_double *x, cublasHandle_t blas, const struct gemm_problem *p,
        double alpha, const double *a, const double *b, double beta, double *c)
{
	cudaStream_t stream;
	struct layout l;

	return lay_out(&l, p) && cublasGetStream(blas, &stream) == CUBLAS_STATUS_SUCCESS &&
	       cublasLtMatmul((cublasLtHandle_t)blas, &l.product, &alpha, a, &l.a, b, &l.b, &beta,
	               c, &l.c, c, &l.c, &x->kernel[p->ta][p->tb], NULL, 0,
	               stream) == CUBLAS_STATUS_SUCCESS;
}

/* By the chosen kernel if it applies, else by the library's own choice. */
static cublasStatus_t at_once(const struct blas_double *x, cublasHandle_t blas,
        const struct gemm_problem *p, double alpha, const double *a, const double *b, double beta,
        double *c, bool aligned)
{
	if (x->has[p->ta][p->tb] && gemm_is_chosen(x->tuning, p) && aligned &&
	        chosen(x, blas, p, alpha, a, b, beta, c))
		return CUBLAS_STATUS_SUCCESS;
	return cublasDgemm_64(blas, operation(p->ta), operation(p->tb), p->m, p->n, p->k, &alpha, a,
	        p->lda, b, p->ldb, &beta, c, p->ldc);
}

cublasStatus_t blas_double_gemm(const struct blas_double *x, cublasHandle_t blas,
        const struct gemm_problem *p, double alpha, const double *a, const double *b, double beta,
        double *c)
{
	const bool aligned = blas_double_aligned(a, p->lda) && blas_double_aligned(b, p->ldb) &&
	                     blas_double_aligned(c, p->ldc);
	const enum gemm_edge edge = aligned ? gemm_edge(x->tuning, p) : GEMM_EVEN;
	struct gemm_problem rest = *p;

	if (edge == GEMM_EVEN)
		return at_once(x, blas, p, alpha, a, b, beta, c, aligned);
	rest.m -= edge == GEMM_ROW;
	rest.n -= edge == GEMM_COLUMN;
	rest.k -= edge == GEMM_INNER;
	const cublasStatus_t status = blas_double_gemm(x, blas, &rest, alpha, a, b, beta, c);
	return status == CUBLAS_STATUS_SUCCESS
	               ? blas_double_line(edge, blas, p, alpha, a, b, beta, c)
	               : status;
}
