/* SPDX-License-Identifier: MIT */
/* The work behind a row of the host's surfaces: those whose names begin with "host.". */
#pragma once

#include "factor/model/cost/cost.h"
#include "host_library_work.h"

/* Fills in the parts of a call, and returns their number; 0 for rows that are not known. */
size_t host_surface_works(
        struct cost_reader *, const struct parameter *row, struct host_work *work);
