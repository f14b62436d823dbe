/* SPDX-License-Identifier: MIT */
#pragma once

#include "base.h"

/* Bytes of the UTF-8 character that begins at a byte before `end` (NULL: the text ends with NUL); 0
 * where none begins. */
size_t utf8_bytes(const char *at, const char *end);

/* Whether all of a text is UTF-8. */
bool utf8_text(const char *text);
