# ampconv's build. `make help` lists the targets; everything made lies below build/.
# The dependencies are set up on first use (src/setup/deps.sh) in build/deps and shared by all targets.

VERSION := 0.1.0

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
DATADIR ?= $(PREFIX)/share
MANDIR  ?= $(DATADIR)/man
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR  ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
INSTALL ?= install
CFLAGS  ?= -O2 -g
BUILD   ?= build
# More flags for compiler and linker, for a build folder of their own: make BUILD=build/x EXTRA=...
EXTRA   ?=
# What the program is built for: ARCH=arm64, in a build folder of its own, takes ARM64_CC and libraries for arm64.
ARCH    := native
ARM64_CC ?= aarch64-linux-gnu-gcc

TOP  := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
DEPS := $(TOP)/build/deps
PB   := build/pb
# Undefined behaviour ends in an illegal instruction: the records of where it is found would be 12 MB that every process relocates.
SANITIZE := -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer

MAKEFLAGS += --no-print-directory
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)')

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all demo tune-demo cases check check-pass check-isa check-update check-arm64 arm64-pass asan fuzz fuzz-pass bench bench-models bench-tune oracles lint \
        format install uninstall deb check-deb dist clean distclean help compile_commands.json deps FORCE

# ---- dependencies ------------------------------------------------------------------------------------------------------
# The number goes up when src/setup/deps.sh comes to provide something else, so that a folder of the old kind is not used.

PROGRAM_DEPS := $(DEPS)/program.2.mk
TEST_DEPS    := $(DEPS)/tests.1.mk
BENCH_DEPS   := $(DEPS)/bench.1.mk
ARM64_DEPS   := $(DEPS)/arm64.1.mk
without_deps := help clean distclean dist format uninstall
with_tests   := cases check check-pass check-isa check-update check-arm64 arm64-pass asan fuzz fuzz-pass bench bench-models bench-tune oracles \
                lint compile_commands.json deps \
                $(BUILD)/unit/% $(BUILD)/oracle/%

GOALS := $(or $(MAKECMDGOALS),all)
ifneq ($(filter-out $(without_deps),$(GOALS)),)
include $(PROGRAM_DEPS)
endif
ifneq ($(filter $(with_tests),$(GOALS)),)
include $(TEST_DEPS)
endif
ifneq ($(filter bench bench-models build/oracle/ort_bench,$(GOALS)),)
include $(BENCH_DEPS)
endif
# Last: its compiler flags and libraries take the place of this machine's.
ifeq ($(ARCH),arm64)
include $(ARM64_DEPS)
endif

$(PROGRAM_DEPS):
	@CC='$(CC)' src/setup/deps.sh program $@
$(TEST_DEPS): | $(PROGRAM_DEPS)
	@CC='$(CC)' src/setup/deps.sh tests $@
$(BENCH_DEPS): | $(PROGRAM_DEPS) $(TEST_DEPS)
	@CC='$(CC)' src/setup/deps.sh bench $@
$(ARM64_DEPS): | $(PROGRAM_DEPS)
	@src/setup/deps.sh arm64 $@

# ---- the program -------------------------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wpointer-arith -Wformat=2 -Wundef \
            -Wvla -Wwrite-strings -Wswitch-enum $(if $(CI),-Werror)
AMP_CPPFLAGS = $(DEP_CPPFLAGS) -D_GNU_SOURCE -DAMP_VERSION='"$(VERSION)"' -Isrc -isystem $(PB)
# Nobody reads errno after a math function or the floating-point exception flags; loops over sqrt or floor vectorize then.
AMP_CFLAGS   = -std=c11 -fopenmp -fno-math-errno -fno-trapping-math $(WARNINGS)
AMP_LDLIBS   = -ldnnl -lprotobuf-c -lyaml -ljansson -lzip -lpcre2-8 -lm
# With a sysroot the program runs on the sysroot's own loader and libraries, found in $(1).
runtime = $(if $(and $(LOADER),$(1)),-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)$(1) -Wl$(comma)--dynamic-linker=$(1)/$(LOADER))
comma := ,

