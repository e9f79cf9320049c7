// library: kernels' names (kernel_names.h).
#include "library/kernel_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace Atoll::library {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "f" would be float
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  return result;
}

support::Result<std::string> find_kernel(std::vector<std::string> names, const std::string& wanted,
                                         const std::string& file) {
  std::vector<std::string> matches;
  for (const std::string& name : names) {
    if (name == wanted) return name;
    const std::string readable = demangled(name);
    if (readable == wanted || readable.substr(0, readable.find('(')) == wanted) matches.push_back(name);
  }
  if (matches.size() == 1) return matches[0];
  const bool ambiguous = !matches.empty();
  std::vector<std::string>& listed = ambiguous ? matches : names;
  if (!ambiguous) std::ranges::transform(names, names.begin(), demangled);
  if (names.empty())
    return support::fail(support::ErrorKind::not_found, "there is no kernel {} in {}: its metadata describes none",
                         wanted, file);
  constexpr size_t most = 8;
  const bool more = listed.size() > most;
  if (more) listed.resize(most);
  return support::fail(support::ErrorKind::not_found, "{} kernel {} in {}: {}{}{}",
                       ambiguous ? "more than one" : "there is no", wanted, file,
                       ambiguous ? "say which of " : "there are ", fmt::join(listed, ", "), more ? ", ..." : "");
}

}  // namespace Atoll::library
