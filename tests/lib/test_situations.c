/* SPDX-License-Identifier: MIT */
/* GPUs and drivers that are not at hand (docs/situations.md): which are refused, with what
 * sentence, and what is said before others are measured. A stand-in takes the place of the driver's
 * management library. */
#include "lib/device/gpu_usable.h"
#include "lib/device/gpu_warnings.h"
#include "lib/device/machine.h"
#include "tests/tap.h"

#include <unistd.h>

/* ---- refused ---- */

#define DRIVERS .driver = 13000, .runtime = 13000, .error_text = "CUDA's own text"
#define NOT_CHOSEN .device = -1, .code = -1, DRIVERS
#define CHOSEN .count = 2, .device = 1, .name = "Old GPU", DRIVERS

static const struct {
	const char *what;
	struct gpu_opening opening;
	const char *said; /* NULL: it can be used */
} openings[] = {
        {"a GPU is there", {NOT_CHOSEN, .count = 1}, NULL},
        {"no driver", {.device = -1, .error = GPU_ERROR_OLD_DRIVER, .runtime = 13000},
                "no GPU: no NVIDIA driver is found: install it"},
        {"a driver older than the toolkit",
                {.device = -1, .error = GPU_ERROR_OLD_DRIVER, .driver = 12040, .runtime = 13000},
                "no GPU: the driver is for CUDA 12.4, this build for CUDA 13.0: install a newer"},
        {"a driver without a GPU", {NOT_CHOSEN, .error = GPU_ERROR_NO_DEVICE},
                "no GPU: the driver sees none: look whether nvidia-smi -L lists one"},
        {"no device and no error", {NOT_CHOSEN}, "no GPU: the driver sees none"},
        {"CUDA_VISIBLE_DEVICES empty", {NOT_CHOSEN, .error = GPU_ERROR_NO_DEVICE, .visible = ""},
                "no GPU: CUDA_VISIBLE_DEVICES is empty and hides every GPU: unset it"},
        {"CUDA_VISIBLE_DEVICES=-1", {NOT_CHOSEN, .error = GPU_ERROR_NO_DEVICE, .visible = "-1"},
                "no GPU: CUDA_VISIBLE_DEVICES=-1 shows none: unset it"},
        {"CUDA_VISIBLE_DEVICES with a number that no GPU has",
                {NOT_CHOSEN, .error = GPU_ERROR_NO_DEVICE, .visible = "7"},
                "CUDA_VISIBLE_DEVICES=7 shows none"},
        {"CUDA_VISIBLE_DEVICES with another machine's UUID",
                {NOT_CHOSEN, .error = GPU_ERROR_NO_DEVICE, .visible = "GPU-12ab"},
                "CUDA_VISIBLE_DEVICES=GPU-12ab shows none"},
        {"CUDA_VISIBLE_DEVICES as a number that a GPU has",
                {NOT_CHOSEN, .count = 1, .visible = "1"}, NULL},
        {"CUDA_VISIBLE_DEVICES as a slice", {NOT_CHOSEN, .count = 1, .visible = "MIG-12ab"}, NULL},
        {"a slice that is not there",
                {NOT_CHOSEN, .error = GPU_ERROR_NO_DEVICE, .visible = "MIG-1", .slice = "MIG-1"},
                "no GPU: CUDA finds no slice MIG-1: nvidia-smi -L lists"},
        {"a driver that does not start", {NOT_CHOSEN, .error = GPU_ERROR_START},
                "no GPU: CUDA cannot start: look whether nvidia-smi works"},
        {"the toolkit's stub", {NOT_CHOSEN, .error = GPU_ERROR_STUB},
                "stubs out of LD_LIBRARY_PATH"},
        {"links that are not ready", {NOT_CHOSEN, .error = GPU_ERROR_FABRIC},
                "start nvidia-fabricmanager"},
        {"a driver half updated", {NOT_CHOSEN, .error = GPU_ERROR_MISMATCH}, "restart the machine"},
        {"cuda-compat on a GPU for games", {NOT_CHOSEN, .error = GPU_ERROR_COMPATIBILITY},
                "remove it from LD_LIBRARY_PATH"},
        {"an MPS server that is gone", {NOT_CHOSEN, .error = GPU_ERROR_MPS_CONNECTION},
                "no GPU: the MPS server does not answer: start it"},
        {"an MPS server with all its clients", {NOT_CHOSEN, .error = GPU_ERROR_MPS_CLIENTS},
                "as many clients as it takes"},
        {"a virtual GPU without a licence", {NOT_CHOSEN, .error = GPU_ERROR_NO_LICENCE},
                "has no licence"},
        {"an error that CUDA explains", {NOT_CHOSEN, .error = 999},
                "no GPU: CUDA says 'CUDA's own text': look"},

        {"compute capability 7.5", {CHOSEN, .major = 7, .minor = 5, .code = 75}, NULL},
        {"compute capability 12.0", {CHOSEN, .major = 12, .code = 120}, NULL},
        {"code not loaded yet", {CHOSEN, .major = 9, .code = -1}, NULL},
        {"compute capability 7.0", {CHOSEN, .major = 7, .code = -1},
                "GPU 1 (Old GPU) is of compute capability 7.0: fathom needs 7.5 or newer"},
        {"compute capability 6.1, for which the code has no image",
                {CHOSEN, .major = 6, .minor = 1, .error = GPU_ERROR_NO_CODE},
                "is of compute capability 6.1: fathom needs 7.5"},
        {"a build without code for the GPU", {CHOSEN, .major = 8, .minor = 9},
                "this build has no code for GPU 1 (Old GPU, compute capability 8.9): build with "
                "make GPU_ARCHS=89"},
        {"the same, said by CUDA", {CHOSEN, .major = 12, .code = -1, .error = GPU_ERROR_NO_CODE},
                "make GPU_ARCHS=120"},
        {"little free memory", {CHOSEN, .major = 9, .code = -1, .error = GPU_ERROR_MEMORY},
                "GPU 1 cannot be used: too little memory is free, on the GPU or on the host: stop"},
        {"exclusive use by another process",
                {CHOSEN, .major = 9, .code = -1, .error = GPU_ERROR_UNAVAILABLE},
                "GPU 1 cannot be used: another process has the GPU for itself alone: end that"},
        {"an error of its memory", {CHOSEN, .major = 9, .code = -1, .error = GPU_ERROR_ECC},
                "reset the GPU"},
        {"another error", {CHOSEN, .major = 9, .code = -1, .error = 999},
                "GPU 1 cannot be used: CUDA says 'CUDA's own text': look"},
};

