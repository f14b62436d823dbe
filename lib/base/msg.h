/* SPDX-License-Identifier: MIT */
/* Messages to stderr, the live progress line, and the end of a program with a message. */
#pragma once

#include "base.h"

C_BEGIN

/* Sets the name that starts every message ("fathom-launch: ...") and whether msg_note prints. */
void msg_start(const char *program, bool verbose);

/* Ends the program: clears the progress line, prints one sentence, exits with code. */
NORETURN void msg_die(enum exit_code code, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same at once and from any thread, as others may be blocked: without what exit() calls. */
NORETURN void msg_abandon(enum exit_code code, const char *format, ...) PRINTF_LIKE(2, 3);

/* One line of warning; one line of detail shown only with --verbose. */
void msg_warn(const char *format, ...) PRINTF_LIKE(1, 2);
void msg_note(const char *format, ...) PRINTF_LIKE(1, 2);

/* A live line, rewritten in place, only when stderr is a terminal; msg_progress_end erases it. */
void msg_progress(const char *format, ...) PRINTF_LIKE(1, 2);
void msg_progress_end(void);

/* The live line of long work of which `done` of `total` is over, in any unit, with the seconds left
 * by the pace since the first call, which has done = 0, and at most `most`. From one thread at a
 * time. */
void msg_progress_step(double done, double total, double most, const char *format, ...)
        PRINTF_LIKE(4, 5);

/* Fills a fault; returns false, so that a failing function can end with `return fault_set(...)`. */
bool fault_set(struct fault *fault, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same where fathom, the GPU or its memory can't do what was asked, and nothing went wrong. */
bool fault_refuse(struct fault *fault, const char *format, ...) PRINTF_LIKE(2, 3);

/* malloc/calloc/realloc/strdup that end the program with a clear sentence when memory is short. */
void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);

/* For a library, which must not end its program: calls work(context), and returns false with the
 * fault when one of these functions has no memory in it. What work had allocated by then is lost.
 */
bool msg_guard_memory(void (*work)(void *), void *context, struct fault *fault);

/* Formats into a fresh string that the caller frees; behind a text (NULL: empty) made by these
 * functions. */
char *xasprintf(const char *format, ...) PRINTF_LIKE(1, 2);
void xappend(char **text, const char *format, ...) PRINTF_LIKE(2, 3);

C_END
