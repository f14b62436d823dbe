# SPDX-License-Identifier: MIT
# Checks for developers that take long, or need a GPU or another toolkit.
## develop check-archs: compile all device code for every architecture that nvcc lists, one after another
CHECK_ARCHS ?= $(known_archs)
check-archs:
	$(Q)$(gpu_alone) failed=; for a in $(CHECK_ARCHS); do \
		if $(MAKE) --no-print-directory -k device-code BUILD="$(BUILD)/archs/$$a" GPU_ARCHS=$$a; then \
		echo "check-archs: $$a compiles"; else failed="$$failed $$a"; fi; done; \
	if [ -n "$$failed" ]; then echo "check-archs: failed for$$failed" >&2; exit 1; fi; echo "check-archs: $(words $(CHECK_ARCHS)) architectures compile: $(CHECK_ARCHS)"
device-code: $(DEVICE_OBJECTS)
	$(if $(NVCC),,@echo "device-code: $(no_toolkit)" >&2; exit 1)

# A toolkit of CUDA 12, or a folder with its headers in include/ alone.
CUDA12 ?= $(lastword $(sort $(wildcard /usr/local/cuda-12*)))
CUDA12_ARCHS ?= 75 80 86 90a
cuda12_missing := $(filter-out $(wildcard $(CUDA12)/include/*.h),$(addprefix $(CUDA12)/include/,cuda_runtime_api.h cublas_v2.h cusolverDn.h))
## develop check-cuda12: check host code against CUDA 12's headers; compile device code where its nvcc is (CUDA12=folder)
check-cuda12: CUDA_FLAGS = -DFATHOM_CUDA -isystem $(CUDA12)/include
check-cuda12: $(BUILD)/probe_list.h $(BUILD)/measured_list.h
ifneq ($(cuda12_missing),)
	@echo "check-cuda12: skipped: $(if $(CUDA12),there is no $(cuda12_missing),CUDA12=folder names no toolkit of CUDA 12 and no folder with its include)"
else
	$(Q)echo $(filter-out $(CUDA_NONE) $(MPI_ONLY),$(filter %.c,$(C_FILES))) | xargs -n 16 -P "$$(nproc)" $(CC) -fsyntax-only $(HOST_FLAGS) -Ifactor/library
	@sed -n 's/^#define CUDART_VERSION */check-cuda12: host code compiles with headers of version /p' $(CUDA12)/include/cuda_runtime_api.h
	$(if $(wildcard $(CUDA12)/bin/nvcc),\
		$(Q)$(MAKE) --no-print-directory check-archs CUDA_HOME="$(CUDA12)" BUILD="$(BUILD)/cuda12" CHECK_ARCHS="$(CUDA12_ARCHS)",\
		@echo "check-cuda12: no nvcc in $(CUDA12)/bin: device code was not compiled")
endif

GPU_TESTS = $(sort $(filter %_gpu.t,$(TESTS)) $(patsubst %.d,%.t,$(shell grep -lE 'tests/[a-z/]*(factor_test|split_test)\.h' $(TESTS:.t=.d))))
SANITIZER ?= $(or $(wildcard $(CUDA_HOME)/bin/compute-sanitizer),compute-sanitizer)
# Probes of one GPU, which note the kernels that they start, as tests do. Left out: calibrations, which find no steady stamps under a
# sanitizer, and PyTorch (test_cusolver_client_gpu), which does not end in minutes.
SANITIZED_PROBES := $(patsubst %,$(BUILD)/sanitized/%,$(filter-out host_% peer collective block_kernel gemm_rate gemv_rate,$(PROBES)))
$(SANITIZED_PROBES): VENDOR = $(note_kernels)
$(SANITIZED_PROBES): $(BUILD)/sanitized/%: $(BUILD)/programs/%.main.o $(PARTS) $(KERNELS_STARTED)
	$(link)
SANITIZED = $(foreach p,$(filter-out %/test_cusolver_client_gpu.t,$(GPU_TESTS)) $(SANITIZED_PROBES),$(if $(filter $(or $(SANITIZE_ONLY),%),$(notdir $(p:.t=))),$p))
## develop sanitize: run tests and probes that use the GPU under compute-sanitizer; resumes (TOOLS, SANITIZE_ONLY, _SECONDS, _JOBS, MINUTES)
sanitize: $(TESTS) $(SANITIZED_PROBES)
	$(Q)mkdir -p $(BUILD)/sanitize; $(if $(NVCC),nm $(DEVICE_OBJECTS) 2>/dev/null | grep __device_stub_ >$(BUILD)/sanitize/symbols;) \
	SANITIZER="$(SANITIZER)" SYMBOLS="$(if $(SANITIZE_ONLY),,$(if $(NVCC),$(BUILD)/sanitize/symbols))" sh scripts/sanitize.sh $(BUILD)/sanitize \
		$(or $(SANITIZE_SECONDS),300) $(or $(SANITIZE_JOBS),4) $(SANITIZED)

## develop sanitize-host: run the host's tests under the address, undefined, leak and thread sanitizers, readers under valgrind
sanitize-host: all $(TESTS)
## develop sanitize-quick: of these the address, undefined and leak sanitizers over lib, readers and random cases
sanitize-host sanitize-quick:
	$(Q)MAKE="$(MAKE)" sh scripts/sanitize_host.sh "$(BUILD)/sanitize-host" $(if $(filter %-quick,$@),quick,full) "$(BUILD)"

gpu_alone = $(if $(NVCC),,echo "$@: $(no_toolkit)" >&2; exit 77;)
foreign_program := $(BUILD)/tests/foreign/foreign_kernels
$(foreign_program): $(call objects,$(wildcard tests/foreign/*.c tests/foreign/*.cu)) $(PARTS)
	$(link)
$(work_program): $(BUILD)/tests/work/check_work.o $(PARTS)
	$(link)

## develop check-kernels: kernels that are not ours: measured, and the hardware law from descriptions and from ncu's counters
check-kernels: $(if $(NVCC),$(foreign_program))
	$(Q)$(gpu_alone) sh scripts/ncu_kernels.sh $(foreign_program) "$(OUTPUT)" $(BUILD)/ncu/kernels
## develop check-work: the work that our kernels state against ncu's counters, at the points of tests/work/points.txt
check-work: $(if $(NVCC),$(work_program) $(BINARIES))
	$(Q)$(gpu_alone) sh scripts/check_work.sh $(BUILD) "$(OUTPUT)" $(BUILD)/ncu/work
