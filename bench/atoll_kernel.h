// A kernel of a case on one of Atoll's GPUs, with its arguments in place.
#pragma once

#include <cstring>
#include <vector>

#include "atoll/atoll.h"
#include "kernel_case.h"
#include "measure.h"

namespace Atoll::bench {

class AtollKernel {
 public:
  AtollKernel(const Gpu& gpu, const Code& code, const KernelCase& work)
      : gpu_(gpu), code_(code), case_(work), buffers_(work.arguments.size()) {
    for (size_t i = 0; i < work.arguments.size(); ++i) {
      const KernelValue& value = work.arguments[i];
      if (value.is_buffer) {
        buffers_[i] = value_of(gpu.allocate_bytes(value.bytes.size()));
        std::memcpy(buffers_[i].data(), value.bytes.data(), value.bytes.size());
        arguments_.emplace_back(buffers_[i]);
      } else {
        arguments_.emplace_back(0);
        arguments_.back().bytes = value.bytes;
        arguments_.back().type = {};  // of the number's type, only the bytes are known
      }
    }
  }

  LaunchResult launch() const {
    const LaunchShape shape{.grid = {case_.grid[0], case_.grid[1], 1}, .block = {case_.block[0], case_.block[1], 1}};
    return value_of(gpu_.launch_with(code_, case_.kernel, shape, arguments_));
  }

  /// Where the arguments lie: the memory of buffers, the bytes of numbers.
  std::vector<void*> places() {
    std::vector<void*> places;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      places.push_back(case_.arguments[i].is_buffer ? buffers_[i].data() : arguments_[i].bytes.data());
    }
    return places;
  }

  std::vector<std::byte> result() const {
    const Buffer& buffer = buffers_[case_.result];
    const auto* data = static_cast<const std::byte*>(buffer.data());
    return {data, data + buffer.size()};
  }

 private:
  const Gpu& gpu_;
  const Code& code_;
  const KernelCase& case_;
  std::vector<Buffer> buffers_;
  std::vector<Argument> arguments_;
};

}  // namespace Atoll::bench
