/* SPDX-License-Identifier: MIT */
/* NAME_fit of every probe: curve -> parameters. The Makefile lists the probes. */
#pragma once

#include "curve.h"

#define PROBE(name) void name##_fit(const struct table *curve, struct profile *profile);
#include "probe_list.h"
#undef PROBE
