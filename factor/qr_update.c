/* SPDX-License-Identifier: MIT */
/* All five changes are sweeps (sweep.h) of the same system: R, Q^T B and Q.
 *
 * remove columns  R without them has p elements below its diagonal: down
 * add rows        [R; U], window by window with U's rows below it: down
 * add columns     W = Q^T U has elements below row n + p none, after a QR factorization of those
 *                 below row n; it is put into R and swept up to row k
 * remove rows     the same with the rows' unit vectors in place of U, up to row 0: Q's first p
 *                 columns are then these unit vectors, and they, R's first p rows and the rows go
 * modify          W up to row 0, where the rest of it times V^T is added to p rows of R: down
 *
 * With the first n columns of Q only, what U has outside of them is appended to Q first
 * (Gram-Schmidt, twice). Without Q, W of rows to be removed comes from R^T W = U^T and Cholesky's
 * factorization of I - W^T W (LINPACK's downdating, C. C. Paige and M. A. Saunders in Dongarra et
 * al. 1979). */
#include "qr_update.h"

#include "gram_schmidt.h"
#include "schedule.h"
#include "sweep.h"

#include "../lib/msg.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

enum { SHIFT_COLUMNS = 256 };

const char *const q_kept_name[3] = {"none", "thin", "full"};
const char *const qr_change_name[5] = {
        "remove_columns", "add_columns", "add_rows", "remove_rows", "modify"};

struct update {
	struct executor *e;
	struct qr_factors *f;
	enum qr_change change;
	int64_t p;
	struct sweep sweep;
	struct matrix shifted; /* of move */
	struct matrix w;       /* Q^T U */
	struct matrix again;   /* what nobody reads of orthogonalize, I - W^T W */
	void *gram;
	int *info;           /* of orthogonalize */
	struct system stack; /* add rows: a window's rows above the new ones */
	int64_t bytes;
};

/* ---- shapes ---- */

/* Needs rows below R while it lasts. */
static bool goes_up(enum qr_change change)
{
	return change != QR_REMOVE_COLUMNS && change != QR_ADD_ROWS;
}

/* All of Q is there: its columns from n on are no part of Q R. */
static bool whole(const struct qr_factors *f)
{
	return f->kept == Q_FULL || (f->kept == Q_THIN && f->m == f->n);
}

/* Columns of U that go together. */
static int64_t at_once(const struct update *u, int64_t left)
{
	const struct qr_factors *f = u->f;
	bool few = u->change == QR_MODIFY && f->kept == Q_THIN && !whole(f);
	int64_t outside = few ? f->m - f->n : left;

	return smaller(smaller(left, SWEEP_COLUMNS), smaller(f->n, outside));
}

struct qr_room qr_update_room(const struct qr_factors *f, enum qr_change change, int64_t p)
{
	bool rows = change == QR_ADD_ROWS, columns = change == QR_ADD_COLUMNS;
	bool outside = goes_up(change);
	int64_t more = outside ? smaller(p, f->m - f->n) : 0;
	struct qr_room room = {.r_rows = f->n + more, .r_columns = f->n + (columns ? p : 0)};

	room.d_rows = f->kept == Q_FULL ? f->m + (rows ? p : 0) : room.r_rows;
	if (f->kept != Q_NONE) {
		room.q_rows = f->m + (rows ? p : 0);
		room.q_columns = f->kept == Q_FULL ? room.q_rows : f->n + more;
	}
	return room;
}

static bool fits(struct fault *fault, const char *name, struct matrix a, int64_t m, int64_t n)
{
	return (m <= a.m && n <= a.n && a.ld >= larger(a.m, 1)) ||
	       fault_set(fault,
	               "%s has room for %" PRId64 " x %" PRId64 " (leading dimension %" PRId64
	               "), but the change needs %" PRId64 " x %" PRId64,
	               name, a.m, a.n, a.ld, m, n);
}

