/* SPDX-License-Identifier: MIT */
/* The hardware law of the host: the time of a routine from its work and the host's rows of the
 * profile. docs/model.md, "The host's law", has the equations. */
#pragma once

#include "factor/kernels/host_work.h"
#include "factor/model/cost/cost.h"

/* Threads of a call that uses all: those of host.fma.s. */
double host_law_threads(struct cost_reader *);

/* Seconds of the parts, one after the other; NaN where the profile lacks a parameter. */
double host_law(struct cost_reader *, const struct host_work *work, size_t count);
