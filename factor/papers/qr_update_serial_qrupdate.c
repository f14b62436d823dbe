/* SPDX-License-Identifier: MIT */
/* Changes by qrupdate. Without Q, R with the right-hand sides as its last columns is Cholesky's
 * factor of [A B]^T [A B] but for rows below R, which nothing here reads: columns go by chdex, rows
 * come by ch1up. With all of Q: qrinc and qrder; B = Q (Q^T B) is kept aside and multiplied again.
 */
#include "lib/base/msg.h"
#include "qr_update_serial_internal.h"

#include <dlfcn.h>
#include <string.h>

typedef void insert_column(const int *m, const int *n, const int *k, float *q, const int *ldq,
        float *r, const int *ldr, const int *j, const float *x, float *w);
typedef void delete_row(const int *m, const int *n, float *q, const int *ldq, float *r,
        const int *ldr, const int *j, float *w);
typedef void delete_column(const int *n, float *r, const int *ldr, const int *j, float *w);
typedef void add_row(const int *n, float *r, const int *ldr, float *u, float *w);

static struct {
	insert_column *qrinc;
	delete_row *qrder;
	delete_column *chdex;
	add_row *ch1up;
} qrupdate;

/* dlsym's object pointers become function pointers by their bytes. */
static bool find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* The library stays loaded. */
bool serial_qrupdate_open(struct fault *fault)
{
	static const char file_name[] = "libqrupdate.so.1";

	if (qrupdate.ch1up)
		return true;
	void *library = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return fault_refuse(fault,
		        "%s is not installed (apt install libqrupdate1, or make setup-develop)",
		        file_name);
	return (find(library, "sqrinc_", &qrupdate.qrinc) &&
	               find(library, "sqrder_", &qrupdate.qrder) &&
	               find(library, "schdex_", &qrupdate.chdex) &&
	               find(library, "sch1up_", &qrupdate.ch1up)) ||
	       fault_refuse(fault, "%s lacks a function that is needed", file_name);
}

void serial_qrupdate_workspace(struct serial *s, struct workspace *workspace)
{
	const struct qr_factors *f = s->f;
	const bool all = f->kept == Q_FULL, more = s->update.change == QR_ADD_COLUMNS;
	const int64_t sides = f->d.n, p = s->update.p;

	s->r = all ? workspace_matrix(workspace, f->m, f->n + (more ? p : 0), SINGLE)
	           : workspace_matrix(workspace, f->n + sides, f->n + sides, SINGLE);
	s->sides = workspace_matrix(workspace, all ? f->m : 0, sides, SINGLE);
	s->line = workspace_matrix(workspace, max_int64(f->m, f->n + sides), 2, SINGLE);
}

/* ---- without Q ---- */

/* [R Q^T B] to the workspace, with zeros below, or back. */
static bool exchange_augmented(struct serial *s, int64_t n, bool in)
{
	const struct qr_factors *f = s->f;
	struct matrix pairs[][2] = {{matrix_view(f->r, 0, 0, n, n), matrix_view(s->r, 0, 0, n, n)},
	        {matrix_view(f->d, 0, 0, f->d.n == 0 ? 0 : n, f->d.n),
	                matrix_view(s->r, 0, n, n, f->d.n)}};

	return (!in || ex_fill(s->e, WHOLE, 0, 0, s->r)) &&
	       update_exchange(s->e, pairs, ARRAY_LEN(pairs), in, false);
}

static bool remove_columns(struct serial *s)
{
	const int j = (int)s->update.k + 1, ld = (int)s->r.ld;
	int columns = (int)s->r.n;

	if (!exchange_augmented(s, s->f->n, true))
		return false;
	for (int64_t i = 0; i < s->update.p; i++, columns--)
		qrupdate.chdex(&columns, serial_at(s->r, 0, 0), &ld, &j, serial_at(s->line, 0, 0));
	return exchange_augmented(s, s->f->n - s->update.p, false);
}