static bool possible(const struct update *u)
{
	const struct qr_factors *f = u->f;
	struct fault *fault = &u->e->fault;
	int64_t p = u->p;
	const char *name = qr_change_name[u->change];

	if (f->n < 1 || f->m < f->n || p < 1)
		return fault_set(fault,
		        "%s of %" PRId64 " in a factorization of %" PRId64 " x %" PRId64
		        ": m >= n >= 1 and at least one are needed",
		        name, p, f->m, f->n);
	if (f->kept == Q_NONE && (u->change == QR_ADD_COLUMNS || u->change == QR_MODIFY))
		return fault_set(fault, "%s needs Q, which is not kept", name);
	if ((u->change == QR_REMOVE_COLUMNS && p >= f->n) ||
	        (u->change == QR_ADD_COLUMNS && f->n + p > f->m) ||
	        (u->change == QR_REMOVE_ROWS && f->m - p < f->n))
		return fault_set(fault,
		        "%s of %" PRId64 " in a factorization of %" PRId64 " x %" PRId64
		        " leaves fewer rows than columns, or no columns",
		        name, p, f->m, f->n);
	return true;
}

static bool check(const struct update *u)
{
	const struct qr_factors *f = u->f;
	struct fault *fault = &u->e->fault;
	struct qr_room room = qr_update_room(f, u->change, u->p);

	return possible(u) && fits(fault, "R", f->r, room.r_rows, room.r_columns) &&
	       (f->kept == Q_NONE || fits(fault, "Q", f->q, room.q_rows, room.q_columns)) &&
	       (f->d.n == 0 || fits(fault, "Q^T B", f->d, room.d_rows, f->d.n));
}

static bool check_at(const struct update *u, int64_t k, int64_t last)
{
	return (k >= 0 && k <= last) ||
	       fault_set(&u->e->fault,
	               "%s of %" PRId64 " at %" PRId64 ": 0 to %" PRId64 " is possible",
	               qr_change_name[u->change], u->p, k, last);
}

static bool check_shape(
        const struct update *u, const char *name, struct matrix a, int64_t m, int64_t n)
{
	return (a.m == m && a.n == n && a.ld >= larger(m, 1)) ||
	       fault_set(&u->e->fault,
	               "%s is %" PRId64 " x %" PRId64 ", not %" PRId64 " x %" PRId64, name, a.m,
	               a.n, m, n);
}

/* The right-hand sides of m rows, where there are any. */
static bool check_sides(const struct update *u, struct matrix b, int64_t m)
{
	int64_t n = u->f->d.n;

	return n == 0 || check_shape(u, "the matrix of right-hand sides", b, m, n);
}

/* ---- workspace ---- */

static void carve_stack(struct update *u, struct carver *carver)
{
	const struct qr_factors *f = u->f;
	int64_t rows = SWEEP_COLUMNS + u->p;
	enum precision precision = f->r.precision;

	u->stack.r = carve_matrix(carver, rows, f->n, precision);
	u->stack.d = carve_matrix(carver, rows, f->d.n, precision);
	u->stack.q = carve_matrix(carver, f->kept == Q_NONE ? 0 : f->m + u->p, rows, precision);
}

static bool uses_gram(const struct update *u)
{
	return u->f->kept == Q_THIN && u->f->m > u->f->n && goes_up(u->change);
}

static void carve(struct update *u, void *work)
{
	struct carver carver = {work, 0};
	const struct qr_factors *f = u->f;
	struct qr_room room = qr_update_room(f, u->change, u->p);
	enum precision precision = f->r.precision;
	int64_t rows = larger(larger(room.q_rows, room.r_rows), SWEEP_COLUMNS + u->p);
	int64_t columns = larger(larger(rows, room.r_columns), f->d.n);

	u->sweep = sweep_carve(u->e, &carver, SWEEP_COLUMNS, rows, columns, precision);
	u->shifted = carve_matrix(&carver, rows, SHIFT_COLUMNS, precision);
	if (u->change == QR_ADD_ROWS)
		carve_stack(u, &carver);
	else if (u->change != QR_REMOVE_COLUMNS) {
		u->w = carve_matrix(&carver, rows, SWEEP_COLUMNS, precision);
		u->again = carve_matrix(
		        &carver, SWEEP_COLUMNS, larger(SWEEP_COLUMNS, f->d.n), precision);
	}
	if (uses_gram(u)) {
		u->info = carve_integers(&carver, 1);
		struct matrix q = matrix_view(
		        f->q, 0, 0, f->m, smaller(f->m, f->n + larger(u->p, SWEEP_COLUMNS)));
		u->gram = carve_bytes(&carver, orthogonalize_work(u->e, SWEEP_COLUMNS, q,
		                                       q.n - smaller(q.n - 1, SWEEP_COLUMNS)));
	}
	u->bytes = carver.used;
}

