/* SPDX-License-Identifier: MIT */
/* The table of the executor's operations. It is included several times: the file that includes it
 * defines macros for the rows that it needs, and every other row expands to nothing. executor.h
 * makes the members of struct executor_ops and the prototypes of ex_<name> from it, executor.c the
 * ex_<name> functions, the recorder its operations. A new operation is a row here and an
 * implementation in each executor that has data. */

/* FUNCTION(type, name, parameters): every row as a function, its parameters with the executor
 * first; defined alone, for prototypes and lists of all operations. In the rows below parameters
 * stand without the executor.
 *
 * MEMBER(type, name, parameters): lifetime, marks and events.
 * SERVICE(type, name, parameters, arguments): memory and sizes; outside what is timed.
 * OPTIONAL(name, parameters, arguments): whether this executor has an operation; NULL: no.
 * OPERATION(name, parameters, arguments, phase, left_out, ends, engine, shape, k, cost, work):
 * timed. CHOSEN(the same columns): without a generated ex_<name>; executor.c or split.c chooses it.
 * HOST_PANEL(name, parameters, arguments): a panel by the host's LAPACKE, in PHASE_PANEL.
 *
 * left_out: when ex_<name> (CHOSEN: the model) does nothing and succeeds, besides when `skip` has
 * the phase. It may use NEVER, SKIPS(phase), EMPTY(matrix) and GIVES(pointer, value), the result of
 * a skipped operation. ends: QUEUED, or WAITED when the host waits for the result. engine: of
 * copies OUT or IN, else HOST. shape and k: the size under which timelines list the operation;
 * shape is a struct matrix. cost, work: the predicted time, as factor/model/cost/cost_work.h says.
 */

#ifdef FUNCTION
#define MEMBER(type, name, parameters) FUNCTION(type, name, parameters)
#define SERVICE(type, name, parameters, ...)                                                       \
	FUNCTION(type, name, (struct executor *, EXECUTOR_LIST parameters))
#define OPTIONAL(name, parameters, ...) SERVICE(bool, name, parameters)
#define OPERATION(name, parameters, ...) SERVICE(bool, name, parameters)
#define CHOSEN(name, parameters, ...) SERVICE(bool, name, parameters)
#define HOST_PANEL(name, parameters, ...) SERVICE(bool, name, parameters)
#endif
#ifndef MEMBER
#define MEMBER(...)
#endif
#ifndef SERVICE
#define SERVICE(...)
#endif
#ifndef OPTIONAL
#define OPTIONAL(...)
#endif
#ifndef OPERATION
#define OPERATION(...)
#endif
#ifndef CHOSEN
#define CHOSEN(...)
#endif
#ifndef HOST_PANEL
#define HOST_PANEL(...)
#endif

/* clang-format off */

MEMBER(void, destroy, (struct executor *))
MEMBER(void, release, (struct executor *, void *data))
MEMBER(bool, sync, (struct executor *))
/* Mark `index` (0, 1, ...; it may be set again): when all work put into the current queue so far is
 * done. elapsed: seconds between two marks, after waiting for the later one. */
MEMBER(bool, mark, (struct executor *, int64_t index))
MEMBER(bool, elapsed, (struct executor *, int64_t from, int64_t to, double *seconds))
/* event := all work put into the current queue so far. The current queue, or the host, waits for
 * the event; an event that was never recorded is over. An algorithm must allow capture as a CUDA
 * graph: it waits in queues only for events that it recorded, and at its end QUEUE_MAIN waits for
 * all work in other queues. */
MEMBER(bool, record, (struct executor *, int event))
MEMBER(bool, wait, (struct executor *, int event))
MEMBER(bool, wait_host, (struct executor *, int event))

SERVICE(bool, alloc, (int64_t bytes, void **data), (bytes, data))
SERVICE(bool, upload, (const void *host, int64_t host_ld, struct matrix a), (host, host_ld, a))
SERVICE(bool, download, (struct matrix a, void *host, int64_t host_ld), (a, host, host_ld))
SERVICE(bool, duplicate, (struct matrix from, struct matrix to), (from, to))
SERVICE(bool, read_pivots, (struct pivots p, int *host_ipiv, int *info), (p, host_ipiv, info))
/* m x n pinned host memory, with ld m, kept by the executor: stage 0 .. EXECUTOR_STAGES-1. Valid
 * until the stage is asked for with a larger size. */
