// HIP has the names of the processors that it knows as strings, among its constants. GPU code is a section of the
// library's file, .hip_fatbin, and who has some is linked with HIP.
#include "hsa/client.h"

#include <link.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hsa/code/loaded_objects.h"
#include "object/bundle.h"
#include "support/mapped_file.h"

namespace Atoll::hsa {

namespace {

struct Client {
  std::string path;
  std::vector<std::string_view> constants;  ///< its segments that are only read
};

std::vector<Client> clients_of_process() {
  std::vector<Client> clients;
  for_each_loaded_object([&](const dl_phdr_info& info) {
    const std::string_view path = info.dlpi_name;
    if (path.find("/libamdhip64.so") == std::string_view::npos) return;
    Client client{std::string(path), {}};
    for (unsigned i = 0; i < info.dlpi_phnum; i++) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_W | PF_X)) != PF_R) continue;
      client.constants.emplace_back(reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr), segment.p_filesz);
    }
    clients.push_back(std::move(client));
  });
  return clients;
}

bool knows(const Client& client, std::string_view processor) {
  const std::string text = std::string(processor) + '\0';
  for (const std::string_view constants : client.constants)
    if (memmem(constants.data(), constants.size(), text.data(), text.size()) != nullptr) return true;
  return false;
}

/// Whether an object that is loaded has HIP among the libraries that it is linked with (DT_NEEDED).
bool is_linked_with_hip(const dl_phdr_info& object) {
  for (unsigned i = 0; i < object.dlpi_phnum; i++) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* const dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + segment.p_vaddr);
    const char* strings = nullptr;
    for (const auto* entry = dynamic; entry->d_tag != DT_NULL; entry++)
      if (entry->d_tag == DT_STRTAB)
        strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);              // the loader adds the base
    if (reinterpret_cast<ElfW(Addr)>(strings) < object.dlpi_addr) return false;  // not to this one: the kernel's vDSO
    for (const auto* entry = dynamic; entry->d_tag != DT_NULL; entry++)
      if (entry->d_tag == DT_NEEDED && std::string_view(strings + entry->d_un.d_val).starts_with("libamdhip64.so"))
        return true;
  }
  return false;
}

/// The files of the process's libraries, not the program's own, that may have GPU code.
std::vector<std::string> libraries_linked_with_hip() {
  std::vector<std::string> paths;
  for_each_loaded_object([&](const dl_phdr_info& info) {
    if (info.dlpi_name != nullptr && *info.dlpi_name != '\0' && is_linked_with_hip(info))
      paths.emplace_back(info.dlpi_name);
  });
  return paths;
}

}  // namespace

support::Result<void> check_clients(const target::GpuModel& gpu) {
  for (const Client& client : clients_of_process()) {
    if (knows(client, gpu.product.processor)) continue;
    std::string known;
    std::string_view last;
    for (const target::Product& product : target::products()) {
      if (product.processor == last || !knows(client, product.processor)) continue;
      last = product.processor;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", last);
    }
    if (known.empty()) continue;  // it keeps names in another way
    std::error_code error;
    const auto file = std::filesystem::canonical(client.path, error).filename();  // has the version in its name
    return support::fail(support::ErrorKind::incompatible,
                         "{} does not know the GPU's processor, {}; a newer HIP does, or choose a GPU with one of {}",
                         error ? client.path : file.string(), gpu.product.processor, known);
  }
  return {};
}

std::vector<std::string> libraries_without_code(const target::GpuModel& gpu) {
  std::vector<std::string> lines;
  for (const std::string& path : libraries_linked_with_hip()) {
    const auto file = support::MappedFile::open(path);
    if (!file) continue;
    const auto code = object::code_that_does_not_run(file->bytes(), gpu.target);
    if (!code) continue;
    lines.push_back(fmt::format("{}: the GPU code is for {}, and the GPU, {}, is {}; {}", path,
                                object::targets_of(*code), gpu.product.name, gpu.target.to_string(),
                                object::who_runs(*code)));
  }
  return lines;
}

}  // namespace Atoll::hsa
