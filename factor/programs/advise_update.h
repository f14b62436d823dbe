/* SPDX-License-Identifier: MIT */
/* `advise update`: change a QR factorization, or factorize again? */
#pragma once

#include "advise_operation.h"
#include "factor/model/predictions/model_update.h"
#include "profile_context.h"

enum { UPDATE_CHANGES = QR_MODIFY + 1 };

/* Ends the program with one sentence where sizes are missing or impossible. */
void update_question_check(const struct update_question *);

/* change: the name of one change, NULL: all. */
void advise_update(const struct update_question *, const char *change,
        const struct profile_context *, machine_printer describe);