SERVICE(bool, stage, (int stage, int64_t m, int64_t n, enum precision precision,
	struct matrix *host), (stage, m, n, precision, host))
/* Bytes of the `work` of fused steps, resident panels, Gram-Schmidt and QR panels on a. */
SERVICE(int64_t, fused_work, (struct matrix a), (a))
SERVICE(int64_t, resident_work, (struct matrix a), (a))
SERVICE(int64_t, gram_work, (struct matrix a), (a))
SERVICE(int64_t, geqrf_work, (struct matrix a), (a))
/* False, with the reason in the fault, when the panel does not fit on chip. */
SERVICE(bool, resident_fits, (struct matrix a), (a))
SERVICE(int64_t, band_work, (const struct band *band), (band))

/* Whether panel_reflectors, update_panel, band_sweep, reflect_columns can do this. */
OPTIONAL(panel_reflects, (struct matrix a), (a))
OPTIONAL(updates_panel, (struct matrix v, struct matrix c, struct matrix panel), (v, c, panel))
OPTIONAL(band_fits, (enum precision precision, int64_t p), (precision, p))
OPTIONAL(reflects_columns, (struct matrix v, struct matrix c), (v, c))

/* ---- a panel, column by column */

/* The 0-based index of the entry of largest magnitude of the column x (m x 1), lowest index on
 * ties; result on the host. iamax_host copies the column to the host first. */
OPERATION(iamax, (struct matrix x, int64_t *index), (x, index),
	PHASE_SEARCH, GIVES(index, x.m - 1), WAITED, HOST, x, 0,
	COST(iamax, x), BLAS1(cost_bytes(x)))
OPERATION(iamax_host, (struct matrix x, int64_t *index), (x, index),
	PHASE_SEARCH, GIVES(index, x.m - 1), WAITED, OUT, x, 0,
	COST(iamax_host, x), FETCHES(cost_bytes(x)))
/* One element to the host. */
OPERATION(get, (struct matrix element, double *value), (element, value),
	PHASE_FETCH, GIVES(value, 2), WAITED, OUT, element, 0,
	COST(get, element), FETCHES(cost_bytes(element)))
/* Euclidean norm of the column x, by the BLAS; result on the host. */
OPERATION(nrm2, (struct matrix x, double *norm), (x, norm),
	PHASE_SEARCH, GIVES(norm, 2), WAITED, HOST, x, 0,
	COST(nrm2, x), BLAS1(cost_bytes(x)))
/* Exchange two 1 x n rows. */
OPERATION(swap, (struct matrix x, struct matrix y), (x, y), PHASE_SWAP, NEVER, QUEUED, HOST, x, 0,
	COST(swap, x), BLAS1(4 * cost_bytes(x)))
/* x *= alpha, by the BLAS; x is a column (n = 1) or a row (stride ld). */
OPERATION(scal, (double alpha, struct matrix x), (alpha, x), PHASE_SCALE, NEVER, QUEUED, HOST, x, 0,
	COST(scal, x), BLAS1(2 * cost_bytes(x)))
/* x /= element, an element of executor memory; nothing when it is zero. Multiplies by the
 * reciprocal unless the element is subnormal, as sgetf2 does. */
OPERATION(scale_by, (struct matrix element, struct matrix x), (element, x),
	PHASE_SCALE, NEVER, QUEUED, HOST, x, 0,
	COST(scale_by, x), BLAS1(2 * cost_bytes(x)))
/* A -= x y^T, x m x 1, y 1 x n, by the BLAS. */
OPERATION(ger, (struct matrix x, struct matrix y, struct matrix a), (x, y, a),
	PHASE_UPDATE, NEVER, QUEUED, HOST, a, 0,
	COST(ger, a), BLAS2(2 * cost_bytes(a) + (double)(a.m + a.n) * word_bytes(a)))
/* info of a factorized panel: the 1-based index of the first exactly zero diagonal element, 0 when
 * there is none; result on the host. */
OPERATION(zero_pivot, (struct matrix a, int *info), (a, info),
	PHASE_FETCH, GIVES(info, 0), WAITED, OUT, a, 0,
	COST(zero_pivot, a), FETCHES((double)a.n * word_bytes(a)))
/* ipiv and info, known on the host, to executor memory; ipiv may be reused on return. */
OPERATION(store_pivots, (const int *ipiv, int info, struct pivots p), (ipiv, info, p),
	PHASE_FETCH, NEVER, QUEUED, IN, SHAPE(p.n, 1), 0,
	COST(store_pivots, p.n), SENDS((double)(p.n + 1) * sizeof(int)))