compile = $(CC) $(AMP_CPPFLAGS) $(CPPFLAGS) $(AMP_CFLAGS) $(CFLAGS) $(EXTRA) $(2) -MMD -MP -c -o $(1)
# Regions of one thread do without OpenMP: src/core/team.c.
link    = $(CC) -fopenmp -Wl,--wrap=GOMP_parallel $(CFLAGS) $(EXTRA) $(DEP_LDFLAGS) $(LDFLAGS) -o $(1) $(2) $(call runtime,$(3)) $(4) $(AMP_LDLIBS) $(LDLIBS)

PB_NAMES := onnx onnx-data
SRCS := $(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c src/*/*/*/*.c))
OBJS := $(SRCS:%.c=$(BUILD)/%.o) $(PB_NAMES:%=$(BUILD)/pb/%.pb-c.o)
LIB_OBJS := $(filter-out $(BUILD)/src/main.o,$(OBJS))
MAN1 := $(BUILD)/man/ampconv.1
MAN5 := $(BUILD)/man/ampconv-report.5
MAN7 := $(BUILD)/man/ampconv-ops.7
COMPLETIONS := $(addprefix $(BUILD)/completion/,bash zsh fish)
PATHS_OBJ := $(BUILD)/src/core/paths.o

## all: build the program, build/ampconv
all: $(BUILD)/ampconv $(MAN1) $(MAN5) $(MAN7) $(COMPLETIONS)

$(BUILD)/ampconv: $(OBJS)
	$(call say,LINK,$@)
	$(Q)$(call link,$@,$(OBJS),$(SYSLIB))

# What the table of metrics says of them is a part of the manual.
$(MAN1): man/metrics.awk src/check/metrics.c src/check/task/task_metrics.c man/ampconv.1
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)awk -f $^ >$@

# The schema of the reports is most of their page.
$(MAN5): man/schema.awk man/report.schema.json man/ampconv-report.5
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)awk -f $^ >$@

# What the program says of its operators.
$(MAN7): man/ops.sh $(BUILD)/ampconv
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$^ >$@

# What shells complete options by; the names of rule sets are in it.
$(COMPLETIONS): $(BUILD)/ampconv $(wildcard rules/*.yaml)
	$(call say,SHELL,$@)
	@mkdir -p $(@D)
	$(Q)$< completion $(@F) >$@

$(BUILD)/src/%.o: src/%.c | $(PB_NAMES:%=$(PB)/%.pb-c.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(call compile,$@,$(OWN_FLAGS)) $<

# Where the program looks for its own files is the one thing that differs between the built and the installed program.
paths_flags = -DAMP_RULES_DIR='"$(1)"' -DAMP_RULES_BESIDE='"$(2)"' -DAMP_LAUNCHER='"$(3)"'
$(PATHS_OBJ): OWN_FLAGS = $(call paths_flags,$(TOP)/rules,,)

# protoc-c writes two files; the header counts as a by-product of the source.
$(PB)/onnx.pb-c.c: $(ONNX_PROTO)
$(PB)/onnx-data.pb-c.c: src/onnx/sample/onnx-data.proto $(ONNX_PROTO)
$(PB)/%.pb-c.c:
	$(call say,PROTOC,$@)
	@mkdir -p $(PB)
	$(Q)$(PROTOC_C) --c_out=$(PB) -I$(dir $<) -I$(dir $(ONNX_PROTO)) $(notdir $<) 2>$(PB)/log || { cat $(PB)/log >&2; exit 1; }
$(PB)/%.pb-c.h: $(PB)/%.pb-c.c ;

$(BUILD)/pb/%.o: $(PB)/%.c | $(PB_NAMES:%=$(PB)/%.pb-c.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(call compile,$@,-w) $<

-include $(OBJS:.o=.d)

## deps: only set the dependencies up (those of the tests too)
deps:
	@echo 'dependencies: $(DEP_KIND), in $(DEPS)'

# ---- tests -------------------------------------------------------------------------------------------------------------

UNIT_SRCS := $(sort $(wildcard tests/unit/*.c))
UNITS := $(UNIT_SRCS:tests/%.c=$(BUILD)/%)
ORACLE_DIR := build/oracle
ORACLES := $(ORACLE_DIR)/onnx_check $(ORACLE_DIR)/ort_run
RESULTS := build/results
# The cases' texts made into folders; one tool and one set of folders for all build folders.
CASES := build/cases
CASE_TOOL := build/case_tool

$(UNITS): $(BUILD)/unit/%: $(BUILD)/unit/%.o $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(call link,$@,$< $(LIB_OBJS),$(SYSLIB),-lcmocka)

$(BUILD)/unit/%.o: tests/unit/%.c | $(PB_NAMES:%=$(PB)/%.pb-c.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(call compile,$@,-Itests/unit) $<

-include $(UNITS:=.d)

# The test refuses what these are asked for.
$(BUILD)/unit/test_refused: LDFLAGS += -Wl,--wrap=amp_buffer_create -Wl,--wrap=amp_buffer_create_again -Wl,--wrap=amp_memory_claim \
  $(addprefix -Wl$(comma)--wrap=amp_layout_,permute reshape like part in_dtype)

# The test counts these calls.
$(BUILD)/unit/test_steady: LDFLAGS += $(addprefix -Wl$(comma)--wrap=amp_,kernel_call_run kernel_call_store kernel_call_release \
  layout_undo ctx_alloc dtype_convert buffer_create_again shape_same zip_shape ctx_ints session_take_threads)

# The test puts another folder in place of the one with the sets and the table of names.
$(BUILD)/unit/test_rule_files: LDFLAGS += -Wl,--wrap=amp_rules_dir

# The test hides the caches of the CPU, and gives oneDNN's implementations other names.
$(BUILD)/unit/test_layouts: LDFLAGS += -Wl,--wrap=amp_cpu_tells_caches -Wl,--wrap=amp_describe_implementation

# The test has bytes multiplied in pairs wherever the CPU can.
$(BUILD)/unit/test_values: LDFLAGS += -Wl,--wrap=amp_dnnl_adds_bytes

# The test multiplies itself where there are no tiles.
$(BUILD)/unit/test_tiles: LDFLAGS += -Wl,--wrap=amp_amx_multiply

$(CASE_TOOL): $(wildcard tests/tool/*.c tests/tool/*.h) $(PB_NAMES:%=$(PB)/%.pb-c.c)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(AMP_CPPFLAGS) $(AMP_CFLAGS) -O1 $(DEP_LDFLAGS) -o $@ $(filter %.c,$^) $(call runtime,$(SYSLIB)) -lprotobuf-c -ljansson -lz -lm

## cases: make the folders of test cases, build/cases, out of tests/*/*.cases
cases: $(CASE_TOOL)
	$(Q)$(CASE_TOOL) expand tests $(CASES)

# Two builds take their time: they use all processors, unless make was told how many.
parallel = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

## check: all tests, once plain and once with the sanitizers, and check-isa (ARM64=1: and check-arm64); totals in build/results
check:
	@rm -rf $(RESULTS) $(RESULTS).ort
	@status=0; \
	$(MAKE) $(parallel) check-pass || status=$$?; \
	$(MAKE) check-isa || status=$$?; \
	$(MAKE) asan || status=$$?; \
	$(if $(ARM64),$(MAKE) check-arm64 || status=$$?;) \
	tests/totals.sh $(RESULTS) || status=1; exit $$status

## check-pass: all tests once, with the build as it is (BUILD, EXTRA)
check-pass: $(BUILD)/ampconv $(UNITS) $(ORACLES) cases
	@status=0; \
	$(test_env) tests/unit.sh $(UNITS) || status=1; \
	$(test_env) tests/run.sh || status=1; exit $$status

## check-isa: the tests of what computes, once for each instruction set below the CPU's own that it can play
check-isa: $(BUILD)/ampconv $(UNITS) $(ORACLES) cases
	@$(test_env) tests/isa.sh $(UNITS)

## asan: all tests once, with the address and undefined-behaviour sanitizers
asan:
	@$(MAKE) $(parallel) BUILD=build/asan EXTRA='$(SANITIZE) -g' check-pass

## check-arm64: a short list of tests (tests/arm64.txt) of the program built for arm64, under QEMU; totals in build/results.arm64
check-arm64:
	@rm -f $(RESULTS).arm64
	@status=0; \
	$(MAKE) $(parallel) $(BUILD)/ampconv cases && \
	$(MAKE) $(parallel) ARCH=arm64 BUILD=build/arm64 CC='$(ARM64_CC)' RESULTS=$(RESULTS).arm64 \
	  NATIVE='$(abspath $(BUILD)/ampconv)' arm64-pass || status=$$?; \
	tests/totals.sh $(RESULTS).arm64 || status=1; exit $$status

# The tests of the program for arm64; NATIVE is this machine's.
arm64-pass: $(BUILD)/ampconv $(shell sed -n 's|^unit |$(BUILD)/unit/|p' tests/arm64.txt)
	@$(test_env) EMULATOR='$(EMULATOR)' NATIVE='$(NATIVE)' tests/arm64.sh

# How many mutants of each kind, which ones, of which kind (none: all of them).
MUTANTS ?= 100000
SEED    ?= 1
KIND    ?=

## fuzz: mutants of models, rules and samples through the program, with the sanitizers and without (MUTANTS, SEED, KIND)
fuzz:
	@status=0; \
	$(MAKE) $(parallel) BUILD=build/asan EXTRA='$(SANITIZE) -g' fuzz-pass || status=$$?; \
	$(MAKE) $(parallel) fuzz-pass || status=$$?; exit $$status

## fuzz-pass: the same once, with the build as it is (BUILD, EXTRA); without sanitizers it measures memory
fuzz-pass: $(BUILD)/unit/test_fuzz $(ORACLES) cases
	@$(test_env) FUZZ_COUNT='$(MUTANTS)' FUZZ_SEED='$(SEED)' FUZZ_KIND='$(KIND)' FUZZ_JOBS="$$(nproc)" $<

## check-update: rewrite the expected outputs of the tests from what the program does now; review the difference
check-update: $(BUILD)/ampconv $(ORACLES) cases
	@$(test_env) tests/run.sh --update

## bench: time networks against ONNX Runtime, and conversions of large models against a copy; needs 14 GB of disk
bench: $(BUILD)/ampconv $(ORACLE_DIR)/ort_bench
	@$(test_env) tests/bench.sh

## bench-models: of those, some sixty well-known networks alone, small and large; BUSY=1 with one processor taken
bench-models: $(BUILD)/ampconv $(ORACLE_DIR)/ort_bench
	@$(test_env) KINDS=models tests/bench.sh

## bench-tune: tune small networks by every strategy: what stays in float32, what is lost, how many runs it takes; takes hours
bench-tune: $(BUILD)/ampconv
	@$(test_env) tests/bench/tune.sh $(NAMES)

# What every test script is told: the program, the build folder, where totals go, ONNX's test models, the oracles.
test_env = AMPCONV='$(abspath $(BUILD)/ampconv)' BUILD='$(abspath $(BUILD))' RESULTS='$(abspath $(RESULTS))' \
           TESTDATA='$(TESTDATA)' ORACLES='$(abspath $(ORACLE_DIR))' CASES='$(abspath $(CASES))'

## oracles: the tests' second opinions, ONNX's checker and ONNX Runtime
oracles: $(ORACLES)

$(ORACLE_DIR)/onnx_check: tests/oracle/onnx_check.cc
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(DEP_CPPFLAGS) -std=c++17 -O1 -w -DONNX_NAMESPACE=onnx -DONNX_ML=1 $(DEP_LDFLAGS) -o $@ $< \
	  $(call runtime,$(SYSLIB)) -Wl,--allow-shlib-undefined -lonnx -lonnx_proto -lprotobuf

$(ORACLE_DIR)/ort_run: ORT_FLAGS = -lonnxruntime
$(ORACLE_DIR)/ort_bench: ORT_FLAGS = $(if $(ORT_BENCH),-Wl$(comma)-rpath$(comma)$(ORT_BENCH) -L$(ORT_BENCH) -l:libonnxruntime.so.1,-lonnxruntime)

$(ORACLE_DIR)/ort_run $(ORACLE_DIR)/ort_bench: tests/oracle/ort_run.c $(PB)/onnx.pb-c.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(AMP_CPPFLAGS) $(AMP_CFLAGS) -O1 $(DEP_LDFLAGS) -o $@ $^ $(call runtime,$(SYSLIB)) \
	  -Wl,--allow-shlib-undefined $(ORT_FLAGS) -lprotobuf-c

## demo: convert models/digits_cnn.onnx to bf16, validated on its 360 held-out images
demo: $(BUILD)/ampconv
	@mkdir -p build/demo
	$(BUILD)/ampconv models/digits_cnn.onnx --dtype bf16 -o build/demo/digits_cnn.bf16.onnx \
	  --data models/digits --labels models/digits/labels.npy

## tune-demo: find what has to stay float32 in models/digits_pedestal.onnx, which is trained to fail in bf16
tune-demo: $(BUILD)/ampconv
	@mkdir -p build/demo
	$(BUILD)/ampconv models/digits_pedestal.onnx --dtype bf16 -o build/demo/digits_pedestal.bf16.onnx \
	  --data models/digits --labels models/digits/labels.npy --max-drop 0.5% --tune \
	  --rules-out build/demo/digits_pedestal.yaml --report build/demo/digits_pedestal.html
	@echo 'build/demo/digits_pedestal.html shows the search'

# ---- installation ------------------------------------------------------------------------------------------------------

PKGLIBDIR  := $(LIBDIR)/ampconv
PKGDATADIR := $(DATADIR)/ampconv
RULES := $(wildcard rules/*.yaml rules/*.map)
MAN5_ALL := $(filter-out man/ampconv-report.5,$(wildcard man/*.5)) $(MAN5)

# An installed tree can be moved as a whole. Where the program comes with libraries of its own, they lie beside it with their
# loader, and a launcher in BINDIR starts that.
RUNDIR = $(if $(LOADER),$(PKGLIBDIR),$(BINDIR))
from = $(shell realpath -ms --relative-to='$(1)' '$(2)')
installed_paths = $(call paths_flags,$(PKGDATADIR)/rules,$(call from,$(RUNDIR),$(PKGDATADIR)/rules),$(LAUNCHER))
LAUNCHER = $(if $(LOADER),$(call from,$(RUNDIR),$(BINDIR)/ampconv))

# Linked again at each installation: PREFIX may differ from the last one's.
$(BUILD)/install/ampconv: $(OBJS) FORCE
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(call compile,$(BUILD)/install/paths.o,$(installed_paths)) src/core/paths.c
	$(Q)$(call link,$@,$(filter-out $(PATHS_OBJ),$(OBJS)) $(BUILD)/install/paths.o,)

$(BUILD)/install/launcher: src/setup/launcher.sh FORCE
	@mkdir -p $(@D)
	$(Q)sed 's|@LIBRARIES@|$(call from,$(BINDIR),$(PKGLIBDIR))|; s|@LOADER@|$(LOADER)|' $< >$@

## install: install the program, its rule sets, manual and completions (PREFIX, DESTDIR, BINDIR, LIBDIR, DATADIR, MANDIR)
install: $(BUILD)/install/ampconv $(if $(LOADER),$(BUILD)/install/launcher) $(MAN1) $(MAN5) $(MAN7) $(COMPLETIONS)
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(RUNDIR) $(DESTDIR)$(PKGDATADIR)/rules
	$(INSTALL) -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man7
	$(INSTALL) -d $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	$(INSTALL) -m 755 $< $(DESTDIR)$(RUNDIR)/ampconv
	$(if $(LOADER),$(INSTALL) -m 755 $(BUILD)/install/launcher $(DESTDIR)$(BINDIR)/ampconv)
	$(if $(RULES),$(INSTALL) -m 644 $(RULES) $(DESTDIR)$(PKGDATADIR)/rules)
	$(INSTALL) -m 644 $(MAN1) $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 644 $(MAN5_ALL) $(DESTDIR)$(MANDIR)/man5
	$(INSTALL) -m 644 man/report.schema.json $(DESTDIR)$(PKGDATADIR)
	$(INSTALL) -m 644 $(MAN7) $(DESTDIR)$(MANDIR)/man7
	$(INSTALL) -m 644 $(BUILD)/completion/bash $(DESTDIR)$(BASHDIR)/ampconv
	$(INSTALL) -m 644 $(BUILD)/completion/zsh $(DESTDIR)$(ZSHDIR)/_ampconv
	$(INSTALL) -m 644 $(BUILD)/completion/fish $(DESTDIR)$(FISHDIR)/ampconv.fish
	$(if $(LOADER),src/setup/copy_libs.sh $(BUILD)/ampconv $(SYSLIB)/$(LOADER) $(DESTDIR)$(PKGLIBDIR))

## uninstall: remove what install put there (same variables)
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/ampconv
	rm -f $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(MAN1))) $(addprefix $(DESTDIR)$(MANDIR)/man5/,$(notdir $(MAN5_ALL)))
	rm -f $(DESTDIR)$(MANDIR)/man7/$(notdir $(MAN7))
	rm -f $(DESTDIR)$(BASHDIR)/ampconv $(DESTDIR)$(ZSHDIR)/_ampconv $(DESTDIR)$(FISHDIR)/ampconv.fish
	rm -rf $(DESTDIR)$(PKGDATADIR) $(DESTDIR)$(PKGLIBDIR)

DEB_VERSION ?= $(VERSION)-1
DEB := $(BUILD)/ampconv_$(DEB_VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb

## deb: make a package for Debian 13, BUILD/ampconv_VERSION_ARCH.deb (DEBFULLNAME, DEBEMAIL); on Debian 12 with 13's libraries
# The program in it has its libraries as dependencies: it is linked for the system's loader, also where that of a sysroot runs it here.
deb: all
	@rm -rf $(BUILD)/deb $(DEB)
	$(Q)$(MAKE) install PREFIX=/usr ZSHDIR=/usr/share/zsh/vendor-completions DESTDIR='$(abspath $(BUILD))/deb' LOADER= >$(BUILD)/deb.log 2>&1 || \
	  { cat $(BUILD)/deb.log >&2; exit 1; }
	$(Q)src/setup/deb.sh $(BUILD)/deb '$(DEB_VERSION)' '$(SYSROOT)' $(DEB)
	@echo $(DEB)

## check-deb: install the package in a bare Debian 13, run it there, and ask lintian; needs root, debootstrap, lintian and the network
check-deb: deb
	@tests/deb.sh $(DEB)

## dist: pack the committed tree, build/ampconv-VERSION.tar.gz
dist:
	@mkdir -p build
	git archive --format=tar.gz --prefix=ampconv-$(VERSION)/ -o build/ampconv-$(VERSION).tar.gz HEAD

# ---- housekeeping ------------------------------------------------------------------------------------------------------

C_FILES = $(sort $(SRCS) $(wildcard src/*.h src/*/*.h src/*/*/*.h src/*/*/*/*.h tests/*/*.[ch] tests/*/*.cc))

## lint: formatting (clang-format), clang-tidy and cppcheck, each where installed
lint: $(PB_NAMES:%=$(PB)/%.pb-c.h) compile_commands.json
	@tests/lint.sh $(C_FILES)

## format: reformat all C files in place
format:
	@command -v clang-format >/dev/null || { echo 'make format: clang-format is not installed' >&2; exit 1; }
	clang-format -i $(C_FILES)

## compile_commands.json: the compilation database for editors and clang-tidy
# Written by make itself: one command line would be too long for a shell.
compile_commands.json: $(PB_NAMES:%=$(PB)/%.pb-c.h)
	$(call say,JSON,$@)
	$(file >$@.new,[)
	$(foreach s,$(DATABASE),$(file >>$@.new,$(database_entry)$(if $(filter-out $(lastword $(DATABASE)),$(s)),$(comma))))
	$(file >>$@.new,])
	@mv $@.new $@

DATABASE = $(SRCS) $(UNIT_SRCS) $(wildcard tests/tool/*.c)
database_entry = {"directory": "$(TOP)", "file": "$(s)", "command": "$(subst ",\",$(call compile,$(s:%.c=$(BUILD)/%.o),$(database_flags)) $(s))"}
database_flags = -Itests/unit $(call paths_flags,$(TOP)/rules,,)

## clean: remove what was built; build/deps, the dependencies that were set up, stays
clean:
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} +; fi
	rm -f compile_commands.json

## distclean: remove build/ altogether
distclean: clean
	rm -rf build

## help: list the targets
help:
	@sed -n 's/^## \([^:]*\): \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | sort | expand -t 26
