/* SPDX-License-Identifier: MIT */
/* The questions that `advise` answers, a file each. */
#pragma once

#include "factor/model/predictions/model_update.h"
#include "factor/model/predictions/ways.h"
#include "kernel_counters.h"
#include "kernel_input.h"
#include "profile_context.h"

/* The questions, a bit each. */
#define ASK_OPERATION(operation) (1 << (5 + (operation)))
enum {
	ASK_PANEL = 1,
	ASK_UPDATE = 2,
	ASK_KERNEL = 4,
	ASK_EFFICIENCY = 8,
	ASK_MACHINE = 16,
	ASK_OPERATIONS = ASK_OPERATION(WAY_OPERATIONS) - ASK_OPERATION(0)
};

/* Ends the program where an option was given that does not belong to the question of that name. */
void advise_check_options(unsigned question, const char *name);

/* The machine that answers, in a line or two. */
void advise_describe(const struct profile_context *, FILE *);

/* `advise getrf|geqrf|potrf|gemm|gemv|gramschmidt`: the ways to do an operation on the GPU, and
 * what each follows. `advise machine`: what another machine would gain on each operation. */

/* The operation of that name; WAY_OPERATIONS when there is none. */
enum way_operation operation_named(const char *name);

/* Ends the program with one sentence where sizes are missing or impossible. */
void operation_check(struct way_question *);

void advise_operation(const struct way_question *, const struct profile_context *);
void advise_machine(const struct profile_context *);

/* `advise update`: change a QR factorization, or factorize again? */

enum { UPDATE_CHANGES = QR_MODIFY + 1 };

/* Ends the program with one sentence where sizes are missing or impossible. */
void update_question_check(const struct update_question *);

/* change: the name of one change, NULL: all. */
void advise_update(
        const struct update_question *, const char *change, const struct profile_context *);

/* `advise kernel`: the time of any kernel by the hardware law, and of its work in other forms. */

struct kernel_request {
	struct kernel_texts texts;
	const char *file, *ncu;           /* --file and --ncu, or NULL */
	struct kernel_counters described; /* made by kernel_describe */
};

/* Reads the user's description. Ends the program with exit code 2 where it is none. */
void kernel_describe(struct kernel_request *);

/* Answers, and frees the description. */
void advise_kernel(struct kernel_request *, const struct profile_context *);

/* `advise efficiency [PATTERN]`: what calibrated kernels and library calls take beyond the hardware
 * law. One line a surface, or with --verbose one a row; pattern: of the surfaces' names, NULL: all.
 */
void advise_efficiency(const char *pattern, const struct profile_context *);
