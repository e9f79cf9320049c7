// object: string tables of ELF files, in which a name that another ends with needs no room of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace Atoll::object {

/// Collects names, then lays them out. What the same names come to does not depend on the order that they came in.
class StringTable {
 public:
  void add(std::string_view name) { offsets_.emplace(name, 0); }

  /// Lays the names out; the bytes begin with the empty name. Nothing can be added afterwards.
  const std::string& finish() {
    std::vector<std::string_view> names;
    for (const auto& [name, offset] : offsets_) names.push_back(name);
    // By their ends, longer ones first: what ends like its predecessor is part of it.
    std::ranges::sort(names, [](std::string_view a, std::string_view b) {
      return std::ranges::lexicographical_compare(b | std::views::reverse, a | std::views::reverse, [](char x, char y) {
        return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
      });
    });
    bytes_.assign(1, '\0');
    std::string_view previous;
    for (const std::string_view name : names) {
      if (name.empty()) continue;
      if (!previous.ends_with(name)) {
        bytes_ += name;
        bytes_ += '\0';
        previous = name;
      }
      offsets_.find(std::string(name))->second = static_cast<uint32_t>(bytes_.size() - 1 - name.size());
    }
    return bytes_;
  }

  /// Returns the offset of an added name.
  uint32_t offset(std::string_view name) const {
    const auto found = offsets_.find(std::string(name));
    return found == offsets_.end() ? 0 : found->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> offsets_;
  std::string bytes_;
};

}  // namespace Atoll::object