/* Fused steps of column j of the panel a: two kernels a column. fused_begin finds the pivot of
 * column 0. fused_pivot finishes the search of column j, swaps rows j and p of the whole panel, and
 * stores ipiv[j] and info. fused_update scales column j, updates columns j+1.. and searches column
 * j+1 in the same sweep. work: fused_work bytes. */
OPERATION(fused_begin, (struct matrix a, void *work, struct pivots p), (a, work, p),
	PHASE_SEARCH, NEVER, QUEUED, HOST, a, 0,
	COST(fused_begin, a), READS((double)a.m * word_bytes(a)))
OPERATION(fused_pivot, (struct matrix a, int64_t j, void *work, struct pivots p), (a, j, work, p),
	PHASE_SWAP, NEVER, QUEUED, HOST, a, 0,
	COST(fused_pivot, a, j), COPIES(4 * (double)a.n * word_bytes(a)))
OPERATION(fused_update, (struct matrix a, int64_t j, void *work, struct pivots p), (a, j, work, p),
	PHASE_UPDATE, NEVER, QUEUED, HOST, a, 0,
	COST(fused_update, a, j),
	COPIES(2 * (double)(a.m - j) * word_bytes(a) +
		2 * cost_bytes(matrix_view(a, 0, 0, a.m - j - 1, a.n - j - 1))))
/* The whole panel in one kernel that keeps it on chip. work: resident_work bytes. */
OPERATION(resident_panel, (struct matrix a, void *work, struct pivots p), (a, work, p),
	PHASE_PANEL, NEVER, QUEUED, HOST, a, 0,
	COST(resident_panel, a, GEOMETRY), COPIES(2 * cost_bytes(a)))

/* ---- Gram-Schmidt */

/* norms(k) = sum of squares of column k of a. */
OPERATION(column_norms, (struct matrix a, struct matrix norms), (a, norms),
	PHASE_SEARCH, EMPTY(a), QUEUED, HOST, a, 0,
	COST(column_norms, a), READS(cost_bytes(a)))
/* One pass each over the columns from j on, with the same work of gram_work bytes. gram_dots forms
 * the dot products of column j with itself and with the columns right of it. gram_update makes
 * column j the q_j of its row of R and subtracts its part from the columns right of it. gram_fused
 * is gram_update of column j and gram_dots of column j + 1 in one pass. gram_scale comes between
 * gram_dots and gram_update when g->shape chooses its kernels (NULL on the host, which has none).
 */
OPERATION(gram_dots, (const struct gram_schmidt *g, int64_t j), (g, j),
	PHASE_SEARCH, NEVER, QUEUED, HOST, FROM_COLUMN(g->a, j), 0,
	GRAM_PASS(GRAM_DOTS), READS(cost_columns(g->a, j, g->a.n)))
OPERATION(gram_update, (const struct gram_schmidt *g, int64_t j), (g, j),
	PHASE_UPDATE, NEVER, QUEUED, HOST, FROM_COLUMN(g->a, j), 0,
	GRAM_PASS(GRAM_UPDATE), COPIES(2 * cost_columns(g->a, j, g->a.n)))
OPERATION(gram_scale, (const struct gram_schmidt *g, int64_t j), (g, j),
	PHASE_SCALE, NEVER, QUEUED, HOST, SHAPE(g->a.m, 1), 0,
	GRAM_PASS(GRAM_SCALE), COPIES(2 * cost_columns(g->a, j, j + 1)))
OPERATION(gram_fused, (const struct gram_schmidt *g, int64_t j), (g, j),
	PHASE_UPDATE, NEVER, QUEUED, HOST, FROM_COLUMN(g->a, j), 0,
	GRAM_PASS(GRAM_FUSED), COPIES(2 * cost_columns(g->a, j, g->a.n)))
/* All columns. */
OPERATION(gram_panel, (const struct gram_schmidt *g), (g),
	PHASE_PANEL, NEVER, QUEUED, HOST, g->a, 0,
	COST(gram_panel, g->a), COPIES(2 * cost_bytes(g->a)))
/* Subtracts the parts of the orthonormal columns q from each column of a, one column of q after
 * another; r (q.n x a.n) holds the coefficients. single: one block of threads a column of a. */
