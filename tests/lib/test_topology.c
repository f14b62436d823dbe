/* SPDX-License-Identifier: MIT */
/* Host topology on made-up machines: counts, a GPU's locality (unknown is an answer), binding
 * refused where it would do nothing; and on the machine at hand, binding read back. */
#include "lib/host/pages.h"
#include "lib/host/topology.h"
#include "tests/tap.h"

#include <sched.h>
#include <unistd.h>

static struct fault fault;

static void test_facts(void)
{
	struct topology *two =
	        topology_load("pack:2 numa:1(memory=1073741824) core:8 pu:2", &fault);
	struct topology_facts facts;
	if (!ok(two != NULL, "a synthetic topology loads"))
		return;
	topology_facts(two, &facts);
	ok(facts.packages == 2, "packages: %d", facts.packages);
	ok(facts.numa_nodes == 2, "NUMA nodes: %d", facts.numa_nodes);
	ok(facts.cores == 16, "cores: %d", facts.cores);
	ok(facts.threads == 32, "threads: %d", facts.threads);
	ok(facts.memory_bytes == INT64_C(2) << 30, "memory is the sum of the nodes'");
	ok(facts.l1d_bytes == 0 && facts.l3_bytes == 0 && facts.l3_count == 0,
	        "absent caches are 0");
	is_text(facts.cpu, "unknown", "a processor without a name is unknown");
	is_text(facts.virtualization, "", "our own hypervisor is not a made-up machine's");
	topology_free(two);

	struct topology *caches = topology_load(
	        "pack:1 l3:2(size=33554432) l2:4(size=1048576) l1d:1(size=32768) core:1 pu:1",
	        &fault);
	if (!ok(caches != NULL, "a synthetic topology with caches loads"))
		return;
	topology_facts(caches, &facts);
	ok(facts.l1d_bytes == 32768 && facts.l2_bytes == 1048576 && facts.l3_bytes == 33554432,
	        "sizes of the three caches");
	ok(facts.l3_count == 2 && facts.l4_bytes == 0, "number of L3 caches, and no fourth level");
	topology_free(caches);

	struct topology *four = topology_load("l4:1(size=134217728) l3:1 core:1 pu:1", &fault);
	if (!ok(four != NULL, "a synthetic topology with a fourth level loads"))
		return;
	topology_facts(four, &facts);
	ok(facts.l4_bytes == 134217728, "size of its fourth level");
	topology_free(four);

	ok(topology_load("pack:two cores", &fault) == NULL, "a broken description is refused");
	ok(strstr(fault.text, "pack:two cores") != NULL, "and named: %s", fault.text);
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

/* The machine of an XML file with a GPU where `place` says: under the first object of this type. */
static struct topology *load_with_gpu(const char *plain, const char *place, const char *folder)
{
	static const char device[] =
	        "<object type=\"Bridge\" gp_index=\"900\" bridge_type=\"0-1\" depth=\"0\" "
	        "bridge_pci=\"0000:[00-3f]\"><object type=\"PCIDev\" gp_index=\"901\" "
	        "pci_busid=\"0000:17:00.0\" pci_type=\"0302 [10de:2335] [10de:18be] a1\" "
	        "pci_link_speed=\"0.000000\"/></object>\n";
	char with_gpu[256], line[4096];
	snprintf(with_gpu, sizeof with_gpu, "%s/gpu.xml", folder);
	FILE *in = fopen(plain, "r"), *out = fopen(with_gpu, "w");
	int depth = 0, inside = 0; /* inside: depth of the wanted object, once it is open */
	while (in && out && fgets(line, sizeof line, in)) {
		bool closes = strstr(line, "</object>") != NULL;
		bool opens = strstr(line, "<object ") && !strstr(line, "/>");
		depth += opens;
		if (opens && inside == 0 && strstr(line, place))
			inside = depth;
		if (closes && depth == inside) {
			fputs(device, out); /* I/O children come last */
			inside = -1;
		}
		depth -= closes;
		fputs(line, out);
	}
	if (in)
		fclose(in);
	if (out)
		fclose(out);
	setenv("HWLOC_XMLFILE", with_gpu, 1);
	struct topology *topology = topology_load(NULL, &fault);
	unsetenv("HWLOC_XMLFILE");
	remove(with_gpu);
	return topology;
}

/* Two packages of one node each, and a GPU. */
static struct topology *machine_with_gpu(const char *place, const char *folder)
{
	char plain[256];
	snprintf(plain, sizeof plain, "%s/plain.xml", folder);
	struct topology *made_up = topology_load("pack:2 numa:1 core:2 pu:1", &fault);
	const bool exported = topology_export(made_up, plain, &fault);
	topology_free(made_up);
	struct topology *topology = exported ? load_with_gpu(plain, place, folder) : NULL;
	remove(plain);
	return topology;
}

static void test_locality(void)
{
	int raw = 5;
	struct topology *two = topology_load("pack:2 numa:1 core:8 pu:1", &fault);
	ok(topology_gpu_node(two, "0000:17:00.0", &raw) == -1, "no such device: unknown");
	ok(raw == -1, "and the kernel's word is not asked for a made-up machine");
	ok(topology_gpu_node(two, "no device", NULL) == -1, "a bus id that is none: unknown");
	topology_free(two);

	struct topology *one = topology_load("pack:1 numa:1 core:8 pu:1", &fault);
	ok(topology_gpu_node(one, "0000:17:00.0", NULL) == 0, "one node: it is that one");
	topology_free(one);

	char folder[] = "/tmp/fathom-topology-XXXXXX";
	if (!ok(mkdtemp(folder) != NULL, "a folder for the descriptions"))
		return;
	struct topology *attached = machine_with_gpu("\"Package\"", folder);
	if (ok(attached != NULL, "a machine with a GPU on its first package loads")) {
		ok(!topology_is_this_machine(attached), "an imported topology is not this machine");
		ok(topology_gpu_node(attached, "0000:17:00.0", NULL) == 0, "known: node 0");
		ok(topology_gpu_node(attached, "00000000:17:00.0", NULL) == 0,
		        "also by NVML's long bus id");
		ok(topology_gpu_node(attached, "0000:18:00.0", NULL) == -1,
		        "another device: unknown");
	}
	topology_free(attached);
	struct topology *nowhere = machine_with_gpu("\"Machine\"", folder);
	if (ok(nowhere != NULL, "a machine with a GPU on its root loads"))
		ok(topology_gpu_node(nowhere, "0000:17:00.0", NULL) == -1,
		        "local to everything means unknown");
	topology_free(nowhere);
	rmdir(folder);
}

/* A machine of two packages: DRAM beside each, and further memory of the same processors: of a GPU
 * on Grace Hopper, of high bandwidth on Xeon Max. */
static struct topology *with_second_memory(const char *folder, const char *place, const char *mark)
{
	char plain[256], marked[256], line[4096];

	snprintf(plain, sizeof plain, "%s/two.xml", folder);
	snprintf(marked, sizeof marked, "%s/marked.xml", folder);
	struct topology *made_up = topology_load(
	        "pack:2 [numa(memory=1073741824)] [numa(memory=4294967296)] core:2 pu:1", &fault);
	const bool exported = made_up && topology_export(made_up, plain, &fault);
	topology_free(made_up);
	FILE *in = exported ? fopen(plain, "r") : NULL, *out = fopen(marked, "w");
	while (in && out && fgets(line, sizeof line, in)) {
		const bool second = strstr(line, "\"NUMANode\"") && strstr(line, "4294967296");
		char *end = second ? strstr(line, "gp_index=") : NULL;
		if (end)
			fprintf(out, "%.*s%s%s", (int)(end - line), line, mark, end);
		else
			fputs(line, out);
	}
	if (in)
		fclose(in);
	if (out)
		fclose(out);
	remove(plain);
	struct topology *topology = load_with_gpu(marked, place, folder);
	remove(marked);
	return topology;
}

static void test_second_memory(void)
{
	static const char *const mark[] = {"subtype=\"GPUMemory\" ", "subtype=\"HBM\" "};
	static const int64_t gib[] = {2, 10};
	char folder[] = "/tmp/fathom-topology-XXXXXX";
	struct topology_facts facts;

	if (!ok(mkdtemp(folder) != NULL, "a folder for the descriptions"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(mark); i++) {
		struct topology *t = with_second_memory(folder, "\"Package\"", mark[i]);
		if (!ok(t != NULL, "a machine with two memories a package loads: %s", mark[i]))
			continue;
		topology_facts(t, &facts);
		ok(facts.numa_nodes == 2, "it has two nodes of processors: %d", facts.numa_nodes);
		ok(facts.memory_bytes == gib[i] << 30, "memory of a GPU is not the host's: %lld",
		        (long long)facts.memory_bytes);
		ok(topology_gpu_node(t, "0000:17:00.0", NULL) == 0,
		        "its GPU is near the first node");
		topology_free(t);
	}
	rmdir(folder);
	struct topology *none = topology_load("pack:2 numa:1(memory=0) core:2 pu:1", &fault);
	if (ok(none != NULL, "a machine that tells of no memory loads")) {
		topology_facts(none, &facts);
		ok(facts.numa_nodes == 2, "its nodes count: %d", facts.numa_nodes);
	}
	topology_free(none);
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
	test_facts();
	test_binding_refused();
	test_locality();
	test_second_memory();
	test_this_machine();
	return finish();
}
