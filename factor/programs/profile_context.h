/* SPDX-License-Identifier: MIT */
/* What the programs that answer from a profile share: the folder it is in, and the profile with the
 * user's what-ifs. Both end the program, with one sentence, on what cannot be. */
#ifndef FATHOM_PROFILE_CONTEXT_H
#define FATHOM_PROFILE_CONTEXT_H

#include "lib/base/cli.h"
#include "lib/device/machine.h"
#include "lib/profile/profile.h"

/* The data folder: --machine's, or --output's when `given` is not the preset any more, or the one
 * that lib/device/machine chooses. choice says which and why. */
const char *profile_context_folder(
        const char *machine, const char *given, const char *preset, char choice[MACHINE_CHOICE]);

/* The folder's profile after every --set NAME=VALUE. The caller frees it. */
struct profile *profile_context_profile(const char *folder, const struct cli_list *set);

#endif
