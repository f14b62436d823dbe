# SPDX-License-Identifier: MIT
# `make help` lists the targets. Variables: MACHINE, GPU_ARCHS, CUDA_HOME, CC, PREFIX, V=1 (show commands).

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh

BUILD := build
OUTPUT ?= data/local
PREFIX ?= /usr/local
Q := $(if $(V),,@)

# ---- tools -----------------------------------------------------------------------------------------------------------
CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda) $(lastword $(sort $(wildcard /usr/local/cuda-*))) \
	$(patsubst %/bin/nvcc,%,$(shell command -v nvcc 2>/dev/null)))
NVCC := $(wildcard $(CUDA_HOME)/bin/nvcc)
GPU_ARCHS ?= $(or $(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep '^[0-9.]*$$'))),75 80 90)

# Compilers whose code for Gram-Schmidt is compared with CC's, where they are (gfortran: for x86-64).
CLANG := $(shell command -v clang 2>/dev/null)
FORTRAN := $(if $(filter x86_64,$(shell uname -m)),$(shell command -v gfortran 2>/dev/null))

# A library that updates QR factorizations on the host, which a test compares ours with, where it is.
QRUPDATE := $(if $(shell printf 'int main(void) { return 0; }' | $(CC) -x c - -lqrupdate -o /dev/null 2>/dev/null && echo yes),-lqrupdate)

# hwloc's flags are asked for by the recipes, not here: `make setup probe` installs it first.
HWLOC_CFLAGS ?= $$(pkg-config --cflags hwloc 2>/dev/null)
BLAS_CFLAGS ?= $$(pkg-config --cflags openblas 2>/dev/null)
HOST_LIBS ?= -llapacke -lopenblas -lhwloc

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
CFLAGS ?= -O2 -g
# What may become part of the library: usable in a shared object, where only fathom.h's functions are visible.
SHARED_FLAGS := -fPIC -fvisibility=hidden
HOST_FLAGS = -std=c11 -D_GNU_SOURCE -fopenmp $(WARNINGS) $(CFLAGS) $(HWLOC_CFLAGS) $(BLAS_CFLAGS)
LIBS = $(HOST_LIBS) -lm -ldl -lpthread -fopenmp
ifneq ($(NVCC),)
HOST_FLAGS += -DFATHOM_CUDA -isystem $(CUDA_HOME)/include
# Compute capability 9.0 has instructions that only code for 9.0 alone, sm_90a, may use.
# A toolkit before 13 may be used with drivers that cannot read machine code compressed so.
NVCC_FLAGS := -std=c++17 -O3 -lineinfo --threads 0 -Xcompiler -Wall,-Wextra $(SHARED_FLAGS:%=-Xcompiler %) -Werror all-warnings \
	$(if $(filter-out 10 11 12,$(shell $(NVCC) --version | sed -n 's/.*release \([0-9]*\).*/\1/p')),--compress-mode=size) \
	$(foreach a,$(GPU_ARCHS:90=90a),-gencode arch=compute_$(a),code=sm_$(a)) \
	$(if $(findstring a,$(lastword $(GPU_ARCHS))),,-gencode arch=compute_$(lastword $(GPU_ARCHS)),code=compute_$(lastword $(GPU_ARCHS)))
CUDA_LIBS := -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64 -lcublas -lcublasLt -lcudart_static -lrt -lstdc++
LIBS += $(CUDA_LIBS)
LIBRARY_NEEDS := $(CUDA_LIBS) $(filter-out -lhwloc,$(HOST_LIBS)) -lm -ldl -lpthread -fopenmp
VENDOR_LIBS := -L$(CUDA_HOME)/lib64 -lcusolver
endif

