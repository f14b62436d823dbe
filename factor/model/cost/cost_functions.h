/* SPDX-License-Identifier: MIT */
/* The list of a cost model's functions. It is included several times, with FUNCTION(type, name,
 * parameters) defined: for the members of struct cost_model, for the prototypes of cost_<name> and
 * for the table of the device at level 2. Parameters stand without the reader, which is the first
 * of every function. Shapes as in executor.h. */

/* clang-format off */

#define COST(name, ...) FUNCTION(struct cost, name, __VA_ARGS__)

/* LU's panels, column by column and in one kernel */
COST(iamax, struct matrix x)
COST(iamax_host, struct matrix x)
COST(nrm2, struct matrix x)
COST(get, struct matrix element)
COST(swap, struct matrix row)
COST(scal, struct matrix x)
COST(scale_by, struct matrix x)
COST(ger, struct matrix a)
COST(zero_pivot, struct matrix a)
COST(store_pivots, int64_t n)
COST(fused_begin, struct matrix a)
COST(fused_pivot, struct matrix a, int64_t j)
COST(fused_update, struct matrix a, int64_t j)
COST(resident_panel, struct matrix a, const struct panel_geometry *g)
/* products; operands, result: whether they are aligned, to 16 bytes; gemm_tf32 together: several squares in one call, c has the columns of all */
COST(gemm, enum trans ta, enum trans tb, struct matrix c, int64_t k, bool operands,
	bool result)
COST(split, const struct splits *splits)
COST(gemm_tf32, struct matrix c, int64_t k, bool together)
COST(half_update, enum uplo part, struct matrix c, int64_t k)
COST(half_stairs, struct stairs stairs, struct matrix c, int64_t k)
COST(gemm_tall, struct matrix c, int64_t k)
COST(syrk, struct matrix c, int64_t k, bool aligned)
COST(gemv, enum trans trans, struct matrix a)
/* of a triangle of that order, with so many right-hand sides; trsm_guard: the inverse passes */
COST(trsm, enum side side, enum diag diag, int64_t order, int64_t columns, enum precision precision)
COST(trsm_guard, struct matrix triangle, int64_t columns)
COST(trtri, struct matrix a)
/* Gram-Schmidt; a: from the column of the pass on; k columns taken out of a */
COST(column_norms, struct matrix a)
COST(gram_pass, enum gram_step step, struct matrix a)
COST(gram_shaped, enum gram_step step, struct gram_shape shape, struct matrix a)
COST(gram_panel, struct matrix a)
COST(gram_apply, struct matrix a, int64_t k, bool single)
/* LU: row swaps; columns c right of a panel of k columns, all rows and the top ones (aligned: the
 * panel); lu_rows: row-major, c the transpose of the columns */
COST(apply_swaps, struct matrix a)
COST(laswp, struct matrix a, int64_t swaps)
COST(lu_columns, struct matrix c, int64_t k, bool aligned)
COST(lu_top, struct matrix c, int64_t k, bool aligned)
COST(lu_rows, struct matrix c, int64_t k, bool exchanges, bool solves)
COST(clear_info, int64_t count)
/* overlapped: an update runs at the same time */
COST(potrf_block, struct matrix a, bool overlapped)
COST(panel_geqrf, struct matrix a, bool overlapped)
COST(larft, struct matrix v)
COST(panel_reflectors, struct matrix a, bool reflects, bool summed)
COST(update_panel, struct matrix v, struct matrix c)
COST(reflect_columns, struct matrix v, struct matrix c)
/* Kerr's kernels: his products with a, column j of the block a */
COST(kerr_gemv, enum trans trans, struct matrix a)
COST(kerr_house, struct matrix a, int64_t j)
COST(make_rotations, struct matrix x)
COST(band_sweep, const struct band *band)
/* whether the kernel exists for these shapes; NULL: it does not */
FUNCTION(bool, panel_reflects, struct matrix a)
FUNCTION(bool, updates_panel, struct matrix v, struct matrix c, struct matrix panel)
FUNCTION(bool, reflects_columns, struct matrix v, struct matrix c)
FUNCTION(bool, band_fits, enum precision precision, int64_t p)
COST(to_host, struct matrix a)
COST(to_device, struct matrix a)
/* by the host thread */
COST(host_getrf, struct matrix a)
COST(host_geqrf, struct matrix a)
COST(host_potrf, struct matrix a)
COST(host_reflect, struct matrix v, struct matrix c)

/* clang-format on */

#undef COST
#undef FUNCTION
