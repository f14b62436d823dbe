/* SPDX-License-Identifier: MIT */
/* Profile context of the programs that answer from a profile: its folder, and the profile with the
 * user's changes. Both functions end the program with a message on errors. */
#ifndef FATHOM_PROFILE_CONTEXT_H
#define FATHOM_PROFILE_CONTEXT_H

#include "lib/base/cli.h"
#include "lib/device/machine.h"
#include "lib/profile/profile.h"

/* The data folder: of --machine, or of --output when `given` is not the preset, or lib/device/machine's
 * choice. `choice` receives a sentence on it. */
const char *profile_context_folder(
        const char *machine, const char *given, const char *preset, char choice[MACHINE_CHOICE]);

/* The folder's profile after every --set NAME=VALUE. The caller frees it. */
struct profile *profile_context_profile(const char *folder, const struct cli_list *set);

#endif
