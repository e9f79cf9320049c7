// hsa: the API tables, and the exported functions, each of which is one jump through its slot of a table. So a tool
// that replaces an entry sees the calls of programs that know nothing of it, and without a tool a call costs an
// indirect jump more, as calls into shared libraries do anyway.
//
// The tables have the functions with a boundary around those that return a status: nothing may be thrown into the
// program, which is written in C as far as it calls the runtime.
#include <cstddef>

#include "hsa/interface/api_names.h"
#include "hsa/interface/status.h"

namespace Atoll::hsa {

namespace {

/// The function that an entry has: one that catches what `Call` throws, which calls the runtime's own. The own function
/// is no template parameter, as the compiler would take it by its first declaration, which does not have its linker
/// name.
template <typename Call, typename... Parameters>
constexpr auto bounded(hsa_status_t (*)(Parameters...), Call) {
  return +[](Parameters... arguments) -> hsa_status_t {
    try {
      return Call{}(arguments...);
    } catch (const std::exception& exception) {
      return status_of(exception);
    }
  };
}

/// A number of a signal, or UINT32_MAX for none.
template <typename Call, typename... Parameters>
constexpr auto bounded(uint32_t (*)(Parameters...), Call) {
  return +[](Parameters... arguments) -> uint32_t {
    try {
      return Call{}(arguments...);
    } catch (const std::exception&) {
      return UINT32_MAX;
    }
  };
}

/// Functions that return neither do nothing that throws.
template <typename Call, typename Result, typename... Parameters>
constexpr auto bounded(Result (*function)(Parameters...), Call) {
  return function;
}

#define ATOLL_ENTRY(function) \
  .function##_fn = bounded(&::function, [](auto... arguments) { return ::function(arguments...); }),
constexpr CoreApiTable own_core{.version = {2, sizeof(CoreApiTable), 0, 0}, ATOLL_HSA_CORE_FUNCTIONS(ATOLL_ENTRY)};
constexpr AmdExtTable own_amd_ext{.version = {2, sizeof(AmdExtTable), 8, 0},
                                  ATOLL_HSA_AMD_FUNCTIONS(ATOLL_ENTRY, ATOLL_ENTRY)};
constexpr FinalizerExtTable own_finalizer_ext{.version = {2, sizeof(FinalizerExtTable), 0, 0},
                                              ATOLL_HSA_FINALIZER_FUNCTIONS(ATOLL_ENTRY)};
constexpr ImageExtTable own_image_ext{.version = {2, sizeof(ImageExtTable), 1, 0},
                                      ATOLL_HSA_IMAGE_FUNCTIONS(ATOLL_ENTRY)};
constexpr PcSamplingExtTable own_pc_sampling_ext{.version = {1, sizeof(PcSamplingExtTable), 0, 0},
                                                 ATOLL_HSA_PC_SAMPLING_FUNCTIONS(ATOLL_ENTRY)};
#undef ATOLL_ENTRY
constexpr ToolsApiTable own_tools{.version = {1, sizeof(ToolsApiTable), 0, 0}, .scratch_events = {}};

}  // namespace

}  // namespace Atoll::hsa

// The entry points name these from assembly.
extern "C" {
#define ATOLL_TABLE [[gnu::used, gnu::visibility("hidden")]]
ATOLL_TABLE constinit Atoll::hsa::CoreApiTable atoll_table_core = Atoll::hsa::own_core;
ATOLL_TABLE constinit Atoll::hsa::AmdExtTable atoll_table_amd_ext = Atoll::hsa::own_amd_ext;
ATOLL_TABLE constinit Atoll::hsa::FinalizerExtTable atoll_table_finalizer_ext = Atoll::hsa::own_finalizer_ext;
ATOLL_TABLE constinit Atoll::hsa::ImageExtTable atoll_table_image_ext = Atoll::hsa::own_image_ext;
ATOLL_TABLE constinit Atoll::hsa::PcSamplingExtTable atoll_table_pc_sampling_ext = Atoll::hsa::own_pc_sampling_ext;
#undef ATOLL_TABLE
}

namespace Atoll::hsa {

namespace {

constinit ToolsApiTable tools = own_tools;
constinit HsaApiTable tables{
    .version = {3, sizeof(HsaApiTable), 1, 0},
    .core = &atoll_table_core,
    .amd_ext = &atoll_table_amd_ext,
    .finalizer_ext = &atoll_table_finalizer_ext,
    .image_ext = &atoll_table_image_ext,
    .tools = &tools,
    .pc_sampling_ext = &atoll_table_pc_sampling_ext,
};

}  // namespace

HsaApiTable& api_tables() { return tables; }

void reset_api_tables() {
  atoll_table_core = own_core;
  atoll_table_amd_ext = own_amd_ext;
  atoll_table_finalizer_ext = own_finalizer_ext;
  atoll_table_image_ext = own_image_ext;
  atoll_table_pc_sampling_ext = own_pc_sampling_ext;
  tools = own_tools;
}

}  // namespace Atoll::hsa

// A function without a prologue: the arguments stay where the caller put them.
#if !defined(__x86_64__)
#error "the entry points of the HSA API are written for x86-64"
#endif
#define ATOLL_ENTRY_POINT(function, table, type, slot)                                               \
  [[gnu::naked, gnu::used, gnu::visibility("default")]] void entry_##function() __asm__(#function);  \
  void entry_##function() {                                                                          \
    __asm__("jmpq *atoll_table_" #table "+%c0(%%rip)" ::"i"(offsetof(Atoll::hsa::type, slot##_fn))); \
  }
#define ATOLL_CORE(function) ATOLL_ENTRY_POINT(function, core, CoreApiTable, function)
#define ATOLL_OLD_NAME(function, today) ATOLL_ENTRY_POINT(function, core, CoreApiTable, today)
#define ATOLL_AMD(function) ATOLL_ENTRY_POINT(function, amd_ext, AmdExtTable, function)
#define ATOLL_NOT_EXPORTED(function)
#define ATOLL_FINALIZER(function) ATOLL_ENTRY_POINT(function, finalizer_ext, FinalizerExtTable, function)
#define ATOLL_IMAGE(function) ATOLL_ENTRY_POINT(function, image_ext, ImageExtTable, function)
#define ATOLL_PC_SAMPLING(function) ATOLL_ENTRY_POINT(function, pc_sampling_ext, PcSamplingExtTable, function)
extern "C" {
ATOLL_HSA_CORE_FUNCTIONS(ATOLL_CORE)
ATOLL_HSA_OLD_NAMES(ATOLL_OLD_NAME)
ATOLL_HSA_AMD_FUNCTIONS(ATOLL_AMD, ATOLL_NOT_EXPORTED)
ATOLL_HSA_FINALIZER_FUNCTIONS(ATOLL_FINALIZER)
ATOLL_HSA_IMAGE_FUNCTIONS(ATOLL_IMAGE)
ATOLL_HSA_PC_SAMPLING_FUNCTIONS(ATOLL_PC_SAMPLING)
}
