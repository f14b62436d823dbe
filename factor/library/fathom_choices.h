/* SPDX-License-Identifier: MIT */
/* Inside of the library: the model's choice between updating a QR factorization and making it
 * again. */
#pragma once

#include "factor/algorithms/qr_refactor.h"

struct choices;

/* NULL with a fault when the profile can't be read. */
struct choices *choices_new(const char *profile_path, struct fault *fault);
void choices_free(struct choices *choices);

/* *update: whether updating is predicted to be faster on the GPU. False with a fault when one of
 * the two is impossible or has no prediction. The last answers are kept, for sizes rounded to five
 * significant bits and k to 16ths of its range: changes step by step ask the same question many
 * times. */
bool choices_update(struct choices *choices, const struct update_question *asked, bool *update,
        struct fault *fault);
