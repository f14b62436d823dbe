/* SPDX-License-Identifier: MIT */
/* Update a QR factorization or make it again? Both predicted for every change, or the one asked
 * for. */
#ifndef FATHOM_ADVISE_UPDATE_H
#define FATHOM_ADVISE_UPDATE_H

#include "lib/profile/profile.h"
#include "lib/base/table.h"
#include "factor/model/predictions/model_update.h"

#include <stdio.h>

enum { UPDATE_CHANGES = QR_MODIFY + 1 };

struct update_answer {
	struct update_question question;
	struct prediction update, refactor; /* NaN with its fault: not possible, not estimated */
};

/* change: its name, NULL for all. Returns how many answers there are; 0: no such change. */
size_t update_ask(const struct profile *, enum model_target target, const char *change,
        const struct update_question *asked, struct update_answer answer[UPDATE_CHANGES]);

void update_print(const struct update_answer *, size_t count, FILE *out);
struct table *update_table(const struct update_answer *, size_t count);

#endif
