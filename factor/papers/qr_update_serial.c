/* SPDX-License-Identifier: MIT */
/* Checks, workspace and sizes of the changes by serial libraries. */
#include "lib/base/msg.h"
#include "qr_update_serial_internal.h"

#include <cblas.h>

const char *const serial_library_name[SERIAL_LIBRARIES] = {
        [SERIAL_QRUPDATE] = "qrupdate", [SERIAL_LAPACK] = "lapack"};

void serial_gemm(enum trans trans, struct matrix a, struct matrix b, struct matrix c)
{
	cblas_sgemm(CblasColMajor, trans == PLAIN ? CblasNoTrans : CblasTrans, CblasNoTrans,
	        (int)c.m, (int)c.n, (int)b.m, 1, serial_at(a, 0, 0), (int)a.ld, serial_at(b, 0, 0),
	        (int)b.ld, 0, serial_at(c, 0, 0), (int)c.ld);
}

static bool possible(const struct serial *s, enum serial_library library)
{
	const enum qr_change change = s->update.change;
	const bool all = change == QR_ADD_COLUMNS || change == QR_REMOVE_ROWS;
	struct fault *fault = &s->e->fault;

	if (!s->e->on_host)
		return fault_refuse(fault, "%s works on the host", serial_library_name[library]);
	if (s->f->r.precision != SINGLE)
		return fault_refuse(fault, "serial changes are in single precision");
	if (change == QR_MODIFY)
		return fault_refuse(fault, "the paper has no %s", qr_change_name[change]);
	if (s->f->kept != (all ? Q_FULL : Q_NONE))
		return fault_refuse(fault, "serial %s works %s", qr_change_name[change],
		        all ? "with all of Q" : "without Q");
	return library == SERIAL_LAPACK || serial_qrupdate_open(fault);
}

/* Checks the change and allocates the workspace; false with the executor's fault. */
static bool set_up(struct serial *s, struct executor *e, struct qr_factors *f,
        enum qr_change change, int64_t p, void *work, enum serial_library library)
{
	*s = (struct serial){.e = e, .f = f};
	if (!update_set_up(&s->update, e, f, change, p, work) || !possible(s, library))
		return false;
	struct workspace workspace = {work, s->update.bytes};
	if (library == SERIAL_QRUPDATE)
		serial_qrupdate_workspace(s, &workspace);
	else
		serial_lapack_workspace(s, &workspace);
	s->bytes = workspace.used;
	return true;
}

int64_t qr_serial_work(struct executor *e, const struct qr_factors *f, enum qr_change change,
        int64_t p, enum serial_library library)
{
	struct qr_factors copy = *f;
	struct serial s;

	return set_up(&s, e, &copy, change, p, NULL, library) ? s.bytes : -1;
}

bool qr_serial_change(struct executor *e, struct qr_factors *f, enum qr_change change, int64_t k,
        int64_t p, struct matrix u, struct matrix b, void *work, int *info,
        enum serial_library library)
{
	struct serial s;

	if (!set_up(&s, e, f, change, p, work, library) ||
	        !update_take_operands(&s.update, k, u, u, b, info))
		return false;
	if ((change == QR_ADD_COLUMNS || change == QR_REMOVE_ROWS) && !ex_clear_info(e, info))
		return false;
	if (!(library == SERIAL_QRUPDATE ? serial_qrupdate : serial_lapack)[change](&s))
		return false;
	f->n += change == QR_ADD_COLUMNS ? p : change == QR_REMOVE_COLUMNS ? -p : 0;
	f->m += change == QR_ADD_ROWS ? p : change == QR_REMOVE_ROWS ? -p : 0;
	return true;
}
