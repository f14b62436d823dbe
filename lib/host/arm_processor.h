/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Name of an arm64 processor by its implementer and part as the kernel tells them ("0x41", "0xd4f":
 * "Arm Neoverse V2"). Unknown ones are named by their numbers. */
void arm_processor(const char *implementer, const char *part, char *text, size_t size);
