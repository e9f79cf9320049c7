#include "support/spelling.h"

#include <algorithm>
#include <vector>

namespace Atoll::support {

// Levenshtein's table of the distances between all prefixes of both words, one row at a time.
unsigned edits_between(std::string_view from, std::string_view to) {
  std::vector<unsigned> row(to.size() + 1);
  for (unsigned i = 0; i < row.size(); ++i) row[i] = i;
  for (unsigned i = 0; i < from.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const unsigned replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

SpellingOf::SpellingOf(std::string_view misspelt) : misspelt_(misspelt) {
  // A third of the letters may be wrong, and no more than three.
  least_ = static_cast<unsigned>(std::min<size_t>(misspelt.size() / 3, 3)) + 1;
}

void SpellingOf::consider(std::string_view word) {
  const size_t longer = std::max(word.size(), misspelt_.size()), shorter = std::min(word.size(), misspelt_.size());
  if (longer - shorter > least_) return;
  const unsigned edits = edits_between(misspelt_, word);
  if (edits > least_ || (edits == least_ && (found_.empty() || word > found_))) return;
  found_ = word;
  least_ = edits;
}

std::string SpellingOf::question() const {
  return found_.empty() ? std::string() : "; did you mean '" + std::string(found_) + "'?";
}

}  // namespace Atoll::support
