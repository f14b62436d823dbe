/* SPDX-License-Identifier: MIT */
/* The topology, for topology.c and topology_binding.c. */
#pragma once

#include "topology.h"

#include <hwloc.h>

struct topology {
	hwloc_topology_t hwloc;
};
