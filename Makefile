# The short ways into the build; CMakeLists.txt and CMakePresets.json hold the build itself. Every target first
# installs the Debian packages that it needs and lacks (scripts/install-dependencies).
#
#   make build      what is installed: the command build/bin/atoll, the runtime build/lib/libhsa-runtime64.so.1, the C++
#                   library; neither tests nor benchmarks
#   make install    builds, and installs under PREFIX (/usr/local; DESTDIR goes before it)
#   make package    builds a Debian package and a tarball that runs from anywhere, in build/packages
#   make test-packages  installs that package into fresh systems of Debian 12, 13 and sid and runs the README's program in
#                   each (some GB of packages, a few minutes); writes what came out into docs/testing.md
#   make wheel      builds the Python module as a wheel, in build/packages
#   make demo       compiles an example HIP program for two GPUs and runs it on each
#   make test       builds and runs the tests
#   make check-fast a first answer within two minutes, once it is built: lint, tables, memory model, effects of
#                   instructions, debug information, a HIP program
#   make test-rocm  the test suites of ROCm's libraries, of ROCm 6.4 and 7.2, in folders with that ROCm (hours, tens of GB);
#                   writes docs/rocm.md. ROCM_RUN="--suite rocPRIM --rocm 7.2 --gpu gfx90a" runs a part
#   make test-python  a Python program that compiles a kernel by hiprtc, launches it and checks the result, through ctypes
#   make test-levels  what make test leaves out: tests and HIP programs at the host's narrower levels of vector
#                   instructions, and checkers on a second GPU; of both it runs a sample
#   make test-processors  what make test leaves out: comparisons with LLVM of processors that share an instruction set with
#                   one that is compared, and HIP programs on six more GPUs
#   make bench      measures against pocl and native code on this host; rewrites docs/performance.md
#   make sweep      a long comparison of disassembler and assembler with LLVM's: every opcode of every processor
#                   from GFX6 to GFX12.5
#   make sweep-real the same with every code object of rocRAND and rocSPARSE, as compiled for seven GPUs
#   make fuzz       random machine code in both engines for an hour, or ATOLL_FUZZ_SECONDS; from program ATOLL_FUZZ_SEED on
#   make fuzz-readers  libFuzzer on everything that reads files, 10 minutes each, or ATOLL_FUZZ_SECONDS
#   make soak       long loads of the HSA runtime, and every call of it for memory, threads or files refused;
#                   rewrites docs/reliability.md
#   make sanitize   the tests under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer
#   make lint       clang-tidy over src, tests and bench; lists of opcodes outside of the instruction table
#   make tested-instructions  what tests note of the instructions that they compare, for docs/isa.md and docs/gpus.md
#   make format     clang-format over every source file
#   make clean      removes the build directories

.PHONY: build install package test-packages wheel test test-rocm test-python test-levels test-processors check-fast demo bench sweep sweep-real fuzz fuzz-readers soak sanitize lint tested-instructions format clean

build:
	scripts/install-dependencies build
	cmake --preset release
	cmake --build --preset release

PREFIX = /usr/local
install: build
	DESTDIR='$(DESTDIR)' cmake --install build --prefix "$$(realpath -m '$(PREFIX)')" --strip

package: build
	scripts/install-dependencies package
	cpack --config build/CPackConfig.cmake

test-packages: package
	scripts/try-package

wheel: build
	scripts/make-wheel

test:
	scripts/install-dependencies build package test rocm
	cmake --preset release
	cmake --build --preset release --target all tests test-programs
	ctest --preset release

test-rocm:
	scripts/install-dependencies build rocm
	cmake --preset release
	cmake --build --preset release
	tests/rocm/run $(ROCM_RUN); status=$$?; tests/rocm/report && exit $$status

test-python:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release
	build/bin/atoll run --gpu gfx90a -- python3 tests/programs/hiprtc_ctypes.py

test-levels:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release --target all tests test-programs
	ctest --preset every-level

test-processors:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release --target all tests test-programs
	ctest --preset every-processor

