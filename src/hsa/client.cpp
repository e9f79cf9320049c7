// HIP has the names of the processors that it knows as strings, among its constants.
#include "hsa/client.h"

#include <link.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace Atoll::hsa {

namespace {

struct Client {
  std::string path;
  std::vector<std::string_view> constants;  ///< its segments that are only read
};

std::vector<Client> clients_of_process() {
  std::vector<Client> clients;
  const auto look = [](dl_phdr_info* info, size_t, void* data) {
    const std::string_view path = info->dlpi_name;
    if (path.find("/libamdhip64.so") == std::string_view::npos) return 0;
    Client client{std::string(path), {}};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_W | PF_X)) != PF_R) continue;
      client.constants.emplace_back(reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr), segment.p_filesz);
    }
    static_cast<std::vector<Client>*>(data)->push_back(std::move(client));
    return 0;
  };
  dl_iterate_phdr(look, &clients);
  return clients;
}

bool knows(const Client& client, std::string_view processor) {
  const std::string text = std::string(processor) + '\0';
  for (const std::string_view constants : client.constants)
    if (memmem(constants.data(), constants.size(), text.data(), text.size()) != nullptr) return true;
  return false;
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

}  // namespace Atoll::hsa
