/* SPDX-License-Identifier: MIT */
/* Building blocks of the cost models. */
#pragma once

#include "cost.h"

/* The device's operations at level 2 that move data or a few integers (cost_blocks.c). */
struct cost cost_split(struct cost_reader *r, const struct splits *splits);
struct cost cost_apply_swaps(struct cost_reader *r, struct matrix a);
struct cost cost_make_rotations(struct cost_reader *r, struct matrix x);
struct cost cost_clear_info(struct cost_reader *r, int64_t count);
struct cost cost_to_host(struct cost_reader *r, struct matrix a);
struct cost cost_to_device(struct cost_reader *r, struct matrix a);
struct cost cost_moves(struct cost_reader *r, struct operation_work work);
double cost_event(struct cost_reader *r);
double cost_stream_wait(struct cost_reader *r);

/* Panels by the host thread (cost_host_model.c). */
struct cost cost_by_host_getrf(struct cost_reader *r, struct matrix a);
struct cost cost_by_host_geqrf(struct cost_reader *r, struct matrix a);
struct cost cost_by_host_potrf(struct cost_reader *r, struct matrix a);

/* A library call of `total` seconds from start to start, as its launch and that term. */
struct cost cost_library(struct cost_reader *r, double total, enum term term);

/* Library calls on the device from their rate surfaces (cost_gemm.c, cost_syrk.c,
 * cost_gemv.c); also for kernels that contain one. */
struct cost cost_gemm(
        struct cost_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k);
struct cost cost_gemm_tall(struct cost_reader *r, struct matrix c, int64_t k);
struct cost cost_gemm_tf32(struct cost_reader *r, struct matrix c, int64_t k, bool together);
struct cost cost_half_update(struct cost_reader *r, enum uplo part, struct matrix c, int64_t k);
struct cost cost_syrk(struct cost_reader *r, struct matrix c, int64_t k);
struct cost cost_trsm(struct cost_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision);
struct cost cost_gemv(struct cost_reader *r, enum trans trans, struct matrix a);
struct cost cost_ger(struct cost_reader *r, struct matrix a);

/* Kernels that factorize or invert (cost_triangles.c). */
struct cost cost_trtri(struct cost_reader *r, struct matrix a);
struct cost cost_trsm_guard(struct cost_reader *r, struct matrix triangle, int64_t columns);
struct cost cost_potrf_block(struct cost_reader *r, struct matrix a, bool overlapped);
/* block_rank's update of a trapezoid. */
struct cost cost_rank(struct cost_reader *r, struct matrix c, int64_t k);
/* Two kernels in turn. */
struct cost cost_both(struct cost first, struct cost second);
struct cost cost_larft(struct cost_reader *r, struct matrix v);
/* Seconds between two FMA of a warp in a's precision on one of a multiprocessor's four schedulers.
 */
double cost_issue(struct cost_reader *r, struct matrix a);

/* QR's panels (cost_reflectors.c). */
struct cost cost_panel_geqrf(struct cost_reader *r, struct matrix a, bool overlapped);
bool cost_panel_reflects(struct cost_reader *r, struct matrix a);
struct cost cost_panel_reflectors(struct cost_reader *r, struct matrix a);
bool cost_reflects_columns(struct cost_reader *r, struct matrix v, struct matrix c);
struct cost cost_reflect_columns(struct cost_reader *r, struct matrix v, struct matrix c);

/* Row swaps, alone and with the solve and the update of LU (cost_lu.c). */
struct cost cost_laswp(struct cost_reader *r, struct matrix a, int64_t swaps);
struct cost cost_lu_top(struct cost_reader *r, struct matrix c, int64_t k);
struct cost cost_lu_columns(struct cost_reader *r, struct matrix c, int64_t k);
struct cost cost_lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves);

/* Sweeps of one kernel (cost_sweep.c). */
bool cost_band_fits(struct cost_reader *r, enum precision precision, int64_t p);
struct cost cost_band_sweep(struct cost_reader *r, const struct band *band);

/* Gram-Schmidt on the device (cost_gram.c) and on the host (cost_gram_host.c). */
struct cost cost_gram_norms(struct cost_reader *r, struct matrix a);
double cost_gram_held(struct cost_reader *r, double columns);
double cost_gram_change(struct cost_reader *r, double columns);
/* Bytes a second of copies by blocks that chain through memory with enough loads in flight. */
double cost_strided(struct cost_reader *r);
struct cost cost_gram_pass(struct cost_reader *r, enum gram_step step, struct matrix a);
struct cost cost_gram_panel(struct cost_reader *r, struct matrix a);
struct cost cost_gram_apply(struct cost_reader *r, struct matrix a, int64_t k, bool single);
double cost_accesses(struct cost_reader *r, double count);
/* The paper's kernels (cost_gram_shaped.c). */
struct cost cost_gram_shaped(
        struct cost_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a);
struct cost cost_gram_pass_host(struct cost_reader *r, enum gram_step step, struct matrix a);
struct cost cost_gram_panel_host(struct cost_reader *r, struct matrix a);
/* A panel column by column. */
struct cost cost_gram_passes(struct cost_reader *r, struct matrix a,
        struct cost (*pass)(struct cost_reader *, enum gram_step, struct matrix));
struct cost cost_gram_apply_host(struct cost_reader *r, struct matrix a, int64_t k, bool single);

/* The host's square products (edge: m = n = k) and LAPACKE's panels from their rate surfaces
 * (cost_host.c), seconds. */
double cost_host_gemm(struct cost_reader *r, enum precision precision, double edge);
double cost_host_getrf(struct cost_reader *r, struct matrix a);
double cost_host_geqrf(struct cost_reader *r, struct matrix a);
double cost_host_potrf(struct cost_reader *r, struct matrix a);

/* How much longer a copy takes behind a kernel than on an idle stream. */
double cost_hand_over(struct cost_reader *r);

/* Host time from the last kernel's end to the return of a synchronization: the round trip of a
 * launch with a synchronization, less the launch and the kernel. */
double cost_wait(struct cost_reader *r);

/* A kernel of our own that only starts; one that moves so many bytes at the rate of a curve. */
struct cost cost_kernel(struct cost_reader *r);
struct cost cost_sweep(struct cost_reader *r, const char *curve, double bytes);

/* A kernel of `seconds` from start to start, as measured, with the estimate's division into terms.
 */
struct cost cost_as_measured(struct cost estimated, double seconds);

/* The surface of panels measured beside products. */
struct beside_surface {
	const char *name[2]; /* by precision == DOUBLE */
	const char *axes[2];
};

/* The speed of a panel (cost.overlapped) from that surface at `at`: panels follow each other beside
 * products, and wait on average for half of the lifetime of their tiles. 0 where the profile does
 * not have the surface. */
double cost_beside(struct cost_reader *r, const struct cost *alone, enum precision precision,
        const struct beside_surface *surface, const double *at);

/* The share of the multiprocessors that so many blocks can use. */
double cost_share(struct cost_reader *r, double blocks);
