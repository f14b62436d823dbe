/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share (make fuzz): an input as a file, and code that may end the program.
 * A target is tests/fuzz/fuzz_NAME.c with seeds in tests/fuzz/corpus/NAME. */
#pragma once

#include "lib/base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file with these bytes, until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Runs code that may call msg_die or exit: both end the code alone. A message that begins with
 * "bug:" is a crash. */
void fuzz_guarded(void (*work)(void *), void *context);

/* A crash where the condition does not hold. */
void fuzz_require(bool condition);
