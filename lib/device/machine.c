/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "lib/base/cli.h"
#include "lib/host/allowance.h"
#include "lib/host/clock.h"
#include "lib/host/small_file.h"
#include "lib/base/msg.h"
#include "gpu_warnings.h"
#include "nvml.h"
#include "lib/host/topology.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* NULL when unknown; warns once. */
static const struct topology *host_topology(void)
{
	static bool told;
	struct fault fault;
	const struct topology *topology = topology_host(&fault);
	if (!topology && !told)
		msg_warn("%s", fault.text);
	told = told || !topology;
	return topology;
}

static void host_facts(struct topology_facts *facts)
{
	memset(facts, 0, sizeof *facts);
	snprintf(facts->cpu, sizeof facts->cpu, "unknown");
	if (host_topology())
		topology_facts(host_topology(), facts);
}

static const char *host_name(void)
{
	static char name[256];
	if (gethostname(name, sizeof name - 1) != 0 || !name[0])
		snprintf(name, sizeof name, "unknown");
	return name;
}

/* The version of the driver; without NVML "CUDA 13.0", the newest CUDA that it runs. */
static const char *driver_version(const struct gpu *gpu)
{
	static char version[80];
	nvml_driver(version);
	if (!version[0])
		snprintf(version, sizeof version, "CUDA %d.%d", gpu->driver / 1000,
		        gpu->driver % 1000 / 10);
	return version;
}

static const char *runtime_version(const struct gpu *gpu)
{
	static char version[32];
	snprintf(version, sizeof version, "%d.%d", gpu->runtime / 1000, gpu->runtime % 1000 / 10);
	return version;
}

static const char *gpu_locality(const struct gpu *gpu, int *raw)
{
	static char locality[32];
	*raw = -1;
	int node = host_topology() ? topology_gpu_node(host_topology(), gpu->pci, raw) : -1;
	snprintf(locality, sizeof locality, node < 0 ? "unknown" : "node %d", node);
	return locality;
}