static bool set_up(struct update *u, struct executor *e, struct qr_factors *f,
        enum qr_change change, int64_t p, void *work)
{
	*u = (struct update){.e = e, .f = f, .change = change, .p = p};
	if (!check(u))
		return false;
	carve(u, work);
	return true;
}

int64_t qr_update_work(
        struct executor *e, const struct qr_factors *f, enum qr_change change, int64_t p)
{
	struct qr_factors copy = *f;
	struct update u;

	return set_up(&u, e, &copy, change, p, NULL) ? u.bytes : -1;
}

/* ---- pieces ---- */

/* The m x n matrix at (i,j) of a goes to (to_i,to_j); the two may overlap. */
static bool move(struct update *u, struct matrix a, int64_t m, int64_t n, int64_t i, int64_t j,
        int64_t to_i, int64_t to_j)
{
	bool ok = true;

	if (m == 0)
		return true;
	for (int64_t done = 0, w; ok && done < n; done += w) {
		w = smaller(SHIFT_COLUMNS, n - done);
		int64_t at = to_j > j ? n - done - w : done;
		struct matrix kept = matrix_view(u->shifted, 0, 0, m, w);
		ok = ex_copy(u->e, matrix_view(a, i, j + at, m, w), kept) &&
		     ex_copy(u->e, kept, matrix_view(a, to_i, to_j + at, m, w));
	}
	return ok;
}

static struct matrix rows_of(struct matrix a, int64_t i, int64_t m)
{
	return matrix_view(a, i, 0, a.n == 0 ? 0 : m, a.n);
}

/* The system of `rows` rows that begins at row and column `from` of the factorization, whose R
 * begins at column c and has n columns. */
static struct system system_at(
        const struct update *u, int64_t from, int64_t rows, int64_t c, int64_t n)
{
	const struct qr_factors *f = u->f;
	bool full = f->kept == Q_FULL;

	return (struct system){.r = matrix_view(f->r, from, c, rows, n),
	        .d = rows_of(f->d, from, full ? f->m - from : rows),
	        .q = matrix_view(
	                f->q, 0, from, f->kept == Q_NONE ? 0 : f->m, full ? f->m - from : rows)};
}

/* All of Q: w, Q^T U from row `from` on, becomes upper triangular from row n on, where it has as
 * many rows there. */
static bool reduce(struct update *u, int64_t from, int64_t p)
{
	const struct qr_factors *f = u->f;
	int64_t rows = f->m - from;

	return rows < f->n + p || sweep_window(&u->sweep, system_at(u, from, rows, 0, 0),
	                                  matrix_view(u->w, f->n, 0, rows - f->n, p), f->n, 0);
}

static bool project(struct update *u, struct matrix columns)
{
	const struct qr_factors *f = u->f;

	return ex_gemm(u->e, TRANSPOSED, PLAIN, 1, matrix_view(f->q, 0, 0, f->m, f->m), columns, 0,
	               matrix_view(u->w, 0, 0, f->m, columns.n)) &&
	       reduce(u, 0, columns.n);
}

/* Thin Q: the p columns that stand after n of Q's from `from` on become orthonormal to these; w (n
 * + p rows) is what they were. info: the first of those that depend, `before` columns later. */
static bool append(struct update *u, int64_t from, int64_t p, int64_t before, int *info)
{
	const struct qr_factors *f = u->f;

	return orthogonalize(u->e, SWEEP_COLUMNS, matrix_view(f->q, 0, from, f->m, f->n + p), f->n,
	               matrix_view(u->w, 0, 0, f->n + p, p), u->gram, u->info) &&
	       ex_adopt_pivots(u->e, (struct pivots){u->info, 0}, before, (struct pivots){info, 0});
}

/* The same of columns from outside, and with them the new rows of Q^T B. */
static bool append_columns(
        struct update *u, struct matrix columns, struct matrix b, int64_t before, int *info)
{
	const struct qr_factors *f = u->f;
	int64_t p = columns.n;
	struct matrix new = matrix_view(f->q, 0, f->n, f->m, p);

	return ex_copy(u->e, columns, new) && append(u, 0, p, before, info) &&
	       (f->d.n == 0 || ex_gemm(u->e, TRANSPOSED, PLAIN, 1, new, b, 0,
	                               matrix_view(f->d, f->n, 0, p, f->d.n)));
}

/* Rows n .. n+p-1 of R's first `columns` columns are part of it now. */
static bool more_rows(struct update *u, int64_t p, int64_t columns)
{
	return ex_fill(u->e, WHOLE, 0, 0, matrix_view(u->f->r, u->f->n, 0, p, columns));
}

