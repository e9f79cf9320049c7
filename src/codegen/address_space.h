// codegen: address spaces of LLVM IR (user guide, "Address Spaces").
#pragma once

namespace Atoll::codegen {

inline constexpr unsigned flat_space = 0, global_space = 1, lds_space = 3, constant_space = 4, private_space = 5;

}  // namespace Atoll::codegen
