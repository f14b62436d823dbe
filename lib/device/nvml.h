/* SPDX-License-Identifier: MIT */
/* The few facts that only the driver's management library knows, through dlopen: absent library or
 * symbol means "unknown", never an error. The device is found by PCI bus id, not by index. */
#ifndef FATHOM_NVML_H
#define FATHOM_NVML_H

#include "lib/base/base.h"

struct nvml_facts {
	char driver[80];        /* "" when unknown */
	int sm_mhz, memory_mhz; /* current clocks; -1 unknown */
	int max_sm_mhz;
	int power_milliwatt, power_limit_milliwatt;
	int temperature;                     /* degrees C */
	int persistence, mig;                /* 0, 1, -1 unknown */
	unsigned long long throttle_reasons; /* bit mask as NVML defines it; ~0 unknown */
	int processes;                       /* other compute processes on the device; -1 unknown */
};

/* Reads the facts of the device with this PCI bus id ("00000000:17:00.0"). False when NVML is not
 * there; the facts are then all unknown. */
bool nvml_read(const char *pci, struct nvml_facts *facts);

/* One of them alone: the driver's version, and how many other processes use the device. */
void nvml_driver(char version[80]);
int nvml_other_processes(const char *pci);

#endif
