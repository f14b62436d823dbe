/* SPDX-License-Identifier: MIT */
/* Facts of a compute capability that no function of CUDA reports. Multiply-adds without tensor
 * cores: CUDA C++ Programming Guide, throughput of native arithmetic instructions. Those of tensor
 * cores: the architectures' white papers, peak rates without sparsity over multiprocessors and
 * boost clock. Clusters: CUDA C++ Programming Guide, technical specifications. */
#pragma once

struct architecture {
	int capability; /* 10 x major + minor */
	/* fused multiply-adds of a multiprocessor in a cycle; 0: its tensor cores have none */
	int fp32, fp64, fp64_tensor, tf32;
	int max_cluster; /* blocks of a cluster; 1: no clusters */
};

/* The architecture itself, or the last known one before it (7.5 for all older ones). */
const struct architecture *architecture_of(int capability);