static bool add_rows(struct serial *s)
{
	const int columns = (int)s->r.n, ld = (int)s->r.ld;
	const int64_t n = s->f->n, sides = s->f->d.n;
	float *row = serial_at(s->line, 0, 0);

	if (!exchange_augmented(s, n, true))
		return false;
	for (int64_t i = 0; i < s->update.p; i++) {
		for (int64_t c = 0; c < n; c++)
			row[c] = *serial_at(s->update.u, i, c);
		for (int64_t c = 0; c < sides; c++)
			row[n + c] = *serial_at(s->update.b, i, c);
		qrupdate.ch1up(&columns, serial_at(s->r, 0, 0), &ld, row, serial_at(s->line, 0, 1));
	}
	return exchange_augmented(s, n, false);
}

/* ---- with all of Q ---- */

static struct matrix sides_of(const struct qr_factors *f, int64_t m)
{
	return matrix_view(f->d, 0, 0, f->d.n == 0 ? 0 : m, f->d.n);
}

/* Q^T B again, for a matrix of m rows. */
static void project_sides(struct serial *s, int64_t m)
{
	const struct qr_factors *f = s->f;

	if (f->d.n > 0)
		serial_gemm(TRANSPOSED, matrix_view(f->q, 0, 0, m, m),
		        matrix_view(s->sides, 0, 0, m, f->d.n), sides_of(f, m));
}

static bool exchange_whole(struct serial *s, int64_t rows, int64_t n, bool in)
{
	struct matrix r = matrix_view(s->f->r, 0, 0, min_int64(rows, n), n);
	struct matrix pairs[][2] = {{r, matrix_view(s->r, 0, 0, r.m, n)}};

	return (!in || ex_fill(s->e, WHOLE, 0, 0, s->r)) &&
	       update_exchange(s->e, pairs, 1, in, false);
}

static bool add_columns(struct serial *s)
{
	const struct qr_factors *f = s->f;
	const int m = (int)f->m, ldq = (int)f->q.ld, ldr = (int)s->r.ld;
	int n = (int)f->n;

	if (!exchange_whole(s, f->m, n, true) ||
	        (f->d.n > 0 && !ex_copy(s->e, WHOLE, s->update.b, s->sides)))
		return false;
	for (int64_t c = 0; c < s->update.p; c++, n++) {
		const int j = (int)(s->update.k + c) + 1;
		qrupdate.qrinc(&m, &n, &m, serial_at(f->q, 0, 0), &ldq, serial_at(s->r, 0, 0), &ldr,
		        &j, serial_at(s->update.u, 0, c), serial_at(s->line, 0, 0));
	}
	project_sides(s, m);
	return exchange_whole(s, m, n, false);
}

/* B without the rows that are removed. */
static bool remaining_sides(struct serial *s)
{
	const struct qr_factors *f = s->f;
	const int64_t k = s->update.k, p = s->update.p;

	if (f->d.n == 0)
		return true;
	serial_gemm(PLAIN, matrix_view(f->q, 0, 0, f->m, f->m), sides_of(f, f->m), s->sides);
	return update_move(&s->update, s->sides, f->m - k - p, f->d.n, k + p, 0, k, 0);
}

static bool remove_rows(struct serial *s)
{
	const struct qr_factors *f = s->f;
	const int n = (int)f->n, ldq = (int)f->q.ld, ldr = (int)s->r.ld, j = (int)s->update.k + 1;
	int m = (int)f->m;

	if (!exchange_whole(s, m, n, true) || !remaining_sides(s))
		return false;
	for (int64_t i = 0; i < s->update.p; i++, m--)
		qrupdate.qrder(&m, &n, serial_at(f->q, 0, 0), &ldq, serial_at(s->r, 0, 0), &ldr, &j,
		        serial_at(s->line, 0, 0));
	project_sides(s, m);
	return exchange_whole(s, m, n, false);
}

serial_change *const serial_qrupdate[] = {[QR_REMOVE_COLUMNS] = remove_columns,
        [QR_ADD_ROWS] = add_rows,
        [QR_ADD_COLUMNS] = add_columns,
        [QR_REMOVE_ROWS] = remove_rows};