OPERATION(gram_apply, (struct matrix q, struct matrix r, struct matrix a, bool single), (q, r, a,
	single),
	PHASE_UPDATE, EMPTY(a), QUEUED, HOST, a, q.n,
	COST(gram_apply, a, q.n, single), COPIES(2 * cost_bytes(a)))

/* ---- copies and panels on the host */

OPERATION(to_host, (struct matrix from, struct matrix host), (from, host),
	PHASE_TRANSFER, EMPTY(from), QUEUED, OUT, from, 0,
	COST(to_host, from), FETCHES(cost_bytes(from)))
OPERATION(to_device, (struct matrix host, struct matrix to), (host, to),
	PHASE_TRANSFER, EMPTY(host), QUEUED, IN, to, 0,
	COST(to_device, to), SENDS(cost_bytes(to)))
/* Host matrices, by LAPACKE and the BLAS, by the calling thread before the call returns. The matrix
 * must have arrived (wait_host). Results that later operations read in executor memory (pivots,
 * tau, info) are copied there on the current queue. ipiv: the pivots for the host, too, or NULL. */
HOST_PANEL(host_panel_getrf, (struct matrix host, struct pivots p, int *ipiv), (host, p, ipiv))
HOST_PANEL(host_panel_geqrf, (struct matrix host, struct matrix tau), (host, tau))
HOST_PANEL(host_panel_potrf, (enum uplo uplo, struct matrix host, int64_t first, int *info), (uplo,
	host, first, info))

/* Columns c of a host matrix by the host's LAPACKE: H^T c for the reflectors in v, below its diagonal,
 * and their tau, which have arrived; before the call returns. */
OPERATION(host_reflect, (struct matrix v, struct matrix tau, struct matrix c), (v, tau, c),
	PHASE_UPDATE, EMPTY(c), QUEUED, HOST, c, v.n,
	COST(host_reflect, v, c), FLOPS(4 * product_steps(c.m, c.n, v.n), c.precision))

/* ---- products; on the current queue, like all that follows */

/* C = alpha op(A) op(B) + beta C; beta = 0 overwrites, NaN included. */
CHOSEN(gemm, (enum trans ta, enum trans tb, double alpha, struct matrix a, struct matrix b,
	double beta, struct matrix c), (ta, tb, alpha, a, b, beta, c),
	PHASE_UPDATE, EMPTY(c) || (ta == PLAIN ? a.n : a.m) == 0, QUEUED, HOST, c,
	ta == PLAIN ? a.n : a.m,
	COST(gemm, ta, tb, c, ta == PLAIN ? a.n : a.m,
		matrix_is_aligned(a) && matrix_is_aligned(b), matrix_is_aligned(c)),
	FLOPS(2 * product_steps(c.m, c.n, ta == PLAIN ? a.n : a.m), c.precision))
/* One triangle of C = alpha op(A) op(A)^T + beta C, and the rectangle below it (LOWER: C m x n, m
 * >= n, op(A) of m rows) or right of it (UPPER: C n x m): the product with the transpose of op(A)'s
 * first n rows. */
CHOSEN(syrk, (enum uplo uplo, enum trans trans, double alpha, struct matrix a, double beta,
	struct matrix c), (uplo, trans, alpha, a, beta, c),
	PHASE_UPDATE, EMPTY(c) || (trans == PLAIN ? a.n : a.m) == 0, QUEUED, HOST, c,
	trans == PLAIN ? a.n : a.m,
	COST(syrk, c, trans == PLAIN ? a.n : a.m, matrix_is_aligned(a) && matrix_is_aligned(c)),
	FLOPS(2 * trapezoid_steps(c, trans == PLAIN ? a.n : a.m), c.precision))
/* Split operands: stacks for 3xTF32 or pairs for 3xFP16 (factor/kernels/gemm/tf32.h, factor/kernels/gemm/half_pair.h). */
CHOSEN(split, (struct splits splits), (splits),
	PHASE_UPDATE, splits.count == 0, QUEUED, HOST, splits.of[0].a, 0,
	COST(split, &splits), COPIES(cost_splits(&splits)))
/* C = alpha A^T B + beta C of two stacks, each a multiple of 4 elements deep, in single precision;
 * products.count products, each a step of `products` further. */
