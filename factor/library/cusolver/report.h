/* SPDX-License-Identifier: MIT */
/* What the client library says, and its counters. */
#pragma once

#include "lib/base/base.h"

/* Calls that are counted. */
#define COUNTED_CALLS(X)                                                                           \
	X(Sgetrf)                                                                                  \
	X(Sgetrs)                                                                                  \
	X(Sgeqrf)                                                                                  \
	X(Sorgqr)                                                                                  \
	X(Sormqr)                                                                                  \
	X(Spotrf)                                                                                  \
	X(Spotrs)                                                                                  \
	X(Dgetrf)                                                                                  \
	X(Dgetrs)                                                                                  \
	X(Dgeqrf)                                                                                  \
	X(Dorgqr)                                                                                  \
	X(Dormqr)                                                                                  \
	X(Dpotrf)                                                                                  \
	X(Dpotrs)                                                                                  \
	X(Xgetrf)                                                                                  \
	X(Xgetrs)                                                                                  \
	X(Xgeqrf)                                                                                  \
	X(Xpotrf)                                                                                  \
	X(Xpotrs)                                                                                  \
	X(Getrf)                                                                                   \
	X(Getrs)                                                                                   \
	X(Geqrf)                                                                                   \
	X(Potrf)                                                                                   \
	X(Potrs)

#define CALL_NUMBER(name) CALL_##name,
enum client_call { COUNTED_CALLS(CALL_NUMBER) CALL_COUNT };
#undef CALL_NUMBER

/* FATHOM_CUSOLVER: unset, "" or "on"; "verbose"; "off". Any other value is said once, and does
 * nothing. */
enum client_mode { MODE_ON, MODE_VERBOSE, MODE_OFF };
enum client_mode client_mode(void);

/* cuSOLVER's name of a call. */
const char *call_name(enum client_call call);

/* Counts a call. In verbose mode one line says what it was and who answered it; why: the reason why
 * it was passed on. */
void report_answered(enum client_call call, const char *shape);
void report_passed(enum client_call call, const char *shape, const char *why);

/* A line on stderr, always; in verbose mode alone. */
void say(const char *format, ...) PRINTF_LIKE(1, 2);
void say_verbose(const char *format, ...) PRINTF_LIKE(1, 2);
