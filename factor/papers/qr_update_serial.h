/* SPDX-License-Identifier: MIT */
/* The changes of a QR factorization by serial host libraries, in single precision, as the paper's
 * serial series: by qrupdate (J. Hajek), one row or column after another; and by LAPACK, whole
 * blocks: geqrf and ormqr (columns removed, and the rows below R where columns are added), tpqrt
 * (rows added), lartg with rot (the other rotations). One thread works.
 *
 * Shapes, operands, info and refusals as in qr_update.h, on the host executor. Columns removed and
 * rows added: without Q; columns added and rows removed: with all of Q. Right-hand sides: where all
 * of Q is kept, qrupdate makes Q^T B again. qr_serial_work: bytes of `work`, -1 with the executor's
 * fault where the change is refused or the library is not here. */
#pragma once

#include "factor/algorithms/qr_update.h"

enum serial_library { SERIAL_QRUPDATE, SERIAL_LAPACK, SERIAL_LIBRARIES };
extern const char *const serial_library_name[SERIAL_LIBRARIES]; /* variants */

int64_t qr_serial_work(struct executor *, const struct qr_factors *, enum qr_change, int64_t p,
        enum serial_library library);
bool qr_serial_change(struct executor *, struct qr_factors *, enum qr_change, int64_t k, int64_t p,
        struct matrix u, struct matrix b, void *work, int *info, enum serial_library library);
