/* SPDX-License-Identifier: MIT */
#include "gpu_usable.h"

#include "lib/base/msg.h"

/* What is wrong and what to do; NULL for errors that CUDA's own text explains. */
static const char *remedy(int error)
{
	switch (error) {
	case GPU_ERROR_MEMORY:
		return "too little memory is free, on the GPU or on the host: stop what uses it";
	case GPU_ERROR_START:
		return "CUDA cannot start: look whether nvidia-smi works, and restart the machine "
		       "after an update of the driver";
	case GPU_ERROR_STUB:
		return "the toolkit's stub was found in place of the driver's library: take the "
		       "folder stubs out of LD_LIBRARY_PATH";
	case GPU_ERROR_UNAVAILABLE:
		return "another process has the GPU for itself alone: end that process, or set the "
		       "compute mode to default (nvidia-smi -c 0)";
	case GPU_ERROR_NO_LICENCE:
		return "the virtual GPU has no licence: ask the administrator for one";
	case GPU_ERROR_ECC:
		return "the GPU's memory has an error that ECC cannot correct: reset the GPU "
		       "(nvidia-smi -r), or use another one";
	case GPU_ERROR_FABRIC:
		return "the links between the GPUs are not ready: start nvidia-fabricmanager, or "
		       "wait until it has started";
	case GPU_ERROR_MISMATCH:
		return "the driver's kernel module and its library are of different versions: "
		       "restart the machine";
	case GPU_ERROR_COMPATIBILITY:
		return "the package cuda-compat does not support this GPU: remove it from "
		       "LD_LIBRARY_PATH, and install a newer driver";
	case GPU_ERROR_MPS_CONNECTION:
	case GPU_ERROR_MPS_NOT_READY:
		return "the MPS server does not answer: start it (nvidia-cuda-mps-control -d), or "
		       "end it and unset CUDA_MPS_PIPE_DIRECTORY";
	case GPU_ERROR_MPS_CLIENTS:
	case GPU_ERROR_MPS_CONNECTIONS:
		return "the MPS server has as many clients as it takes: end one of them";
	default:
		return NULL;
	}
}

static bool none_visible(const struct gpu_opening *o, struct fault *fault)
{
	static const char what_to_do[] =
	        "unset it, or set it to the number or the UUID of a GPU that nvidia-smi -L lists";

	if (o->slice)
		return fault_set(fault,
		        "no GPU: CUDA finds no slice %.100s: nvidia-smi -L lists the slices",
		        o->slice);
	if (!o->visible)
		return fault_set(fault,
		        "no GPU: the driver sees none: look whether nvidia-smi -L lists one; a "
		        "container needs --gpus all, a GPU in MIG mode needs a slice");
	if (!o->visible[0])
		return fault_set(fault,
		        "no GPU: CUDA_VISIBLE_DEVICES is empty and hides every GPU: %s",
		        what_to_do);
	return fault_set(fault, "no GPU: CUDA_VISIBLE_DEVICES=%.100s shows none: %s", o->visible,
	        what_to_do);
}

static bool no_driver(const struct gpu_opening *o, struct fault *fault)
{
	if (o->driver == 0)
		return fault_set(fault, "no GPU: no NVIDIA driver is found: install it; a "
		                        "container gets the host's with --gpus all");
	return fault_set(fault,
	        "no GPU: the driver is for CUDA %d.%d, this build for CUDA %d.%d: install a newer "
	        "driver, or build with an older toolkit (make CUDA_HOME=...)",
	        o->driver / 1000, o->driver % 1000 / 10, o->runtime / 1000, o->runtime % 1000 / 10);
}

static bool any_visible(const struct gpu_opening *o, struct fault *fault)
{
	const char *why = remedy(o->error);

	if (o->error == GPU_ERROR_OLD_DRIVER)
		return no_driver(o, fault);
	if (o->error == GPU_ERROR_NO_DEVICE || (o->error == 0 && o->count == 0))
		return none_visible(o, fault);
	if (o->error == 0)
		return true;
	return why ? fault_set(fault, "no GPU: %s", why)
	           : fault_set(fault, "no GPU: CUDA says '%s': look whether nvidia-smi works",
	                     o->error_text);
}

bool gpu_usable(const struct gpu_opening *o, struct fault *fault)
{
	const char *why = remedy(o->error);

	if (o->device < 0)
		return any_visible(o, fault);
	if (o->major < 7 || (o->major == 7 && o->minor < 5))
		return fault_set(fault,
		        "GPU %d (%.100s) is of compute capability %d.%d: fathom needs 7.5 or "
		        "newer, so name another GPU by --device",
		        o->device, o->name, o->major, o->minor);
	if (o->error == GPU_ERROR_NO_CODE || (o->error == 0 && o->code == 0))
		return fault_set(fault,
		        "this build has no code for GPU %d (%.100s, compute capability %d.%d): "
		        "build with make GPU_ARCHS=%d%d",
		        o->device, o->name, o->major, o->minor, o->major, o->minor);
	if (o->error == 0)
		return true;
	return why ? fault_set(fault, "GPU %d cannot be used: %s", o->device, why)
	           : fault_set(fault,
	                     "GPU %d cannot be used: CUDA says '%s': look whether nvidia-smi works",
	                     o->device, o->error_text);
}