# ---- files -----------------------------------------------------------------------------------------------------------
# A folder's sources; without the toolkit those that need it (the .cu files and the .c files named here) are left out.
CUDA_NONE := lib/gpu_none.c factor/cuda/executor_cuda_none.c
CUDA_ONLY := lib/gpu.c $(wildcard lib/blas_double*.c) $(patsubst %,factor/runs/%.c,vendor part_calls part_products timing_parts) \
	$(wildcard factor/library/*.c) $(filter-out $(CUDA_NONE),$(wildcard factor/cuda/*.c))
sources = $(filter-out $(if $(NVCC),$(CUDA_NONE),$(CUDA_ONLY)),$(sort $(wildcard $1/*.c))) $(if $(NVCC),$(sort $(wildcard $1/*.cu)))
objects = $(patsubst %.cu,$(BUILD)/%.cu.o,$(patsubst %.c,$(BUILD)/%.o,$1))

LIB_OBJECTS := $(call objects,$(call sources,lib)) $(BUILD)/version.o

# A probe is probes/<name>.c + probes/<name>_fit.c, with probes/<name>.cu when it has kernels of its own. Further parts are
# probes/<name>_*.c, those of the fit, which other programs link, too, probes/<name>_fit_*.c. The longest name owns a file.
PROBE_NAMES := $(patsubst probes/%_fit.c,%,$(sort $(wildcard probes/*_fit.c)))
FIT_OBJECTS := $(call objects,$(sort $(wildcard probes/*_fit.c probes/*_fit_*.c)))
probe_sources = $(filter-out $(foreach p,$(filter $1_%,$(PROBE_NAMES)),probes/$p.c probes/$p_%.c),\
	$(sort $(wildcard probes/$1.c probes/$1.cu probes/$1_*.c)))
GPU_PROBES := $(filter $(PROBE_NAMES),$(patsubst probes/%.c,%,$(shell grep -l 'needs_gpu = true' probes/*.c)))
HOST_PROBES := $(filter-out $(GPU_PROBES),$(PROBE_NAMES))
PROBES := $(HOST_PROBES) $(if $(NVCC),$(GPU_PROBES))

FACTOR_PROGRAMS := predict measure validate advise trace
FACTOR_FOLDERS := factor factor/cuda factor/host factor/model factor/runs factor/library
FACTOR_OBJECTS := $(filter-out $(FACTOR_PROGRAMS:%=$(BUILD)/factor/%.o) $(BUILD)/factor/runs/vendor.o $(BUILD)/factor/runs/measure_%.o,\
	$(call objects,$(foreach f,$(FACTOR_FOLDERS),$(call sources,$f))))
COMPARED_OBJECTS := $(if $(CLANG),$(BUILD)/lib/gram_loops.clang.o) \
	$(if $(FORTRAN),$(addprefix $(BUILD)/factor/host/gram_loops,_avx2.f.o _avx512.f.o))
FACTOR_OBJECTS += $(COMPARED_OBJECTS)
# What programs and tests are linked with: the linker takes what each needs, of the GPU's code above all.
PARTS := $(BUILD)/parts.a
MEASURE_OBJECTS := $(call objects,$(wildcard factor/runs/measure_*.c))
VENDOR_OBJECTS := $(if $(NVCC),$(BUILD)/factor/runs/vendor.o)

# The library needs a GPU: without the toolkit there is none.
LIBRARIES := $(if $(NVCC),$(BUILD)/libfathom.a $(BUILD)/libfathom.so $(BUILD)/libfathom.needs)
EXAMPLES := $(if $(NVCC),$(patsubst examples/%.c,$(BUILD)/examples/%,$(sort $(wildcard examples/*.c))))

PROGRAMS := $(PROBES) probe fit compare machine $(FACTOR_PROGRAMS)
BINARIES := $(PROGRAMS:%=$(BUILD)/bin/%)
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%.t,$(sort $(wildcard tests/test_*.c)))
TEST_SCRIPTS := $(sort $(wildcard tests/*.t))

# ---- targets ---------------------------------------------------------------------------------------------------------
.PHONY: all examples setup probe fit validate report plots bench record test sanitize alias-check format install uninstall clean help FORCE

## all: build every program (without the CUDA Toolkit: everything but the GPU parts)
all: $(BINARIES) $(LIBRARIES)
ifeq ($(NVCC),)
	@echo "fathom: no CUDA Toolkit found (CUDA_HOME, /usr/local/cuda*, PATH): built without the GPU parts"
endif

## examples: build the programs in examples, which use the library
examples: $(EXAMPLES)

## setup: install what is missing (apt; sudo when not root)
setup:
	$(Q)sh scripts/setup.sh

## probe: measure this machine into data/local
probe: all
	$(Q)sh scripts/probe.sh $(BUILD)/bin $(OUTPUT) "$(HOST_PROBES)" "$(if $(NVCC),$(GPU_PROBES))"

## fit: assemble the profile again from the recorded curves (no hardware needed)
fit: $(BUILD)/bin/fit
	$(Q)$(BUILD)/bin/fit --output $(OUTPUT)

## validate: predict, run at sizes no fit has seen, compare
validate: all
	$(Q)sh scripts/validate.sh $(BUILD)/bin $(OUTPUT)

## plots: draw every figure from the recorded data
plots:
	$(Q)sh plots/plots.sh $(OUTPUT)

## report: draw the figures and write the report (text and one HTML file)
report:
	$(Q)sh plots/report.sh $(OUTPUT)

## bench: our factorizations against cuSOLVER and the host, and the papers' tables; goes on where it was interrupted
bench: all
	$(Q)sh scripts/bench.sh $(BUILD)/bin $(OUTPUT)

## record: copy a complete run of data/local to data/MACHINE (make record MACHINE=name)
record:
	$(Q)sh scripts/record.sh $(OUTPUT) "$(MACHINE)"

## test: run all tests (GPU tests skip, with the reason, where there is no GPU)
test: all $(TESTS) $(EXAMPLES)
	$(Q)sh tests/run.sh $(TESTS) $(TEST_SCRIPTS)

# Those of the GPU's code, and those of algorithms that run on both executors.
GPU_TESTS = $(sort $(filter %_gpu.t,$(TESTS)) $(patsubst %.d,%.t,$(shell grep -lE 'tests/(factor_test|split_test)\.h' $(TESTS:.t=.d))))
SANITIZER ?= $(or $(wildcard $(CUDA_HOME)/bin/compute-sanitizer),compute-sanitizer)
SANITIZE_SECONDS ?= 300
SANITIZE_JOBS ?= 4

## sanitize: run the tests that use the GPU under compute-sanitizer: memory errors, races
sanitize: $(TESTS)
	$(Q)SANITIZER="$(SANITIZER)" sh scripts/sanitize.sh $(BUILD)/sanitize $(SANITIZE_SECONDS) $(SANITIZE_JOBS) $(GPU_TESTS)

## format: check the formatting of every C and CUDA file (clang-format)
format:
	$(Q)clang-format --dry-run --Werror $(wildcard lib/*.[ch] probes/*.[ch] factor/*.[ch] factor/*/*.[ch] factor/*/*.cu factor/*/*.cuh tests/*.[ch] examples/*.c */*.cu */*.cuh)

## install: install programs, data and the library under PREFIX (/usr/local)
install: all
	$(Q)DESTDIR="$(DESTDIR)" LIBRARY="$(if $(NVCC),$(BUILD))" sh scripts/install.sh "$(PREFIX)" $(BINARIES)

## uninstall: remove what install put there
uninstall:
	$(Q)DESTDIR="$(DESTDIR)" sh scripts/install.sh --remove "$(PREFIX)"

## clean: remove what was built (recorded data stays)
clean:
	rm -rf $(BUILD)

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): \(.*\)/  \1\t\2/p' Makefile | sort | expand -t 14

# One command may name several steps: they run in this order even under -j, and measurements never overlap.
ifneq ($(filter setup,$(MAKECMDGOALS)),)
$(LIB_OBJECTS) $(BINARIES) $(TESTS) probe validate report plots test: | setup
endif
ifneq ($(filter probe,$(MAKECMDGOALS)),)
validate report plots test: | probe
endif
ifneq ($(filter validate,$(MAKECMDGOALS)),)
report plots test: | validate
endif

# ---- rules -----------------------------------------------------------------------------------------------------------
FLAGS_NOW = $(CC) $(CFLAGS) $(SHARED_FLAGS) $(if $(NVCC),$(NVCC) $(NVCC_FLAGS),nocuda)
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD); echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' > $@

$(BUILD)/compilers: FORCE
	@mkdir -p $(BUILD); echo '$(CLANG) $(FORTRAN)' | cmp -s - $@ || echo '$(CLANG) $(FORTRAN)' > $@

$(BUILD)/qrupdate: FORCE
	@mkdir -p $(BUILD); echo '$(QRUPDATE)' | cmp -s - $@ || echo '$(QRUPDATE)' > $@

$(BUILD)/version.c: FORCE
	@mkdir -p $(BUILD); sh scripts/version.sh > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/version.o: $(BUILD)/version.c $(BUILD)/flags
	$(Q)$(CC) -std=c11 $(CFLAGS) -c $< -o $@

# The probes that the fit knows, and those that can be built here.
$(BUILD)/probe_list.h: NAMES = $(PROBE_NAMES)
$(BUILD)/measured_list.h: NAMES = $(PROBES)
$(BUILD)/probe_list.h $(BUILD)/measured_list.h: FORCE
	@mkdir -p $(BUILD); printf 'PROBE(%s)\n' $(NAMES) > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(LIB_OBJECTS) $(FACTOR_OBJECTS): HOST_FLAGS += $(SHARED_FLAGS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(HOST_FLAGS) -I$(BUILD) -MMD -MP -c $< -o $@

$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  NVCC  $<")
	$(Q)$(NVCC) $(NVCC_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

# One source by each compiler, with the same freedom.
GRAM_FLAGS := -O3 -ffp-contract=fast
FORTRAN_FLAGS := -O3 -fPIC -funroll-loops -fassociative-math -fno-signed-zeros -fno-trapping-math
$(BUILD)/lib/gram_loops.o: HOST_FLAGS += $(GRAM_FLAGS)
$(BUILD)/factor/host/gram_compilers.o: $(BUILD)/compilers
$(BUILD)/factor/host/gram_compilers.o: HOST_FLAGS += $(if $(CLANG),-DFATHOM_CLANG) \
	$(if $(FORTRAN),-DFATHOM_FORTRAN='"$(shell $(FORTRAN) -dumpfullversion)"')
$(BUILD)/lib/gram_loops.clang.o: lib/gram_loops.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=c11 $(SHARED_FLAGS) $(GRAM_FLAGS) -DLOOPS=gram_loops_clang -MMD -MP -c $< -o $@
$(BUILD)/factor/host/gram_loops_avx2.f.o: FORTRAN_FLAGS += -march=x86-64-v3
$(BUILD)/factor/host/gram_loops_avx512.f.o: FORTRAN_FLAGS += -march=x86-64-v4 -mprefer-vector-width=512
$(BUILD)/factor/host/gram_loops_%.f.o: factor/host/gram_loops_fortran.F90 $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(FORTRAN) $(FORTRAN_FLAGS) -DUNIT=_$* -c $< -o $@

$(BUILD)/probes/fit.o: $(BUILD)/probe_list.h
$(BUILD)/probes/probe.o: $(BUILD)/measured_list.h

$(PROBES:%=$(BUILD)/probes/%.main.o): $(BUILD)/probes/%.main.o: probes/main.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_FLAGS) -DPROBE=$* -c $< -o $@

$(PARTS): $(LIB_OBJECTS) $(FACTOR_OBJECTS) $(FIT_OBJECTS)
	@mkdir -p $(@D); rm -f $@
	$(Q)ar qcs $@ $^

define link
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(PARTS) $(VENDOR) $(LIBS)
endef

PROBE_OBJECTS := $(foreach p,$(PROBES),$(call objects,$(call probe_sources,$p)))
$(foreach p,$(PROBES),$(eval $(BUILD)/bin/$p: $(call objects,$(call probe_sources,$p))))
$(PROBES:%=$(BUILD)/bin/%): $(BUILD)/bin/%: $(BUILD)/probes/%.main.o $(PARTS)
	$(link)
$(BUILD)/bin/probe: $(BUILD)/probes/probe.o $(PROBE_OBJECTS) $(PARTS)
	$(link)
$(BUILD)/bin/fit: $(BUILD)/probes/fit.o $(PARTS)
	$(link)
$(BUILD)/bin/compare: $(BUILD)/probes/compare.o $(PARTS)
	$(link)
$(BUILD)/bin/machine: $(BUILD)/probes/machine_facts.o $(PARTS)
	$(link)
$(BUILD)/bin/measure: VENDOR = $(VENDOR_LIBS)
$(BUILD)/bin/measure: $(VENDOR_OBJECTS) $(MEASURE_OBJECTS)
$(FACTOR_PROGRAMS:%=$(BUILD)/bin/%): $(BUILD)/bin/%: $(BUILD)/factor/%.o $(PARTS)
	$(link)
$(BUILD)/tests/%.t: VENDOR = $(VENDOR_LIBS)
$(BUILD)/tests/test_qrupdate.o: $(BUILD)/qrupdate
$(BUILD)/tests/test_qrupdate.o: HOST_FLAGS += $(if $(QRUPDATE),-DFATHOM_QRUPDATE)
$(BUILD)/tests/test_qrupdate.t: VENDOR += $(QRUPDATE)
$(TESTS): $(BUILD)/tests/%.t: $(BUILD)/tests/%.o $(VENDOR_OBJECTS) $(PARTS)
	$(link)

# What fathom.h's functions need, picked by the linker, as one object in which everything else is local.
$(BUILD)/library/fathom.o: $(BUILD)/factor/library/fathom.o $(BUILD)/factor/library/fathom_handle.o $(PARTS)
	@mkdir -p $(@D)
	$(Q)$(CC) -r -nostdlib -Wl,--force-group-allocation -o $@ $^ && objcopy -w --keep-global-symbol='fathom_*' $@
$(BUILD)/libfathom.a: $(BUILD)/library/fathom.o
	$(if $(V),,@echo "  AR    $@")
	$(Q)rm -f $@; ar rcs $@ $<
$(BUILD)/libfathom.so: $(BUILD)/library/fathom.o
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,--exclude-libs,ALL -Wl,--no-undefined -o $@ $< -Wl,--as-needed $(LIBRARY_NEEDS)
# Options that link what libfathom.a needs, for the pkg-config file.
$(BUILD)/libfathom.needs: $(BUILD)/flags Makefile
	$(Q)echo '$(LIBRARY_NEEDS)' > $@

$(BUILD)/examples/%: examples/%.c $(BUILD)/libfathom.so
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) -std=c11 $(WARNINGS) $(CFLAGS) -Ifactor/library -isystem $(CUDA_HOME)/include -o $@ $< \
		-L$(BUILD) -Wl,-rpath,'$$ORIGIN/..' -lfathom -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64 -lcudart

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
