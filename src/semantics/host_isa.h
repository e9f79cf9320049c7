// semantics: code that is made once for each level of the host's vector instructions.
//
// What works on whole rows of lanes is compiled three times, for AVX-512, AVX2 and plain x86-64, and one of the three
// is chosen as the program starts (host_vectors.h). The build compiles the same files with ATOLL_LEVEL set to avx512,
// avx2 and portable; what stands between ATOLL_HOST_ISA_BEGIN and ATOLL_HOST_ISA_END then lies in an inline namespace
// of that name, so that the linker sees three sets of functions and merges none of them, and is compiled for the
// level's instructions. Only that: headers from elsewhere, the standard library's too, are included before, and an
// inline function of theirs that the compiler leaves out of line is plain x86-64 code, whichever of its copies the
// linker takes. In all other files the macros are empty.
//
// Levels may differ in speed alone: results are the same, bit for bit.
#pragma once

#define ATOLL_LEVEL_NUMBER_portable 1
#define ATOLL_LEVEL_NUMBER_avx2 2
#define ATOLL_LEVEL_NUMBER_avx512 3
#define ATOLL_LEVEL_NUMBER_OF(level) ATOLL_LEVEL_NUMBER_##level
#define ATOLL_LEVEL_NUMBER(level) ATOLL_LEVEL_NUMBER_OF(level)
/// For #if: whether this is compiled for the level or a wider one.
#define ATOLL_LEVEL_HAS(level) (ATOLL_LEVEL_NUMBER(ATOLL_LEVEL) >= ATOLL_LEVEL_NUMBER_OF(level))

#if ATOLL_LEVEL_HAS(avx512)
#define ATOLL_LEVEL_TARGET __attribute__((target("arch=x86-64-v4")))
#elif ATOLL_LEVEL_HAS(avx2)
#define ATOLL_LEVEL_TARGET __attribute__((target("arch=x86-64-v3")))
#endif

#ifdef ATOLL_LEVEL_TARGET
#define ATOLL_LEVEL_PRAGMA(text) _Pragma(#text)
#define ATOLL_LEVEL_PUSH(target) ATOLL_LEVEL_PRAGMA(clang attribute push(target, apply_to = function))
#define ATOLL_HOST_ISA_BEGIN     \
  inline namespace ATOLL_LEVEL { \
  ATOLL_LEVEL_PUSH(ATOLL_LEVEL_TARGET)
#define ATOLL_HOST_ISA_END                \
  ATOLL_LEVEL_PRAGMA(clang attribute pop) \
  }
#elif ATOLL_LEVEL_HAS(portable)
#define ATOLL_HOST_ISA_BEGIN inline namespace portable {
#define ATOLL_HOST_ISA_END }
#else
#define ATOLL_HOST_ISA_BEGIN
#define ATOLL_HOST_ISA_END
#endif