/* Percent of the GPU that MPS allows this process; 0: all. */
static double mps_percentage(void)
{
	return gpu_mps_percentage(getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"));
}

/* FNV-1a, including the end of each text: "ab","c" is not "a","bc". */
static uint32_t digest_add(uint32_t digest, const char *text)
{
	do
		digest = (digest ^ (unsigned char)*text) * 16777619u;
	while (*text++);
	return digest;
}

static const char *id_of(const char *host, const char *cpu, const struct gpu *gpu)
{
	static char id[20];
	const uint32_t start = 2166136261u;
	int length = snprintf(id, sizeof id, "%08x", digest_add(digest_add(start, host), cpu));
	if (gpu) {
		uint32_t digest = digest_add(start, gpu->uuid);
		if (gpu->sm_count < gpu->device_sms) /* a part is a machine of its own */
			digest = (digest ^ (uint32_t)gpu->sm_count) * 16777619u;
		if (mps_percentage() > 0)
			digest = (digest ^ (uint32_t)(100 * mps_percentage())) * 16777619u;
		snprintf(id + length, sizeof id - (size_t)length, "-%08x", digest);
	}
	return id;
}

/* The name of a host is no part of it: every container has its own. */
const char *machine_id(const struct gpu *gpu)
{
	char processors[32];
	struct topology_facts facts;
	host_facts(&facts);
	snprintf(processors, sizeof processors, "%ld processors", sysconf(_SC_NPROCESSORS_CONF));
	return id_of(processors, facts.cpu, gpu);
}

bool machine_same_host(const char *a, const char *b)
{
	size_t host = a ? strcspn(a, "-") : 0;
	return a && b && host == strcspn(b, "-") && strncmp(a, b, host) == 0;
}

bool machine_same(const char *a, const char *b)
{
	size_t host = strcspn(a, "-");
	if (!machine_same_host(a, b))
		return false;
	return !a[host] || !b[host] || !strcmp(a + host, b + host);
}

/* Earlier versions made the id from the host's name. */
bool machine_is_here(const char *id, const struct gpu *gpu)
{
	struct topology_facts facts;
	host_facts(&facts);
	return machine_same(id, machine_id(gpu)) ||
	       machine_same(id, id_of(host_name(), facts.cpu, gpu));
}

/* ---- facts ---- */

static void fact(struct table *table, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);
static void fact(struct table *table, const char *key, const char *format, ...)
{
	char value[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(value, sizeof value, format, args);
	va_end(args);
	size_t row = table_add_row(table);
	table_set_text(table, row, "key", key);
	table_set_text(table, row, "value", value[0] ? value : "unknown");
}

/* A number; unknown below the smallest possible one. */
static void fact_number(struct table *table, const char *key, double value, double smallest)
{
	if (value >= smallest)
		fact(table, key, "%.15g", value);
	else
		fact(table, key, "unknown");
}

/* What limits the processor time of this process, and what makes hwloc describe another machine. */
static void describe_allowance(struct table *table)
{
	const struct cpu_quota *quota = host_quota();
	const char *asked = host_threads_asked(), *given = topology_given();
	fact(table, "host.processors", "%s", host_processors());
	if (isfinite(quota->processors))
		fact(table, "host.cpu_quota", "%.15g", quota->processors);
	else
		fact(table, "host.cpu_quota", "none");
	fact(table, "host.cpu_throttled", "%lld", (long long)cpu_quota_throttled(quota));
	fact(table, "host.threads_asked", "%s", asked ? asked : "none");
	if (given)
		fact(table, "host.topology", "%s: perhaps another machine's", given);
	else
		fact(table, "host.topology", "this machine's");
}

/* The rest of a small file's first line that starts with `start`, without separators. */
static void fact_line(struct table *table, const char *key, const char *path, const char *start)
{
	char text[512], *value = text;
	small_file_line(path, start, text, sizeof text);
	value += strspn(value, " \t:=\"");
	value[strcspn(value, "\"")] = '\0';
	fact(table, key, "%s", value);
}

/* The file of a function: several libraries may be installed, one is used. */
static void fact_library(struct table *table, const char *key, const char *function)
{
	Dl_info info;
	void *address = dlsym(RTLD_DEFAULT, function);
	bool found = address && dladdr(address, &info) && info.dli_fname;
	char path[4096];
	if (found && realpath(info.dli_fname, path))
		fact(table, key, "%s", path);
	else
		fact(table, key, "%s", found ? info.dli_fname : "unknown");
}

static void describe_host(struct table *table)
{
	struct topology_facts facts;
	struct utsname kernel;
	char binding[128] = "unknown";
	host_facts(&facts);
	fact(table, "host.name", "%s", host_name());
	fact(table, "host.cpu", "%s", facts.cpu);
	fact_number(table, "host.sockets", facts.packages, 1);
	fact_number(table, "host.numa_nodes", facts.numa_nodes, 1);
	fact_number(table, "host.cores", facts.cores, 1);
	fact_number(table, "host.core_kinds", facts.core_kinds, 1);
	fact_number(table, "host.threads", facts.threads, 1);
	fact_number(table, "host.l1d.bytes", (double)facts.l1d_bytes, 1);
	fact_number(table, "host.l2.bytes", (double)facts.l2_bytes, 1);
	fact_number(table, "host.l3.bytes", (double)facts.l3_bytes, 1);
	fact_number(table, "host.l3.count", facts.l3_count, 1);
	fact_number(table, "host.memory.bytes", (double)facts.memory_bytes, 1);
	fact_number(table, "host.page.bytes", (double)sysconf(_SC_PAGESIZE), 1);
	fact_line(table, "host.hugepages", "/sys/kernel/mm/transparent_hugepage/enabled", "");
	fact(table, "host.virtualization", "%s",
	        facts.virtualization[0] ? facts.virtualization : "none");
	fact_line(table, "host.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	        "");
	fact_line(table, "host.load", "/proc/loadavg", "");
	fact_line(table, "host.system", "/etc/os-release", "PRETTY_NAME");
	if (uname(&kernel) == 0)
		fact(table, "host.kernel", "%s %s %s", kernel.sysname, kernel.release,
		        kernel.machine);
	if (host_topology())
		topology_binding(host_topology(), binding);
	fact(table, "host.binding", "%s", binding);
	describe_allowance(table);
}

static void describe_blas(struct table *table)
{
	fact_library(table, "host.blas.path", "openblas_get_config");
	fact(table, "host.blas.config", "%s", openblas_get_config());
	fact(table, "host.blas.core", "%s", openblas_get_corename());
	fact(table, "host.blas.core_by", "%s",
	        getenv("OPENBLAS_CORETYPE") ? "OPENBLAS_CORETYPE" : "OpenBLAS");
	fact(table, "host.blas.threads", "%d", openblas_get_num_threads());
	fact_library(table, "host.lapack.path", "sgetrf_");
	fact(table, "host.openmp.threads", "%d", omp_get_max_threads());
}

static const char *yes(bool value)
{
	return value ? "yes" : "no";
}

static void describe_gpu(struct table *table, const struct gpu *gpu)
{
	fact(table, "gpu.name", "%s", gpu->name);
	fact(table, "gpu.uuid", "%s", gpu->uuid);
	fact(table, "gpu.pci", "%s", gpu->pci);
	fact(table, "gpu.compute_capability", "%d.%d", gpu->major, gpu->minor);
	fact_number(table, "gpu.visible", gpu->visible, 1);
	fact_number(table, "gpu.sms", gpu->sm_count, 1);
	fact_number(table, "gpu.device_sms", gpu->device_sms, 1);
	fact(table, "gpu.code", "%d.%d%s", gpu->code / 10, gpu->code % 10,
	        gpu->warpgroups ? "a" : "");
	fact_number(table, "gpu.threads_per_sm", gpu->max_threads_per_sm, 1);
	fact_number(table, "gpu.threads_per_block", gpu->max_threads_per_block, 1);
	fact_number(table, "gpu.blocks_per_sm", gpu->max_blocks_per_sm, 1);
	fact_number(table, "gpu.shared_per_block.bytes", (double)gpu->shared_per_block, 1);
	fact_number(table, "gpu.shared_per_sm.bytes", (double)gpu->shared_per_sm, 1);
	fact_number(table, "gpu.l2.bytes", (double)gpu->l2_bytes, 1);
	fact_number(table, "gpu.memory.bytes", (double)gpu->memory_bytes, 1);
	fact_number(table, "gpu.memory.free_bytes", (double)gpu->free_bytes, 0);
	fact_number(table, "gpu.copy_engines", gpu->copy_engines, 0);
	fact_number(table, "gpu.clock.highest_hz", gpu->max_hz, 1);
	fact(table, "gpu.cooperative_launch", "%s", yes(gpu->cooperative));
	fact(table, "gpu.clusters", "%s", yes(gpu->clusters));
	fact_number(table, "gpu.largest_cluster", gpu->max_cluster, 1);
	fact(table, "gpu.ecc", "%s", yes(gpu->ecc));
	fact(table, "gpu.integrated", "%s", yes(gpu->integrated));
	fact(table, "gpu.kernel_timeout", "%s", yes(gpu->kernel_timeout));
	fact(table, "gpu.others_unlike", "%s", yes(gpu->unlike));
	if (mps_percentage() > 0)
		fact_number(table, "gpu.mps_percentage", mps_percentage(), 0);
	else
		fact(table, "gpu.mps_percentage", "none");
	fact(table, "gpu.cuda.driver", "%d.%d", gpu->driver / 1000, gpu->driver % 1000 / 10);
	fact(table, "gpu.cuda.runtime", "%s", runtime_version(gpu));
	int raw;
	fact(table, "gpu.locality", "%s", gpu_locality(gpu, &raw));
	fact(table, "gpu.numa_node_raw", "%d", raw);
}

static void describe_nvml(struct table *table, const struct nvml_facts *nvml)
{
	static const char *const switched[] = {"unknown", "no", "yes"};
	static const char *const virtual[] = {"unknown", "none", "passed through", "virtual GPU"};
	const int kind = nvml->virtualization + 1; /* -1: unknown */
	fact(table, "gpu.driver", "%s", nvml->driver);
	fact_number(table, "gpu.clock.now_hz", nvml->sm_mhz * 1e6, 0);
	fact_number(table, "gpu.clock.memory_now_hz", nvml->memory_mhz * 1e6, 0);
	fact_number(table, "gpu.clock.nvml_highest_hz", nvml->max_sm_mhz * 1e6, 0);
	fact_number(table, "gpu.power_watt", nvml->power_milliwatt * 1e-3, 0);
	fact_number(table, "gpu.power_limit_watt", nvml->power_limit_milliwatt * 1e-3, 0);
	fact_number(table, "gpu.temperature_celsius", nvml->temperature, 0);
	fact(table, "gpu.persistence", "%s", switched[nvml->persistence + 1]);
	fact(table, "gpu.mig", "%s", switched[nvml->mig + 1]);
	fact(table, "gpu.virtualization", "%s",
	        kind >= 0 && kind < (int)ARRAY_LEN(virtual) ? virtual[kind] : "other");
	if (nvml->throttle_reasons == ~0ull)
		fact(table, "gpu.throttle_reasons", "unknown");
	else
		fact(table, "gpu.throttle_reasons", "0x%llx", nvml->throttle_reasons);
	fact_number(table, "gpu.other_processes", nvml->processes, 0);
}

struct table *machine_describe(const struct gpu *gpu, const char *gpu_reason)
{
	static const char *const columns[] = {"key", "value"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	fact(table, "machine", "%s", machine_id(gpu));
	describe_host(table);
	describe_blas(table);
	if (gpu) {
		struct nvml_facts nvml;
		nvml_read(gpu->pci, &nvml);
		describe_gpu(table, gpu);
		describe_nvml(table, &nvml);
	} else {
		fact(table, "gpu.name", "none");
		fact(table, "gpu.reason", "%s", gpu_reason ? gpu_reason : "not looked for");
	}
	return table;
}

void machine_gpu_warnings(const struct gpu *gpu, struct gpu_warnings *warnings)
{
	struct utsname kernel = {0};
	struct nvml_facts nvml;
	const bool found = nvml_read(gpu->pci, &nvml);
	uname(&kernel);
	const struct gpu_surroundings around = {.gpu = gpu,
	        .nvml = &nvml,
	        .nvml_found = found,
	        .mps_percentage = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"),
	        .visible = getenv("CUDA_VISIBLE_DEVICES"),
	        .kernel = kernel.release};

	gpu_warnings_find(&around, warnings);
}

/* ---- metadata ---- */

/* The command line on one line, each word quoted where a shell would need it. */
static char *command_line(int argc, char **argv)
{
	size_t size = 1;
	for (int i = 0; i < argc; i++)
		size += 4 * strlen(argv[i]) + 3;
	char *line = xmalloc(size), *out = line;
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];
		bool plain = word[0] && !word[strcspn(word, " \t\n\r\"'\\$`*?[]{}()<>|&;#~!")];
		out += sprintf(out, "%s%s", i ? " " : "", plain ? "" : "'");
		for (; *word; word++) {
			if (*word == '\'')
				out += sprintf(out, "'\\''");
			else
				*out++ = (char)((unsigned char)*word < ' ' ? ' ' : *word);
		}
		out += sprintf(out, "%s", plain ? "" : "'");
	}
	*out = '\0';
	return line;
}

void machine_stamp(
        struct table *table, const char *program, const struct gpu *gpu, int argc, char **argv)
{
	struct topology_facts facts;
	char date[32], binding[128];
	host_facts(&facts);
	table_meta_set(table, "program", "%s", program);
	table_meta_set(table, "fathom", "%s", strchr(cli_version(), ' ') + 1);
	table_meta_set(table, "machine", "%s", machine_id(gpu));
	table_meta_set(table, "host", "%s", host_name());
	table_meta_set(table, "cpu", "%s", facts.cpu);
	table_meta_set(table, "gpu", "%s", gpu ? gpu->name : "none");
	if (gpu && gpu->sm_count < gpu->device_sms)
		table_meta_set(table, "gpu_sms", "%d", gpu->sm_count);
	if (gpu && mps_percentage() > 0)
		table_meta_set(table, "mps_percentage", "%.15g", mps_percentage());
	if (gpu) {
		int raw;
		table_meta_set(table, "gpu_uuid", "%s", gpu->uuid);
		table_meta_set(table, "gpu_locality", "%s", gpu_locality(gpu, &raw));
		table_meta_set(table, "driver", "%s", driver_version(gpu));
		table_meta_set(table, "cuda", "%s", runtime_version(gpu));
	}
	if (host_topology() && topology_binding(host_topology(), binding))
		table_meta_set(table, "binding", "%s", binding);
	table_meta_set(table, "processors", "%s", host_processors());
	if (isfinite(host_quota()->processors))
		table_meta_set(table, "cpu_quota", "%.15g", host_quota()->processors);
	table_meta_set(table, "date", "%s", clock_utc(date));
	char *command = command_line(argc, argv);
	table_meta_set(table, "command", "%s", command);
	free(command);
}

const char *machine_stale(const struct table *profile, const struct gpu *gpu)
{
	static char sentence[512];
	static const char again[] = "run fathom probe to measure this machine";
	const char *recorded = table_meta(profile, "machine");
	const struct {
		const char *key, *what, *now;
	} check[] = {
	        {"gpu", "GPU", gpu ? gpu->name : "none"},
	        {"machine", "machine",
	                recorded && machine_is_here(recorded, gpu) ? recorded : machine_id(gpu)},
	        {"driver", "driver", gpu ? driver_version(gpu) : NULL},
	        {"cuda", "CUDA runtime", gpu ? runtime_version(gpu) : NULL},
	        {"processors", "processors",
	                table_meta(profile, "processors") ? host_processors() : NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(check); i++) {
		const char *then = table_meta(profile, check[i].key);
		if (!check[i].now || (then && strcmp(then, check[i].now) == 0))
			continue;
		if (then)
			snprintf(sentence, sizeof sentence,
			        "the profile was measured with %s %.100s, here it is %.100s: %s",
			        check[i].what, then, check[i].now, again);
		else
			snprintf(sentence, sizeof sentence,
			        "the profile does not say which %s it was measured with: %s",
			        check[i].what, again);
		return sentence;
	}
	return NULL;
}
