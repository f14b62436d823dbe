/* SPDX-License-Identifier: MIT */
/* cuSOLVER's emulated modes: products of single precision by nine of BF16 numbers, those of double
 * precision by fixed-point numbers. Toolkits before 13.0 have none, and not every GPU does. */
#pragma once

#include "lib/base/msg.h"
#include "lib/base/precision.h"

#include <cusolverDn.h>

/* Switches the mode of a handle's calls of a precision: emulated wherever the library can. False:
 * the toolkit has no such mode. */
bool vendor_emulation_set(cusolverDnHandle_t handle, enum precision precision, bool emulated);

/* Whether LU of a small matrix differs between the modes in some bit: only then do products run
 * emulated here. Uses the handle and its stream, to completion. False with a fault when a call
 * fails. */
bool vendor_emulation_differs(cusolverDnHandle_t handle, cudaStream_t stream,
        enum precision precision, struct fault *fault);
