/* SPDX-License-Identifier: MIT */
/* The facts table with and without a GPU, what every file is stamped with, what makes a profile
 * stale, which folder readers choose, and which device the user means. The GPU here is made up: no
 * hardware is asked. */
#include "lib/device/gpu_select.h"
#include "lib/device/machine.h"
#include "scratch.h"

static const struct gpu made_up = {.visible = 2,
        .name = "Test GPU",
        .uuid = "GPU-0123",
        .pci = "ffff:ff:1f.0",
        .major = 9,
        .minor = 0,
        .sm_count = 132,
        .l2_bytes = 50 << 20,
        .max_hz = 1.98e9,
        .max_cluster = 16,
        .driver = 13000,
        .runtime = 12080,
        .cooperative = true,
        .clusters = true};

static const char *value_of(const struct table *facts, const char *key)
{
	for (size_t row = 0; row < facts->row_count; row++)
		if (!strcmp(table_text(facts, row, "key"), key))
			return table_text(facts, row, "value");
	return NULL;
}

static void has_keys(const struct table *facts, const char *const *key, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ok(value_of(facts, key[i]) != NULL, "%s is there", key[i]);
}

static void test_host_only(void)
{
	static const char *const key[] = {"machine", "host.name", "host.cpu", "host.sockets",
	        "host.numa_nodes", "host.cores", "host.threads", "host.l1d.bytes", "host.l2.bytes",
	        "host.l3.bytes", "host.memory.bytes", "host.virtualization", "host.governor",
	        "host.kernel", "host.binding", "host.blas.path", "host.blas.config",
	        "host.blas.core", "host.blas.core_by", "host.blas.threads", "host.lapack.path"};
	struct table *facts = machine_describe(NULL, "none was built in");
	has_keys(facts, key, ARRAY_LEN(key));
	is_text(value_of(facts, "gpu.name"), "none", "no GPU is said");
	is_text(value_of(facts, "gpu.reason"), "none was built in", "with the reason");
	bool filled = true, unique = true;
	for (size_t i = 0; i < facts->row_count; i++) {
		filled = filled && table_text(facts, i, "value")[0];
		for (size_t j = 0; j < i; j++)
			unique = unique &&
			         strcmp(table_text(facts, i, "key"), table_text(facts, j, "key"));
	}
	ok(filled, "every fact has a value, if only \"unknown\"");
	ok(unique, "no key comes twice");
	ok(strchr(value_of(facts, "host.blas.path"), '/') != NULL, "the BLAS library is a file: %s",
	        value_of(facts, "host.blas.path"));
	ok(strchr(value_of(facts, "host.lapack.path"), '/') != NULL, "so is the LAPACK library: %s",
	        value_of(facts, "host.lapack.path"));
	table_free(facts);
	setenv("OPENBLAS_CORETYPE", "Haswell", 1);
	facts = machine_describe(NULL, "none was built in");
	is_text(value_of(facts, "host.blas.core_by"), "OPENBLAS_CORETYPE",
	        "who has chosen the BLAS library's kernels is said");
	table_free(facts);
	unsetenv("OPENBLAS_CORETYPE");
	facts = machine_describe(NULL, "none was built in");
	is_text(value_of(facts, "host.blas.core_by"), "OpenBLAS", "if only itself");
	table_free(facts);
}

static void test_with_gpu(void)
{
	static const char *const key[] = {"gpu.uuid", "gpu.pci", "gpu.locality", "gpu.driver",
	        "gpu.persistence", "gpu.mig", "gpu.throttle_reasons", "gpu.other_processes",
	        "gpu.ecc"};
	struct table *facts = machine_describe(&made_up, NULL);
	has_keys(facts, key, ARRAY_LEN(key));
	is_text(value_of(facts, "gpu.name"), "Test GPU", "its name");
	is_text(value_of(facts, "gpu.visible"), "2", "how many there are");
	is_text(value_of(facts, "gpu.compute_capability"), "9.0", "compute capability");
	is_text(value_of(facts, "gpu.cuda.runtime"), "12.8", "runtime version");
	is_text(value_of(facts, "gpu.l2.bytes"), "52428800", "sizes in bytes, in full");
	is_text(value_of(facts, "gpu.clock.highest_hz"), "1980000000", "clocks in Hz, in full");
	is_text(value_of(facts, "gpu.power_watt"), "unknown", "what NVML cannot tell is unknown");
	ok(value_of(facts, "gpu.reason") == NULL, "no reason where there is a GPU");
	table_free(facts);
}

/* As earlier versions made ids. */
static uint32_t digest(uint32_t start, const char *text)
{
	do
		start = (start ^ (unsigned char)*text) * 16777619u;
	while (*text++);
	return start;
}

