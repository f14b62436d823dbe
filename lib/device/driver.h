/* SPDX-License-Identifier: MIT */
/* Functions of the CUDA driver, which no program here is linked with. Only in builds with the CUDA
 * Toolkit. */
#pragma once

#include "lib/base/base.h"

#include <cuda.h>

C_BEGIN

/* The driver's function of that name and version (12040: of CUDA 12.4); NULL where the driver is
 * older. */
void *driver_function(const char *name, unsigned version);

/* The calling thread's context: NULL when it has none. */
CUcontext driver_context(void);

/* False when the driver refuses. NULL: no context. */
bool driver_set_context(CUcontext context);

/* The number of the calling thread's context, 0 without one. No other context of this process has
 * it, also later, so that what was learned in a context that is gone is not used again. */
uint64_t driver_context_number(void);

/* Multiprocessors of the calling thread's context: a green context has some of the device's. 0 when
 * the driver cannot say. */
int driver_context_sms(void);

/* Multiprocessors of the green context to which the stream belongs; 0 when it belongs to none. */
int driver_stream_sms(CUstream stream);

C_END
