/* SPDX-License-Identifier: MIT */
/* All five changes are sweeps (sweep.h) of one system: R, Q^T B and Q.
 *
 *   remove columns  the rest of R has p elements below its diagonal: down
 *   add rows        [R; U], window by window with U's rows below: down
 *   add columns     W = Q^T U, after a QR factorization of its rows from n on zero below row n + p,
 *                   is put into R and swept up to row k
 *   remove rows     the same with the rows' unit vectors in place of U, up to row 0: Q's first p
 *                   columns are then these unit vectors, and they, R's first p rows and the rows
 * are dropped modify          W up to row 0, where the rest of W times V^T is added to p rows of R:
 * down
 *
 * With thin Q the part of U outside of Q's columns is appended to Q first (Gram-Schmidt, twice).
 * Without Q, W of rows to be removed comes from R^T W = U^T and Cholesky's factorization of I - W^T
 * W (LINPACK's downdating, Dongarra et al. 1979; C. C. Paige and M. A. Saunders). */
#include "qr_update_internal.h"

#include "gram_schmidt.h"

#include "lib/base/msg.h"

#include <inttypes.h>

enum { SHIFT_COLUMNS = 256 };

const char *const q_kept_name[3] = {"none", "thin", "full"};
const char *const qr_change_name[5] = {
        "remove_columns", "add_columns", "add_rows", "remove_rows", "modify"};

/* ---- shapes ---- */

/* Whether the change needs rows below R. */
static bool goes_up(enum qr_change change)
{
	return change != QR_REMOVE_COLUMNS && change != QR_ADD_ROWS;
}

