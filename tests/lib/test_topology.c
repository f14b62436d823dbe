/* SPDX-License-Identifier: MIT */
/* Host topology on made-up machines: counts, a GPU's locality (unknown is an answer), binding
 * refused where it would do nothing; and on the machine at hand, binding read back. */
#include "lib/host/arm_processor.h"
#include "lib/host/pages.h"
#include "lib/host/topology.h"
#include "scratch.h"

#include <sched.h>

static struct fault fault;

static struct topology_facts facts_of(const char *description)
{
	struct topology_facts facts = {0};
	struct topology *topology = topology_load(description, &fault);

	if (ok(topology != NULL, "a synthetic topology loads: %s", description))
		topology_facts(topology, &facts);
	topology_free(topology);
	return facts;
}

static void test_facts(void)
{
	struct topology_facts facts = facts_of("pack:2 numa:1(memory=1073741824) core:8 pu:2");
	ok(facts.packages == 2, "packages: %d", facts.packages);
	ok(facts.numa_nodes == 2, "NUMA nodes: %d", facts.numa_nodes);
	ok(facts.cores == 16, "cores: %d", facts.cores);
	ok(facts.threads == 32, "threads: %d", facts.threads);
	ok(facts.memory_bytes == INT64_C(2) << 30, "memory is the sum of the nodes'");
	ok(facts.l1d_bytes == 0 && facts.l3_bytes == 0 && facts.l3_count == 0,
	        "absent caches are 0");
	is_text(facts.cpu, "unknown", "a processor without a name is unknown");
	is_text(facts.virtualization, "", "our own hypervisor is not a made-up machine's");
	facts = facts_of("pack:1 l3:2(size=33554432) l2:4(size=1048576) l1d:1(size=32768) core:1 "
	                 "pu:1");
	ok(facts.l1d_bytes == 32768 && facts.l2_bytes == 1048576 && facts.l3_bytes == 33554432,
	        "sizes of the three caches");
	ok(facts.l3_count == 2 && facts.l4_bytes == 0, "number of L3 caches, and no fourth level");
	facts = facts_of("l4:1(size=134217728) l3:1 core:1 pu:1");
	ok(facts.l4_bytes == 134217728, "size of a fourth level");
	facts = facts_of("pack:2 numa:1(memory=0) core:2 pu:1");
	ok(facts.numa_nodes == 2, "nodes that tell of no memory count: %d", facts.numa_nodes);

	ok(topology_load("pack:two cores", &fault) == NULL, "a broken description is refused");
	ok(strstr(fault.text, "pack:two cores") != NULL, "and named: %s", fault.text);
}

static void test_arm_processors(void)
{
	char name[64];

	arm_processor("0x41", "0xd4f", name, sizeof name);
	is_text(name, "Arm Neoverse V2", "Grace's processor");
	arm_processor("0x41", "0xfff", name, sizeof name);
	is_text(name, "arm64 implementer 0x41 part 0xfff",
	        "an unknown one is named by its numbers");
}

/* Pages have the kernel's size: 4, 16 or 64 KiB. */
static void test_pages(void)
{
	const size_t page = pages_small();

	ok(page >= 4096 && (page & (page - 1)) == 0, "a page has %zu bytes", page);
	ok(pages_rounded(1) == page && pages_rounded(page) == page &&
	                pages_rounded(page + 1) == 2 * page,
	        "bytes round up to whole pages");
}

static void test_binding_refused(void)
{
	char got[128];
	struct topology *made_up = topology_load("pack:2 numa:1 core:8 pu:1", &fault);
	ok(!topology_is_this_machine(made_up), "a synthetic topology is not this machine");
	ok(!topology_bind(made_up, 0, -1, got), "binding to its node is refused");
	is_text(got, "not bound: synthetic topology", "with the reason");
	topology_free(made_up);
}

/* Copies a machine's XML file. Adds a GPU under the first object of the type `place`, and the mark
 * (NULL: none) to memories of 4 GiB. */
