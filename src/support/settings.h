// support: the table of settings, which are all environment variables that Atoll reads for itself.
//
// A room that reads a setting names its row: environment_variable() takes nothing else, so no variable is read that the
// table lacks. Room `settings` validates all of them in one place. `atoll run` does that before the program starts, and
// hsa_init for programs that are started in another way. docs/tools.md and `atoll run --help` have the rows' text.
#pragma once

#include <cstdint>
#include <string_view>

namespace Atoll::support {

enum class Setting : uint8_t {
  gpu,
  gpus,
  memory,
  stats,
  timeout,
  threads,
  engine,
  schedule,
  core,
  check,
  check_report,
  check_exit_code,
  check_suppressions,
  host_vectors,
  cache,
  cache_size,
  compile,
  compile_limit,
  compile_swapped,
  code_symbols,
  compiler,
  library,
  cu_mask,
  xnack,
  visible_devices,
  hip_visible_devices,
  tools_lib,
  chosen_gpu,
  driver,
  record,
};

struct SettingRow {
  Setting id;
  const char* name;          ///< the environment variable's
  std::string_view option;   ///< of `atoll run`, which has precedence over the variable; empty: none
  std::string_view meaning;  ///< for a reader, with the values that are allowed; empty: internal
  bool is_path = false;      ///< a file's name, which `atoll run` makes absolute as the program may change directory
  std::string_view no_path[2] = {};  ///< values that are no file's name
};

inline constexpr SettingRow setting_rows[] = {
    {Setting::gpu, "ATOLL_GPU", "--gpu", "GPUs: products, processors or target IDs, separated by commas"},
    {Setting::gpus, "ATOLL_GPUS", "--gpus", "number of GPUs, 1 to 64"},
    {Setting::memory, "ATOLL_MEMORY", "--memory", "memory of each GPU: `4G`, `512M` or a number of bytes"},
    {Setting::stats,
     "ATOLL_STATS",
     "--stats",
     "`1` for a table on standard error, `0` for none, any other value is the name of a JSON file",
     true,
     {"0", "1"}},
    {Setting::timeout, "ATOLL_TIMEOUT", "--timeout", "seconds that a kernel may run; `0` for any number"},
    {Setting::threads, "ATOLL_THREADS", "--threads", "number of host threads; `0` for all of the host's"},
    {Setting::engine, "ATOLL_ENGINE", "--engine", "`compiled` or `interpreter`"},
    {Setting::schedule, "ATOLL_SCHEDULE", "--schedule",
     "order in which waves run: `fast` (the default), `fair` (side by side) or a number, the seed of a random order"},
    {Setting::core, "ATOLL_CORE", "--core", "name of the core file", true},
    {Setting::check, "ATOLL_CHECK", "--check",
     "names of checkers separated by commas, `all` or `none`; `seed=N` may be among them"},
    {Setting::check_report, "ATOLL_CHECK_REPORT", "--check-report",
     "name of a report file, which ends in .json, .xml or .sarif; requires checkers", true},
    {Setting::check_exit_code, "ATOLL_CHECK_EXIT_CODE", "--check-exit-code",
     "exit code in place of 0 after findings, 0 to 255; requires checkers"},
    {Setting::check_suppressions, "ATOLL_CHECK_SUPPRESSIONS", "--check-suppressions",
     "name of a file of suppressions; requires checkers", true},
    {Setting::host_vectors, "ATOLL_HOST_VECTORS", "",
     "`avx512`, `avx2` or `portable`: the host's vector instructions to use. By default the widest of the host. "
     "Results do not depend on it"},
    {Setting::cache, "ATOLL_CACHE", "", "directory of compiled kernels, or `off` (`atoll cache`)", true, {"off", ""}},
    {Setting::cache_size, "ATOLL_CACHE_SIZE", "", "limit of that directory: `500M`, `2G` or a number of bytes"},
    {Setting::compile, "ATOLL_COMPILE", "",
     "`wait`: waves wait for compiled code, for tests. `background`, the default: they start in the interpreter"},
    {Setting::compile_limit, "ATOLL_COMPILE_LIMIT", "",
     "address in the code object, as in a disassembly: instructions from there on are left to the interpreter, to find "
     "a wrong translation by bisection"},
    // The address of an instruction whose translation is to be wrong, in tests of comparisons between engines.
    {Setting::compile_swapped, "ATOLL_COMPILE_SWAPPED", "", ""},
    {Setting::code_symbols, "ATOLL_CODE_SYMBOLS", "",
     "`perf`, `gdb` or `perf,gdb`: name compiled code `KERNEL+PC` for perf (/tmp/perf-PID.map) and for gdb"},
    {Setting::compiler, "ATOLL_COMPILER", "", "path of the `atoll-compiler` to use in place of the installed one",
     true},
    {Setting::library, "ATOLL_LIBRARY", "", "path of the `libatoll.so` that the Python module loads"},
    {Setting::cu_mask, "HSA_CU_MASK", "",
     "ROCm's own: compute units that kernels may use (HW_ID), `0:0-15` or `0:0xffff` for the first sixteen of GPU 0"},
    {Setting::xnack, "HSA_XNACK", "",
     "ROCm's own: `1` turns xnack on for GPUs whose name does not set it and which support it, `0` leaves it off"},
    {Setting::visible_devices, "ROCR_VISIBLE_DEVICES", "",
     "ROCm's own: numbers or UUIDs of the GPUs that the program sees, in this order"},
    {Setting::hip_visible_devices, "HIP_VISIBLE_DEVICES", "",
     "HIP's own: the GPUs that HIP shows, of those that the program sees. Atoll warns when it leaves none"},
    {Setting::tools_lib, "HSA_TOOLS_LIB", "", "ROCm's own: libraries of tools that the runtime loads"},
    // `atoll run` to its program: ATOLL_GPU when the user named none, and the directory of the driver's files.
    {Setting::chosen_gpu, "ATOLL_CHOSEN_GPU", "", ""},
    {Setting::driver, "ATOLL_DRIVER", "", ""},
    // The directory in which processes keep their records (machine/report/process_record.h).
    {Setting::record, "ATOLL_RECORD", "", ""},
};

constexpr const SettingRow& row_of(Setting setting) { return setting_rows[static_cast<unsigned>(setting)]; }

static_assert([] {
  for (unsigned i = 0; i < sizeof setting_rows / sizeof setting_rows[0]; ++i)
    if (setting_rows[i].id != static_cast<Setting>(i)) return false;
  return true;
}());

}  // namespace Atoll::support
