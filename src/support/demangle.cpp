// support: names as their source has them (demangle.h).
#include "support/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <optional>
#include <string_view>

namespace Atoll::support {

namespace {

std::optional<std::string> demangle(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::optional<std::string> result;
  if (status == 0 && text != nullptr) result = text;
  std::free(text);
  return result;
}

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "f" would be float
  if (const auto result = demangle(name)) return *result;
  // GCC 12's library does not know _Float16, but the ABI's other type of half precision.
  constexpr std::string_view float16 = "DF16_", half = "Dh";
  std::string other = name;
  for (size_t at = 0; (at = other.find(float16, at)) != std::string::npos;) other.replace(at, float16.size(), half);
  return demangle(other).value_or(name);
}

}  // namespace Atoll::support
