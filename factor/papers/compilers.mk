# SPDX-License-Identifier: MIT
# Compilers whose code for Gram-Schmidt is compared with CC's (Table 1 and Figure 5 of Brandes et al., 2012): those of the two lists
# that are here and can compile it. Another one is a word in a list and its flags. Included by the Makefile.
GRAM_C := clang icx nvc
GRAM_FORTRAN := gfortran ifx nvfortran

# The same freedom for all: contracted multiply-adds; the paper's loops and those in Fortran may be summed in another order.
GRAM_FLAGS := -O3 -ffp-contract=fast
GRAM_SUMS := -fassociative-math -fno-signed-zeros -fno-trapping-math
flags_clang := $(GRAM_FLAGS) -fvisibility=hidden $(if $(CROSS),--target=$(TARGET))
flags_icx := $(GRAM_FLAGS) -fvisibility=hidden -fp-model=precise
flags_nvc := -O3
sums_clang := $(GRAM_SUMS)
sums_icx := $(GRAM_SUMS)
flags_gfortran := -O3 -funroll-loops $(GRAM_SUMS)
flags_ifx := -O3 -fp-model=fast
flags_nvfortran := -O3 -Mfprelaxed
avx2_gfortran := -march=x86-64-v3
avx512_gfortran := -march=x86-64-v4 -mprefer-vector-width=512
avx2_ifx := -march=haswell
avx512_ifx := -march=skylake-avx512
avx2_nvfortran := -tp=haswell
avx512_nvfortran := -tp=skylake

gram_loops := factor/kernels/gram_schmidt/gram_loops
gram_papers := factor/papers/gram
gram_c = $1 -std=c11 -I. -fPIC $(flags_$1) -DLOOPS=gram_loops_$1 -DPLAIN=gram_plain_$1
gram_fortran = $1 -fPIC $(flags_$1) $($2_$1) -DUNIT=_$2_$1
gram_here = $(foreach c,$1,$(if $(shell command -v $c 2>/dev/null),$c))
# $(call gram_able,COMPILER,COMMAND,SOURCE): the compiler if it compiles; clang and gfortran do.
gram_able = $(if $(filter clang gfortran,$1),$1,$(shell $2 -c $3 -o /dev/null >/dev/null 2>&1 && echo $1))
C_COMPARED := $(foreach c,$(call gram_here,$(if $(CROSS),clang,$(GRAM_C))),$(call gram_able,$c,$(call gram_c,$c),$(gram_loops).c))
# Fortran: for x86-64.
FORTRAN_COMPARED := $(foreach c,$(if $(CROSS),,$(if $(filter x86_64,$(TARGET_CPU)),$(call gram_here,$(GRAM_FORTRAN)))),\
	$(call gram_able,$c,$(call gram_fortran,$c,avx2),$(gram_papers)_loops_fortran.F90))
COMPARED_OBJECTS := $(foreach c,$(C_COMPARED),$(BUILD)/$(gram_loops).$c.o $(BUILD)/$(gram_papers)_plain.$c.o) \
	$(foreach c,$(FORTRAN_COMPARED),$(BUILD)/$(gram_papers)_loops_avx2.$c.o $(BUILD)/$(gram_papers)_loops_avx512.$c.o)

$(BUILD)/compilers: FORCE
	$(call stamp,$(foreach c,$(C_COMPARED),$(call gram_c,$c)) $(foreach c,$(FORTRAN_COMPARED),$(call gram_fortran,$c)))
$(BUILD)/$(gram_loops).o: HOST_FLAGS += $(GRAM_FLAGS)
$(BUILD)/$(gram_papers)_plain.o: HOST_FLAGS += $(GRAM_FLAGS) $(GRAM_SUMS)
$(BUILD)/$(gram_papers)_compilers.o: $(BUILD)/compilers
version_of = $(shell $1 --version | sed -n 's/[^0-9]*\([0-9]*\.[0-9][0-9.]*\).*/\1/p' | head -n 1)
$(BUILD)/$(gram_papers)_compilers.o: HOST_FLAGS += -DC_COMPILERS='$(foreach c,$(C_COMPARED),C_COMPILER($c))' \
	-DFORTRAN_COMPILERS='$(foreach c,$(FORTRAN_COMPARED),FORTRAN_COMPILER($c, "$(call version_of,$c)"))'

define compare_c
$(BUILD)/$(gram_loops).$1.o $(BUILD)/$(gram_papers)_plain.$1.o: $(BUILD)/%.$1.o: %.c $(BUILD)/flags $(BUILD)/compilers
	@mkdir -p $$(@D)
	$$(Q)$(call gram_c,$1) $$(if $$(filter %_plain.c,$$<),$(sums_$1)) -MMD -MP -c $$< -o $$@
endef
define compare_fortran
$(BUILD)/$(gram_papers)_loops_%.$1.o: $(gram_papers)_loops_fortran.F90 $(BUILD)/flags $(BUILD)/compilers
	@mkdir -p $$(@D)
	$$(Q)$$(call gram_fortran,$1,$$*) -c $$< -o $$@
endef
$(foreach c,$(C_COMPARED),$(eval $(call compare_c,$c)))
$(foreach c,$(FORTRAN_COMPARED),$(eval $(call compare_fortran,$c)))
