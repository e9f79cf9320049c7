// library: all GPUs of the catalogue.
#pragma once

#include <vector>

#include "target/product.h"

namespace Atoll::library {

/// Returns each product with its usual settings, in the catalogue's order.
std::vector<target::GpuModel> every_gpu();

}  // namespace Atoll::library