static void test_id(void)
{
	char alone[32], with[32];
	snprintf(alone, sizeof alone, "%s", machine_id(NULL));
	snprintf(with, sizeof with, "%s", machine_id(&made_up));
	ok(strlen(alone) == 8 && strspn(alone, "0123456789abcdef") == 8, "a short hex id");
	ok(strlen(with) == 17 && !strncmp(alone, with, 8) && with[8] == '-', "a GPU adds its own");
	is_text(machine_id(&made_up), with, "and it stays the same");
	ok(machine_same(with, with) && machine_same(alone, with) && machine_same(with, alone),
	        "host and GPU files of one machine belong together");
	ok(machine_is_here(with, &made_up) && machine_is_here(alone, &made_up), "it is here");
	ok(!machine_is_here("01234567-89abcdef", &made_up), "another one is not");
	char name[256] = "";
	gethostname(name, sizeof name - 1);
	struct table *facts = machine_describe(&made_up, NULL);
	char by_name[32];
	snprintf(by_name, sizeof by_name, "%08x%s",
	        digest(digest(2166136261u, name), value_of(facts, "host.cpu")), with + 8);
	ok(strcmp(by_name, with) != 0, "the id does not depend on the host's name");
	ok(machine_is_here(by_name, &made_up), "ids of earlier versions, which did, stay valid");
	table_free(facts);
	ok(!machine_same("01234567-89abcdef", "01234567-89abcdee"), "another GPU does not");
	ok(!machine_same("01234567", "01234568-89abcdef"), "nor another host");
	ok(machine_same_host("01234567-89abcdef", "01234567-00000000") &&
	                !machine_same_host("01234567-89abcdef", "01234568-89abcdef") &&
	                !machine_same_host(NULL, "01234567"),
	        "hosts that are alike, with other GPUs");
	ok(!machine_same("0123", "01234567") && !machine_same("", "01234567"), "nor half an id");
}

static struct table *stamped(const struct gpu *gpu)
{
	static const char *const column[] = {"key"};
	char *argv[] = {"launch", "--output", "a folder", "it's", "", NULL};
	struct table *table = table_new(column, 1);
	machine_stamp(table, "launch", gpu, 5, argv);
	return table;
}

static void test_stamp(void)
{
	static const char *const key[] = {
	        "program", "fathom", "machine", "host", "cpu", "date", "command"};
	static const char *const gpu_key[] = {"gpu_uuid", "gpu_locality", "driver", "cuda"};
	struct table *table = stamped(NULL);
	for (size_t i = 0; i < ARRAY_LEN(key); i++)
		ok(table_meta(table, key[i]) != NULL, "a file says %s", key[i]);
	is_text(table_meta(table, "gpu"), "none", "gpu: none");
	is_text(table_meta(table, "command"), "launch --output 'a folder' 'it'\\''s' ''",
	        "the command can be pasted into a shell");
	table_free(table);
	table = stamped(&made_up);
	for (size_t i = 0; i < ARRAY_LEN(gpu_key); i++)
		ok(table_meta(table, gpu_key[i]) != NULL, "with a GPU it says %s", gpu_key[i]);
	is_text(table_meta(table, "gpu"), "Test GPU", "gpu: its name");
	table_free(table);
}

/* What machine_stale says when the profile's `key` reads `value`. */
static void stale(const char *key, const char *value, const char *words)
{
	struct table *profile = stamped(&made_up);
	table_meta_set(profile, key, "%s", value);
	const char *said = machine_stale(profile, &made_up);
	ok(said && strstr(said, words) && strstr(said, value), "%s: %s", key,
	        said ? said : "fresh");
	table_free(profile);
}

static void test_stale(void)
{
	static const char *const column[] = {"parameter"};
	struct table *profile = stamped(&made_up);
	is_text(machine_stale(profile, &made_up), NULL, "a profile of this machine is fresh");
	const char *said = machine_stale(profile, NULL);
	ok(said && strstr(said, "Test GPU") && strstr(said, "none"), "no GPU now: %s", said);
	table_free(profile);

	stale("gpu", "Other GPU", "GPU");
	stale("machine", "01234567-89abcdef", "machine");
	stale("driver", "1.2.3", "driver");
	stale("cuda", "9.9", "CUDA runtime");
	stale("processors", "7777", "processors");

	profile = stamped(NULL);
	is_text(machine_stale(profile, NULL), NULL, "a host's own profile is fresh without a GPU");
	table_free(profile);
	profile = table_new(column, 1);
	said = machine_stale(profile, NULL);
	ok(said && strstr(said, "does not say"), "nothing known: %s", said);
	table_free(profile);
}

static void chooses(const char *root, const char *folder, const char *why)
{
	char want[256], choice[MACHINE_CHOICE];
	snprintf(want, sizeof want, "%s%s%s", root, root[0] ? "/" : "", folder);
	is_text(machine_data_choose(choice), want, folder);
	ok(strstr(choice, folder) && strstr(choice, why), "and says so: %s", choice);
}

