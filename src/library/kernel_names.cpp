// library: kernels' names (kernel_names.h).
#include "library/kernel_names.h"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll::library {

std::vector<std::string> parameter_types(const std::string& name) {
  const std::string readable = demangled(name);
  if (readable == name || !readable.ends_with(')')) return {};
  // The parameters are in the last pair of brackets; others may be in a type ("(anonymous namespace)", a pointer to a
  // function, a template's arguments), so what is found is in reverse order.
  std::vector<std::string> types;
  size_t depth = 0, end = readable.size() - 1;
  for (size_t i = end; i-- > 0;) {
    const char c = readable[i];
    const bool begins = c == '(' && depth == 0;
    if (begins || (c == ',' && depth == 0)) {
      const size_t start = readable.find_first_not_of(' ', i + 1);
      if (start < end) types.push_back(readable.substr(start, end - start));
      end = i;
    }
    if (begins) break;
    if (c == ')' || c == '>' || c == ']' || c == '}') depth++;
    if ((c == '(' || c == '<' || c == '[' || c == '{') && depth > 0) depth--;
  }
  std::ranges::reverse(types);
  return types;
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
