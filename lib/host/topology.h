/* SPDX-License-Identifier: MIT */
/* Host topology and GPU locality through hwloc, and binding of the measuring thread. Unknown is an
 * answer: in a virtual machine every PCI device claims to be local to everything, and we then say
 * "unknown". */
#pragma once

#include "lib/base/base.h"

struct topology; /* wraps hwloc_topology_t */

/* This machine's topology, which does not change while a program runs: it is loaded once and kept
 * until the end. NULL with the reason each time when it cannot be loaded. */
const struct topology *topology_host(struct fault *fault);

/* This machine's, afresh, or a synthetic topology ("pack:2 numa:1 core:8 pu:1") when description is
 * not NULL. */
struct topology *topology_load(const char *description, struct fault *fault);
void topology_free(struct topology *topology);

/* False for a synthetic or imported topology: binding then does nothing and says so. */
bool topology_is_this_machine(const struct topology *topology);

/* The environment variable that makes hwloc describe another machine than this one
 * ("HWLOC_XMLFILE"); NULL when none is set. */
const char *topology_given(void);

struct topology_facts {
	int packages, cores, threads;
	int core_kinds; /* performance and efficiency cores are two; 1 where hwloc knows no kinds */
	int numa_nodes; /* with processors and memory: neither memory of a GPU nor a second kind of
	                   memory of the same processors */
	int64_t l1d_bytes, l2_bytes, l3_bytes, l4_bytes; /* of the first one; 0 when absent */
	int l3_count;
	int64_t memory_bytes;
	char cpu[128];           /* model name */
	char virtualization[32]; /* hypervisor as hwloc/DMI/cpuid tells, "" for none */
};
void topology_facts(const struct topology *topology, struct topology_facts *facts);

/* NUMA node (logical index) of a PCI device ("0000:17:00.0"), or -1 for unknown. Unknown is the
 * answer in a virtual machine whose device reads numa_node -1; else it is known when there is just
 * one node or the device's ancestor is not the root. raw receives sysfs numa_node (-1 when
 * unreadable). */
int topology_gpu_node(const struct topology *topology, const char *pci, int *raw);

/* Binds the calling thread to a NUMA node's cores (or to one core: node < 0, core >= 0) and its
 * memory to the node. got receives the binding that the system then reports ("node 0 cores 0-15",
 * "not bound: synthetic topology"). True when thread and memory are both bound as asked. */
bool topology_bind(const struct topology *topology, int node, int core, char got[128]);

/* Keeps the calling thread's binding and memory policy (NULL: unknown); restores and frees them. */
struct topology_place;
struct topology_place *topology_keep(const struct topology *topology);
void topology_restore(const struct topology *topology, struct topology_place *kept);

/* Whether a core (logical index) is part of the place, and of the NUMA node when node >= 0. An
 * unknown place has all cores. */
bool topology_includes(
        const struct topology *topology, const struct topology_place *place, int node, int core);

/* The calling thread's binding now, in the words of topology_bind. False when it is not bound. */
bool topology_binding(const struct topology *topology, char got[128]);

/* Kind of a core (logical index), 0 .. core_kinds - 1. */
int topology_core_kind(const struct topology *topology, int core);

/* Logical index of the i-th of the numa_nodes counted in the facts; -1 when there is none. Nodes
 * without memory or processors lie between them. */
int topology_node(const struct topology *topology, int i);

/* The nearest level that two cores (logical indices) share: the level of a cache (1, 2, 3 ...), 0
 * for a NUMA node without such a cache, -1 for nothing nearer than the machine. */
int topology_shared(const struct topology *topology, int core, int other);

/* Writes the topology as hwloc XML. */
bool topology_export(const struct topology *topology, const char *path, struct fault *fault);