static void copy_with_gpu(const char *from, const char *to, const char *place, const char *mark)
{
	static const char device[] =
	        "<object type=\"Bridge\" gp_index=\"900\" bridge_type=\"0-1\" depth=\"0\" "
	        "bridge_pci=\"0000:[00-3f]\"><object type=\"PCIDev\" gp_index=\"901\" "
	        "pci_busid=\"0000:17:00.0\" pci_type=\"0302 [10de:2335] [10de:18be] a1\" "
	        "pci_link_speed=\"0.000000\"/></object>\n";
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	int depth = 0, inside = 0; /* inside: depth of the wanted object, once it is open */
	char line[4096];

	while (in && out && fgets(line, sizeof line, in)) {
		const bool closes = strstr(line, "</object>") != NULL;
		const bool opens = strstr(line, "<object ") && !strstr(line, "/>");
		const bool marked =
		        mark && strstr(line, "\"NUMANode\"") && strstr(line, "4294967296");
		const char *rest = marked ? strstr(line, "gp_index=") : NULL;
		depth += opens;
		if (opens && inside == 0 && strstr(line, place))
			inside = depth;
		if (closes && depth == inside) {
			fputs(device, out); /* I/O children come last */
			inside = -1;
		}
		depth -= closes;
		if (rest)
			fprintf(out, "%.*s%s%s", (int)(rest - line), line, mark, rest);
		else
			fputs(line, out);
	}
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

static struct topology *machine_with_gpu(
        const char *description, const char *place, const char *mark)
{
	char *plain = in_scratch("plain.xml"), *with_gpu = in_scratch("gpu.xml");
	struct topology *made_up = topology_load(description, &fault), *topology = NULL;
	if (made_up && topology_export(made_up, plain, &fault)) {
		copy_with_gpu(plain, with_gpu, place, mark);
		setenv("HWLOC_XMLFILE", with_gpu, 1);
		topology = topology_load(NULL, &fault);
		unsetenv("HWLOC_XMLFILE");
	}
	topology_free(made_up);
	ok(topology != NULL, "a machine with a GPU on its first %s loads", place);
	return topology;
}

static void test_locality(void)
{
	static const char two_nodes[] = "pack:2 numa:1 core:2 pu:1";
	int raw = 5;
	struct topology *two = topology_load("pack:2 numa:1 core:8 pu:1", &fault);
	ok(topology_gpu_node(two, "0000:17:00.0", &raw) == -1, "no such device: unknown");
	ok(raw == -1, "and the kernel's word is not asked for a made-up machine");
	ok(topology_gpu_node(two, "no device", NULL) == -1, "a bus id that is none: unknown");
	topology_free(two);

	struct topology *one = topology_load("pack:1 numa:1 core:8 pu:1", &fault);
	ok(topology_gpu_node(one, "0000:17:00.0", NULL) == 0, "one node: it is that one");
	topology_free(one);

	struct topology *attached = machine_with_gpu(two_nodes, "\"Package\"", NULL);
	if (attached) {
		ok(!topology_is_this_machine(attached), "an imported topology is not this machine");
		ok(topology_gpu_node(attached, "0000:17:00.0", NULL) == 0, "known: node 0");
		ok(topology_gpu_node(attached, "00000000:17:00.0", NULL) == 0,
		        "also by NVML's long bus id");
		ok(topology_gpu_node(attached, "0000:18:00.0", NULL) == -1,
		        "another device: unknown");
	}
	topology_free(attached);
	struct topology *nowhere = machine_with_gpu(two_nodes, "\"Machine\"", NULL);
	if (nowhere)
		ok(topology_gpu_node(nowhere, "0000:17:00.0", NULL) == -1,
		        "local to everything means unknown");
	topology_free(nowhere);
}

/* Two packages with DRAM beside each, and further memory of the same processors: of a GPU on Grace
 * Hopper, of high bandwidth on Xeon Max. */
static void test_second_memory(void)
{
	static const char *const mark[] = {"subtype=\"GPUMemory\" ", "subtype=\"HBM\" "};
	static const int64_t gib[] = {2, 10};
	struct topology_facts facts;

	for (size_t i = 0; i < ARRAY_LEN(mark); i++) {
		struct topology *t = machine_with_gpu(
		        "pack:2 [numa(memory=1073741824)] [numa(memory=4294967296)] core:2 pu:1",
		        "\"Package\"", mark[i]);
		if (!t)
			continue;
		topology_facts(t, &facts);
		ok(facts.numa_nodes == 2, "it has two nodes of processors: %d", facts.numa_nodes);
		ok(facts.memory_bytes == gib[i] << 30, "memory of a GPU is not the host's: %lld",
		        (long long)facts.memory_bytes);
		ok(topology_gpu_node(t, "0000:17:00.0", NULL) == 0,
		        "its GPU is near the first node");
		topology_free(t);
	}
}

/* A machine from an XML file in which `from` is replaced by `to`, on the line number `line` of
 * those that have it (0: on all). */
static struct topology *machine_changed(
        const char *description, const char *from, const char *to, int line)
{
	char *plain = in_scratch("plain.xml"), *changed = in_scratch("changed.xml"), text[4096];
	struct topology *made_up = topology_load(description, &fault), *topology = NULL;
	int found = 0;

	if (!made_up || !topology_export(made_up, plain, &fault))
		return NULL;
	FILE *in = fopen(plain, "r"), *out = fopen(changed, "w");
	while (in && out && fgets(text, sizeof text, in)) {
		char *at = strstr(text, from);
		if (at && (++found == line || line == 0))
			fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
		else
			fputs(text, out);
	}
	if (in && out && fclose(in) == 0 && fclose(out) == 0) {
		setenv("HWLOC_XMLFILE", changed, 1);
		topology = topology_load(NULL, &fault);
		unsetenv("HWLOC_XMLFILE");
	}
	topology_free(made_up);
	ok(topology != NULL && found > 0, "a machine whose description was changed loads");
	return topology;
}

/* Three nodes of which one has no memory, as boards with empty slots have. */
static void test_node_without_memory(void)
{
	static const char memory[] = "local_memory=\"1073741824\"",
	                  no_memory[] = "local_memory=\"0\"";
	static const int counted[3][2] = {{1, 2}, {0, 2}, {0, 1}};

	for (int empty = 0; empty < 3; empty++) {
		struct topology_facts facts;
		struct topology *t = machine_changed("pack:3 numa:1(memory=1073741824) core:2 pu:2",
		        memory, no_memory, empty + 1);
		if (!t)
			continue;
		topology_facts(t, &facts);
		ok(facts.numa_nodes == 2, "node %d without memory is no node to measure: %d are",
		        empty, facts.numa_nodes);
		ok(facts.cores == 6 && facts.threads == 12, "its cores count");
		ok(facts.memory_bytes == INT64_C(2) << 30, "the memory of the others counts");
		ok(topology_node(t, 0) == counted[empty][0] &&
		                topology_node(t, 1) == counted[empty][1] &&
		                topology_node(t, 2) == -1,
		        "the two with memory are found");
		topology_free(t);
	}
}

/* Nodes of a second kind of memory lie between those of processors. */
static void test_nodes_counted(void)
{
	struct topology *t = topology_load(
	        "pack:2 [numa(memory=1073741824)] [numa(memory=4294967296)] core:2 pu:1", &fault);

	ok(topology_node(t, 0) == 0 && topology_node(t, 1) == 2 && topology_node(t, 2) == -1,
	        "nodes of processors: the first and the third");
	topology_free(t);
	t = topology_load("pack:2 numa:1 core:2 pu:1", &fault);
	ok(topology_node(t, 0) == 0 && topology_node(t, 1) == 1 && topology_node(t, -1) == -1,
	        "ordinary nodes are in their order");
	topology_free(t);
}

/* Two sockets of 96 cores in twelve groups that share a cache. */
static void test_many_cores(void)
{
	static const char large[] = "pack:2 numa:4(memory=1073741824) l3:3(size=33554432) "
	                            "l2:8(size=1048576) core:1 pu:2";
	struct topology_facts facts = facts_of(large);
	struct topology *t = topology_load(large, &fault);
	char got[128];

	ok(facts.cores == 192 && facts.threads == 384, "192 cores, 384 threads");
	ok(facts.numa_nodes == 8 && facts.l3_count == 24, "eight nodes, 24 caches");
	ok(topology_node(t, 7) == 7, "the last node");
	ok(topology_shared(t, 0, 1) == 3, "neighbours share a cache");
	ok(topology_shared(t, 0, 9) == 0, "others a node");
	ok(topology_shared(t, 0, 191) == -1, "the last core nothing but the machine");
	ok(topology_includes(t, NULL, 7, 191) && !topology_includes(t, NULL, 0, 191),
	        "it is of the last node");
	ok(topology_gpu_node(t, "0000:17:00.0", NULL) == -1, "a GPU is anywhere");
	ok(!topology_bind(t, -1, 191, got), "binding is refused here, too");
	topology_free(t);
}

/* Two fast cores with two threads each, four slow ones: XML names kinds behind the objects. */
static void test_hybrid(void)
{
	static const char kinds[] =
	        "<cpukind cpuset=\"0x0000000f\" forced_efficiency=\"1\"/>\n"
	        "<cpukind cpuset=\"0x00000ff0\" forced_efficiency=\"0\"/>\n</topology>";
	struct topology_facts facts = facts_of("pack:1 core:6 pu:2");
	struct topology *t = machine_changed("pack:1 core:6 pu:2", "</topology>", kinds, 1);

	ok(facts.core_kinds == 1, "an ordinary processor has cores of one kind");
	if (!t)
		return;
	topology_facts(t, &facts);
	if (facts.core_kinds == 1) {
		skip("cores of two kinds", "hwloc is older than 2.4");
	} else {
		ok(facts.core_kinds == 2, "cores of two kinds: %d", facts.core_kinds);
		ok(topology_core_kind(t, 0) == topology_core_kind(t, 1) &&
		                topology_core_kind(t, 2) == topology_core_kind(t, 5) &&
		                topology_core_kind(t, 0) != topology_core_kind(t, 2),
		        "each has its kind");
		ok(topology_core_kind(t, 12345) == 0, "a core that is not there has the first");
	}
	topology_free(t);
}

static void test_given(void)
{
	setenv("HWLOC_XMLFILE", "", 1);
	setenv("HWLOC_SYNTHETIC", "pack:1 core:1 pu:1", 1);
	is_text(topology_given(), "HWLOC_SYNTHETIC", "a variable that describes another machine");
	unsetenv("HWLOC_XMLFILE");
	unsetenv("HWLOC_SYNTHETIC");
	is_text(topology_given(), NULL, "none does");
}

static void test_this_machine(void)
{
	cpu_set_t at_first, at_last;
	char got[128];
	struct topology_facts facts;
	struct topology *here = topology_load(NULL, &fault);
	if (!ok(here != NULL, "this machine's topology loads"))
		return;
	topology_facts(here, &facts);
	ok(facts.threads >= 1, "it has processors");
	if (topology_is_this_machine(here))
		ok(facts.memory_bytes >= (int64_t)pages_available(),
		        "its memory is no less than what is free of it");
	ok(!topology_bind(here, 12345, -1, got), "binding to a node that is not there fails: %s",
	        got);
	ok(!topology_bind(here, -1, -1, got), "binding to nothing fails: %s", got);
	struct topology_place *before = topology_keep(here);
	sched_getaffinity(0, sizeof at_first, &at_first);
	if (!topology_is_this_machine(here))
		skip("binding to the first core", "HWLOC_XMLFILE or HWLOC_SYNTHETIC is set");
	else if (topology_bind(here, -1, 0, got))
		ok(strstr(got, "cores 0") != NULL, "bound to the first core: %s", got);
	else
		skip("binding to the first core", got);
	ok(!topology_is_this_machine(here) || topology_includes(here, before, -1, 0),
	        "the first core was among the thread's");
	ok(!topology_includes(here, before, -1, 12345), "one that is not there was not");
	topology_restore(here, before);
	sched_getaffinity(0, sizeof at_last, &at_last);
	ok(CPU_EQUAL(&at_first, &at_last), "and back to where it was");
	ok(!topology_export(here, "/dev/null/topology.xml", &fault), "an impossible export fails");
	ok(strstr(fault.text, "/dev/null/topology.xml") != NULL, "and is named: %s", fault.text);
	topology_free(here);
}

int main(void)
{
	scratch_open();
	test_facts();
	test_arm_processors();
	test_pages();
	test_binding_refused();
	test_locality();
	test_second_memory();
	test_node_without_memory();
	test_nodes_counted();
	test_many_cores();
	test_hybrid();
	test_given();
	test_this_machine();
	scratch_close();
	return finish();
}