static void test_refused(void)
{
	for (size_t i = 0; i < ARRAY_LEN(openings); i++) {
		struct fault fault = {.text = ""};
		const char *want = openings[i].said;
		const bool usable = gpu_usable(&openings[i].opening, &fault);
		ok(usable == !want && (!want || strstr(fault.text, want)), "%s: %s",
		        openings[i].what, usable ? "can be used" : fault.text);
		ok(!strchr(fault.text, '\n') && strlen(fault.text) < 250, "one short sentence");
	}
}

/* ---- the management library ---- */

enum { NOT_SUPPORTED = 3, NO_PERMISSION = 4, THE_DEVICE = 1 };

static int hides; /* the error of what is hidden; 0: nothing is */
static int in_slices, virtual;
static unsigned others;

static int start(void)
{
	return 0;
}

static int driver_version(char *text, unsigned size)
{
	snprintf(text, size, "999.1");
	return 0;
}

static int find(const char *pci, void **device)
{
	*device = (void *)THE_DEVICE;
	return strcmp(pci, "0000:00:00.0") == 0 ? NOT_SUPPORTED : 0; /* Jetson's GPU */
}

static int clock_now_of(void *device, unsigned which, unsigned *value)
{
	(void)device;
	*value = which == 1 ? 1500 : 2600;
	return hides;
}

static int power(void *device, unsigned *value)
{
	(void)device;
	*value = 123456;
	return hides;
}

static int mig_mode(void *device, unsigned *current, unsigned *pending)
{
	(void)device;
	*current = *pending = (unsigned)in_slices;
	return 0;
}

