// Names of parameterised tests.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace Atoll::test {

/// Names a test after its parameter as GoogleTest prints it: "clang-22 V5 gfx942" becomes clang_22_V5_gfx942.
struct NamedByParameter {
  template <typename T>
  std::string operator()(const testing::TestParamInfo<T>& info) const {
    std::string name;
    for (const char c : testing::PrintToString(info.param)) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        name += c;
      } else if (!name.empty() && name.back() != '_') {
        name += '_';
      }
    }
    while (name.ends_with('_')) name.pop_back();
    return name;
  }
};

}  // namespace Atoll::test