FAST_TESTS = test_target test_settings test_memory_model test_isa_effects test_debug_info
check-fast:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release --target all $(FAST_TESTS) programs-streams
	printf '%s\n' scripts/check-layers scripts/check-references scripts/check-format $(FAST_TESTS:%=build/bin/%) \
	  'build/bin/atoll run --gpu gfx90a -- build/bin/programs/streams' | xargs -P 2 -I{} sh -c 'GTEST_BRIEF=1 {} || exit 255'

demo:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release
	examples/demo

bench:
	scripts/install-dependencies build test bench rocm
	cmake --preset release
	cmake --build --preset release --target all benchmarks programs-rocprim programs-rocsparse
	bench/run

# ATOLL_SWEEP: random byte sequences per opcode value; ATOLL_SEED: which ones.
sweep:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release --target test_isa test_assembler
	export ATOLL_SWEEP=$${ATOLL_SWEEP:-60} && \
	  build/bin/test_isa --gtest_filter='*Sweep*:All/Assembler.*:*Faults*' && \
	  build/bin/test_assembler --gtest_filter='*Sweep*:All/Compiled.*'

sweep-real:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release --target test_isa
	ATOLL_SWEEP_REAL=1 build/bin/test_isa --gtest_filter='*RealLibraries*'

fuzz:
	scripts/install-dependencies build
	cmake --preset release
	cmake --build --preset release --target test_random_code
	ATOLL_FUZZ_SECONDS=$${ATOLL_FUZZ_SECONDS:-3600} ATOLL_FUZZ_SEED=$${ATOLL_FUZZ_SEED:-1000} \
	  build/bin/test_random_code --gtest_filter='*RandomCodeTest*'

fuzz-readers:
	scripts/install-dependencies build test develop
	cmake --preset fuzz
	cmake --build --preset fuzz
	tests/fuzz/run

soak:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release --target atoll-compiler hsa_load test_hsa_failures
	tests/hsa/soak

# HIP programs, rocminfo, sh, and programs that are built against an installed Atoll are not instrumented and so cannot load
# an instrumented library: they stay out here.
# But for programs that are not instrumented: HIP programs (label `programs`), and what tests install, compile or start by
# themselves with the runtime or the library in it.
# ThreadSanitizer leaves few addresses, and its programs larger files than a limit of a test lets them write.
programs_without_sanitizers = (^|\.)(Installation|Rocminfo|HsaLoading|python|Driver|RunCommand|RunLoading)|AnInstallation|WithoutThreadsFunctions|SeveralComeInOrder
not_under_address =
not_under_thread = |^AddressRange|MoreThanTheHostHasCanBeAllocated|AFileThatCannotBeWrittenStaysAsItWas
sanitize: sanitize-address sanitize-thread
sanitize-%:
	scripts/install-dependencies build test develop
	cmake --preset $* -DATOLL_BENCHMARKS=OFF
	cmake --build --preset $* --target all tests
	TSAN_OPTIONS='die_after_fork=0 allocator_may_return_null=1' ctest --preset $* --label-exclude programs \
	  --exclude-regex '$(programs_without_sanitizers)$(not_under_$*)'

lint:
	scripts/check-opcode-lists
	scripts/install-dependencies build develop
	cmake --preset release
	cmake --build --preset release --target all tests benchmarks
	run-clang-tidy-19 -quiet -p build '^$(CURDIR)/(src|tests|bench)/'

tested-instructions:
	scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release --target atoll tests
	rm -f build/tested-instructions
	cd build && export ATOLL_TESTED_INSTRUCTIONS=$(CURDIR)/build/tested-instructions && bin/test_semantics_float && \
	  bin/test_semantics_integer && bin/test_semantics_pseudocode && bin/test_guide_modifiers && \
	  ATOLL_ENGINE=interpreter bin/test_gfx12_5 && \
	  ATOLL_ENGINE=interpreter bin/test_engine --gtest_filter='-*Kernels*:*RandomPrograms*:*Coverage*'
	scripts/document-gpus --tested build/tested-instructions
	scripts/document-gpus

format:
	scripts/install-dependencies develop
	git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

clean:
	rm -rf build build-*