struct qr_room qr_update_room(const struct qr_factors *f, enum qr_change change, int64_t p)
{
	bool rows = change == QR_ADD_ROWS, columns = change == QR_ADD_COLUMNS;
	bool outside = goes_up(change);
	int64_t more = outside ? min_int64(p, f->m - f->n) : 0;
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
	return (m <= a.m && n <= a.n && a.ld >= max_int64(a.m, 1)) ||
	       fault_refuse(fault,
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
		return fault_refuse(fault,
		        "%s of %" PRId64 " in a factorization of %" PRId64 " x %" PRId64
		        ": m >= n >= 1 and at least one are needed",
		        name, p, f->m, f->n);
	if (f->kept == Q_NONE && (u->change == QR_ADD_COLUMNS || u->change == QR_MODIFY))
		return fault_refuse(fault, "%s needs Q, which is not kept", name);
	if ((u->change == QR_REMOVE_COLUMNS && p >= f->n) ||
	        (u->change == QR_ADD_COLUMNS && f->n + p > f->m) ||
	        (u->change == QR_REMOVE_ROWS && f->m - p < f->n))
		return fault_refuse(fault,
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

int64_t qr_change_last(const struct qr_factors *f, enum qr_change change, int64_t p)
{
	const int64_t last[] = {[QR_REMOVE_COLUMNS] = f->n - p,
	        [QR_ADD_COLUMNS] = f->n,
	        [QR_ADD_ROWS] = f->m,
	        [QR_REMOVE_ROWS] = f->m - p,
	        [QR_MODIFY] = 0};

	return last[change];
}

static bool check_shape(
        const struct update *u, const char *name, struct matrix a, int64_t m, int64_t n)
{
	return (a.m == m && a.n == n && a.ld >= max_int64(m, 1)) ||
	       fault_refuse(&u->e->fault,
	               "%s is %" PRId64 " x %" PRId64 ", not %" PRId64 " x %" PRId64, name, a.m,
	               a.n, m, n);
}

bool update_take_operands(
        struct update *s, int64_t k, struct matrix u, struct matrix v, struct matrix b, int *info)
{
	static const char *const names[] = {[QR_ADD_COLUMNS] = "the matrix of new columns",
	        [QR_ADD_ROWS] = "the matrix of new rows",
	        [QR_REMOVE_ROWS] = "the matrix of rows",
	        [QR_MODIFY] = "U"};
	const struct qr_factors *f = s->f;
	const int64_t last = qr_change_last(f, s->change, s->p);
	const bool columns = s->change == QR_ADD_COLUMNS || s->change == QR_MODIFY;
	const bool reads =
	        s->change == QR_REMOVE_ROWS ? f->kept == Q_NONE : s->change != QR_REMOVE_COLUMNS;
	const int64_t rows = columns ? f->m : s->p;

	s->k = k;
	s->u = u;
	s->v = v;
	s->b = b;
	s->result = info;
	if (s->change != QR_MODIFY && (k < 0 || k > last))
		return fault_refuse(&s->e->fault,
		        "%s of %" PRId64 " at %" PRId64 ": 0 to %" PRId64 " is possible",
		        qr_change_name[s->change], s->p, k, last);
	return (!reads || check_shape(s, names[s->change], u, rows, columns ? s->p : f->n)) &&
	       (s->change != QR_MODIFY || check_shape(s, "V", v, f->n, s->p)) &&
	       (s->change == QR_REMOVE_COLUMNS || f->d.n == 0 ||
	               check_shape(s, "the matrix of right-hand sides", b, rows, f->d.n));
}

/* ---- workspace ---- */

static void workspace_stack(struct update *u, struct workspace *workspace)
{
	const struct qr_factors *f = u->f;
	int64_t rows = SWEEP_COLUMNS + u->p;
	enum precision precision = f->r.precision;

	u->stack.r = workspace_matrix(workspace, rows, f->n, precision);
	u->stack.d = workspace_matrix(workspace, rows, f->d.n, precision);
	u->stack.q =
	        workspace_matrix(workspace, f->kept == Q_NONE ? 0 : f->m + u->p, rows, precision);
}

static void take_workspace(struct update *u, void *work)
{
	struct workspace workspace = {work, 0};
	const struct qr_factors *f = u->f;
	struct qr_room room = qr_update_room(f, u->change, u->p);
	enum precision precision = f->r.precision;
	int64_t rows = max_int64(max_int64(room.q_rows, room.r_rows), SWEEP_COLUMNS + u->p);
	int64_t columns = max_int64(max_int64(rows, room.r_columns), f->d.n);

	bool down = u->change == QR_REMOVE_COLUMNS || u->change == QR_ADD_ROWS;
	int64_t p = down ? u->p : 0;

	u->sweep = sweep_workspace(u->e, &workspace, rows, columns, p, precision);
	u->shifted = workspace_matrix(&workspace, rows, SHIFT_COLUMNS, precision);
	if (u->change == QR_ADD_ROWS)
		workspace_stack(u, &workspace);
	else if (u->change != QR_REMOVE_COLUMNS)
		u->w = workspace_matrix(&workspace, rows, SWEEP_COLUMNS, precision);
	if (f->kept == Q_THIN && f->m > f->n && goes_up(u->change)) {
		u->info = workspace_integers(&workspace, 1);
		struct matrix q = matrix_view(
		        f->q, 0, 0, f->m, min_int64(f->m, f->n + max_int64(u->p, SWEEP_COLUMNS)));
		u->gram = workspace_bytes(
		        &workspace, orthogonalize_work(u->e, SWEEP_COLUMNS, q,
		                            q.n - min_int64(q.n - 1, SWEEP_COLUMNS)));
	}
	u->bytes = workspace.used;
}

bool update_set_up(struct update *u, struct executor *e, struct qr_factors *f,
        enum qr_change change, int64_t p, void *work)
{
	*u = (struct update){.e = e, .f = f, .change = change, .p = p};
	if (!check(u))
		return false;
	take_workspace(u, work);
	return true;
}

int64_t qr_update_work(
        struct executor *e, const struct qr_factors *f, enum qr_change change, int64_t p)
{
	struct qr_factors copy = *f;
	struct update u;

	return update_set_up(&u, e, &copy, change, p, NULL) ? u.bytes : -1;
}

/* ---- for the changes ---- */

bool update_move(struct update *u, struct matrix a, int64_t m, int64_t n, int64_t i, int64_t j,
        int64_t to_i, int64_t to_j)
{
	bool ok = true;

	if (m == 0)
		return true;
	for (int64_t done = 0, w; ok && done < n; done += w) {
		w = min_int64(SHIFT_COLUMNS, n - done);
		int64_t at = to_j > j ? n - done - w : done;
		struct matrix kept = matrix_view(u->shifted, 0, 0, m, w);
		ok = ex_copy(u->e, WHOLE, matrix_view(a, i, j + at, m, w), kept) &&
		     ex_copy(u->e, WHOLE, kept, matrix_view(a, to_i, to_j + at, m, w));
	}
	return ok;
}

bool update_exchange(
        struct executor *e, struct matrix pairs[][2], size_t count, bool in, bool transposed)
{
	bool ok = true;

	for (size_t i = 0; ok && i < count; i++) {
		struct matrix from = pairs[i][in ? 0 : 1], to = pairs[i][in ? 1 : 0];
		ok = transposed ? ex_transpose(e, from, to) : ex_copy(e, WHOLE, from, to);
	}
	return ok;
}

bool update_stretch(struct update *u, int64_t k, struct matrix units)
{
	const struct qr_factors *f = u->f;
	int64_t p = u->p, columns = f->kept == Q_FULL ? f->m : f->n;

	return f->kept == Q_NONE ||
	       (update_move(u, f->q, f->m - k, columns, k, 0, k + p, 0) &&
	               ex_fill(u->e, WHOLE, 0, 0, matrix_view(f->q, k, 0, p, columns)) &&
	               ex_fill(u->e, WHOLE, 0, 0, units) &&
	               ex_fill(u->e, WHOLE, 0, 1, matrix_view(units, k, 0, p, p)));
}

static struct matrix rows_of(struct matrix a, int64_t i, int64_t m)
{
	return matrix_view(a, i, 0, a.n == 0 ? 0 : m, a.n);
}

struct system update_system_at(
        const struct update *u, int64_t from, int64_t rows, int64_t c, int64_t n)
{
	const struct qr_factors *f = u->f;
	bool full = f->kept == Q_FULL;

	return (struct system){.r = matrix_view(f->r, from, c, rows, n),
	        .d = rows_of(f->d, from, full ? f->m - from : rows),
	        .q = matrix_view(
	                f->q, 0, from, f->kept == Q_NONE ? 0 : f->m, full ? f->m - from : rows)};
}

bool qr_update(struct executor *e, struct qr_factors *f, enum qr_change change, int64_t k,
        int64_t p, struct matrix u, struct matrix v, struct matrix b, void *work, int *info)
{
	static bool (*const run[])(struct update *) = {[QR_REMOVE_COLUMNS] = update_remove_columns,
	        [QR_ADD_COLUMNS] = update_add_columns,
	        [QR_ADD_ROWS] = update_add_rows,
	        [QR_REMOVE_ROWS] = update_remove_rows,
	        [QR_MODIFY] = update_modify};
	struct update s;

	return update_set_up(&s, e, f, change, p, work) &&
	       update_take_operands(&s, k, u, v, b, info) && run[change](&s);
}