CHOSEN(gemm_tf32, (double alpha, struct matrix a, struct matrix b, double beta, struct matrix c,
	struct products products), (alpha, a, b, beta, c, products),
	PHASE_UPDATE, NEVER, QUEUED, HOST, SHAPE(c.m, c.n * products.count), a.m,
	COST(gemm_tf32, matrix_view(c, 0, 0, c.m, c.n * products.count), a.m,
		products.count > 1),
	FLOPS_AT(2 * product_steps(c.m, c.n * products.count, a.m), "gpu.gemm.tf32.peak"))
/* C += alpha X^T Y, given the pairs of X and Y. part: WHOLE, or one triangle and the rectangle
 * behind it, as in syrk, of one pair with as many columns as C's longer side (factor/kernels/gemm/half_update.h).
 * Only where split_limits say that there is such a kernel. */
CHOSEN(half_update, (enum uplo part, double alpha, struct matrix left, struct matrix right,
	struct matrix c), (part, alpha, left, right, c),
	PHASE_UPDATE, NEVER, QUEUED, HOST, c, half_depth(left.m),
	COST(half_update, part, c, half_depth(left.m)),
	part == WHOLE ? FLOPS_AT(2 * product_steps(c.m, c.n, half_depth(left.m)), "gpu.half_gemm.s.peak")
		: FLOPS_AT(2 * trapezoid_steps(c, half_depth(left.m)), "gpu.half_syrk.s.peak"))
/* The same for the part of C in stairs (factor/kernels/gemm/stairs.h). */
CHOSEN(half_stairs, (struct stairs stairs, double alpha, struct matrix left, struct matrix right,
	struct matrix c), (stairs, alpha, left, right, c),
	PHASE_UPDATE, NEVER, QUEUED, HOST, c, half_depth(left.m),
	COST(half_stairs, stairs, c, half_depth(left.m)),
	FLOPS_AT(2 * stairs_elements(stairs, c.m, c.n) * (double)half_depth(left.m),
		"gpu.half_syrk.s.peak"))
/* p = v^T c by 3xTF32 where the device has a kernel for it: long columns that begin at 16 bytes, in
 * single precision. */
CHOSEN(gemm_tall, (struct matrix v, struct matrix c, struct matrix p), (v, c, p),
	PHASE_UPDATE, NEVER, QUEUED, HOST, p, c.m,
	COST(gemm_tall, p, c.m), FLOPS_AT(2 * product_steps(p.m, p.n, 3 * c.m), "gpu.gemm.tf32.peak"))
/* Adds one triangle, with its diagonal, of each square of `blocks` (side by side, of blocks.m rows)
 * to the squares on the diagonal of c. */
CHOSEN(add_triangles, (enum uplo uplo, struct matrix blocks, struct matrix c), (uplo, blocks, c),
	PHASE_UPDATE, NEVER, QUEUED, HOST, c, 0,
	BY_WORK, COPIES(1.5 * cost_bytes(blocks)))
/* y = alpha op(A) x + beta y; x and y are columns (n = 1) or rows (m = 1, stride ld). */
OPERATION(gemv, (enum trans trans, double alpha, struct matrix a, struct matrix x, double beta,
	struct matrix y), (trans, alpha, a, x, beta, y),
	PHASE_UPDATE, EMPTY(y), QUEUED, HOST, a, 0,
	COST(gemv, trans, a), READS(cost_bytes(a)))

/* ---- triangles */

/* B = alpha inv(op(A)) B or alpha B inv(op(A)). */
OPERATION(trsm, (enum side side, enum uplo uplo, enum trans trans, enum diag diag, double alpha,
	struct matrix a, struct matrix b), (side, uplo, trans, diag, alpha, a, b),
	PHASE_SOLVE, EMPTY(b), QUEUED, HOST, b, 0,
	COST(trsm, side, diag, a.n, side == LEFT ? b.n : b.m, b.precision),
	FLOPS(product_steps(a.n, a.n, side == LEFT ? b.n : b.m), b.precision))
/* b is inverse times kept, or kept times inverse. It stays when the inverse of the triangle a (n <=
 * 128) can be trusted. Otherwise, and when it has a NaN, b becomes the solution by substitution
 * from kept, which has b's size. */
OPERATION(trsm_guard, (enum side side, enum uplo uplo, enum trans trans, enum diag diag,
	struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b), (side, uplo,
	trans, diag, a, inverse, kept, b),
	PHASE_SOLVE, EMPTY(b), QUEUED, HOST, b, 0,
	COST(trsm_guard, a, side == LEFT ? b.n : b.m), READS(cost_bytes(a)))