/* ---- remove columns, add rows: down ---- */

bool qr_remove_columns(struct executor *e, struct qr_factors *f, int64_t k, int64_t p, void *work)
{
	struct update u;
	int64_t n = f->n - p;

	if (!set_up(&u, e, f, QR_REMOVE_COLUMNS, p, work) || !check_at(&u, k, n) ||
	        !move(&u, f->r, f->n, n - k, 0, k + p, 0, k) ||
	        !sweep_down(&u.sweep, system_at(&u, 0, f->n, 0, n), k, p))
		return false;
	f->n = n;
	return true;
}

/* Window j .. j+w-1: its rows of R and d and columns of Q stand above and left of the new ones. */
static bool exchange_window(struct update *u, int64_t j, int64_t w, bool in)
{
	const struct qr_factors *f = u->f;
	int64_t i = SWEEP_COLUMNS - w, rows = u->stack.q.m;
	struct matrix pairs[][2] = {
	        {matrix_view(f->r, j, j, w, f->n - j), matrix_view(u->stack.r, i, j, w, f->n - j)},
	        {matrix_view(f->d, j, 0, w, f->d.n), matrix_view(u->stack.d, i, 0, w, f->d.n)},
	        {matrix_view(f->q, 0, j, rows, w), matrix_view(u->stack.q, 0, i, rows, w)}};
	bool ok = true;

	for (size_t s = 0; ok && s < ARRAY_LEN(pairs); s++)
		ok = ex_copy(u->e, pairs[s][in ? 0 : 1], pairs[s][in ? 1 : 0]);
	return ok;
}

static bool stack_window(struct update *u, int64_t j, int64_t w)
{
	int64_t i = SWEEP_COLUMNS - w;

	return exchange_window(u, j, w, true) &&
	       sweep_window(
	               &u->sweep, u->stack, matrix_view(u->stack.r, i, j, w + u->p, w), i, j + w) &&
	       exchange_window(u, j, w, false);
}

/* Q gets p rows of zeros at k, and beside it stand the unit vectors of these rows. */
static bool stretch(struct update *u, int64_t k)
{
	const struct qr_factors *f = u->f;
	int64_t p = u->p, columns = f->kept == Q_FULL ? f->m : f->n;
	struct matrix units = matrix_view(u->stack.q, 0, SWEEP_COLUMNS, f->m + p, p);

	return f->kept == Q_NONE ||
	       (move(u, f->q, f->m - k, columns, k, 0, k + p, 0) &&
	               ex_fill(u->e, WHOLE, 0, 0, matrix_view(f->q, k, 0, p, columns)) &&
	               ex_fill(u->e, WHOLE, 0, 0, units) &&
	               ex_fill(u->e, WHOLE, 0, 1, matrix_view(units, k, 0, p, p)));
}

/* With all of Q, what stood beside it becomes its last columns. */
static bool take_new(struct update *u)
{
	const struct qr_factors *f = u->f;
	int64_t p = u->p;

	return f->kept != Q_FULL ||
	       (ex_copy(u->e, matrix_view(u->stack.q, 0, SWEEP_COLUMNS, f->m + p, p),
	                matrix_view(f->q, 0, f->m, f->m + p, p)) &&
	               ex_copy(u->e, matrix_view(u->stack.d, SWEEP_COLUMNS, 0, p, f->d.n),
	                       matrix_view(f->d, f->m, 0, p, f->d.n)));
}

bool qr_add_rows(struct executor *e, struct qr_factors *f, int64_t k, struct matrix rows,
        struct matrix b, void *work)
{
	struct update u;
	int64_t p = rows.m;

	if (!set_up(&u, e, f, QR_ADD_ROWS, p, work) || !check_at(&u, k, f->m) ||
	        !check_shape(&u, "the matrix of new rows", rows, p, f->n) || !check_sides(&u, b, p))
		return false;
	bool ok =
	        stretch(&u, k) &&
	        ex_copy(e, rows, matrix_view(u.stack.r, SWEEP_COLUMNS, 0, p, f->n)) &&
	        (f->d.n == 0 || ex_copy(e, b, matrix_view(u.stack.d, SWEEP_COLUMNS, 0, p, f->d.n)));
	for (int64_t j = 0; ok && j < f->n; j += SWEEP_COLUMNS)
		ok = stack_window(&u, j, smaller(SWEEP_COLUMNS, f->n - j));
	ok = ok && take_new(&u);
	f->m += ok ? p : 0;
	return ok;
}

