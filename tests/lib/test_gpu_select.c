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

int main(void)
{
	struct fault fault = {""};

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
	ok(gpu_show_slice("MIG-78"), "a slice is made the visible device");
	is_text(getenv("CUDA_VISIBLE_DEVICES"), "MIG-78", "for CUDA");
	ok(!gpu_show_slice("MIG-79"), "not where the user made another one visible");
	return finish();
}
