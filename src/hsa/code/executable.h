// hsa: executables: sets of loaded code objects, with variables that the program defines for them. Source: HSA runtime
// specification, "Code object loading"; hsa_ven_amd_loader.h.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hsa/agent.h"
#include "hsa/tools/debugger_list.h"
#include "machine/loader.h"
#include "object/code_object.h"
#include "object/kernel_descriptor.h"

namespace Atoll::hsa {

struct Executable;

/// The object behind an hsa_code_symbol_t.
struct CodeSymbol {
  std::string name;
  uint64_t value, size;
  bool is_global, is_definition, is_const = false;
  std::optional<object::RawKernelDescriptor> descriptor = std::nullopt;  ///< of a kernel
  const object::KernelMetadata* metadata = nullptr;                      ///< of a kernel
};

/// The object behind an hsa_code_object_reader_t.
struct CodeObjectReader {
  std::vector<uint8_t> storage;  ///< of a file's contents
  const uint8_t* bytes = nullptr;
  size_t size = 0;
  std::string uri;  ///< "file://path#offset=1&size=2" or "memory://pid#offset=address&size=2"
  int file = -1;    ///< the descriptor it was read from

  std::unique_ptr<object::CodeObject> code;  ///< once symbols were asked for; null before, and of a damaged file
  std::deque<CodeSymbol> symbols;            ///< a deque: handles point into it
  void read_symbols();
};

/// The object behind an hsa_loaded_code_object_t.
struct LoadedCodeObject {
  Executable* executable;
  const GpuAgent* agent;  ///< that has it
  std::shared_ptr<machine::LoadedCode> code;
  const uint8_t* storage;  ///< the reader's bytes; the program's own unless read from a file
  size_t storage_size;
  int file;
  bool is_program;  ///< loaded for all agents
  std::unique_ptr<DebuggerEntry> debugger_entry;
};

/// The object behind an hsa_executable_symbol_t.
struct ExecutableSymbol {
  Executable* executable;
  const Agent* agent;              ///< null for a variable that the program defined for all agents
  const LoadedCodeObject* loaded;  ///< null for a variable that the program defined
  const machine::LoadedSymbol* symbol;
  std::string name;
  uint64_t address, size;
  bool agent_allocation;
};

/// The object behind an hsa_executable_t.
struct Executable {
  hsa_profile_t profile = HSA_PROFILE_FULL;
  hsa_default_float_rounding_mode_t rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT;
  mutable std::mutex mutex;
  bool frozen = false;
  std::deque<LoadedCodeObject> loaded;                               ///< a deque: handles point into it
  std::deque<ExecutableSymbol> symbols;                              ///< of all loaded code objects and definitions
  std::multimap<std::string_view, const ExecutableSymbol*> by_name;  ///< in order of definition
  std::unordered_set<const ExecutableSymbol*> handles;

  // With the mutex held:
  void add(ExecutableSymbol symbol);
  /// Returns the first symbol of that name for the agent or for all agents; without an agent, the first of any. Null if
  /// there is none.
  const ExecutableSymbol* find(std::string_view name, const Agent* agent) const;
};

/// All executables and readers, to validate handles and to search.
class Executables {
 public:
  Executable* create();
  Executable* find(hsa_executable_t handle) const;
  bool destroy(hsa_executable_t handle);
  std::vector<Executable*> all() const;
  void clear();

  CodeObjectReader* add_reader(std::unique_ptr<CodeObjectReader> reader);
  CodeObjectReader* find_reader(hsa_code_object_reader_t handle) const;
  bool destroy_reader(hsa_code_object_reader_t handle);
  /// Returns the reader with its symbols; null if the handle is invalid.
  CodeObjectReader* with_symbols(hsa_code_object_reader_t handle);
  const CodeSymbol* find_code_symbol(hsa_code_symbol_t handle) const;

  /// Returns the loaded code object that contains an address; null if there is none.
  const LoadedCodeObject* around(uint64_t address) const;
  const LoadedCodeObject* find_loaded(hsa_loaded_code_object_t handle) const;
  const ExecutableSymbol* find_symbol(hsa_executable_symbol_t handle) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Executable>> executables_;
  std::map<uint64_t, std::unique_ptr<CodeObjectReader>> readers_;
};

/// Creates a reader for an open file's bytes [offset, offset + size); size 0: to the end.
hsa_status_t read_code_object_file(int file, size_t offset, size_t size, std::unique_ptr<CodeObjectReader>& reader);

/// Loads code into an executable, for a GPU.
hsa_status_t load_into(Executable& executable, const GpuAgent& agent, const CodeObjectReader& reader, bool is_program,
                       hsa_loaded_code_object_t* loaded);

}  // namespace Atoll::hsa
