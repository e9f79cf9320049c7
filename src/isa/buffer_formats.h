// isa: the numbers of buffer formats from GFX10 on, where one number says size and meaning of the components (ISA
// guides, "Buffer formats"; they were numbered anew for GFX11).
#pragma once

#include <string_view>

#include "target/processor.h"

namespace Atoll::isa {

/// "8_8_8_8_UNORM", or nothing if no format has that number.
std::string_view unified_format_name(unsigned format, target::Generation generation);

}  // namespace Atoll::isa
