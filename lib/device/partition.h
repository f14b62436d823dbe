/* SPDX-License-Identifier: MIT */
/* A part of a GPU as a machine of its own: a green context with some of the multiprocessors, which
 * everything that the process does on the device then uses. Memory, L2 and copy engines stay whole.
 * Only in builds with the CUDA Toolkit. */
#pragma once

#include "lib/base/base.h"

/* Multiprocessors asked for by FATHOM_SMS (--sms); 0: all. False with a fault for anything but a
 * number from 1 on. */
bool partition_asked(int *sms, struct fault *fault);

/* Makes a context of exactly that many multiprocessors current on the device, whose primary context
 * is current. It lasts as long as the process. */
bool partition_enter(int device, int sms, struct fault *fault);
