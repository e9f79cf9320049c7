// hsa: the linker names of Atoll's own functions. What a program calls as hsa_init is an entry point, which jumps to
// the function that the API tables name (entry_points.cpp); unless a tool has replaced it that is the function which
// the sources define as hsa_init, and which the linker knows as atoll_hsa_init. Calls from within the runtime reach it
// directly. Included before any use of the functions.
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
