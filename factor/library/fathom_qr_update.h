/* SPDX-License-Identifier: MIT */
/* Inside of the library: what the calls of changes of a QR factorization share. */
#ifndef FATHOM_FATHOM_QR_UPDATE_H
#define FATHOM_FATHOM_QR_UPDATE_H

#include "fathom_handle.h"

#include "factor/algorithms/qr_update.h"

/* What the caller gives of a factorization, with the room that a change of p needs (p = 0: none);
 * false with the fault when that is not possible. */
bool call_factors(struct fathom *, const struct call_factors *, enum qr_change change, int64_t p,
        struct qr_factors *f);
bool call_factors_given(struct fathom *, const struct qr_factors *f);

/* The sizes of what a change reads, into its u, v and b; false with the fault when k is not
 * possible, or one of them that is read is not right. given: also whether it is there. */
bool call_change(struct fathom *, const struct qr_factors *f, struct call_change *, bool given);

/* The change itself; the arguments are right. */
bool run_change(struct executor *, struct qr_factors *f, const struct call_change *, void *work);

#endif
