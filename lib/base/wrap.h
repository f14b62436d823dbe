/* SPDX-License-Identifier: MIT */
/* Text for people: lines of at most 100 columns. */
#pragma once

#include "base.h"
#include <stdio.h>

enum { WRAP_WIDTH = 100 };

/* Characters of a UTF-8 text. */
size_t wrap_length(const char *text);

/* Prints the lines of a text; longer ones continue, indented. */
void wrap_lines(FILE *out, const char *text);

/* A stream that collects text; closing it prints the text by wrap_lines. One at a time. */
FILE *wrap_open(void);
void wrap_close(FILE *text, FILE *out);

/* Prints words; the first line begins with `first`, the others with `rest`. A longer word has a
 * line of its own. */
void wrap_print(FILE *out, const char *first, const char *rest, const char *text);
