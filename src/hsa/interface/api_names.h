// hsa: linker names of Atoll's own functions. The exported hsa_init is an entry point that jumps through the API tables
// (entry_points.cpp). The function that the sources define as hsa_init has the linker name atoll_hsa_init, and is
// called unless a tool replaces it. Calls within the runtime reach it directly. Included before any use of the
// functions.
#pragma once

#include "hsa/interface/api_tables.h"

#define ATOLL_LINKER_NAME(function) decltype(function) function __asm__("atoll_" #function);
extern "C" {
ATOLL_HSA_CORE_FUNCTIONS(ATOLL_LINKER_NAME)
ATOLL_HSA_AMD_FUNCTIONS(ATOLL_LINKER_NAME, ATOLL_LINKER_NAME)
ATOLL_HSA_FINALIZER_FUNCTIONS(ATOLL_LINKER_NAME)
ATOLL_HSA_IMAGE_FUNCTIONS(ATOLL_LINKER_NAME)
ATOLL_HSA_PC_SAMPLING_FUNCTIONS(ATOLL_LINKER_NAME)
}
#undef ATOLL_LINKER_NAME