/* Inverse of the triangle a (n <= 128); the other triangle of inverse becomes zero. */
OPERATION(trtri, (enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse), (uplo,
	diag, a, inverse),
	PHASE_SOLVE, EMPTY(a), QUEUED, HOST, a, 0,
	COST(trtri, a), FLOPS(product_steps(a.n, a.n, a.n) / 3, a.precision))
/* info := 0. */
OPERATION(clear_info, (int *info), (info), PHASE_FETCH, NEVER, QUEUED, HOST, SHAPE(1, 1), 0,
	COST(clear_info, 1), INTEGERS(1))
/* Before a solve with the upper triangle of a (m >= n) and b (n x nrhs). info := the 1-based index
 * of the first exactly zero diagonal element, 0 when there is none; doubtful (or NULL) := 1 when the
 * least magnitude on the diagonal is at most n eps times the largest; both in executor memory. Where
 * the largest is so small that others may be subnormal, the triangle and b are multiplied by a power
 * of two, because a solve takes reciprocals of the diagonal. */
OPERATION(check_triangle, (struct matrix a, struct matrix b, int *info, int *doubtful),
	(a, b, info, doubtful),
	PHASE_FETCH, NEVER, QUEUED, HOST, a, 0,
	BY_WORK, INTEGERS(a.n))
/* Cholesky of a diagonal block (n <= 512) whose first row is row `first` of the matrix, and the
 * solution for the rows below it (LOWER: a m x n, m >= n) or the columns right of it (UPPER: a n x
 * m). `added` (n x 1, or empty) is first added to the diagonal. A pivot that is not positive (or
 * NaN) sets info, once, to its 1-based row; from then on all potrf_block with this info leave their
 * blocks unchanged. */
OPERATION(potrf_block, (enum uplo uplo, struct matrix a, struct matrix added, int64_t first,
	int *info), (uplo, a, added, first, info),
	PHASE_PANEL, EMPTY(a), QUEUED, HOST, a, 0,
	COST(potrf_block, a, ex_is_beside(e)), COPIES(2 * cost_bytes(a)))

/* ---- LU */

/* Rows i and ipiv[i]-1 of a exchanged for i = 0 .. p.n-1, or backwards. */
OPERATION(laswp, (struct matrix a, struct pivots p, bool backwards), (a, p, backwards),
	PHASE_SWAP, EMPTY(a) || p.n == 0, QUEUED, HOST, a, p.n,
	COST(laswp, a, p.n), COPIES(4 * (double)p.n * (double)a.n * word_bytes(a)))
/* The columns c right of an LU panel a of p.n columns (EXECUTOR_LU_COLUMNS at most), both from the
 * panel's first row on: row exchanges as by laswp, the solve of the first p.n rows with a's unit
 * lower triangle, and the update of the rows below. For the few columns that the next panel waits
 * for. */
OPERATION(lu_columns, (struct matrix a, struct pivots p, struct matrix c), (a, p, c),
	PHASE_UPDATE, SKIPS(PHASE_SWAP) || SKIPS(PHASE_SOLVE) || EMPTY(c), QUEUED, HOST, c, p.n,
	COST(lu_columns, c, p.n, matrix_is_aligned(a)),
	FLOPS((double)p.n * (double)c.n * (double)(2 * c.m - p.n), c.precision))
/* The same for any number of columns, without the rows below the top, right of panels of
 * EXECUTOR_LU_TOP columns at most. */
OPERATION(lu_top, (struct matrix a, struct pivots p, struct matrix c), (a, p, c),
	PHASE_SOLVE, SKIPS(PHASE_SWAP) || EMPTY(c), QUEUED, HOST, c, p.n,
	COST(lu_top, c, p.n, matrix_is_aligned(a)), FLOPS(product_steps(p.n, p.n, c.n), c.precision))
/* The same of a row-major matrix: c is the transpose of columns beside an LU panel, from the
 * panel's first row on. Rows are exchanged as by laswp, and the first p.n of them (rows_most at
 * most) solved with the panel's unit lower triangle a, which is column-major. Without columns in a:
 * exchanges only. Without pivots in p: the solve of the first a.n only. */