static int virtualization(void *device, unsigned *value)
{
	(void)device;
	*value = (unsigned)virtual;
	return 0;
}

struct process_2 {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

static int processes(void *device, unsigned *count, struct process_2 *process)
{
	(void)device;
	*count = 1 + others;
	for (unsigned i = 0; i < *count; i++)
		process[i] = (struct process_2){
		        i == 0 ? (unsigned)getpid() : 4000000 + i, 0, in_slices ? i : ~0u, ~0u};
	return hides;
}

static void *full(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} known[] = {{"nvmlInit_v2", (void *)start},
	        {"nvmlSystemGetDriverVersion", (void *)driver_version},
	        {"nvmlDeviceGetHandleByPciBusId_v2", (void *)find},
	        {"nvmlDeviceGetClockInfo", (void *)clock_now_of},
	        {"nvmlDeviceGetPowerUsage", (void *)power},
	        {"nvmlDeviceGetMigMode", (void *)mig_mode},
	        {"nvmlDeviceGetVirtualizationMode", (void *)virtualization},
	        {"nvmlDeviceGetComputeRunningProcesses_v3", (void *)processes}};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].function;
	return NULL;
}

/* WSL's library lacks functions. */
static void *few(const char *name)
{
	return strstr(name, "Processes") || strstr(name, "Power") || strstr(name, "Mode")
	               ? NULL
	               : full(name);
}

struct process_1 {
	unsigned pid;
	unsigned long long bytes;
};

static int old_processes(void *device, unsigned *count, struct process_1 *process)
{
	(void)device;
	*count = 1 + others;
	for (unsigned i = 0; i < *count; i++)
		process[i].pid = i == 0 ? (unsigned)getpid() : 4000000 + i;
	return 0;
}

/* Of a driver before 450. */
static void *old(const char *name)
{
	if (!strcmp(name, "nvmlDeviceGetComputeRunningProcesses"))
		return (void *)old_processes;
	return strstr(name, "Processes") ? NULL : full(name);
}

static void *none(const char *name)
{
	(void)name;
	return NULL;
}

static const struct gpu made_up = {.visible = 1,
        .name = "Test GPU",
        .uuid = "GPU-0123",
        .pci = "0000:17:00.0",
        .major = 9,
        .sm_count = 132,
        .device_sms = 132,
        .memory_bytes = INT64_C(80) << 30,
        .free_bytes = INT64_C(79) << 30,
        .ecc = true};

static void test_library(void)
{
	struct nvml_facts facts;

	nvml_look_up_in(full);
	ok(nvml_read(made_up.pci, &facts) && facts.sm_mhz == 1500 && facts.memory_mhz == 2600 &&
	                facts.power_milliwatt == 123456,
	        "a full library: clocks and power are known");
	is_text(facts.driver, "999.1", "and the driver");
	ok(facts.temperature == -1 && facts.throttle_reasons == ~0ull,
	        "functions that it lacks leave their facts unknown");
	ok(facts.processes == 0 && gpu_other_users(&made_up) <= 0, "nobody else is there");
	others = 2;
	ok(nvml_other_processes(made_up.pci) == 2, "two others are");
	in_slices = 1;
	ok(nvml_other_processes(made_up.pci) == 0, "in other slices of the GPU they do not count");
	in_slices = 0;
	nvml_look_up_in(old);
	ok(nvml_other_processes(made_up.pci) == 2, "an old library lists them, too");
	nvml_look_up_in(full);
	others = 0;
	ok(!nvml_read("0000:00:00.0", &facts) && facts.sm_mhz == -1 && facts.processes == -1,
	        "Jetson: a GPU that the library does not know has no facts, which is no error");
	in_slices = 1;
	ok(nvml_read(made_up.pci, &facts) && facts.mig == 1, "slices are told");
	in_slices = 0;
	virtual = NVML_VIRTUAL;
	hides = NOT_SUPPORTED;
	ok(nvml_read(made_up.pci, &facts) && facts.virtualization == NVML_VIRTUAL &&
	                facts.sm_mhz == -1 && facts.power_milliwatt == -1 && facts.processes == -1,
	        "a virtual GPU that hides its counters: they are unknown");
	hides = virtual = 0;
	nvml_look_up_in(few);
	ok(nvml_read(made_up.pci, &facts) && facts.sm_mhz == 1500 && facts.mig == -1 &&
	                facts.processes == -1,
	        "WSL: what its library lacks is unknown, the rest is read");
	nvml_look_up_in(none);
	ok(!nvml_read(made_up.pci, &facts) && !facts.driver[0], "no library: nothing is known");
	nvml_look_up_in(NULL);
}

