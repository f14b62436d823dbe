/* SPDX-License-Identifier: MIT */
#include "topology_internal.h"

#include "arm_processor.h"
#include "small_file.h"

#include "lib/base/msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

struct topology *topology_load(const char *description, struct fault *fault)
{
	if (hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16) {
		fault_set(fault,
		        "hwloc at run time has interface 0x%x, fathom was built for 0x%x: build it "
		        "again",
		        hwloc_get_api_version(), (unsigned)HWLOC_API_VERSION);
		return NULL;
	}
	hwloc_topology_t hwloc;
	if (hwloc_topology_init(&hwloc) != 0) {
		fault_set(fault, "hwloc cannot start: %s", strerror(errno));
		return NULL;
	}
	if (description && hwloc_topology_set_synthetic(hwloc, description) != 0) {
		fault_set(fault,
		        "'%s' is not a topology: write it as hwloc does, \"pack:2 numa:1 core:8 "
		        "pu:1\"",
		        description);
		hwloc_topology_destroy(hwloc);
		return NULL;
	}
	/* These plugins would start a GPU's driver, which is slow, only to list the GPU. */
	static const char *const slow[] = {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"};
	for (size_t i = 0; i < ARRAY_LEN(slow); i++)
		hwloc_topology_set_components(
		        hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, slow[i]);
	/* By default hwloc drops I/O objects; a filter must be set before loading. */
	if (hwloc_topology_set_io_types_filter(hwloc, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0 ||
	        hwloc_topology_load(hwloc) != 0) {
		fault_set(fault, "hwloc cannot load the topology: %s", strerror(errno));
		hwloc_topology_destroy(hwloc);
		return NULL;
	}
	struct topology *topology = xmalloc(sizeof *topology);
	topology->hwloc = hwloc;
	return topology;
}

const struct topology *topology_host(struct fault *fault)
{
	static struct topology *host;

	if (!host)
		host = topology_load(NULL, fault);
	return host;
}

void topology_free(struct topology *topology)
{
	if (!topology)
		return;
	hwloc_topology_destroy(topology->hwloc);
	free(topology);
}

bool topology_is_this_machine(const struct topology *topology)
{
	return hwloc_topology_is_thissystem(topology->hwloc);
}

const char *topology_given(void)
{
	static const char *const name[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT"};

	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		const char *value = getenv(name[i]);
		if (value && value[0])
			return name[i];
	}
	return NULL;
}

/* ---- facts ---- */

/* The hypervisor: the processor names it on x86, the firmware's tables elsewhere. */
static void hypervisor(char text[32])
{
	text[0] = '\0';
#if defined(__x86_64__) || defined(__i386__)
	static const struct {
		const char *signature, *name;
	} known[] = {{"KVMKVMKVM", "KVM"}, {"Microsoft Hv", "Hyper-V"}, {"VMwareVMware", "VMware"},
	        {"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU"}, {"bhyve bhyve ", "bhyve"}};
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
		return;
	__cpuid(0x40000000, a, b, c, d);
	const unsigned word[3] = {b, c, d};
	char signature[13] = "";
	memcpy(signature, word, sizeof word);
	snprintf(text, 32, "%s", signature[0] ? signature : "hypervisor");
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(signature, known[i].signature))
			snprintf(text, 32, "%s", known[i].name);
#else
	static const char *const mark[] = {"KVM", "QEMU", "VMware", "Virtual", "Xen", "Amazon EC2"};
	char product[128];
	small_file_line("/sys/class/dmi/id/product_name", "", product, sizeof product);
	for (size_t i = 0; i < ARRAY_LEN(mark); i++)
		if (strstr(product, mark[i]) && !strstr(product, "metal"))
			snprintf(text, 32, "%s", mark[i]);
#endif
}

static int count_of(hwloc_topology_t hwloc, hwloc_obj_type_t type)
{
	int count = hwloc_get_nbobjs_by_type(hwloc, type);
	return count < 0 ? 0 : count;
}

/* Memory of a GPU that the system manages as a NUMA node (Grace Hopper). */
static bool is_gpu_memory(hwloc_obj_t node)
{
	return node->subtype && strcmp(node->subtype, "GPUMemory") == 0;
}

/* Whether a NUMA node is a place of processors with memory of their own. Nodes without processors,
 * as high-bandwidth memory and memory of GPUs are, have the processors of the node they are near
 * to, which comes first. Nodes without memory count where no node has any: some virtual machines
 * do not tell. */
static bool is_host_node(hwloc_topology_t hwloc, hwloc_obj_t node)
{
	const bool sizes = hwloc_get_root_obj(hwloc)->total_memory > 0;

	if (is_gpu_memory(node) || hwloc_bitmap_iszero(node->cpuset) ||
	        (sizes && node->attr->numanode.local_memory == 0))
		return false;
	for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, o));)
		if (o->os_index < node->os_index && hwloc_bitmap_isequal(o->cpuset, node->cpuset) &&
		        !is_gpu_memory(o) && (!sizes || o->attr->numanode.local_memory > 0))
			return false;
	return true;
}

