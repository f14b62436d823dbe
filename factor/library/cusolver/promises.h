/* SPDX-License-Identifier: MIT */
/* cusolverDnSgetrf and cusolverDnDgetrf do not say how large their workspace is. The queries of
 * bufferSize are noted, and a call is answered only if its sizes were asked for. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/precision.h"

/* Notes that a query for these sizes gave so many bytes. The smallest number counts: the query of
 * another handle may have given fewer. */
void promise_note(enum precision precision, int64_t m, int64_t n, int64_t lda, int64_t bytes);

/* The bytes that every workspace for these sizes has; -1: no query is known. */
int64_t promise_bytes(enum precision precision, int64_t m, int64_t n, int64_t lda);
