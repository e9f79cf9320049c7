// hsa: loading tools.
//
// A tool is a library with the function
//   bool OnLoad(HsaApiTable*, uint64_t runtime_version, uint64_t failed_tool_count, const char* const* failed_tools)
// and perhaps OnUnload(). One that is in the process already, by link or preloaded, has a uint32_t
// HSA_AMD_TOOL_PRIORITY, and comes after those of the environment, by that number.
// Source: ROCr's runtime, as tools are written for it.
#include "hsa/tools/tools.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "hsa/code/loaded_objects.h"
#include "hsa/interface/api_tables.h"
#include "support/environment.h"

namespace Atoll::hsa {

namespace {

using OnLoad = bool (*)(HsaApiTable*, uint64_t, uint64_t, const char* const*);
using OnUnload = void (*)();

struct Tool {
  std::string name;
  void* library;
  std::pair<uint64_t, size_t> order;  ///< the smaller comes first
};

void complain(const std::string& name, std::string_view reason) {
  std::fputs(fmt::format("atoll: the tool {} of HSA_TOOLS_LIB is left out: {}\n", name, reason).c_str(), stderr);
}

/// Tools among the libraries that the process has loaded.
std::vector<Tool> find_loaded_tools(uint64_t first_order) {
  std::vector<std::string> names;
  for_each_loaded_object([&](const dl_phdr_info& info) {
    if (*info.dlpi_name != '\0') names.emplace_back(info.dlpi_name);
  });
  std::vector<Tool> tools;
  for (const std::string& name : names) {
    void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    // A look-up goes on into the library's dependencies; the symbol has to be its own.
    const void* priority = dlsym(library, "HSA_AMD_TOOL_PRIORITY");
    const link_map* map = nullptr;
    Dl_info place{};
    if (priority != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && dladdr(priority, &place) != 0 &&
        reinterpret_cast<uint64_t>(place.dli_fbase) == map->l_addr) {
      tools.push_back({name, library, {first_order + *static_cast<const uint32_t*>(priority), tools.size()}});
    } else {
      dlclose(library);
    }
  }
  return tools;
}

}  // namespace

std::vector<std::string> parse_tool_names(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  bool quoted = false;
  const auto end_name = [&] {
    if (!name.empty()) names.push_back(std::move(name));
    name.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      name += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == ' ' && !quoted) {
      end_name();
    } else {
      name += text[i];
    }
  }
  end_name();
  return names;
}

void Tools::load() {
  const char* list = support::environment_variable(support::Setting::tools_lib);
  const std::vector<std::string> names = parse_tool_names(list != nullptr ? list : "");
  std::vector<Tool> tools;
  std::vector<std::string> failed;
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_LAZY); library != nullptr) {
      tools.push_back({name, library, {tools.size(), 0}});
    } else {
      complain(name, dlerror());
      failed.push_back(name);
    }
  }
  for (Tool& tool : find_loaded_tools(names.size())) {
    if (std::ranges::find(tools, tool.library, &Tool::library) != tools.end()) {
      dlclose(tool.library);  // named by the environment too
    } else {
      tools.push_back(std::move(tool));
    }
  }
  std::ranges::sort(tools, {}, &Tool::order);

  for (const Tool& tool : tools) {
    const auto on_load = reinterpret_cast<OnLoad>(dlsym(tool.library, "OnLoad"));
    std::vector<const char*> failed_names;
    for (const std::string& name : failed) failed_names.push_back(name.c_str());
    HsaApiTable& tables = api_tables();
    if (on_load != nullptr && on_load(&tables, tables.version.major, failed_names.size(), failed_names.data())) {
      libraries_.push_back(tool.library);
      continue;
    }
    complain(tool.name, on_load == nullptr ? "it has no function OnLoad" : "its OnLoad returned false");
    failed.push_back(tool.name);
    dlclose(tool.library);
  }
}

void Tools::unload() {
  for (auto library = libraries_.rbegin(); library != libraries_.rend(); ++library) {
    if (const auto on_unload = reinterpret_cast<OnUnload>(dlsym(*library, "OnUnload"))) on_unload();
  }
  reset_api_tables();
  for (void* library : libraries_) dlclose(library);
  libraries_.clear();
}

}  // namespace Atoll::hsa