/* ---- warnings ---- */

/* What is said about the GPU, each sentence on a line. */
static const char *warned(
        const struct gpu *gpu, nvml_lookup library, const char *mps, const char *kernel)
{
	static char all[4096];
	struct gpu_warnings warnings;
	struct nvml_facts facts;
	nvml_look_up_in(library);
	const bool found = nvml_read(gpu->pci, &facts);
	nvml_look_up_in(NULL);
	const struct gpu_surroundings around = {
	        gpu, &facts, found, mps, getenv("CUDA_VISIBLE_DEVICES"), kernel};
	size_t length = 0;

	gpu_warnings_find(&around, &warnings);
	all[0] = '\0';
	for (int i = 0; i < warnings.count; i++)
		length += (size_t)snprintf(
		        all + length, sizeof all - length, "%s\n", warnings.text[i].text);
	return all;
}

static void says(const char *said, const char *words, const char *what)
{
	const char *end = strchr(said, '\n');
	if (!ok(strstr(said, words) && end && !end[1], "%s: one warning, with the reason", what))
		diag("said: %s", said);
}

static void test_warnings(void)
{
	static const char linux_kernel[] = "6.8.0-generic",
	                  wsl_kernel[] = "5.15.153.1-microsoft-standard-WSL2";
	struct gpu gpu = made_up;

	unsetenv("CUDA_VISIBLE_DEVICES");
	is_text(warned(&gpu, full, NULL, linux_kernel), "", "an ordinary GPU: nothing is said");
	gpu.ecc = false;
	is_text(warned(&gpu, full, NULL, linux_kernel), "", "ECC off is a fact, no warning");
	says(warned(&gpu, full, "25", linux_kernel), "PERCENTAGE=25: under MPS", "a part by MPS");
	is_text(warned(&gpu, full, "100", linux_kernel), "", "all by MPS: nothing is said");
	gpu.visible = 2;
	is_text(warned(&gpu, full, NULL, linux_kernel), "", "two GPUs that are alike: nothing");
	gpu.unlike = true;
	says(warned(&gpu, full, NULL, linux_kernel),
	        "2 visible GPUs are not alike, and this is GPU 0 (Test GPU)", "two unlike GPUs");
	gpu = made_up;
	says(warned(&gpu, none, NULL, linux_kernel), "libnvidia-ml.so.1", "no NVML");
	says(warned(&gpu, few, NULL, linux_kernel), "does not say who else", "NVML with gaps");
	virtual = NVML_VIRTUAL;
	hides = NO_PERMISSION;
	says(warned(&gpu, full, NULL, linux_kernel), "virtual GPU", "a virtual GPU");
	virtual = hides = 0;
	gpu.kernel_timeout = true;
	says(warned(&gpu, full, NULL, linux_kernel), "drives a display", "a display");
	says(warned(&gpu, full, NULL, wsl_kernel), "this is WSL",
	        "WSL, where kernels are ended, too");
	gpu = made_up;
	gpu.integrated = true;
	says(warned(&gpu, full, NULL, linux_kernel), "uses the host's memory", "integrated memory");
	gpu = made_up;
	gpu.free_bytes = INT64_C(3) << 30;
	says(warned(&gpu, full, NULL, linux_kernel), "only 3.22 of 85.9 GB", "little free memory");
	gpu.free_bytes = -1;
	is_text(warned(&gpu, full, NULL, linux_kernel), "", "unknown free memory: nothing is said");

	setenv("CUDA_VISIBLE_DEVICES", "0", 1);
	is_text(warned(&made_up, full, NULL, linux_kernel), "", "one GPU asked for, one visible");
	setenv("CUDA_VISIBLE_DEVICES", "0,9", 1);
	says(warned(&made_up, full, NULL, linux_kernel), "CUDA shows 1 of the 2 GPUs",
	        "a list with a wrong entry");
	unsetenv("CUDA_VISIBLE_DEVICES");

	struct gpu all = {.visible = 3,
	        .name = "All at once",
	        .unlike = true,
	        .integrated = true,
	        .kernel_timeout = true,
	        .memory_bytes = 1 << 30};
	struct gpu_warnings warnings;
	const struct nvml_facts unknown = {.processes = -1};
	const struct gpu_surroundings around = {&all, &unknown, false, "10", "0,1,2,3", wsl_kernel};
	gpu_warnings_find(&around, &warnings);
	ok(warnings.count == 7 && warnings.count <= GPU_WARNINGS, "all at once have room");
}

