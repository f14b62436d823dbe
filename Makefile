# SPDX-License-Identifier: MIT
# `make help` lists the targets. Variables: MACHINE, OUTPUT, GPU_ARCHS, CUDA_HOME, CC, CFLAGS, CPPFLAGS, LDFLAGS, PREFIX,
# LIBDIR, WERROR=1 (warnings are errors), V=1 (show commands). For another machine: CC, HWLOC_CFLAGS, BLAS_CFLAGS, HOST_LIBS, LDFLAGS, AR,
# OBJCOPY (docs/portability.md).

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh

# All cores build, unless -j says otherwise. Measurements never overlap: each step of them is one recipe.
ifeq ($(MAKELEVEL)$(shell tr "\0" "\n" </proc/$$PPID/cmdline | grep -E "^(-[a-ik-zA-Z]*j|--jobs)"),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

BUILD ?= build
OUTPUT ?= data/local
PREFIX ?= /usr/local
Q := $(if $(V),,@)
fathom = FATHOM_BIN="$(BUILD)/bin" ./fathom
say = $(if $(V),,@echo "  $1")

# ---- tools -----------------------------------------------------------------------------------------------------------
CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda) $(lastword $(sort $(wildcard /usr/local/cuda-*))) \
	$(patsubst %/bin/nvcc,%,$(shell command -v nvcc 2>/dev/null)))
