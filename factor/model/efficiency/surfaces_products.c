/* SPDX-License-Identifier: MIT */
/* Surfaces of products of matrices and triangular solves (factor/calibration/gemm_rate). Operands
 * that fit stay in L2 from call to call. */
#include "factor/kernels/gemm/double_tall_work.h"
#include "factor/kernels/gemm/gemm_work.h"
#include "factor/kernels/gemm/half_update_work.h"
#include "factor/kernels/gemm/tf32.h"
#include "factor/kernels/gemm/tf32_tall_work.h"
#include "lib/base/architecture.h"
#include "library_products.h"
#include "surface_work.h"

#include <string.h>

static bool names(const struct surface_point *p, const char *part)
{
	return strstr(p->name, part) != NULL;
}

/* Multiprocessors: beside a panel, those that it leaves. */
static int sms_of(const struct surface_point *p)
{
	return p->tuning->device.sm_count - (names(p, "_shared") ? TF32_KEPT : 0);
}

/* Of the library's products: tensor cores where they compute in that precision. */
static enum work_pipe pipe_of(const struct surface_point *p)
{
	enum { GROUPS = 90 };
	const int code = p->tuning->device.capability;

	if (names(p, ".tf32"))
		return code == GROUPS ? PIPE_GROUP_TF32 : PIPE_TENSOR_TF32;
	if (p->precision == SINGLE)
		return PIPE_FP32;
	return architecture_of(code)->fp64_tensor == 0 ? PIPE_FP64
	       : code >= GROUPS                        ? PIPE_TENSOR_FP64_LARGE
	                                               : PIPE_TENSOR_FP64;
}

static size_t library(const struct surface_point *p, double m, double n, double k, double count,
        struct kernel_work *work)
{
	enum { CHOSEN = 128 /* factor/kernels/gemm/blas_double.h */ };
	const struct library_product product = {.precision = p->precision,
	        .pipe = pipe_of(p),
	        .m = m,
	        .n = n,
	        .k = k,
	        .count = count,
	        .triangle = names(p, "syrk"),
	        .old = !names(p, "_tn"),
	        .sms = sms_of(p),
	        .tile = names(p, "gemm_nt") ? CHOSEN : 0};

	return library_product_work(&product, work);
}

static size_t product(const struct surface_point *p, struct kernel_work *work)
{
	return library(p, p->at[0], p->at[1], p->at[2], 1, work);
}

/* Squares of m rows along a diagonal of n. */
static size_t batched(const struct surface_point *p, struct kernel_work *work)
{
	return library(p, p->at[0], p->at[0], p->at[2], p->at[1] / p->at[0], work);
}

static size_t symmetric(const struct surface_point *p, struct kernel_work *work)
{
	return library(p, p->at[0], p->at[0], p->at[1], 1, work);
}

static size_t solve(const struct surface_point *p, struct kernel_work *work)
{
	return library_solve_work(p->precision, pipe_of(p), p->at[0], p->at[1], sms_of(p), work);
}

static size_t own(const struct surface_point *p, enum gemm_part part, double m, double n, double k,
        struct kernel_work *work)
{
	const bool tall = names(p, "_tn");
	const struct gemm_problem problem = {.precision = p->precision,
	        .ta = tall,
	        .tb = part != GEMM_WHOLE,
	        .part = part,
	        .m = (int64_t)m,
	        .n = (int64_t)n,
	        .k = (int64_t)k};
	struct gemm_plan plan = gemm_plan_make(&problem, p->tuning, tall ? TF32_TALL_SCRATCH : 0);

	plan.shared = names(p, "_shared");
	return gemm_work(&problem, &plan, p->tuning, !tall, !names(p, "_unaligned"), work);
}

static size_t own_product(const struct surface_point *p, struct kernel_work *work)
{
	return own(p, GEMM_WHOLE, p->at[0], p->at[1], p->at[2], work);
}

static size_t own_symmetric(const struct surface_point *p, struct kernel_work *work)
{
	return own(p, GEMM_LOWER, p->at[0], p->at[0], p->at[1], work);
}

static size_t tall(const struct surface_point *p, struct kernel_work *work)
{
	const int64_t k = (int64_t)p->at[0], n = (int64_t)p->at[1], rows = (int64_t)p->at[2];
	const struct tf32_tall_plan plan = tf32_tall_plan_make(k, n, rows, sms_of(p));

	return tf32_tall_work(&plan, k, n, rows, work);
}

static size_t double_tall_product(const struct surface_point *p, struct kernel_work *work)
{
	const int64_t k = (int64_t)p->at[0], n = (int64_t)p->at[1], rows = (int64_t)p->at[2];
	const struct double_tall_plan plan = double_tall_plan_make(k, n, rows, sms_of(p));

	return double_tall_work(&plan, k, n, rows, work);
}

static size_t double_tall_change(const struct surface_point *p, struct kernel_work *work)
{
	const int64_t rows = (int64_t)p->at[0], n = (int64_t)p->at[1], k = (int64_t)p->at[2];
	const struct double_tall_plan plan = double_tall_update_plan_make(k, n, rows, sms_of(p));

	double_tall_update_work(&plan, k, n, rows, work);
	return 1;
}

static size_t double_tall_gram(const struct surface_point *p, struct kernel_work *work)
{
	const int64_t rows = (int64_t)p->at[0], n = (int64_t)p->at[1], k = (int64_t)p->at[2];
	const struct double_tall_plan plan = double_tall_gram_plan_make(k, n, (int)sms_of(p));

	double_tall_update_gram_work(&plan, k, n, rows, work);
	return 1;
}

static size_t half(const struct surface_point *p, struct kernel_work *work)
{
	half_update_work(names(p, "syrk") ? LOWER : WHOLE, (int64_t)p->at[0], (int64_t)p->at[1],
	        names(p, "_shared"), p->tuning, work);
	return 1;
}

const struct surface surfaces_products[] = {
        {"gpu.gemm_batched.tf32", {"m", "n", "k"}, batched},
        {"gpu.gemm*", {"m", "n", "k"}, product},
        {"gpu.syrk.?", {"n", "k"}, symmetric},
        {"gpu.trsm*", {"m", "n"}, solve},
        {"gpu.own_gemm*", {"m", "n", "k"}, own_product},
        {"gpu.own_syrk*", {"n", "k"}, own_symmetric},
        {"gpu.tf32_tall*", {"m", "n", "k"}, tall},
        {"gpu.double_tall.d", {"m", "n", "k"}, double_tall_product},
        {"gpu.double_tall_update.d", {"m", "n", "k"}, double_tall_change},
        {"gpu.double_tall_update_gram.d", {"m", "n", "k"}, double_tall_gram},
        {"gpu.half_gemm*", {"n", "k"}, half},
        {"gpu.half_syrk*", {"n", "k"}, half},
        {NULL, {NULL}, NULL},
};