static void test_percentage(void)
{
	static const char *const no_part[] = {"", "0", "100", "150", "-5", "ten", "25%", NULL};

	is_real(gpu_mps_percentage("25"), 25, 0, "a percentage");
	ok(gpu_sm_numbers(132, NULL) == 132 && gpu_sm_numbers(132, "100") == 132,
	        "a whole device: numbers of multiprocessors are below their count");
	ok(gpu_sm_numbers(34, "25") >= 132, "a part by MPS: they may be larger");
	is_real(gpu_mps_percentage("12.5"), 12.5, 0, "with a fraction");
	for (size_t i = 0; i < ARRAY_LEN(no_part); i++)
		is_real(gpu_mps_percentage(no_part[i]), 0, 0,
		        no_part[i] ? no_part[i] : "not set: no part");
}

/* ---- the facts table ---- */

static const char *value_of(const struct table *facts, const char *key)
{
	for (size_t row = 0; row < facts->row_count; row++)
		if (!strcmp(table_text(facts, row, "key"), key))
			return table_text(facts, row, "value");
	return NULL;
}

static void is_fact(const struct gpu *gpu, const char *key, const char *want)
{
	struct table *facts = machine_describe(gpu, NULL);
	is_text(value_of(facts, key), want, key);
	table_free(facts);
}

static void test_facts(void)
{
	struct gpu gpu = made_up;
	char whole[32];

	unsetenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
	snprintf(whole, sizeof whole, "%s", machine_id(&gpu));
	nvml_look_up_in(full);
	is_fact(&gpu, "gpu.ecc", "yes");
	is_fact(&gpu, "gpu.integrated", "no");
	is_fact(&gpu, "gpu.kernel_timeout", "no");
	is_fact(&gpu, "gpu.others_unlike", "no");
	is_fact(&gpu, "gpu.mps_percentage", "none");
	is_fact(&gpu, "gpu.virtualization", "none");
	is_fact(&gpu, "gpu.clock.now_hz", "1500000000");
	is_fact(&gpu, "gpu.other_processes", "0");
	gpu.ecc = false;
	gpu.integrated = gpu.kernel_timeout = gpu.unlike = true;
	virtual = NVML_VIRTUAL;
	hides = NOT_SUPPORTED;
	is_fact(&gpu, "gpu.ecc", "no");
	is_fact(&gpu, "gpu.integrated", "yes");
	is_fact(&gpu, "gpu.kernel_timeout", "yes");
	is_fact(&gpu, "gpu.others_unlike", "yes");
	is_fact(&gpu, "gpu.virtualization", "virtual GPU");
	is_fact(&gpu, "gpu.clock.now_hz", "unknown");
	is_fact(&gpu, "gpu.power_watt", "unknown");
	is_fact(&gpu, "gpu.other_processes", "unknown");
	is_text(machine_id(&gpu), whole, "none of it makes another machine");
	nvml_look_up_in(NULL);
	setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25", 1);
	is_fact(&gpu, "gpu.mps_percentage", "25");
	ok(strcmp(machine_id(&gpu), whole) != 0 && !strncmp(machine_id(&gpu), whole, 8),
	        "a part by MPS is a machine of its own, with the same host");
	unsetenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
}

int main(void)
{
	test_refused();
	test_library();
	test_warnings();
	test_percentage();
	test_facts();
	return finish();
}
