/* SPDX-License-Identifier: MIT */
/* `advise getrf|geqrf|potrf|gemm|gemv|gramschmidt`: the ways to do an operation on the GPU, and
 * what each follows. `advise machine`: what another machine would gain on each operation. */
#pragma once

#include "factor/model/predictions/ways.h"
#include "profile_context.h"

typedef void (*machine_printer)(const struct profile_context *, FILE *);

/* The operation of that name; WAY_OPERATIONS when there is none. */
enum way_operation operation_named(const char *name);

/* Ends the program with one sentence where sizes are missing or impossible. */
void operation_check(struct way_question *);

void advise_operation(
        const struct way_question *, const struct profile_context *, machine_printer describe);

void advise_machine(const struct profile_context *, machine_printer describe);
