/* SPDX-License-Identifier: MIT */
/* Internals of the command line: which options were given. Programs use cli.h. */
#pragma once

/* Forgets all; notes one. The name must stay. */
void cli_given_start(void);
void cli_given_note(const char *name);