/* The only host node in a set of nodes; NULL when there is none, or more than one. */
static hwloc_obj_t only_host_node(hwloc_topology_t hwloc, hwloc_const_nodeset_t set)
{
	hwloc_obj_t only = NULL;
	int found = 0;

	for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, o));)
		if (hwloc_bitmap_isset(set, o->os_index) && is_host_node(hwloc, o)) {
			only = o;
			found++;
		}
	return found == 1 ? only : NULL;
}

static int64_t cache_bytes(hwloc_topology_t hwloc, hwloc_obj_type_t type)
{
	hwloc_obj_t cache = hwloc_get_obj_by_type(hwloc, type, 0);
	return cache ? (int64_t)cache->attr->cache.size : 0;
}

int topology_node(const struct topology *topology, int i)
{
	hwloc_topology_t hwloc = topology->hwloc;

	for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, o));)
		if (is_host_node(hwloc, o) && i-- == 0)
			return (int)o->logical_index;
	return -1;
}

/* Kinds of cores are known to hwloc 2.4 and later. */
static int core_kinds(hwloc_topology_t hwloc)
{
#if HWLOC_API_VERSION >= 0x00020400
	const int kinds = hwloc_cpukinds_get_nr(hwloc, 0);
	return kinds > 1 ? kinds : 1;
#else
	(void)hwloc;
	return 1;
#endif
}

int topology_core_kind(const struct topology *topology, int core)
{
	int kind = -1;
#if HWLOC_API_VERSION >= 0x00020400
	hwloc_topology_t hwloc = topology->hwloc;
	hwloc_obj_t found = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_CORE, (unsigned)core);
	if (found && core_kinds(hwloc) > 1)
		kind = hwloc_cpukinds_get_by_cpuset(hwloc, found->cpuset, 0);
#else
	(void)topology;
	(void)core;
#endif
	return kind > 0 ? kind : 0;
}

/* The NUMA nodes of a virtual machine may lack memory that was added at its start. */
static int64_t memory_bytes(const struct topology *topology)
{
	const int64_t pages = topology_is_this_machine(topology) ? sysconf(_SC_PHYS_PAGES) : 0;
	const int64_t all = pages * sysconf(_SC_PAGESIZE);
	int64_t nodes = (int64_t)hwloc_get_root_obj(topology->hwloc)->total_memory, of_gpus = 0;

	for (hwloc_obj_t o = NULL;
	        (o = hwloc_get_next_obj_by_type(topology->hwloc, HWLOC_OBJ_NUMANODE, o));)
		of_gpus += is_gpu_memory(o) ? (int64_t)o->attr->numanode.local_memory : 0;
	nodes -= of_gpus;
	return of_gpus > 0 || nodes > all ? nodes : all;
}

/* What hwloc tells of the first package, or of the whole machine; NULL when it tells nothing. */
static const char *processor_fact(hwloc_topology_t hwloc, const char *name)
{
	hwloc_obj_t package = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, 0);
	const char *value = package ? hwloc_obj_get_info_by_name(package, name) : NULL;

	return value ? value : hwloc_obj_get_info_by_name(hwloc_get_root_obj(hwloc), name);
}

/* Kernels for arm64 tell numbers in place of a model's name. */
static void processor_name(hwloc_topology_t hwloc, char *text, size_t size)
{
	const char *model = processor_fact(hwloc, "CPUModel");
	const char *implementer = processor_fact(hwloc, "CPUImplementer"),
	           *part = processor_fact(hwloc, "CPUPart");

	if (!model && implementer && part) {
		arm_processor(implementer, part, text, size);
		return;
	}
	snprintf(text, size, "%s", model ? model : "unknown");
	text[strcspn(text, "\n")] = '\0';
}

