// target: products and targets by the names that a user may give them.
#pragma once

#include <string_view>

#include "support/error.h"
#include "target/product.h"
#include "target/target_id.h"

namespace Atoll::target {

/// Returns the product that a name begins with, in upper or lower case: "mi250x", "mi250x:xnack+"; or nullptr.
const Product* find_product(std::string_view name);

/// Returns the target that a name means, in upper or lower case: a target ID, with or without a triple, or a product's
/// processor with the settings that follow the name ("mi250x:xnack+"). Settings that are not named stay open.
support::Result<TargetId> find_target(std::string_view name);

}  // namespace Atoll::target
