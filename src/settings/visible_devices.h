// settings: ROCR_VISIBLE_DEVICES, by which a user hides GPUs from a program and puts the others in another order.
// Source: ROCm's documentation, "GPU isolation techniques"; ROCR-Runtime, core/runtime/amd_filter_device.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target/product.h"

namespace Atoll::settings {

/// The numbers of the GPUs that the variable's value shows, in its order: numbers, or UUIDs as far as they tell the
/// GPUs apart, separated by commas. As in ROCr, what is no GPU or has been named before ends the list.
std::vector<unsigned> visible_devices(std::string_view value, std::span<const target::GpuModel> gpus);
/// When there is no such variable.
std::vector<unsigned> all_devices(size_t count);

/// A GPU's UUID: "GPU-0123456789abcdef".
std::string uuid_of(const target::Product& product, unsigned gpu);

}  // namespace Atoll::settings
