// assembler: which known word a misspelt one was probably meant to be.
#pragma once

#include <string>
#include <string_view>

namespace Atoll::assembler {

/// How many letters must be put in, left out or changed to make one word of another.
unsigned edits_between(std::string_view from, std::string_view to);

/// Of the words that are considered, the first in the alphabet of those that differ least from a misspelt one.
class SpellingOf {
 public:
  explicit SpellingOf(std::string_view misspelt);

  void consider(std::string_view word);
  /// Empty if no word is similar. It is what has been considered, so it lives as long.
  std::string_view found() const { return found_; }

 private:
  std::string misspelt_;
  std::string_view found_;
  unsigned least_;
};

}  // namespace Atoll::assembler
