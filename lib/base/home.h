/* SPDX-License-Identifier: MIT */
/* Where fathom lies: its root, with data/, plots/ and scripts/, and its programs. */
#pragma once

#include "base.h"

/* FATHOM_HOME, else the root of the checkout that the program was built in, else share/fathom where
 * it is installed, else ".". The caller frees it. */
char *home_folder(void);

/* Whether a folder has a readable file or folder of that name. */
bool home_holds(const char *folder, const char *name);

/* The folder of the programs: FATHOM_BIN, else that of this program. The caller frees it. */
char *home_programs(void);

/* Runs a shell script of the root, and waits; its exit status. */
int home_script(const char *script, const char *const *words, size_t count);

/* Becomes a shell script of the root, as in "plots/report.sh", with these words. */
NORETURN void home_run_script(const char *script, const char *const *words, size_t count);
