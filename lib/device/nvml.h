/* SPDX-License-Identifier: MIT */
/* Facts of the driver's management library (NVML), through dlopen: without the library or a symbol
 * they are unknown, which is no error. The device is found by its PCI bus id. */
#pragma once

#include "lib/base/base.h"

enum { NVML_VIRTUAL = 2 };

struct nvml_facts {
	char driver[80];        /* "" when unknown */
	int sm_mhz, memory_mhz; /* current clocks; -1 unknown */
	int max_sm_mhz;
	int power_milliwatt, power_limit_milliwatt;
	int temperature;                     /* degrees C */
	int persistence, mig;                /* 0, 1, -1 unknown */
	unsigned long long throttle_reasons; /* bit mask as NVML defines it; ~0 unknown */
	int virtualization; /* NVML_VIRTUAL: a virtual GPU, whose counters may be hidden; 0: none,
	                       1: a whole GPU given to a virtual machine; -1 unknown */
	int processes;      /* other compute processes on the device; -1 unknown */
};

/* Reads the facts of the device with this PCI bus id ("00000000:17:00.0"). False without NVML; all
 * facts are then unknown. */
bool nvml_read(const char *pci, struct nvml_facts *facts);

/* Single facts: the driver's version; the number of other processes on the device. */
void nvml_driver(char version[80]);
int nvml_other_processes(const char *pci);

/* Takes the library's functions from elsewhere (for tests): lookup returns the function of that
 * name, or NULL. NULL: from the driver's library. */
typedef void *(*nvml_lookup)(const char *name);
void nvml_look_up_in(nvml_lookup lookup);
