// engine: the functions of one host ISA level (semantics/host_isa.h) that level-independent code calls.
//
// Families of row-wise instructions are compiled once per level, from preparation to handlers. Their functions in
// prepare.h and gather_scatter.h dispatch through the LevelFunctions of the level in use (host_isa_dispatch.cpp).
#pragma once

#include "engine/image/image_rows.h"
#include "engine/interpreter/matrix.h"
#include "engine/interpreter/prepare.h"
#include "engine/memory/gather_scatter.h"

namespace Atoll::engine {

struct LevelFunctions {
  decltype(&engine::prepare_vector) prepare_vector;
  decltype(&engine::prepare_matrix) prepare_matrix;
  decltype(&engine::multiply_ops) multiply_ops;
  decltype(&engine::prepare_lane_operation) prepare_lane_operation;
  decltype(&engine::prepare_flat_memory) prepare_flat_memory;
  decltype(&engine::prepare_buffer) prepare_buffer;
  decltype(&engine::prepare_lds) prepare_lds;
  decltype(&engine::transfer_function) transfer_function;
  decltype(&engine::atomic_function) atomic_function;
  decltype(&engine::lds_atomic_function) lds_atomic_function;
  decltype(&engine::access_pattern) access_pattern;
  decltype(&engine::load_image_rows) load_image_rows;
  decltype(&engine::sample_image_rows) sample_image_rows;
};

}  // namespace Atoll::engine
