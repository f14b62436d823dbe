/* SPDX-License-Identifier: MIT */
/* What the operations of blocked factorizations cost: one tariff per level and target, beside that
 * of the panels (price.h). */
#ifndef FATHOM_PRICE_BLOCKS_H
#define FATHOM_PRICE_BLOCKS_H

#include "price.h"

/* Shapes as in executor.h. */
struct block_tariff {
	struct price (*gemm)(
	        struct price_reader *, enum trans ta, enum trans tb, struct matrix c, int64_t k);
	struct price (*split)(struct price_reader *, const struct splits *splits);
	/* together: squares in one call, whose columns are those of c */
	struct price (*gemm_tf32)(
	        struct price_reader *, struct matrix c, int64_t k, bool together);
	struct price (*half_update)(
	        struct price_reader *, enum uplo part, struct matrix c, int64_t k);
	struct price (*gemm_tall)(struct price_reader *, struct matrix c, int64_t k);
	/* one triangle of each block */
	struct price (*add)(struct price_reader *, struct matrix blocks);
	struct price (*syrk)(struct price_reader *, struct matrix c, int64_t k);
	/* a triangle of order `order` and `columns` right-hand sides */
	struct price (*trsm)(struct price_reader *, enum side side, enum diag diag, int64_t order,
	        int64_t columns, enum precision precision);
	/* of a triangle whose inverse is trusted */
	struct price (*trsm_guard)(struct price_reader *, struct matrix triangle, int64_t columns);
	struct price (*gemv)(struct price_reader *, enum trans trans, struct matrix a);
	/* rotations made, and applied */
	struct price (*make_rotations)(struct price_reader *, struct matrix x);
	struct price (*rotate)(struct price_reader *, struct matrix x);
	/* Gram-Schmidt; a: from the column of the pass on; k columns taken out of a. gram_shaped:
	 * NULL on the host */
	struct price (*column_norms)(struct price_reader *, struct matrix a);
	struct price (*gram_pass)(struct price_reader *, enum gram_step step, struct matrix a);
	struct price (*gram_shaped)(struct price_reader *, enum gram_step step,
	        struct gram_shape shape, struct matrix a);
	struct price (*gram_panel)(struct price_reader *, struct matrix a);
	struct price (*gram_apply)(struct price_reader *, struct matrix a, int64_t k, bool single);
	struct price (*trtri)(struct price_reader *, struct matrix a);
	struct price (*settle_rows)(struct price_reader *, struct matrix a);
	struct price (*laswp)(struct price_reader *, struct matrix a, int64_t swaps);
	/* columns right of an LU panel of k columns, whole and their top */
	struct price (*lu_columns)(struct price_reader *, struct matrix c, int64_t k);
	/* of a matrix by rows, c the transpose of the columns: exchanges, and the solve */
	struct price (*lu_rows)(
	        struct price_reader *, struct matrix c, int64_t k, bool exchanges, bool solves);
	struct price (*lu_top)(struct price_reader *, struct matrix c, int64_t k);
	/* kernels over a few integers */
	struct price (*integers)(struct price_reader *, int64_t count);
	struct price (*clear)(struct price_reader *); /* one integer */
	/* beside: an update */
	struct price (*potrf_block)(struct price_reader *, struct matrix a, bool beside);
	struct price (*panel_geqrf)(struct price_reader *, struct matrix a, bool beside);
	struct price (*explicit_v)(struct price_reader *, struct matrix a);
	struct price (*larft)(struct price_reader *, struct matrix v);
	/* whether there is such a kernel; NULL: there is none */
	bool (*panel_reflects)(struct price_reader *, struct matrix a);
	struct price (*panel_reflectors)(struct price_reader *, struct matrix a);
	/* the same for sweeps */
	bool (*band_fits)(struct price_reader *, enum precision precision, int64_t p);
	struct price (*band_sweep)(struct price_reader *, const struct band *band);
	bool (*reflects_columns)(struct price_reader *, struct matrix v, struct matrix c);
	struct price (*reflect_columns)(struct price_reader *, struct matrix v, struct matrix c);
	struct price (*transpose)(struct price_reader *, struct matrix a);
	struct price (*copy)(struct price_reader *, enum uplo uplo, struct matrix a);
	struct price (*fill)(struct price_reader *, enum uplo uplo, struct matrix a);
	struct price (*to_host)(struct price_reader *, struct matrix a);
	struct price (*to_device)(struct price_reader *, struct matrix a);
	/* by the host thread */
	struct price (*host_getrf)(struct price_reader *, struct matrix a);
	struct price (*host_geqrf)(struct price_reader *, struct matrix a);
	struct price (*host_potrf)(struct price_reader *, struct matrix a);
	/* host time to record an event or to make a queue wait; what a queue loses by waiting */
	double (*event)(struct price_reader *);
	double (*hop)(struct price_reader *);
};

extern const struct block_tariff blocks_cuda_full, blocks_cuda_sums; /* levels 2 and 1 */
extern const struct block_tariff blocks_host_full, blocks_host_sums;

/* A call of the library that takes `total` from start to start, as so much of that term. */
struct price price_library(struct price_reader *r, double total, enum term term);

/* Library calls on the device from their rate surfaces (tariff_gemm.c, tariff_syrk.c,
 * tariff_gemv.c); also for kernels that contain one. */
struct price price_gemm(
        struct price_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k);