static void test_data_folder(void)
{
	const char *root = scratch;
	scratch_open();
	unsetenv("FATHOM_DATA");
	unsetenv("MACHINE");
	setenv("FATHOM_HOME", root, 1);
	chooses(root, RECORDED, "not measured yet");
	put_text("data/local/other.tsv", "");
	chooses(root, RECORDED, "not measured yet");
	put_text("data/local/profile.tsv", "");
	chooses(root, "data/local", "measured here");
	setenv("MACHINE", "other", 1);
	chooses(root, "data/other", "MACHINE");
	setenv("FATHOM_DATA", "/some/where", 1);
	chooses("", "/some/where", "FATHOM_DATA");
	is_text(machine_data_folder(), "/some/where", "the short form agrees");
	unsetenv("FATHOM_DATA");
	unsetenv("MACHINE");
	if (ok(chdir(root) == 0, "from inside the root"))
		chooses("", "data/local", "measured here");
	put_text("user/data/local/profile.tsv", "");
	char *user = xasprintf("%s/user", root);
	if (ok(chdir(user) == 0, "from a folder with a profile of its own"))
		chooses("", "data/local", "measured here");
	free(user);
	scratch_close();
}

/* ---- which device the user means ---- */

static const struct gpu_identity devices[] = {
        {"GPU-1a2b3c4d-0000-1111-2222-333344445555", "0000:17:00.0"},
        {"GPU-1a2bffff-0000-1111-2222-333344445555", "0000:AB:00.0"},
        {"GPU-9e000000-0000-1111-2222-333344445555", "0001:17:00.0"},
        /* two slices of one GPU, which has one address */
        {"GPU-77000000-aaaa-1111-2222-333344445555", "0000:C1:00.0"},
        {"GPU-78000000-aaaa-1111-2222-333344445555", "0000:C1:00.0"}};

static const struct {
	const char *text;
	int device;
} selected[] = {{"0", 0}, {"4", 4}, {"GPU-1a2b3c4d-0000-1111-2222-333344445555", 0},
        {"gpu-1A2BF", 1}, {"GPU-9", 2}, {"MIG-78", 4}, {"0000:17:00.0", 0}, {"17:00.0", 0},
        {"17:00", 0}, {"0001:17:00.0", 2}, {"00000001:17:00", 2}, {"ab:00.0", 1}};

static const struct {
	const char *text;
	int count; /* of visible devices */
	const char *why;
} refused[] = {{"GPU-1a2b", 5, "no single GPU GPU-1a2b: 2 devices"},
        {"c1:00.0", 5, "no single GPU c1:00.0: 2 devices"},
        {"5", 5, "the visible devices are 0 to 4"}, {"1", 1, "the only visible device is 0"},
        {"-1", 5, "no GPU -1"}, {"0000:18:00.0", 5, "no GPU 0000:18:00.0"},
        {"17:00.1", 5, "no GPU 17:00.1"}, {"17:", 5, "no GPU 17:"}, {"GPU-", 1, "no GPU GPU-"},
        {"1a2b3c4d", 5, "no GPU 1a2b3c4d"}, {"", 5, "no GPU "}};

static void test_select(void)
{
	struct fault fault = {.text = ""};

	for (size_t i = 0; i < ARRAY_LEN(selected); i++) {
		const char *text = selected[i].text;
		const int got = gpu_select(text, devices, ARRAY_LEN(devices), &fault);
		ok(got == selected[i].device, "'%s' is %d (got %d)", text, selected[i].device, got);
	}
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		const char *text = refused[i].text, *why = refused[i].why;
		ok(gpu_select(text, devices, refused[i].count, &fault) == -1 &&
		                strstr(fault.text, why),
		        "'%s' of %d: %s (got '%s')", text, refused[i].count, why, fault.text);
	}
	unsetenv("CUDA_VISIBLE_DEVICES");
	ok(!gpu_show_slice("GPU-78") && !getenv("CUDA_VISIBLE_DEVICES"),
	        "a GPU is visible as it is");
	ok(gpu_show_slice("MIG-GPU-78/7/0"), "a slice by its GPU and instances is made visible");
	unsetenv("CUDA_VISIBLE_DEVICES");
	ok(gpu_show_slice("MIG-78"), "a slice is made the visible device");
	is_text(getenv("CUDA_VISIBLE_DEVICES"), "MIG-78", "for CUDA");
	ok(!gpu_show_slice("MIG-79"), "not where the user made another one visible");
}

int main(void)
{
	test_host_only();
	test_with_gpu();
	test_id();
	test_stamp();
	test_stale();
	test_data_folder();
	test_select();
	return finish();
}
