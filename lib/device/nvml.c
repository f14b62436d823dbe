/* SPDX-License-Identifier: MIT */
#include "nvml.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* The part of the interface used here; not every toolkit has its header. 0 is success. */
typedef void *nvml_device;
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
struct nvml_temperature {
	unsigned version, sensor;
	int celsius;
};
struct nvml_process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};
struct nvml_process_old {
	unsigned pid;
	unsigned long long bytes;
};
typedef int (*call_plain)(void);
typedef int (*call_text)(char *text, unsigned size);
typedef int (*call_find)(const char *pci, nvml_device *device);
typedef int (*call_number)(nvml_device device, unsigned *value);
typedef int (*call_select)(nvml_device device, unsigned which, unsigned *value);
typedef int (*call_two)(nvml_device device, unsigned *current, unsigned *pending);
typedef int (*call_mask)(nvml_device device, unsigned long long *mask);
typedef int (*call_temperature)(nvml_device device, struct nvml_temperature *temperature);
typedef int (*call_processes)(nvml_device device, unsigned *count, void *process);

/* For tests: functions from elsewhere than the driver's library. */
static nvml_lookup lookup_given;

static void *look_up(void *library, const char *name)
{
	return lookup_given ? lookup_given(name) : dlsym(library, name);
}

/* The first of two names that the library has: interfaces are renamed between driver releases. */
static void *symbol(void *library, const char *name, const char *older)
{
	void *found = look_up(library, name);
	return found || !older ? found : look_up(library, older);
}

static int read_number(void *library, nvml_device device, const char *name)
{
	call_number call = (call_number)symbol(library, name, NULL);
	unsigned value;
	return call && call(device, &value) == 0 ? (int)value : -1;
}

static int read_select(void *library, nvml_device device, const char *name, unsigned which)
{
	call_select call = (call_select)symbol(library, name, NULL);
	unsigned value;
	return call && call(device, which, &value) == 0 ? (int)value : -1;
}

static int read_temperature(void *library, nvml_device device)
{
	call_temperature call =
	        (call_temperature)symbol(library, "nvmlDeviceGetTemperatureV", NULL);
	struct nvml_temperature now = {.version = (unsigned)sizeof now | 1u << 24, .sensor = 0};
	if (call && call(device, &now) == 0)
		return now.celsius;
	return read_select(library, device, "nvmlDeviceGetTemperature", 0);
}

/* In a container the driver may list this process under its number on the host. Only in the first
 * process namespace, whose inode number is fixed, does an absent number mean an absent process. */
static bool own_number_is_certain(void)
{
	char name[64] = "";
	ssize_t length = readlink("/proc/self/ns/pid", name, sizeof name - 1);
	return length > 0 && !strcmp(name, "pid:[4026531836]");
}

/* In a slice of the GPU only the processes of the same slice disturb: others have their own
 * multiprocessors, L2 and memory. */
static int count_others(const struct nvml_process *process, unsigned count)
{
	const struct nvml_process *own = NULL;
	int others = 0;

	for (unsigned i = 0; i < count; i++)
		if (process[i].pid == (unsigned)getpid())
			own = &process[i];
	for (unsigned i = 0; i < count && own; i++)
		others += &process[i] != own && process[i].gpu_instance == own->gpu_instance;
	if (own)
		return others;
	return count > 0 && !own_number_is_certain() ? (int)count - 1 : (int)count;
}

static int read_processes(void *library, nvml_device device)
{
	enum { MOST = 256 };
	struct nvml_process process[MOST];
	unsigned count = MOST;
	call_processes call =
	        (call_processes)symbol(library, "nvmlDeviceGetComputeRunningProcesses_v3",
	                "nvmlDeviceGetComputeRunningProcesses_v2");
	if (call)
		return call(device, &count, process) != 0 || count > MOST
		               ? -1
		               : count_others(process, count);
	call = (call_processes)symbol(library, "nvmlDeviceGetComputeRunningProcesses", NULL);
	struct nvml_process_old old[MOST];
	if (!call || call(device, &count, old) != 0 || count > MOST)
		return -1;
	for (unsigned i = 0; i < count; i++)
		process[i] = (struct nvml_process){.pid = old[i].pid};
	return count_others(process, count);
}

static void read_device(void *library, nvml_device device, struct nvml_facts *facts)
{
	facts->sm_mhz = read_select(library, device, "nvmlDeviceGetClockInfo", NVML_CLOCK_SM);
	facts->memory_mhz =
	        read_select(library, device, "nvmlDeviceGetClockInfo", NVML_CLOCK_MEMORY);
	facts->max_sm_mhz =
	        read_select(library, device, "nvmlDeviceGetMaxClockInfo", NVML_CLOCK_SM);
	facts->power_milliwatt = read_number(library, device, "nvmlDeviceGetPowerUsage");
	facts->power_limit_milliwatt =
	        read_number(library, device, "nvmlDeviceGetEnforcedPowerLimit");
	facts->temperature = read_temperature(library, device);
	facts->persistence = read_number(library, device, "nvmlDeviceGetPersistenceMode");
	facts->processes = read_processes(library, device);

	call_two mig = (call_two)symbol(library, "nvmlDeviceGetMigMode", NULL);
	unsigned current, pending;
	if (mig && mig(device, &current, &pending) == 0)
		facts->mig = (int)current;
	call_mask reasons = (call_mask)symbol(library, "nvmlDeviceGetCurrentClocksEventReasons",
	        "nvmlDeviceGetCurrentClocksThrottleReasons");
	unsigned long long mask;
	if (reasons && reasons(device, &mask) == 0)
		facts->throttle_reasons = mask;
	facts->virtualization = read_number(library, device, "nvmlDeviceGetVirtualizationMode");
}

/* ---- the library ---- */

void nvml_look_up_in(nvml_lookup lookup)
{
	lookup_given = lookup;
}

/* Loaded and started once a process, as that is slow. NULL without the library. */
static void *session(void)
{
	static void *library;
	static bool tried;
	if (lookup_given) /* a stand-in has no library, and any address says that it is there */
		return &lookup_given;
	if (tried)
		return library;
	tried = true;
	library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NULL;
	call_plain start = (call_plain)symbol(library, "nvmlInit_v2", "nvmlInit");
	if (!start || start() != 0)
		library = NULL;
	return library;
}

static bool find_device(void *library, const char *pci, nvml_device *device)
{
	call_find find = (call_find)symbol(
	        library, "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId");
	return find && find(pci, device) == 0;
}

void nvml_driver(char version[80])
{
	void *library = session();
	call_text driver =
	        library ? (call_text)symbol(library, "nvmlSystemGetDriverVersion", NULL) : NULL;
	if (!driver || driver(version, 80) != 0)
		version[0] = '\0';
}

int nvml_other_processes(const char *pci)
{
	void *library = session();
	nvml_device device;
	return library && find_device(library, pci, &device) ? read_processes(library, device) : -1;
}

bool nvml_read(const char *pci, struct nvml_facts *facts)
{
	*facts = (struct nvml_facts){.sm_mhz = -1,
	        .memory_mhz = -1,
	        .max_sm_mhz = -1,
	        .power_milliwatt = -1,
	        .power_limit_milliwatt = -1,
	        .temperature = -1,
	        .persistence = -1,
	        .mig = -1,
	        .throttle_reasons = ~0ull,
	        .virtualization = -1,
	        .processes = -1};
	void *library = session();
	nvml_device device;
	nvml_driver(facts->driver);
	if (!library || !find_device(library, pci, &device))
		return false;
	read_device(library, device, facts);
	return true;
}