/* ---- add columns: up ---- */

/* Columns k .. k+p-1 of R are to come from `columns`; what is to stand right of them begins in
 * column `right`. */
static bool add_some(struct update *u, int64_t k, int64_t right, struct matrix columns,
        struct matrix b, int64_t before, int *info)
{
	struct qr_factors *f = u->f;
	int64_t n = f->n, p = columns.n;
	struct matrix spike = matrix_view(f->r, 0, k, n + p, p);
	bool ok = (f->kept == Q_FULL ? project(u, columns)
	                             : append_columns(u, columns, b, before, info)) &&
	          ex_copy(u->e, matrix_view(u->w, 0, 0, n + p, p), spike) &&
	          sweep_up(&u->sweep, system_at(u, 0, n + p, right, n - k), spike, k);

	f->n += ok ? p : 0;
	return ok;
}

bool qr_add_columns(struct executor *e, struct qr_factors *f, int64_t k, struct matrix columns,
        struct matrix b, void *work, int *info)
{
	struct update u;
	int64_t p = columns.n, n = f->n;

	if (!set_up(&u, e, f, QR_ADD_COLUMNS, p, work) || !check_at(&u, k, n) ||
	        !check_shape(&u, "the matrix of new columns", columns, f->m, p) ||
	        !check_sides(&u, b, f->m))
		return false;
	bool ok = ex_clear_info(e, info) && move(&u, f->r, n, n - k, 0, k, 0, k + p) &&
	          more_rows(&u, p, n + p);
	for (int64_t s = 0, w; ok && s < p; s += w) {
		w = at_once(&u, p - s);
		ok = add_some(&u, k + s, k + p, matrix_view(columns, 0, s, f->m, w), b, s, info);
	}
	return ok;
}

/* ---- remove rows: up to row 0 ---- */

/* w := what the unit vectors of p rows from row k on are made of: of the columns of Q from `from`
 * on. */
static bool project_units(struct update *u, int64_t from, int64_t k, int64_t p)
{
	const struct qr_factors *f = u->f;
	int64_t rows = f->m - from;

	return ex_transpose(u->e, matrix_view(f->q, k, from, p, rows),
	               matrix_view(u->w, 0, 0, rows, p)) &&
	       reduce(u, from, p);
}

static bool append_units(
        struct update *u, int64_t from, int64_t k, int64_t p, int64_t before, int *info)
{
	const struct qr_factors *f = u->f;
	struct matrix new = matrix_view(f->q, 0, from + f->n, f->m, p);

	return ex_fill(u->e, WHOLE, 0, 0, new) &&
	       ex_fill(u->e, WHOLE, 0, 1, matrix_view(new, k, 0, p, p)) &&
	       append(u, from, p, before, info);
}

/* w from the rows themselves: R^T W = rows^T, and below it Cholesky's factor of I - W^T W, less
 * what rounding may have left of zero. */
static bool solve_units(
        struct update *u, int64_t from, struct matrix rows, int64_t before, int *info)
{
	struct executor *e = u->e;
	int64_t n = u->f->n, p = rows.m;
	struct matrix w = matrix_view(u->w, 0, 0, n, p), s = matrix_view(u->w, n, 0, p, p);

	double rounding =
	        4 * sqrt((double)n) * (w.precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON);

	return ex_transpose(e, rows, w) &&
	       ex_trsm(e, LEFT, UPPER, TRANSPOSED, NON_UNIT, 1, matrix_view(u->f->r, from, 0, n, n),
	               w) &&
	       ex_fill(e, WHOLE, 0, 1 - rounding, s) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, -1, w, w, 1, s) &&
	       ex_potrf_block(e, UPPER, s, before, info) &&
	       ex_fill(e, LOWER, 0, 0, matrix_view(s, 1, 0, p - 1, p - 1));
}

/* New rows of Q^T B: what the right-hand sides of the p rows have outside of R's columns. */
static bool solve_sides(struct update *u, int64_t from, struct matrix b)
{
	const struct qr_factors *f = u->f;
	int64_t n = f->n, p = b.m;
	struct matrix new = matrix_view(f->d, from + n, 0, p, f->d.n);

	if (f->d.n == 0)
		return true;
	return ex_copy(u->e, b, new) &&
	       ex_gemm(u->e, TRANSPOSED, PLAIN, -1, matrix_view(u->w, 0, 0, n, p),
	               matrix_view(f->d, from, 0, n, f->d.n), 1, new) &&
	       ex_trsm(u->e, LEFT, UPPER, TRANSPOSED, NON_UNIT, 1, matrix_view(u->w, n, 0, p, p),
	               new);
}

