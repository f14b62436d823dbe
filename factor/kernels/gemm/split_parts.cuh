/* SPDX-License-Identifier: MIT */
/* Two operands split in one kernel: the blocks of threads of the second follow those of the first.
 * A `part` describes one of them to a kernel, with its number of blocks. */
#pragma once

#include "tf32.h"

namespace
{

template <typename part> struct parts {
	part first, second;

	int64_t blocks(void) const
	{
		return first.blocks + second.blocks;
	}
};

template <typename part>
parts<part> parts_of(const struct splits *splits, part (*part_of)(const struct splitting &))
{
	parts<part> all = {};
	if (splits->count > 0)
		all.first = part_of(splits->of[0]);
	if (splits->count > 1)
		all.second = part_of(splits->of[1]);
	return all;
}

} // namespace