OPERATION(lu_rows, (struct matrix a, struct pivots p, struct matrix c), (a, p, c),
	a.n > 0 ? PHASE_SOLVE : PHASE_SWAP, SKIPS(PHASE_SWAP) || EMPTY(c), QUEUED, HOST, c,
	p.n > 0 ? p.n : a.n,
	COST(lu_rows, c, p.n > 0 ? p.n : a.n, p.n > 0, a.n > 0),
	a.n > 0 ? FLOPS(product_steps(a.n, a.n, c.m), c.precision)
		: COPIES(4 * (double)p.n * (double)c.m * word_bytes(c)))
/* Deferred row swaps: factor/kernels/lu/deferred_swaps.h. */
OPERATION(record_swaps, (struct deferred_swaps t, struct pivots p, int64_t first, int64_t block), (t, p,
	first, block),
	PHASE_SWAP, NEVER, QUEUED, HOST, SHAPE(t.m, p.n), 0,
	BY_WORK, INTEGERS(t.m))
OPERATION(apply_swaps, (struct deferred_swaps t, struct matrix a), (t, a),
	PHASE_SWAP, EMPTY(a), QUEUED, HOST, a, 0,
	COST(apply_swaps, a), COPIES(cost_bytes(a)))
/* Pivots of a panel whose first row is row `first` of the matrix: all[first + i] = panel[i] +
 * first. The first info that is not zero stays, offset by first. */
OPERATION(offset_pivots, (struct pivots panel, int64_t first, struct pivots all), (panel, first,
	all),
	PHASE_SWAP, NEVER, QUEUED, HOST, SHAPE(panel.n, 1), 0,
	BY_WORK, INTEGERS(panel.n + 1))
/* Joins a panel's second half, whose first row is row `first` of the panel, to the first half: row
 * exchanges, as by laswp, of the rows `beside` of the first half's columns; the half's pivots and
 * info behind the first half's, which are the beginning of `all` (its info at all[first]). Without
 * columns beside the half its pivots are joined still. */
OPERATION(join_halves, (struct matrix beside, struct pivots half, int64_t first, struct pivots all),
	(beside, half, first, all),
	PHASE_SWAP, NEVER, QUEUED, HOST, beside, half.n,
	COST(laswp, beside, half.n),
	COPIES(4 * (double)half.n * (double)beside.n * word_bytes(beside)))

/* ---- QR */

/* Householder QR of a panel (m >= n, n <= 128) in one call: R above, vectors below the diagonal,
 * LAPACK's signs and tau (n x 1). work: geqrf_work bytes. */
OPERATION(panel_geqrf, (struct matrix a, struct matrix tau, void *work), (a, tau, work),
	PHASE_PANEL, EMPTY(a), QUEUED, HOST, a, 0,
	COST(panel_geqrf, a, e->queue == QUEUE_PANEL), COPIES(2 * cost_bytes(a)))
/* V with its unit diagonal and zeros above, as gemm needs it, from the panel a. */
OPERATION(explicit_v, (struct matrix a, struct matrix v), (a, v),
	PHASE_LAYOUT, EMPTY(a), QUEUED, HOST, a, 0,
	BY_WORK, COPIES(2 * cost_bytes(a)))
/* T (n x n, upper, zeros below) of the compact WY form of the reflectors v (explicit): LAPACK's
 * larft, forward, columnwise. */
OPERATION(larft, (struct matrix v, struct matrix tau, struct matrix t), (v, tau, t),
	PHASE_SOLVE, EMPTY(v), QUEUED, HOST, v, 0,
	COST(larft, v), FLOPS(product_steps(v.n, v.n, v.m), v.precision))
/* panel_geqrf, explicit_v and larft in one call, where panel_reflects; without V and T where they
 * are empty. summed: update_panel has just updated this panel, with the same work. */
CHOSEN(panel_reflectors, (struct matrix a, struct matrix tau, struct matrix v, struct matrix t,
	bool summed, void *work), (a, tau, v, t, summed, work),
	PHASE_PANEL, EMPTY(a), QUEUED, HOST, a, 0,
	COST(panel_reflectors, a, v.n > 0, summed), COPIES(2 * cost_bytes(a)))
/* C += alpha V W, and the sums that begin the panel's factorization in its work (geqrf_work bytes),
 * where updates_panel. The panel is the first columns of C without C's first rows. */
