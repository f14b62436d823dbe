/* SPDX-License-Identifier: MIT */
/* The paper's changes of columns. Removed: R without them has p elements below its diagonal, a
 * band. Added: what Q^T U has below row n becomes triangular by blocks of reflectors, the rest by
 * rotations of neighbouring rows, which leave R's zeros below it alone. */
#include "qr_update_paper_parts.h"

bool qr_paper_remove_columns(struct executor *e, struct qr_factors *f, int64_t k, int64_t p,
        void *work, const struct qr_paper *how)
{
	struct paper s;
	int64_t n = f->n - p;

	if (!paper_set_up(&s, e, f, QR_REMOVE_COLUMNS, p, work, how) ||
	        !update_check_at(&s.update, k, n))
		return false;
	s.nb = paper_width(how, n - k);
	bool ok = paper_begin(&s, PAPER_LAYOUT) &&
	          update_move(&s.update, f->r, f->n, n - k, 0, k + p, 0, k) &&
	          paper_band(&s, update_system_at(&s.update, 0, f->n, 0, n), k, p);
	f->n -= ok ? p : 0;
	return ok && laps_end(e, how->laps);
}
