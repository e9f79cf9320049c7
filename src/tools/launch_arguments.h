// tools: what stands after `--arg` of `atoll launch`.
//
//     5  1.5  0xff              a number of the parameter's type
//     u8:5  f64:1.5             a number of this type
//     hex:0100000002000000      bytes, for structures
//     null                      a null pointer
//     lds:1024                  LDS for a parameter that points to it
//     buf:COUNT[:TYPE][=FILL]   a buffer of COUNT elements; FILL is zero, ramp, const:V, seed:N or file:PATH
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atoll/atoll.h"
#include "library/element_type.h"
#include "support/error.h"

namespace Atoll::tools {

/// A kernel argument made, and what is needed to print or save it afterwards.
struct MadeArgument {
  Argument argument;
  std::optional<Buffer> buffer;
  const library::ElementType* type = nullptr;  ///< of the buffer's elements
};

/// Makes the argument that `text` describes for the parameter with this index, on `gpu`. The error names what is wrong
/// in `text`, or that the parameter has another type.
support::Result<MadeArgument> make_argument(std::string_view text, const Parameter& parameter, size_t index,
                                            const Gpu& gpu);

}  // namespace Atoll::tools
