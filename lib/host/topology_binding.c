/* SPDX-License-Identifier: MIT */
/* The calling thread's binding and memory policy. */
#include "topology_internal.h"

#include "lib/base/msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Logical indices of the objects of a type that a set of os indices meets, as "0-15,17". */
static void list_objects(hwloc_topology_t hwloc, hwloc_obj_type_t type, hwloc_const_bitmap_t set,
        char *text, size_t size)
{
	hwloc_bitmap_t logical = hwloc_bitmap_alloc();
	for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(hwloc, type, o));) {
		bool node = type == HWLOC_OBJ_NUMANODE;
		if (hwloc_bitmap_intersects(node ? o->nodeset : o->cpuset, set))
			hwloc_bitmap_set(logical, o->logical_index);
	}
	hwloc_bitmap_list_snprintf(text, size, logical);
	hwloc_bitmap_free(logical);
}

bool topology_binding(const struct topology *topology, char got[128])
{
	hwloc_topology_t hwloc = topology->hwloc;
	if (!topology_is_this_machine(topology)) {
		snprintf(got, 128, "not bound: synthetic topology");
		return false;
	}
	hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(hwloc);
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc(), nodes = hwloc_bitmap_alloc();
	hwloc_membind_policy_t policy = HWLOC_MEMBIND_DEFAULT;
	bool threads_bound = hwloc_get_cpubind(hwloc, cpus, HWLOC_CPUBIND_THREAD) == 0 &&
	                     !hwloc_bitmap_isincluded(all, cpus);
	bool memory_bound = hwloc_get_membind(hwloc, nodes, &policy,
	                            HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0 &&
	                    policy == HWLOC_MEMBIND_BIND;
	char core_list[48] = "", node_list[32] = "";
	list_objects(
	        hwloc, HWLOC_OBJ_CORE, threads_bound ? cpus : all, core_list, sizeof core_list);
	list_objects(hwloc, HWLOC_OBJ_NUMANODE, nodes, node_list, sizeof node_list);
	hwloc_bitmap_free(cpus);
	hwloc_bitmap_free(nodes);

	if (memory_bound)
		snprintf(got, 128, "node %s cores %s", node_list, core_list);
	else if (threads_bound)
		snprintf(got, 128, "cores %s, memory not bound", core_list);
	else
		snprintf(got, 128, "not bound");
	return threads_bound || memory_bound;
}

bool topology_bind(const struct topology *topology, int node, int core, char got[128])
{
	hwloc_topology_t hwloc = topology->hwloc;
	if (!topology_is_this_machine(topology))
		return topology_binding(topology, got);
	hwloc_obj_t place = NULL;
	if (node >= 0)
		place = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, (unsigned)node);
	else if (core >= 0)
		place = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_CORE, (unsigned)core);
	if (!place || hwloc_bitmap_iszero(place->cpuset)) {
		snprintf(got, 128, "not bound: no %s %d with processors here",
		        node >= 0 ? "node" : "core", node >= 0 ? node : core);
		return false;
	}
	/* The thread first: memory is placed near the thread that first touches it. */
	if (hwloc_set_cpubind(hwloc, place->cpuset, HWLOC_CPUBIND_THREAD) != 0) {
		snprintf(got, 128, "not bound: %s", strerror(errno));
		return false;
	}
	bool memory =
	        hwloc_set_membind(hwloc, place->nodeset, HWLOC_MEMBIND_BIND,
	                HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET) == 0;
	topology_binding(topology, got);
	/* The kernel may accept a binding and not apply it: compare with the binding read back. */
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	bool thread = hwloc_get_cpubind(hwloc, cpus, HWLOC_CPUBIND_THREAD) == 0 &&
	              hwloc_bitmap_isincluded(cpus, place->cpuset);
	hwloc_bitmap_free(cpus);
	return thread && memory;
}

struct topology_place {
	hwloc_bitmap_t cpus, nodes;
	hwloc_membind_policy_t policy;
};

static void forget(struct topology_place *place)
{
	hwloc_bitmap_free(place->cpus);
	hwloc_bitmap_free(place->nodes);
	free(place);
}

struct topology_place *topology_keep(const struct topology *topology)
{
	static const int of_memory = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET;
	hwloc_topology_t hwloc = topology->hwloc;
	struct topology_place *kept = xcalloc(1, sizeof *kept);

	kept->cpus = hwloc_bitmap_alloc();
	kept->nodes = hwloc_bitmap_alloc();
	kept->policy = HWLOC_MEMBIND_DEFAULT;
	if (topology_is_this_machine(topology) &&
	        hwloc_get_cpubind(hwloc, kept->cpus, HWLOC_CPUBIND_THREAD) == 0) {
		if (hwloc_get_membind(hwloc, kept->nodes, &kept->policy, of_memory) != 0)
			kept->policy = HWLOC_MEMBIND_DEFAULT;
		return kept;
	}
	forget(kept);
	return NULL;
}

void topology_restore(const struct topology *topology, struct topology_place *kept)
{
	hwloc_topology_t hwloc = topology->hwloc;

	if (!kept)
		return;
	hwloc_set_cpubind(hwloc, kept->cpus, HWLOC_CPUBIND_THREAD);
	hwloc_set_membind(hwloc,
	        kept->policy == HWLOC_MEMBIND_BIND ? kept->nodes
	                                           : hwloc_topology_get_topology_nodeset(hwloc),
	        kept->policy == HWLOC_MEMBIND_BIND ? kept->policy : HWLOC_MEMBIND_DEFAULT,
	        HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
	forget(kept);
}

bool topology_includes(
        const struct topology *topology, const struct topology_place *place, int node, int core)
{
	hwloc_topology_t hwloc = topology->hwloc;
	hwloc_obj_t at = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_CORE, (unsigned)core);
	hwloc_obj_t near =
	        node < 0 ? NULL : hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, (unsigned)node);

	return at && (!place || hwloc_bitmap_intersects(place->cpus, at->cpuset)) &&
	       (!near || hwloc_bitmap_intersects(near->cpuset, at->cpuset));
}
