// hsa: hsa_amd_enable_logging; see logging.h.
#include "hsa/logging.h"

#include <cstring>

#include "hsa/runtime.h"

namespace Atoll::hsa {

void Log::configure(uint64_t kinds, std::FILE* file) {
  file_ = file != nullptr ? file : stderr;
  kinds_ = kinds;
}

void Log::write_line(const std::string& line) {
  std::FILE* file = file_;
  std::fputs(fmt::format("atoll: {}\n", line).c_str(), file);
  std::fflush(file);
}

Log& log() {
  static auto* const instance = new Log;
  return *instance;
}

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_amd_enable_logging(uint8_t* flags, void* file) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (flags == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  uint64_t kinds = 0;
  std::memcpy(&kinds, flags, sizeof kinds);  // uint8_t[8], bit 0 in the first
  log().configure(kinds, static_cast<std::FILE*>(file));
  return HSA_STATUS_SUCCESS;
}