OPERATION(update_panel, (double alpha, struct matrix v, struct matrix w, struct matrix c,
	struct matrix panel, void *work), (alpha, v, w, c, panel, work),
	PHASE_UPDATE, EMPTY(c), QUEUED, HOST, c, v.n,
	COST(update_panel, v, c), FLOPS(2 * product_steps(c.m, c.n, v.n), c.precision))
/* The columns c right of a QR panel, EXECUTOR_QR_COLUMNS at most: c - V T^T V^T c in one call,
 * where reflects_columns. */
OPERATION(reflect_columns, (struct matrix v, struct matrix t, struct matrix c), (v, t, c),
	PHASE_UPDATE, EMPTY(c), QUEUED, HOST, c, v.n,
	COST(reflect_columns, v, c), COPIES(2 * cost_bytes(c)))
/* Kerr's kernels (factor/papers/kerr_kernels.h). kerr_house: the Householder vector of column j of
 * the block a, from its first row on, into y, and tau(j); squares: of the norms of a's columns.
 * kerr_project: row = tau a^T v, an empty tau counts as 1. kerr_extend: z = -tau (v + w row^T). */
OPERATION(kerr_house, (struct matrix a, int64_t j, struct matrix squares, struct matrix y,
	struct matrix tau), (a, j, squares, y, tau),
	PHASE_SEARCH, NEVER, QUEUED, HOST, SHAPE(a.m - j, 1), 0,
	COST(kerr_house, a, j), COPIES(2 * (double)(a.m - j) * word_bytes(a)))
OPERATION(kerr_project, (struct matrix tau, struct matrix a, struct matrix v, struct matrix row),
	(tau, a, v, row),
	PHASE_UPDATE, EMPTY(a), QUEUED, HOST, a, 0,
	COST(kerr_gemv, TRANSPOSED, a), READS(cost_bytes(a)))
OPERATION(kerr_extend, (struct matrix tau, struct matrix w, struct matrix row, struct matrix v,
	struct matrix z), (tau, w, row, v, z),
	PHASE_UPDATE, NEVER, QUEUED, HOST, z, w.n,
	COST(kerr_gemv, PLAIN, w), COPIES(cost_bytes(w) + 2 * cost_bytes(z)))
/* Givens rotations: rotation i acts on columns 2 i and 2 i + 1 of x (2 g.n columns), which become c
 * x0 + s x1 and c x1 - s x0 with c = g(0,i), s = g(1,i). make_rotations chooses them to make
 * element (row + i, 2 i + 1) of x zero. */
OPERATION(make_rotations, (int64_t row, struct matrix x, struct matrix g), (row, x, g),
	PHASE_PANEL, EMPTY(x), QUEUED, HOST, x, 0,
	COST(make_rotations, x), COPIES(2 * cost_bytes(x)))
OPERATION(rotate, (struct matrix g, struct matrix x), (g, x),
	PHASE_UPDATE, EMPTY(x), QUEUED, HOST, x, 0,
	BY_WORK, COPIES(2 * cost_bytes(x)))
/* A whole sweep down (sweep.h) in one call, where band_fits. work: band_work bytes. */
OPERATION(band_sweep, (const struct band *band, void *work), (band, work),
	PHASE_PANEL, NEVER, QUEUED, HOST, band->of.r, band->p,
	COST(band_sweep, band), COPIES(2 * cost_bytes(band->of.r)))

/* ---- layout */

/* b = a^T. */
OPERATION(transpose, (struct matrix a, struct matrix b), (a, b),
	PHASE_LAYOUT, EMPTY(a), QUEUED, HOST, a, 0,
	BY_WORK, COPIES(2 * cost_bytes(a)))
/* The triangle of `to` and the diagonal := from's (LAPACK's lacpy). */
OPERATION(copy, (enum uplo uplo, struct matrix from, struct matrix to), (uplo, from, to),
	PHASE_LAYOUT, EMPTY(from), QUEUED, HOST, from, 0,
	BY_WORK, COPIES(2 * cost_part(uplo, from)))
/* The triangle off the diagonal := off, the diagonal := on. */
OPERATION(fill, (enum uplo uplo, double off, double on, struct matrix a), (uplo, off, on, a),
	PHASE_LAYOUT, EMPTY(a), QUEUED, HOST, a, 0,
	BY_WORK, WRITES(cost_part(uplo, a)))

/* clang-format on */

#undef FUNCTION
#undef MEMBER
#undef SERVICE
#undef OPTIONAL
#undef OPERATION
#undef CHOSEN
#undef HOST_PANEL
