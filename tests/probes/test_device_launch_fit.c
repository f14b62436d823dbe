/* SPDX-License-Identifier: MIT */
/* The device_launch probe's fit: every parameter comes back from known curves, a missing one fails,
 * one that the device lacks is absent. */
#include "tests/fit_test.h"

static void test_known(void)
{
	static const struct timed_point points[] = {
	        {"tail", 1.4e-6}, {"fire", 0.8e-6}, {"chain", 2.2e-6}, {"host", 1.7e-6}};
	static const struct expected_row rows[] = {{"gpu.launch.device.tail", 1.4e-6, NULL},
	        {"gpu.launch.device.fire", 0.8e-6, NULL}, {"gpu.launch.device.chain", 2.2e-6, NULL},
	        {"gpu.launch.device.host", 1.7e-6, NULL}};
	struct table *curve = curve_new(NULL, 0);

	add_points(curve, points, ARRAY_LEN(points));
	FITS_ROWS(device_launch_fit, curve, rows);
}

static void test_lacking(void)
{
	static const struct expected_row rows[] = {{"gpu.launch.device.tail", 0, "absent"},
	        {"gpu.launch.device.fire", 0, "failed"}, {"gpu.launch.device.host", 1, "failed"}};
	struct table *curve = curve_new(NULL, 0);

	table_meta_set(curve, "unavailable.tail", "kernels do not launch kernels here");
	add_point(curve, 1, "host"); /* implausible */
	FITS_ROWS(device_launch_fit, curve, rows);
}

int main(void)
{
	test_known();
	test_lacking();
	return finish();
}
