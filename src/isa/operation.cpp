// isa: names of operations and elements.
#include "isa/operation.h"

#include <array>

namespace Atoll::isa {

std::string_view name_of(Operation operation) {
  static constexpr std::string_view names[] = {
      "none",
#define ATOLL_OPERATION(name) #name,
#define ATOLL_ELEMENT(name)
#include "isa/operations.inc"
#undef ATOLL_OPERATION
#undef ATOLL_ELEMENT
  };
  static_assert(std::size(names) == static_cast<size_t>(Operation::count));
  return names[static_cast<size_t>(operation)];
}

std::string_view name_of(Element element) {
  static constexpr std::string_view names[] = {
      "none",
#define ATOLL_OPERATION(name)
#define ATOLL_ELEMENT(name) #name,
#include "isa/operations.inc"
#undef ATOLL_OPERATION
#undef ATOLL_ELEMENT
  };
  return names[static_cast<size_t>(element)];
}

}  // namespace Atoll::isa