void topology_facts(const struct topology *topology, struct topology_facts *facts)
{
	hwloc_topology_t hwloc = topology->hwloc;
	memset(facts, 0, sizeof *facts);
	facts->packages = count_of(hwloc, HWLOC_OBJ_PACKAGE);
	for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, o));)
		facts->numa_nodes += is_host_node(hwloc, o);
	facts->cores = count_of(hwloc, HWLOC_OBJ_CORE);
	facts->threads = count_of(hwloc, HWLOC_OBJ_PU);
	facts->core_kinds = core_kinds(hwloc);
	facts->l1d_bytes = cache_bytes(hwloc, HWLOC_OBJ_L1CACHE);
	facts->l2_bytes = cache_bytes(hwloc, HWLOC_OBJ_L2CACHE);
	facts->l3_bytes = cache_bytes(hwloc, HWLOC_OBJ_L3CACHE);
	facts->l4_bytes = cache_bytes(hwloc, HWLOC_OBJ_L4CACHE);
	facts->l3_count = count_of(hwloc, HWLOC_OBJ_L3CACHE);
	facts->memory_bytes = memory_bytes(topology);

	processor_name(hwloc, facts->cpu, sizeof facts->cpu);
	if (topology_is_this_machine(topology))
		hypervisor(facts->virtualization);
}

/* ---- locality ---- */

/* The NUMA node of a device by the kernel; -1 when it is unknown or unreadable. */
static int sysfs_node(unsigned domain, unsigned bus, unsigned device, unsigned function)
{
	char path[96];
	double node;
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.%x/numa_node", domain, bus,
	        device, function);
	return small_file_number(path, "", &node) ? (int)node : -1;
}

int topology_gpu_node(const struct topology *topology, const char *pci, int *raw)
{
	hwloc_topology_t hwloc = topology->hwloc;
	unsigned domain, bus, device, function;
	bool this_machine = topology_is_this_machine(topology);
	int kernel_node = -1;
	if (raw)
		*raw = -1;
	if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return -1;
	if (this_machine)
		kernel_node = sysfs_node(domain, bus, device, function);
	if (raw)
		*raw = kernel_node;

	/* A virtual machine shows its own nodes, not the host's. */
	char virtualization[32] = "";
	if (this_machine)
		hypervisor(virtualization);
	if (virtualization[0] && kernel_node < 0)
		return -1;
	/* A control group may hide nodes from us, not from the device. */
	hwloc_const_nodeset_t seen = hwloc_topology_get_topology_nodeset(hwloc);
	hwloc_obj_t node = only_host_node(hwloc, seen);
	if (node && hwloc_bitmap_isequal(seen, hwloc_topology_get_complete_nodeset(hwloc)))
		return (int)node->logical_index;

	hwloc_obj_t found = hwloc_get_pcidev_by_busid(hwloc, domain, bus, device, function);
	hwloc_obj_t ancestor = found ? hwloc_get_non_io_ancestor_obj(hwloc, found) : NULL;
	if (!ancestor || ancestor == hwloc_get_root_obj(hwloc) || !ancestor->nodeset)
		return -1;
	node = only_host_node(hwloc, ancestor->nodeset);
	return node ? (int)node->logical_index : -1;
}

int topology_shared(const struct topology *topology, int core, int other)
{
	hwloc_topology_t hwloc = topology->hwloc;
	hwloc_obj_t a = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_CORE, (unsigned)core);
	hwloc_obj_t b = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_CORE, (unsigned)other);
	hwloc_obj_t both = a && b ? hwloc_get_common_ancestor_obj(hwloc, a, b) : NULL;
	if (!both)
		return -1;
	for (hwloc_obj_t o = both; o; o = o->parent)
		if (hwloc_obj_type_is_dcache(o->type))
			return (int)o->attr->cache.depth;
	return hwloc_bitmap_isequal(a->nodeset, b->nodeset) ? 0 : -1;
}

bool topology_export(const struct topology *topology, const char *path, struct fault *fault)
{
	char *fresh = xasprintf("%s.%ld.new", path, (long)getpid());
	bool written = hwloc_topology_export_xml(topology->hwloc, fresh, 0) == 0 &&
	               rename(fresh, path) == 0;
	if (!written) {
		fault_set(fault, "cannot write %s: %s", path, strerror(errno));
		remove(fresh);
	}
	free(fresh);
	return written;
}