NVCC := $(wildcard $(CUDA_HOME)/bin/nvcc)
# Functions and types of green contexts came with CUDA 12.4: with an older toolkit the GPU parts are left out.
TOOLKIT := $(if $(NVCC),$(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'))
TOO_OLD := $(filter 9.% 10.% 11.% 12.0 12.1 12.2 12.3,$(TOOLKIT))
no_toolkit := no CUDA Toolkit found (CUDA_HOME, /usr/local/cuda*, PATH)
ifneq ($(TOO_OLD),)
NVCC :=
no_toolkit := CUDA $(TOO_OLD) in $(CUDA_HOME) is too old (12.4 is needed)
endif

# The machine that CC compiles for, and the prefix of binutils when that is another one than this.
TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)
TARGET_CPU := $(firstword $(subst -, ,$(TARGET)))
CROSS := $(if $(filter-out $(shell uname -m),$(TARGET_CPU)),$(TARGET)-)
AR := $(if $(filter default undefined,$(origin AR)),$(CROSS)ar,$(AR))
OBJCOPY ?= $(CROSS)objcopy

# A library that updates QR factorizations on the host, which a test compares ours with, where it is.
QRUPDATE := $(if $(shell printf 'int main(void) { return 0; }' | $(CC) -x c - -lqrupdate -o /dev/null 2>/dev/null && echo yes),-lqrupdate)

# MPI, where it is, for ranks in several processes: only programs of ranks are compiled and linked by its compiler.
MPICC := $(if $(CROSS),,$(shell command -v mpicc 2>/dev/null))
MPI_ONLY := factor/distributed/comm_mpi.c $(wildcard tests/distributed/*.c)
mpicc = OMPI_CC="$(CC)" MPICH_CC="$(CC)" $(MPICC)
# The recipes ask for hwloc's flags, not this line: `make setup probe` installs it first.
HWLOC_CFLAGS ?= $$(pkg-config --cflags hwloc 2>/dev/null)
BLAS_CFLAGS ?= $$(pkg-config --cflags openblas 2>/dev/null)
HOST_LIBS ?= -llapacke -lopenblas -lhwloc

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wno-enum-float-conversion $(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
# All objects may become part of the shared library, where only fathom.h's functions are visible.
SHARED_FLAGS := -fPIC -fvisibility=hidden
HOST_FLAGS = -std=c11 -D_GNU_SOURCE -I. -I$(BUILD) -fopenmp $(SHARED_FLAGS) $(WARNINGS) $(CPPFLAGS) $(CFLAGS) $(HWLOC_CFLAGS) $(BLAS_CFLAGS) $(CUDA_FLAGS)
LIBS = $(HOST_LIBS) -lm -ldl -lpthread -fopenmp

CUDA_FLAGS :=
ifneq ($(NVCC),)
# ---- device code -----------------------------------------------------------------------------------------------------
# Architectures: those of the GPUs here that the toolkit knows; without a GPU one, so that a build is quick. 90a is 90 with
# instructions that only code for 9.0 alone may use. A GPU newer than the toolkit gets the PTX of the newest.
known_archs := $(patsubst 90,90 90a,$(filter-out 5% 6% 70 72,$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch))))
newest_arch := $(lastword $(filter-out %a,$(known_archs)))
present_archs := $(patsubst 90,90a,$(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep '^[0-9.]*$$'))))
unknown_archs := $(filter-out $(known_archs),$(present_archs))
GPU_ARCHS ?= $(or $(strip $(filter $(known_archs),$(present_archs)) $(if $(filter-out 5% 6% 70 72,$(unknown_archs)),$(newest_arch))),90a)
# PTX of the newest named architecture lets later GPUs run the code. GPU_ARCHS=all: every generation.
every := $(filter all,$(GPU_ARCHS))
override GPU_ARCHS := $(if $(every),$(filter $(known_archs),75 80 86 89 90a 100 120),$(GPU_ARCHS))
PTX_ARCH = $(if $(every),$(lastword $(filter 90 100 120,$(known_archs))),$(if $(findstring a,$(lastword $(GPU_ARCHS))),,$(lastword $(GPU_ARCHS))))
# A toolkit before 13 may be used with drivers that cannot read compressed machine code.
NVCC_FLAGS = -std=c++17 -O3 -lineinfo -I. --threads 0 -Xcompiler -Wall,-Wextra $(SHARED_FLAGS:%=-Xcompiler %) \
	$(if $(WERROR),-Werror all-warnings) $(if $(filter-out 12.%,$(TOOLKIT)),--compress-mode=size) \
	$(foreach a,$(GPU_ARCHS),-gencode arch=compute_$a,code=sm_$a) \
	$(foreach a,$(PTX_ARCH),-gencode arch=compute_$a,code=compute_$a) $(NVCCFLAGS)
CUDA_FLAGS = -DFATHOM_CUDA -isystem $(CUDA_HOME)/include
CUDA_PATHS := $(foreach h,$(filter-out /usr,$(CUDA_HOME)),-L$h/lib64 -Wl,-rpath,$h/lib64)
CUDA_LIBS := $(CUDA_PATHS) -lcublas -lcublasLt -lcudart_static -lrt -lstdc++
LIBS += $(CUDA_LIBS)
LIBRARY_NEEDS := $(CUDA_LIBS) $(filter-out -lhwloc,$(HOST_LIBS)) -lm -ldl -lpthread -fopenmp
VENDOR_LIBS := $(CUDA_PATHS) -lcusolver
endif

# ---- files -----------------------------------------------------------------------------------------------------------
# Sources are found by folder. A probe is a folder in probes (a question put to the hardware) or in factor/calibration
# (what times library routines and our own kernels); it needs a GPU unless its name begins with host_.
HARDWARE := $(sort $(notdir $(patsubst %/,%,$(wildcard probes/*/))))
CALIBRATION := $(sort $(notdir $(patsubst %/,%,$(wildcard factor/calibration/*/))))
PROBE_NAMES := $(HARDWARE) $(CALIBRATION)
PROBES := $(sort $(if $(NVCC),$(PROBE_NAMES),$(filter host_%,$(PROBE_NAMES))))
probe_folder = $(firstword $(wildcard probes/$1 factor/calibration/$1))

FACTOR_PROGRAMS := predict measure validate advise trace compare
TOP_PROGRAMS := $(patsubst programs/%.c,%,$(filter-out programs/one_probe.c,$(sort $(wildcard programs/*.c))))
MAINS := $(FACTOR_PROGRAMS:%=factor/programs/%.c) $(wildcard programs/*.c)

# Without the toolkit the .cu files are left out, and the .c files that call CUDA; stand-ins come in their place.
CUDA_NONE := lib/device/gpu_none.c factor/executors/cuda/executor_cuda_none.c
CUDA_ONLY := lib/device/gpu.c lib/device/held_calls.c lib/device/driver.c lib/device/partition.c factor/calibration/blas_rate.c factor/distributed/comm_nccl.c factor/kernels/gemm/blas_double%.c factor/executors/cuda/executor_cuda%.c factor/library/%.c \
	factor/validation/vendor.c factor/validation/vendor_emulation.c factor/validation/papers/paper_operation_calls.c \
	factor/validation/papers/timing_paper_operations.c
# Of the library, these need no GPU: ranks of the host test them.
GROUP_CALLS := $(addprefix factor/library/,fathom_mg.c fathom_mg_calls.c fathom_mg_matrices.c fathom_mg_threads.c)
FOUND := $(filter-out factor/library/cusolver/% $(MAINS) $(if $(MPICC),,$(MPI_ONLY)),$(sort $(shell find lib factor probes -name '*.c' -o -name '*.cu')))
ifneq ($(NVCC),)
SOURCES := $(filter-out $(CUDA_NONE),$(FOUND))
else
left_out := $(foreach p,$(filter-out $(PROBES),$(PROBE_NAMES)),$(filter-out %_fit.c $(wildcard $(call probe_folder,$p)/*_fit_*.c),\
	$(wildcard $(call probe_folder,$p)/*.c)))
SOURCES := $(CUDA_NONE) $(filter-out %.cu $(CUDA_ONLY) $(left_out),$(FOUND)) $(GROUP_CALLS)
endif
objects = $(patsubst %.cu,$(BUILD)/%.cu.o,$(patsubst %.c,$(BUILD)/%.o,$1))
LIBFATHOM_SONAME := libfathom.so.$(shell sh scripts/version.sh --abi)
include factor/papers/compilers.mk factor/library/cusolver/client.mk
DEVICE_OBJECTS := $(call objects,$(filter %.cu,$(SOURCES))) $(client_device)
# What programs and tests are linked with: the linker takes what each needs.
PARTS := $(BUILD)/parts.a
PART_OBJECTS := $(call objects,$(SOURCES)) $(COMPARED_OBJECTS) $(BUILD)/version.o

PROGRAMS := $(PROBES) $(TOP_PROGRAMS) $(FACTOR_PROGRAMS)
BINARIES := $(PROGRAMS:%=$(BUILD)/bin/%)
# The library needs a GPU: without the toolkit there is none.
LIBRARIES := $(if $(NVCC),$(BUILD)/libfathom.a $(BUILD)/libfathom.so $(BUILD)/libfathom.needs $(CLIENT_SHARED) $(CLIENT_NAMED))
EXAMPLES := $(if $(NVCC),$(patsubst examples/%.c,$(BUILD)/examples/%,$(sort $(wildcard examples/*.c))))
TEST_SOURCES := $(sort $(wildcard tests/*/test_*.c))
TESTS := $(TEST_SOURCES:%.c=$(BUILD)/%.t)
# Compares stated work with counters of the hardware; a test runs it on counters of its own.
work_program := $(BUILD)/tests/work/check_work
# Ranks in several processes, which a test starts by mpirun.
rank_program := $(if $(MPICC),$(BUILD)/tests/distributed/rank_checks)
TEST_SCRIPTS := $(sort $(wildcard tests/*/*.t))
C_FILES := $(sort $(shell find lib factor probes programs tests examples -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'))
SHELL_FILES := $(wildcard scripts/*.sh scripts/*.bash plots/*.sh tests/*.sh) .ci/run fathom

# ---- use -------------------------------------------------------------------------------------------------------------
.PHONY: all examples setup setup-develop probe fit validate report plots bench measure-all record intervals test test-programs test-full test-as-arch test-devices fuzz kills check check-archs check-arm64 check-cuda12 check-kernels check-work \
	check-dist check-debian device-code dist docs sanitize sanitize-host sanitize-quick noise analyse format shellcheck install installcheck uninstall clean help FORCE

## use all: build every program (without the CUDA Toolkit: everything but the GPU parts)
all: $(BINARIES) $(LIBRARIES)
	$(if $(NVCC),,@echo "fathom: $(no_toolkit): built without the GPU parts")
	$(if $(unknown_archs),@echo "fathom: this toolkit has no code for GPUs of architecture $(unknown_archs): built for $(GPU_ARCHS)")

## use setup: install what is missing (apt; sudo when not root)
setup:
	$(Q)sh scripts/setup.sh

## use probe: measure this machine into data/local: its hardware, then libraries and our own kernels
probe: all
	$(Q)$(fathom) probe --output "$(OUTPUT)" $(PROBE_OPTIONS)

## use validate: predict, run at sizes no fit has seen, compare
validate: all
	$(Q)$(fathom) validate --output "$(OUTPUT)" $(VALIDATE_OPTIONS)

## use report: draw the figures and write the report (report.html, papers.html, and both as text); MACHINES="A B": side by side
report: $(if $(MACHINES),$(BUILD)/bin/compare)
	$(Q)FATHOM_BIN="$(BUILD)/bin" MACHINES="$(MACHINES)" sh plots/report.sh "$(OUTPUT)"

## use plots: draw every figure from the recorded data
plots:
	$(Q)sh plots/plots.sh "$(OUTPUT)"

## use bench: our factorizations against cuSOLVER and the host, and the papers' tables; resumes after an interruption
bench: all
	$(Q)sh scripts/bench.sh $(BUILD)/bin "$(OUTPUT)"

## use measure-all: all that a recorded machine has, step by step: probe, three validations, bench, report; resumes; MINUTES=N ends it
measure-all: all
	$(Q)FATHOM_BIN="$(BUILD)/bin" sh scripts/measure_all.sh "$(OUTPUT)"

## use examples: build the programs in examples, which use the library
examples: $(EXAMPLES)

## use install: install programs, data, man pages, completion and the library under PREFIX (/usr/local), for a package in DESTDIR
install: all
	$(Q)DESTDIR="$(DESTDIR)" LIBDIR="$(LIBDIR)" LIBRARY="$(if $(NVCC),$(BUILD))" sh scripts/install.sh "$(PREFIX)" $(BINARIES)

## use uninstall: remove what install put there
uninstall:
	$(Q)DESTDIR="$(DESTDIR)" LIBDIR="$(LIBDIR)" sh scripts/install.sh --remove "$(PREFIX)"

## use clean: remove what was built (recorded data stays)
clean:
	rm -rf $(BUILD)

## use help: this list
help:
	@for group in use develop record; do echo "$$group:"; \
		sed -n "s/^## $$group \([a-z0-9-]*\): \(.*\)/  \1\t\2/p" Makefile scripts/checks.mk | sort | expand -t 16; done

# ---- develop ---------------------------------------------------------------------------------------------------------
## develop setup-develop: install the tools of developers and CI
setup-develop: setup
	$(Q)sh scripts/setup.sh --develop

## develop test: run all tests (GPU tests skip, with the reason, where there is no GPU)
test: test-programs
	$(Q)FATHOM_TEST_ARCHS="$(GPU_ARCHS)" sh tests/run.sh $(TESTS) $(TEST_SCRIPTS)

test-programs: all $(TESTS) $(work_program) $(rank_program) $(EXAMPLES)

## develop test-full: the same with full cross products of plans, matrices, shapes and precisions
test-full: test-programs
	$(Q)FATHOM_TEST_FULL=1 FATHOM_TEST_ARCHS="$(GPU_ARCHS)" sh tests/run.sh $(TESTS) $(TEST_SCRIPTS)

## develop fuzz: fuzz every reader and the options under sanitizers, FUZZ_SECONDS (60) each
fuzz:
	$(Q)MAKE="$(MAKE)" sh scripts/fuzz.sh "$(BUILD)/fuzz" $(or $(FUZZ_SECONDS),60)
## develop kills: end quick runs of probe and validate by SIGKILL, KILLS (200) times
kills: all
	$(Q)FATHOM_BIN="$(BUILD)/bin" FATHOM_KILLS=$(or $(KILLS),200) prove -v tests/programs/kills.t

## develop noise: quick runs of probes under load, NOISE (50; 0: none) of the host's: each parameter is right or marked (a quiet machine)
noise: all
	$(Q)sh scripts/noise.sh $(BUILD)/bin $(BUILD)/noise $(or $(NOISE),50)

## develop installcheck: run the tests of programs and report on what is installed (PREFIX, DESTDIR)
installcheck:
	$(Q)BUILD="$(BUILD)" FATHOM_BIN="$(DESTDIR)$(PREFIX)/libexec/fathom" sh tests/run.sh $(wildcard tests/programs/*.t tests/report/*.t) tests/tree/docs.t

## develop dist: pack the sources of the last commit into build/dist, with the release and the commit in scripts/version.sh
dist: RELEASE = $(shell sh scripts/version.sh --release)
dist:
	$(Q)rm -rf $(BUILD)/dist && mkdir -p $(BUILD)/dist && git archive --prefix=fathom-$(RELEASE)/ -o $(BUILD)/dist/fathom-$(RELEASE).tar.gz HEAD
	@echo "dist: $(BUILD)/dist/fathom-$(RELEASE).tar.gz"

## develop check-dist: build, test, install and test again what dist packs, without git
## develop check-debian: build Debian packages from what dist packs, and judge them by lintian
check-dist check-debian: dist
	$(Q)sh scripts/$(subst -,_,$@).sh $(BUILD)/dist/fathom-*.tar.gz

## develop test-as-arch: run all tests with code for an older architecture alone (make test-as-arch ARCH=80)
test-as-arch:
	$(Q)$(MAKE) test BUILD="$(BUILD)/as/$(or $(ARCH),80)" GPU_ARCHS=$(or $(ARCH),80)

## develop test-devices: run the GPU tests as if the GPU were each of tests/devices, as far as it can be
DEVICES ?= $(notdir $(wildcard tests/devices/*))
test-devices: all $(TESTS)
	$(Q)failed=; for d in $(DEVICES); do echo "as $$d:"; \
		FATHOM_TEST_DEVICE="$(CURDIR)/tests/devices/$$d" FATHOM_TEST_ON=gpu sh tests/run.sh $(GPU_TESTS) || failed="$$failed $$d"; done; \
	if [ -n "$$failed" ]; then echo "test-devices: failed as$$failed" >&2; exit 1; fi

## develop check: formatting, shellcheck, the tree's rules, quick tests
check: format shellcheck $(filter $(BUILD)/tests/lib/%,$(TESTS))
	$(Q)sh tests/run.sh $(filter $(BUILD)/tests/lib/%,$(TESTS)) $(wildcard tests/tree/*.t)

## develop format: check the formatting of every C and CUDA file
format:
	$(Q)clang-format --dry-run --Werror $(C_FILES)
## develop shellcheck: check every shell script
shellcheck:
	$(Q)shellcheck $(SHELL_FILES)

## develop analyse: judge C files by cppcheck and clang-tidy (ANALYSE_TOOLS, ANALYSE_SINCE=commit: only what changed since)
analyse: $(BUILD)/probe_list.h $(BUILD)/measured_list.h
	$(Q)CUDA_FLAGS="$(CUDA_FLAGS)" sh scripts/analyse.sh "$(BUILD)" $(filter-out $(MPI_ONLY),$(filter %.c,$(SOURCES))) $(MAINS)

## develop docs: write docs/papers.md again from data/papers/coverage.tsv
docs:
	$(Q)mkdir -p $(BUILD) && sh scripts/papers_page.sh data/papers/coverage.tsv >$(BUILD)/papers.md && cp $(BUILD)/papers.md docs/papers.md

## develop check-arm64: cross-compile the host part for arm64, run its tests under qemu (ARM64_CC, ARM64_ROOT, ARM64_FULL=1)
check-arm64:
	$(Q)MAKE="$(MAKE)" ARM64_CC="$(ARM64_CC)" ARM64_ROOT="$(ARM64_ROOT)" ARM64_FULL="$(ARM64_FULL)" sh scripts/check_arm64.sh "$(BUILD)/arm64"

include scripts/checks.mk

# ---- record ----------------------------------------------------------------------------------------------------------
## record fit: assemble the profile again from the recorded curves (no hardware needed)
fit: $(BUILD)/bin/fit
	$(Q)$(BUILD)/bin/fit --output "$(OUTPUT)"

## record record: copy a whole run of data/local (make measure-all) to data/MACHINE (make record MACHINE=name; PARTS=yes: not whole)
record:
	$(Q)sh scripts/record.sh "$(OUTPUT)" "$(MACHINE)"

## record intervals: calibrate the factors of intervals again on the recorded measurements, then build
intervals: $(BUILD)/bin/predict $(BUILD)/bin/validate
	$(Q)sh scripts/intervals.sh $(BUILD)/bin factor/model/predictions/interval_table.c

# One command may name several steps: they run in this order even under -j, and no test is compiled beside a measurement.
measuring := probe validate bench measure-all check-kernels check-work noise
steps := $(measuring) fit report plots record test test-full test-devices check kills install installcheck uninstall
goals := $(filter $(MAKECMDGOALS),$(steps))
after = $(if $(and $(strip $1),$(strip $2)),$(eval $2: | $1))
before :=
$(foreach s,$(goals),$(call after,$(before),$s)$(eval before := $s))
$(call after,$(if $(filter test test-full test-devices,$(goals)),test-programs),$(filter $(measuring),$(goals)))
# `clean` and `setup` come before all: the files that a build makes first wait for them, and with these files all objects.
first_files := $(addprefix $(BUILD)/,flags device_flags qrupdate compilers version.c probe_list.h measured_list.h parts.list libfathom.map \
	client/names.map)
$(call after,$(filter clean,$(MAKECMDGOALS)),$(first_files) $(filter-out clean,$(MAKECMDGOALS)))
$(call after,$(filter setup setup-develop,$(MAKECMDGOALS)),$(first_files) format shellcheck $(filter-out clean setup%,$(MAKECMDGOALS)))

# ---- rules -----------------------------------------------------------------------------------------------------------
# $(call stamp,TEXT): a file that changes when the text does.
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$1)' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$1)' > $@
$(BUILD)/flags: FORCE
	$(call stamp,$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(WARNINGS) $(HWLOC_CFLAGS) $(BLAS_CFLAGS) $(HOST_LIBS) $(if $(NVCC),cuda,nocuda) $(CUDA_HOME))
$(BUILD)/device_flags: FORCE
	$(call stamp,$(NVCC) $(NVCC_FLAGS))
$(BUILD)/qrupdate: FORCE
	$(call stamp,$(QRUPDATE))
$(BUILD)/version.c: FORCE
	@mkdir -p $(@D); sh scripts/version.sh > $@.new && { cmp -s $@.new $@ && rm $@.new || mv $@.new $@; }
$(BUILD)/version.o: $(BUILD)/version.c $(BUILD)/flags
	$(Q)$(CC) -std=c11 $(SHARED_FLAGS) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# The probes that the fit knows, and those that can be built here.
$(BUILD)/probe_list.h: LIST = $(patsubst %,PROBE(%),$(sort $(PROBE_NAMES)))
$(BUILD)/measured_list.h: LIST = $(patsubst %,HARDWARE(%),$(filter $(HARDWARE),$(PROBES))) $(patsubst %,CALIBRATION(%),$(filter $(CALIBRATION),$(PROBES)))
$(BUILD)/probe_list.h $(BUILD)/measured_list.h: FORCE
	@mkdir -p $(@D); printf '%s\n' $(foreach l,$(LIST),'$l') > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/programs/fit.o: $(BUILD)/probe_list.h
$(BUILD)/programs/probe.o $(BUILD)/programs/list.o: $(BUILD)/measured_list.h

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/probe_list.h
	@mkdir -p $(@D)
	$(call say,CC    $<)
	$(Q)$(CC) $(HOST_FLAGS) -MMD -MP -c $< -o $@

ifneq ($(MPICC),)
$(MPI_ONLY:%.c=$(BUILD)/%.o): $(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,MPICC $<)
	$(Q)$(mpicc) $(HOST_FLAGS) -MMD -MP -c $< -o $@
$(rank_program): $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/distributed/*.c)) $(PARTS)
	$(call say,LINK  $@)
	$(Q)$(mpicc) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PARTS) $(LIBS)
endif

ifeq ($(NVCC),)
$(BUILD)/tests/%_gpu.o: tests/no_gpu.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_FLAGS) -MMD -MP -c $< -o $@
endif

$(BUILD)/%.cu.o: %.cu $(BUILD)/device_flags
	@mkdir -p $(@D)
	$(call say,NVCC  $<)
	$(Q)$(NVCC) $(NVCC_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

# Kernels that launch kernels: relocatable code, linked with the device's runtime into one object.
link_device = $(NVCC) $(SHARED_FLAGS:%=-Xcompiler %) $(foreach a,$(GPU_ARCHS),-gencode arch=compute_$a,code=sm_$a) -dlink -lcudadevrt
$(BUILD)/probes/device_launch/device_launch.cu.o: probes/device_launch/device_launch.cu $(BUILD)/device_flags
	@mkdir -p $(@D)
	$(call say,NVCC  $<)
	$(Q)$(NVCC) $(NVCC_FLAGS) -rdc=true -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $(@:.o=.code.o)
	$(Q)$(link_device) $(@:.o=.code.o) -o $(@:.o=.link.o) && $(CC) -r -nostdlib -o $@ $(@:.o=.code.o) $(@:.o=.link.o) $(CUDA_PATHS) -lcudadevrt

$(PROBES:%=$(BUILD)/programs/%.main.o): $(BUILD)/programs/%.main.o: programs/one_probe.c $(BUILD)/flags | $(BUILD)/probe_list.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_FLAGS) -DONE_PROBE=$* -MMD -MP -c $< -o $@

$(BUILD)/parts.list: FORCE
	$(call stamp,$(PART_OBJECTS))
$(PARTS): $(PART_OBJECTS) $(BUILD)/parts.list
	@mkdir -p $(@D); rm -f $@
	$(Q)$(AR) qcs $@ $(PART_OBJECTS)

define link
	@mkdir -p $(@D)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PARTS) $(VENDOR) $(LIBS)
endef
$(PROBES:%=$(BUILD)/bin/%): $(BUILD)/bin/%: $(BUILD)/programs/%.main.o $(PARTS)
	$(link)
$(TOP_PROGRAMS:%=$(BUILD)/bin/%): $(BUILD)/bin/%: $(BUILD)/programs/%.o $(PARTS)
	$(link)
$(BUILD)/bin/measure: VENDOR = $(VENDOR_LIBS)
$(FACTOR_PROGRAMS:%=$(BUILD)/bin/%): $(BUILD)/bin/%: $(BUILD)/factor/programs/%.o $(PARTS)
	$(link)
ifneq ($(NVCC),)
# Tests note the kernels that they start, for make sanitize.
KERNELS_STARTED := $(BUILD)/tests/kernels_started.a
$(KERNELS_STARTED): $(BUILD)/tests/kernels_started.o
	$(Q)rm -f $@; $(AR) qcs $@ $<
note_kernels := $(KERNELS_STARTED) $(patsubst %,-Xlinker --wrap=%,__cudaRegisterFunction __cudaGetKernel cudaLaunchKernel cudaLaunchKernelExC cudaLaunchCooperativeKernel)
endif
$(BUILD)/tests/%.t: VENDOR = $(note_kernels) $(VENDOR_LIBS)
$(BUILD)/tests/algorithms/test_qrupdate.o: $(BUILD)/qrupdate
$(BUILD)/tests/algorithms/test_qrupdate.o: HOST_FLAGS += $(if $(QRUPDATE),-DFATHOM_QRUPDATE)
$(BUILD)/tests/algorithms/test_qrupdate.t: VENDOR += $(QRUPDATE)
$(TESTS): $(BUILD)/tests/%.t: $(BUILD)/tests/%.o $(PARTS) $(KERNELS_STARTED)
	$(link)

# What the functions of fathom.h and fathom_mg.h need, picked by the linker, as one object in which everything else is local.
LIBRARY_OBJECTS := $(addprefix $(BUILD)/factor/library/,fathom.o fathom_handle.o fathom_mg_calls.o fathom_mg_create.o)
$(BUILD)/library/fathom.o: $(LIBRARY_OBJECTS) $(PARTS)
	@mkdir -p $(@D)
	$(Q)$(CC) -r -nostdlib -Wl,--force-group-allocation -o $@ $^ && $(OBJCOPY) -w --keep-global-symbol='fathom_*' $@
$(BUILD)/libfathom.a: $(BUILD)/library/fathom.o
	$(call say,AR    $@)
	$(Q)rm -f $@; $(AR) rcs $@ $<
# The symbols of libfathom.so, with their version: the functions of the headers.
$(BUILD)/libfathom.map: factor/library/fathom.h factor/library/fathom_mg.h scripts/version.sh
	@mkdir -p $(@D)
	$(Q){ echo "LIBFATHOM_$$(sh scripts/version.sh --abi) { global:"; sed -n 's/.*\(fathom_[a-z_]*\)(.*/\t\1;/p' $(filter %.h,$^) | sort -u; echo 'local: *; };'; } >$@
$(BUILD)/libfathom.so: $(BUILD)/library/fathom.o $(BUILD)/libfathom.map
	$(call say,LINK  $@)
	$(Q)rm -f $@.*; ln -s $(@F) $(@D)/$(LIBFATHOM_SONAME)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(LIBFATHOM_SONAME) -Wl,--version-script,$(BUILD)/libfathom.map -Wl,--no-undefined \
		-o $@ $< -Wl,--as-needed $(LIBRARY_NEEDS)
# Options that link what libfathom.a needs, for the pkg-config file.
$(BUILD)/libfathom.needs: $(BUILD)/flags Makefile
	$(Q)echo '$(LIBRARY_NEEDS)' > $@

$(BUILD)/examples/%: examples/%.c $(BUILD)/libfathom.so
	@mkdir -p $(@D)
	$(call say,CC    $<)
	$(Q)$(CC) -std=c11 $(WARNINGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -Ifactor/library -isystem $(CUDA_HOME)/include -o $@ $< \
		-L$(BUILD) -Wl,-rpath,'$$ORIGIN/..' -lfathom $(CUDA_PATHS) -lcudart

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
