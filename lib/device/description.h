/* SPDX-License-Identifier: MIT */
/* A device as a file describes it, for tests: FATHOM_TEST_DEVICE names a file of lines "KEY NUMBER"
 * (code sms threads_per_sm shared_per_sm shared_per_block max_cluster l2 integrated), and launchers
 * then keep within the smaller of it and the device. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

struct description {
	int64_t code, sms, threads_per_sm, shared_per_sm, shared_per_block, max_cluster, l2,
	        integrated;
};

/* False when the file cannot be read, lacks a key or has another one. */
bool description_read(const char *path, struct description *description);

C_END