struct price price_gemm_tall(struct price_reader *r, struct matrix c, int64_t k);
struct price price_gemm_tf32(struct price_reader *r, struct matrix c, int64_t k, bool together);
struct price price_half_update(struct price_reader *r, enum uplo part, struct matrix c, int64_t k);
struct price price_syrk(struct price_reader *r, struct matrix c, int64_t k);
struct price price_trsm(struct price_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision);
struct price price_gemv(struct price_reader *r, enum trans trans, struct matrix a);
struct price price_ger(struct price_reader *r, struct matrix a);

/* Kernels that factorize or invert (tariff_triangles.c). */
struct price price_trtri(struct price_reader *r, struct matrix a);
struct price price_trsm_guard(struct price_reader *r, struct matrix triangle, int64_t columns);
struct price price_potrf_block(struct price_reader *r, struct matrix a, bool beside);
/* The update of a trapezoid that block_rank makes. */
struct price price_rank(struct price_reader *r, struct matrix c, int64_t k);
/* Two kernels in turn. */
struct price price_both(struct price first, struct price second);
struct price price_larft(struct price_reader *r, struct matrix v);
/* Seconds of a warp's FMA in a's precision: a scheduler, of which a multiprocessor has four, starts
 * so many a second. */
double price_issue(struct price_reader *r, struct matrix a);

/* QR's panels (tariff_reflectors.c). */
struct price price_panel_geqrf(struct price_reader *r, struct matrix a, bool beside);
bool price_panel_reflects(struct price_reader *r, struct matrix a);
struct price price_panel_reflectors(struct price_reader *r, struct matrix a);
bool price_reflects_columns(struct price_reader *r, struct matrix v, struct matrix c);
struct price price_reflect_columns(struct price_reader *r, struct matrix v, struct matrix c);

/* Exchanges of rows, and with the solve and the update of LU (tariff_lu.c). */
struct price price_laswp(struct price_reader *r, struct matrix a, int64_t swaps);
struct price price_lu_top(struct price_reader *r, struct matrix c, int64_t k);
struct price price_lu_columns(struct price_reader *r, struct matrix c, int64_t k);
struct price price_lu_rows(
        struct price_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves);

/* Sweeps of one kernel (tariff_sweep.c). */
bool price_band_fits(struct price_reader *r, enum precision precision, int64_t p);
struct price price_band_sweep(struct price_reader *r, const struct band *band);

/* Gram-Schmidt on the device (tariff_gram.c) and on the host (tariff_gram_host.c). */
struct price price_gram_norms(struct price_reader *r, struct matrix a);
double price_gram_held(struct price_reader *r, double columns);
double price_gram_change(struct price_reader *r, double columns);
/* Bytes a second of copies by blocks that walk through memory with enough of it on its way. */
double price_walking(struct price_reader *r);
struct price price_gram_pass(struct price_reader *r, enum gram_step step, struct matrix a);
struct price price_gram_panel(struct price_reader *r, struct matrix a);
struct price price_gram_apply(struct price_reader *r, struct matrix a, int64_t k, bool single);
double price_accesses(struct price_reader *r, double count);
/* By the paper's kernels (tariff_gram_shaped.c). */
struct price price_gram_shaped(
        struct price_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a);
struct price price_gram_norms_host(struct price_reader *r, struct matrix a);
struct price price_gram_pass_host(struct price_reader *r, enum gram_step step, struct matrix a);
struct price price_gram_panel_host(struct price_reader *r, struct matrix a);
/* A panel column by column. */
struct price price_gram_passes(struct price_reader *r, struct matrix a,
        struct price (*pass)(struct price_reader *, enum gram_step, struct matrix));
struct price price_gram_apply_host(struct price_reader *r, struct matrix a, int64_t k, bool single);

/* The host's square products (edge: m = n = k) and LAPACKE's panels from their rate surfaces
 * (price_host.c), seconds. */
double price_host_gemm(struct price_reader *r, enum precision precision, double edge);
double price_host_getrf(struct price_reader *r, struct matrix a);
double price_host_geqrf(struct price_reader *r, struct matrix a);
double price_host_potrf(struct price_reader *r, struct matrix a);

/* How much longer a copy takes behind a kernel than on an idle stream (tariff_cuda.c). */
double price_hand_over(struct price_reader *r);

/* A kernel of our own that only starts, and one that goes through so many bytes at the pace of a
 * curve. */
struct price price_kernel(struct price_reader *r);
struct price price_sweep(struct price_reader *r, const char *curve, double bytes);

/* What was measured to take `seconds` from start to start, divided as reckoned. */
struct price price_as_measured(struct price reckoned, double seconds);

/* What panels were measured to take beside products. */
struct beside_surface {
	const char *name[2]; /* by precision == DOUBLE */
	const char *axes[2];
};

/* The speed of a panel (price.beside) that was measured to take what the surface of its precision
 * has at `at` when it follows itself beside products, on average half of whose tiles' time it
 * waits; 0 where the profile does not have that. */
double price_beside(struct price_reader *r, const struct price *alone, enum precision precision,
        const struct beside_surface *surface, const double *at);

/* The share of the multiprocessors that so many blocks can use. */
double price_share(struct price_reader *r, double blocks);

/* Multiply-adds of a product with an inner dimension of k into a triangle and what is behind it. */
static inline double trapezoid_steps(struct matrix c, int64_t k)
{
	double n = (double)(c.m < c.n ? c.m : c.n), rest = (double)(c.m + c.n) - 2 * n;

	return (n * n / 2 + n * rest) * (double)k;
}

#endif
