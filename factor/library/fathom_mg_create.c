/* SPDX-License-Identifier: MIT */
/* Groups of GPUs. */
#include "fathom_mg_group.h"

#include "factor/algorithms/plan_default.h"
#include "factor/distributed/comm_nccl.h"
#include "factor/executors/cuda/executor_cuda.h"
#include "lib/base/msg.h"
#include "lib/device/current.h"
#include "lib/device/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FATHOM_MG_ID_BYTES == sizeof(struct nccl_id), "an id is NCCL's");

/* In the thread of a call. */
static bool enter_gpu(struct mg_member *m)
{
	struct cuda *x = self(m->e);

	if (!cuda_ok(x, (int)cudaSetDevice(m->device), "use the GPU"))
		return false;
	gpu_limit_sms(x->gpu.sm_count);
	return true;
}

/* The executor, with what its panels would otherwise allocate. */
static bool open_member(struct mg_member *m, int device)
{
	struct fault *fault = mg_create_fault();
	char name[16];

	snprintf(name, sizeof name, "%d", device);
	cudaSetDevice(device); /* the primary context, which the members' threads enter */
	struct cuda *x = cuda_new(name, fault);
	if (!x)
		return false;
	*m = (struct mg_member){.e = &x->base, .device = device};
	if (cuda_reserve_exchange(x, DEFAULT_LU_LEAF) && cuda_sync(m->e))
		return true;
	*fault = m->e->fault;
	return false;
}

/* Takes the members, of which those with an executor are open. */
static enum fathom_status close_members(
        struct mg_member *members, int count, enum fathom_status status)
{
	for (int i = 0; i < count; i++) {
		if (members[i].e)
			cudaSetDevice(members[i].device);
		comm_free(members[i].comm);
		executor_free(members[i].e);
	}
	free(members);
	return status;
}

static bool alike(const struct mg_member *members, int count)
{
	const struct gpu *first = &self(members[0].e)->gpu;

	for (int i = 1; i < count; i++) {
		const struct gpu *other = &self(members[i].e)->gpu;
		if (strcmp(first->name, other->name) != 0 || first->sm_count != other->sm_count)
			return fault_set(mg_create_fault(),
			        "GPUs of a group are of one kind: %d is %s with %d "
			        "multiprocessors, "
			        "%d is %s with %d",
			        first->device, first->name, first->sm_count, other->device,
			        other->name, other->sm_count);
	}
	return true;
}

static bool connect_members(struct mg_member *members, int count, const int *devices)
{
	struct fault *fault = mg_create_fault();
	struct comm **comms = calloc((size_t)count, sizeof *comms);
	bool ok = true;

	if (!comms)
		return fault_set(fault, "out of host memory");
	if (count == 1) {
		comms[0] = comm_self_new(fault);
		ok = comms[0] != NULL;
	} else {
		ok = comm_nccl_all(comms, count, devices, COMM_SECONDS, fault);
	}
	for (int i = 0; i < count; i++)
		members[i].comm = comms[i];
	free(comms);
	return ok;
}

/* NCCL then copies through host memory. */
static void note_peers(struct fathom_mg *group, const int *devices)
{
	for (int i = 0; i < group->count; i++)
		for (int j = 0; j < group->count; j++) {
			int access = 1;
			if (i != j)
				cudaDeviceCanAccessPeer(&access, devices[i], devices[j]);
			if (access)
				continue;
			snprintf(group->note, sizeof group->note,
			        "GPU %d has no access to the memory of GPU %d: panels go through "
			        "host memory",
			        devices[i], devices[j]);
			return;
		}
}

static enum fathom_status no_memory(void)
{
	fault_set(mg_create_fault(), "out of host memory");
	return FATHOM_FAILED;
}

/* Opens and connects in the caller's thread, whose GPU stays current. */
static enum fathom_status create(
        struct fathom_mg **group, struct mg_member *members, int count, const int *devices)
{
	int opened = 0;

	while (opened < count && open_member(&members[opened], devices[opened]))
		opened++;
	if (opened < count)
		return close_members(members, count, FATHOM_NOT_POSSIBLE);
	if (!alike(members, count) || !connect_members(members, count, devices))
		return close_members(members, count, FATHOM_NOT_POSSIBLE);
	*group = mg_group(members, count, enter_gpu);
	if (!*group)
		return close_members(members, count, no_memory());
	note_peers(*group, devices);
	cudaGetLastError(); /* the next kernel's launch has not failed */
	return FATHOM_OK;
}

static enum fathom_status refuse(const char *why)
{
	fault_set(mg_create_fault(), "%s", why);
	return FATHOM_BAD_ARGUMENT;
}

enum fathom_status fathom_mg_create(struct fathom_mg **group, int count, const int *devices)
{
	int current = -1;

	if (!group)
		return refuse("the place for the group is NULL");
	*group = NULL;
	if (count < 1 || !devices)
		return refuse("a group has at least one GPU");
	for (int i = 0; i < count; i++)
		for (int j = 0; j < i; j++)
			if (devices[i] == devices[j])
				return refuse("a GPU is twice in the group");
	struct mg_member *members = calloc((size_t)count, sizeof *members);
	if (!members)
		return no_memory();
	const CUcontext context = driver_context();
	const bool had = cudaGetDevice(&current) == cudaSuccess;
	enum fathom_status status = create(group, members, count, devices);
	if (context)
		driver_set_context(context);
	else if (had)
		cudaSetDevice(current);
	gpu_limit_sms(0);
	return status;
}

enum fathom_status fathom_mg_id(char id[FATHOM_MG_ID_BYTES])
{
	struct nccl_id made;

	if (!id)
		return refuse("the place for the id is NULL");
	if (!comm_nccl_id(&made, mg_create_fault()))
		return FATHOM_NOT_POSSIBLE;
	memcpy(id, made.bytes, sizeof made.bytes);
	return FATHOM_OK;
}

static enum fathom_status create_rank(
        struct fathom_mg **group, int device, int rank, int ranks, struct nccl_id id)
{
	struct mg_member *m = calloc(1, sizeof *m);

	if (!m)
		return no_memory();
	if (!open_member(m, device))
		return close_members(m, 1, FATHOM_NOT_POSSIBLE);
	m->comm = comm_nccl_rank(rank, ranks, id, COMM_SECONDS, mg_create_fault());
	if (!m->comm)
		return close_members(m, 1, FATHOM_FAILED);
	*group = mg_group(m, 1, enter_gpu);
	return *group ? FATHOM_OK : close_members(m, 1, no_memory());
}

enum fathom_status fathom_mg_create_rank(
        struct fathom_mg **group, int rank, int ranks, const char id[FATHOM_MG_ID_BYTES])
{
	struct nccl_id given;
	int device;

	if (!group)
		return refuse("the place for the group is NULL");
	*group = NULL;
	if (rank < 0 || rank >= ranks || !id)
		return refuse("a rank is one of 0 .. ranks - 1, and has an id");
	if (cudaGetDevice(&device) != cudaSuccess) {
		refuse("no GPU");
		return FATHOM_NOT_POSSIBLE;
	}
	memcpy(given.bytes, id, sizeof given.bytes);
	const CUcontext context = driver_context();
	const enum fathom_status status = create_rank(group, device, rank, ranks, given);
	if (context)
		driver_set_context(context);
	gpu_limit_sms(0);
	return status;
}
