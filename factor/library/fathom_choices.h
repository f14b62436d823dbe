/* SPDX-License-Identifier: MIT */
/* Inside of the library: what the model of a machine says, update a QR factorization or make it
 * again. */
#ifndef FATHOM_FATHOM_CHOICES_H
#define FATHOM_FATHOM_CHOICES_H

#include "factor/algorithms/qr_refactor.h"

struct choices;

/* NULL with a fault when the profile can't be read. */
struct choices *choices_new(const char *profile_path, struct fault *fault);
void choices_free(struct choices *choices);

/* Whether updating is predicted to take less time on the GPU. False with a fault when one of the
 * two is not possible or not estimated. Two predictions take milliseconds, so the last answers are
 * kept, and sizes are rounded to five significant bits first, k to 16ths of what it is a part of:
 * what changes step by step asks the same question many times. */
bool choices_update(struct choices *choices, const struct update_question *asked, bool *update,
        struct fault *fault);

#endif