static bool remove_some(
        struct update *u, int64_t from, int64_t k, struct matrix rows, struct matrix b, int *info)
{
	const struct qr_factors *f = u->f;
	int64_t p = b.m;
	bool ok;

	if (f->kept == Q_FULL)
		ok = project_units(u, from, k, p);
	else if (f->kept == Q_THIN)
		ok = append_units(u, from, k, p, from, info) && solve_sides(u, from, b);
	else
		ok = solve_units(u, from, rows, from, info) && solve_sides(u, from, b);
	return ok && sweep_up(&u->sweep, system_at(u, from, f->n + p, 0, f->n),
	                     matrix_view(u->w, 0, 0, f->n + p, p), 0);
}

/* What was swept to the top goes, and rows k .. k+p-1 of Q. */
static bool close_up(struct update *u, int64_t k)
{
	const struct qr_factors *f = u->f;
	int64_t p = u->p, m = f->m, n = f->n, rows = f->kept == Q_FULL ? m - p : n;

	return move(u, f->r, n, n, p, 0, 0, 0) && move(u, f->d, rows, f->d.n, p, 0, 0, 0) &&
	       (f->kept == Q_NONE || (move(u, f->q, k, rows, 0, p, 0, 0) &&
	                                     move(u, f->q, m - k - p, rows, k + p, p, k, 0)));
}

bool qr_remove_rows(struct executor *e, struct qr_factors *f, int64_t k, int64_t p,
        struct matrix rows, struct matrix b, void *work, int *info)
{
	struct update u;

	if (!set_up(&u, e, f, QR_REMOVE_ROWS, p, work) || !check_at(&u, k, f->m - p) ||
	        (f->kept == Q_NONE && !check_shape(&u, "the matrix of rows", rows, p, f->n)) ||
	        !check_sides(&u, b, p))
		return false;
	bool ok = ex_clear_info(e, info) && more_rows(&u, p, f->n);
	for (int64_t s = 0, w; ok && s < p; s += w) {
		w = at_once(&u, p - s);
		ok = remove_some(&u, s, k + s, matrix_view(rows, s, 0, w, rows.n),
		        matrix_view(b, s, 0, w, f->d.n), info);
	}
	ok = ok && close_up(&u, k);
	f->m -= ok ? p : 0;
	return ok;
}

/* ---- modify: up to row 0, and down ---- */

static bool modify_some(struct update *u, struct matrix columns, struct matrix v, struct matrix b,
        int64_t before, int *info)
{
	const struct qr_factors *f = u->f;
	int64_t n = f->n, p = columns.n, rows = smaller(n + p, f->m);
	struct system all = system_at(u, 0, rows, 0, n);
	struct matrix spike = matrix_view(u->w, 0, 0, rows, p);

	return more_rows(u, rows - n, n) &&
	       (whole(f) ? project(u, columns) : append_columns(u, columns, b, before, info)) &&
	       sweep_up(&u->sweep, all, spike, 0) &&
	       ex_gemm(u->e, PLAIN, TRANSPOSED, 1, matrix_view(spike, 0, 0, p, p), v, 1,
	               matrix_view(f->r, 0, 0, p, n)) &&
	       sweep_down(&u->sweep, all, 0, p);
}

bool qr_modify(struct executor *e, struct qr_factors *f, struct matrix columns, struct matrix v,
        struct matrix b, void *work, int *info)
{
	struct update u;
	int64_t p = columns.n;

	if (!set_up(&u, e, f, QR_MODIFY, p, work) || !check_shape(&u, "U", columns, f->m, p) ||
	        !check_shape(&u, "V", v, f->n, p) || !check_sides(&u, b, f->m))
		return false;
	bool ok = ex_clear_info(e, info);
	for (int64_t s = 0, w; ok && s < p; s += w) {
		w = at_once(&u, p - s);
		ok = modify_some(&u, matrix_view(columns, 0, s, f->m, w),
		        matrix_view(v, 0, s, f->n, w), b, s, info);
	}
	return ok;
}
