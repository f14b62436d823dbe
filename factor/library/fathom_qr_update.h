/* SPDX-License-Identifier: MIT */
/* Inside of the library: shared by the calls of changes of a QR factorization. */
#pragma once

#include "fathom_handle.h"

#include "factor/algorithms/qr_update.h"

/* The caller's factorization, with the room that a change of p needs (p = 0: none); false with the
 * fault when it is impossible. */
bool call_factors(struct fathom *, const struct call_factors *, enum qr_change change, int64_t p,
        struct qr_factors *f);
bool call_factors_given(struct fathom *, const struct qr_factors *f);

/* Sets the sizes of u, v and b of a change; false with the fault when k is impossible, or an
 * operand that is read is wrong. given: also checks that it is not NULL. */
bool call_change(struct fathom *, const struct qr_factors *f, struct call_change *, bool given);

/* The change, with checked arguments. */
bool run_change(struct executor *, struct qr_factors *f, const struct call_change *, void *work);
