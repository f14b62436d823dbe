/* SPDX-License-Identifier: MIT */
/* Which kernels a program starts. The linker puts these functions in place of the CUDA runtime's
 * (-Wl,--wrap): in tests, and in the probes that make sanitize runs. FATHOM_TEST_KERNELS names a
 * file: each kernel that the host starts adds its name, as the compiler mangles it, once a process.
 */
#include "lib/base/base.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct kernel {
	const void *function;
	const char *name;
	bool noted;
};

static struct kernel *kernels;
static size_t count, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void append(const char *path, const char *name)
{
	const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

	if (file < 0)
		return;
	dprintf(file, "%s\n", name);
	close(file);
}

static void note(const void *function)
{
	const char *path = getenv("FATHOM_TEST_KERNELS");

	if (!path || !*path)
		return;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++)
		if (kernels[i].function == function && !kernels[i].noted) {
			kernels[i].noted = true;
			append(path, kernels[i].name);
		}
	pthread_mutex_unlock(&lock);
}

/* ---- in place of the runtime's ---- */

void __real___cudaRegisterFunction(void **code, const char *function, char *device_function,
        const char *name, int threads, void *thread, void *block, void *block_size, void *grid_size,
        int *warp_size);
void __wrap___cudaRegisterFunction(void **code, const char *function, char *device_function,
        const char *name, int threads, void *thread, void *block, void *block_size, void *grid_size,
        int *warp_size);
cudaError_t __real___cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t __real_cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
        size_t shared_bytes, cudaStream_t stream);
cudaError_t __wrap_cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
        size_t shared_bytes, cudaStream_t stream);
cudaError_t __real_cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
        void **arguments, size_t shared_bytes, cudaStream_t stream);
cudaError_t __wrap_cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
        void **arguments, size_t shared_bytes, cudaStream_t stream);
cudaError_t __real_cudaLaunchKernelExC(
        const cudaLaunchConfig_t *config, const void *function, void **arguments);
cudaError_t __wrap_cudaLaunchKernelExC(
        const cudaLaunchConfig_t *config, const void *function, void **arguments);

/* Every kernel of the program, before main(). */
void __wrap___cudaRegisterFunction(void **code, const char *function, char *device_function,
        const char *name, int threads, void *thread, void *block, void *block_size, void *grid_size,
        int *warp_size)
{
	pthread_mutex_lock(&lock);
	if (count == room) {
		room = room ? 2 * room : 256;
		kernels = realloc(kernels, room * sizeof *kernels);
		if (!kernels)
			abort();
	}
	kernels[count++] = (struct kernel){.function = function, .name = name};
	pthread_mutex_unlock(&lock);
	__real___cudaRegisterFunction(code, function, device_function, name, threads, thread, block,
	        block_size, grid_size, warp_size);
}

/* From CUDA 13 on <<<>>> asks for its kernel the first time that it starts it. */
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
	note(function);
	return __real___cudaGetKernel(kernel, function);
}

cudaError_t __wrap_cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
        size_t shared_bytes, cudaStream_t stream)
{
	note(function);
	return __real_cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __wrap_cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
        void **arguments, size_t shared_bytes, cudaStream_t stream)
{
	note(function);
	return __real_cudaLaunchCooperativeKernel(
	        function, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __wrap_cudaLaunchKernelExC(
        const cudaLaunchConfig_t *config, const void *function, void **arguments)
{
	note(function);
	return __real_cudaLaunchKernelExC(config, function, arguments);
}
