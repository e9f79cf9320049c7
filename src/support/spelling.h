// support: suggestions for misspelt words. The measure is the edit distance (Levenshtein).
#pragma once

#include <string>
#include <string_view>

namespace Atoll::support {

/// Returns the edit distance: the number of letters to insert, delete or replace to get from one word to the other.
unsigned edits_between(std::string_view from, std::string_view to);

/// Finds the known word that a misspelt one was probably meant to be: the one with the least edit distance, and the
/// first in the alphabet among equals.
class SpellingOf {
 public:
  explicit SpellingOf(std::string_view misspelt);

  void consider(std::string_view word);
  /// Returns one of the words considered, or an empty text if none is similar.
  std::string_view found() const { return found_; }
  /// Returns the end of a message: "; did you mean 'launch'?", or an empty text.
  std::string question() const;

 private:
  std::string misspelt_;
  std::string_view found_;
  unsigned least_;
};

}  // namespace Atoll::support
