/* SPDX-License-Identifier: MIT */
/* Update a QR factorization or factorize again? Predicts both, for every change or for one. */
#pragma once

#include "lib/profile/profile.h"
#include "lib/base/table.h"
#include "factor/model/predictions/model_update.h"

#include <stdio.h>

enum { UPDATE_CHANGES = QR_MODIFY + 1 };

struct update_answer {
	struct update_question question;
	struct prediction update, refactor; /* NaN with a fault: impossible, or no cost known */
};

/* change: a name, NULL for all. Returns the number of answers; 0: no such change. */
size_t update_ask(const struct profile *, enum model_target target, const char *change,
        const struct update_question *asked, struct update_answer answer[UPDATE_CHANGES]);

void update_print(const struct update_answer *, size_t count, FILE *out);
struct table *update_table(const struct update_answer *, size_t count);
