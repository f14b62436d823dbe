# SPDX-License-Identifier: MIT
# libfathom_cusolver.so, and the same under cuSOLVER's soname in a folder of its own (docs/cusolver-client.md). Included by the Makefile.
# Their objects are not among those of the tree: they define cuSOLVER's names.
CUSOLVER := $(if $(NVCC),$(firstword $(wildcard $(CUDA_HOME)/lib64/libcusolver.so $(CUDA_HOME)/lib/$(TARGET)/libcusolver.so)))
CUSOLVER_SONAME := $(if $(CUSOLVER),$(shell readelf -d $(CUSOLVER) | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p'))
client_cpu := $(filter x86_64 aarch64,$(TARGET_CPU))
CLIENT_SHARED := $(if $(NVCC),$(BUILD)/libfathom_cusolver.so)
CLIENT_NAMED := $(if $(and $(CUSOLVER_SONAME),$(client_cpu)),$(BUILD)/fathom-cusolver/$(CUSOLVER_SONAME))

client_sources := $(wildcard factor/library/cusolver/*.c)
client_objects := $(patsubst factor/library/cusolver/%.c,$(BUILD)/client/%.o,$(filter-out %/trampoline.c,$(client_sources)))
client_device := $(BUILD)/client/device.cu.o
client_flags = -DLIBFATHOM_SONAME='"$(LIBFATHOM_SONAME)"' $(if $(CUSOLVER_SONAME),-DCUSOLVER_SONAME='"$(CUSOLVER_SONAME)"')
# A preload comes before the client's own libraries: nothing of CUDA is loaded with it, and no C++ library. The run
# paths lead to libfathom.so and to cuSOLVER.
no_cxx := -fno-exceptions -fno-threadsafe-statics
client_link = $(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) -Wl,--no-undefined -o $@ $(filter %.o,$^) \
	-Wl,--as-needed $(CUDA_PATHS) -lcudart_static -lrt -ldl -lpthread

$(BUILD)/client/%.o: factor/library/cusolver/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC    $<)
	$(Q)$(CC) $(HOST_FLAGS) $(client_flags) -MMD -MP -c $< -o $@
$(client_device): factor/library/cusolver/device.cu $(BUILD)/device_flags
	@mkdir -p $(@D)
	$(call say,NVCC  $<)
	$(Q)$(NVCC) $(NVCC_FLAGS) $(no_cxx:%=-Xcompiler %) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(BUILD)/libfathom_cusolver.so: factor/library/cusolver/exports.map $(client_objects) $(client_device)
	$(call say,LINK  $@)
	$(Q)$(client_link) -Wl,--version-script,$< -Wl,-rpath,'$$ORIGIN'

$(BUILD)/client/jumps.s: scripts/trampolines.sh $(CUSOLVER) $(client_objects)
	$(Q)NM=$(CROSS)nm sh scripts/trampolines.sh $(client_cpu) $(CUSOLVER) $(client_objects) >$@
$(BUILD)/client/jumps.o: $(BUILD)/client/jumps.s
	$(Q)$(CC) -c $< -o $@
$(BUILD)/client/names.map: scripts/trampolines.sh $(CUSOLVER)
	@mkdir -p $(@D)
	$(Q)NM=$(CROSS)nm sh scripts/trampolines.sh --map $(CUSOLVER) >$@
ifneq ($(CLIENT_NAMED),)
$(CLIENT_NAMED): $(BUILD)/client/names.map $(client_objects) $(BUILD)/client/trampoline.o $(BUILD)/client/jumps.o $(client_device)
	@mkdir -p $(@D)
	$(call say,LINK  $@)
	$(Q)$(client_link) -Wl,--version-script,$< -Wl,-rpath,'$$ORIGIN/..'
endif
