/* SPDX-License-Identifier: MIT */
/* Which device the user means, among made-up ones. */
#include "tests/tap.h"

#include "lib/device/gpu_select.h"

static const struct gpu_identity devices[] = {
        {"GPU-1a2b3c4d-0000-1111-2222-333344445555", "0000:17:00.0"},
        {"GPU-1a2bffff-0000-1111-2222-333344445555", "0000:AB:00.0"},
        {"GPU-9e000000-0000-1111-2222-333344445555", "0001:17:00.0"},
        /* two slices of one GPU, which has one address */
        {"GPU-77000000-aaaa-1111-2222-333344445555", "0000:C1:00.0"},
        {"GPU-78000000-aaaa-1111-2222-333344445555", "0000:C1:00.0"}};

static void is_device(const char *text, int want)
{
	struct fault fault;
	const int got = gpu_select(text, devices, ARRAY_LEN(devices), &fault);
	ok(got == want, "'%s' is %d (got %d)", text, want, got);
}

static void is_fault(const char *text, int count, const char *why)
{
	struct fault fault = {""};
	ok(gpu_select(text, devices, count, &fault) == -1 && strstr(fault.text, why),
	        "'%s' of %d: %s (got '%s')", text, count, why, fault.text);
}

int main(void)
{
	is_device("0", 0);
	is_device("4", 4);
	is_device("GPU-1a2b3c4d-0000-1111-2222-333344445555", 0);
	is_device("gpu-1A2BF", 1);
	is_device("GPU-9", 2);
	is_device("MIG-78", 4);
	is_device("0000:17:00.0", 0);
	is_device("17:00.0", 0);
	is_device("17:00", 0);
	is_device("0001:17:00.0", 2);
	is_device("00000001:17:00", 2);
	is_device("ab:00.0", 1);
	is_fault("GPU-1a2b", 5, "no single GPU GPU-1a2b: 2 devices");
	is_fault("c1:00.0", 5, "no single GPU c1:00.0: 2 devices");
	is_fault("5", 5, "the visible devices are 0 to 4");
	is_fault("1", 1, "the only visible device is 0");
	is_fault("-1", 5, "no GPU -1");
	is_fault("0000:18:00.0", 5, "no GPU 0000:18:00.0");
	is_fault("17:00.1", 5, "no GPU 17:00.1");
	is_fault("17:", 5, "no GPU 17:");
	is_fault("GPU-", 1, "no GPU GPU-");
	is_fault("1a2b3c4d", 5, "no GPU 1a2b3c4d");
	is_fault("", 5, "no GPU ");
	unsetenv("CUDA_VISIBLE_DEVICES");
	ok(!gpu_show_slice("GPU-78") && !getenv("CUDA_VISIBLE_DEVICES"),
	        "a GPU is visible as it is");
	ok(gpu_show_slice("MIG-78"), "a slice is made the visible device");
	is_text(getenv("CUDA_VISIBLE_DEVICES"), "MIG-78", "for CUDA");
	ok(!gpu_show_slice("MIG-79"), "not where the user made another one visible");
	return finish();
}
