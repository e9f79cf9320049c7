// The matrix products of matrix_kernels.h, compiled by clang for each processor, against the host. All elements are
// small whole numbers and all scales powers of two, so that every sum is exact whatever its order.
#include "engine/matrix_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "engine/interpreter/interpreter.h"
#include "engine/matrix_reference.h"
#include "machine/gpu.h"
#include "machine/guest_vector.h"
#include "support/command.h"
#include "target/product.h"

namespace Atoll {
namespace {

using Numbers = std::vector<double>;

/// A number that is one of the type's, as bits.
uint64_t encode(const std::string& type, double number, bool ocp) {
  if (type == "f64") return std::bit_cast<uint64_t>(number);
  if (type == "f16") return std::bit_cast<uint16_t>(static_cast<_Float16>(number));
  if (type == "i8") return static_cast<uint8_t>(static_cast<int8_t>(number));
  const uint32_t single = std::bit_cast<uint32_t>(static_cast<float>(number));
  if (type == "f32" || type == "xf32") return single;
  if (type == "bf16") return single >> 16;
  uint64_t code = 0;
  while (test::matrix_element(type, code, ocp) != number) ++code;
  return code;
}

std::vector<uint8_t> pack(const std::string& type, const Numbers& numbers, bool ocp) {
  const unsigned width = test::matrix_element_bits(type);
  std::vector<uint8_t> bytes(numbers.size() * width / 8);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t bits = encode(type, numbers[i], ocp);
    if (width == 4) {
      bytes[i / 2] |= static_cast<uint8_t>(bits << i % 2 * 4);
    } else {
      std::memcpy(&bytes[i * width / 8], &bits, width / 8);
    }
  }
  return bytes;
}

struct Product {
  const char* kernel;
  const char *a, *b;
  bool sparse = false, scaled = false;
};

std::vector<Product> products(const std::string& processor) {
  std::vector<Product> list = {
      {"product_f32", "f32", "f32"}, {"product_f16", "f16", "f16"}, {"product_i8", "i8", "i8"}};
  if (processor == "gfx908" || processor == "gfx90a") list.push_back({"product_bf16", "bf16", "bf16"});
  if (processor == "gfx908") return list;
  list.push_back({"product_bf16_1k", "bf16", "bf16"});
  list.push_back({"product_f64", "f64", "f64"});
  if (processor == "gfx90a") return list;
  list.push_back({"product_fp8", "fp8", "fp8"});
  list.push_back({"product_bf8_fp8", "bf8", "fp8"});
  list.push_back({"sparse_f16", "f16", "f16", true});
  list.push_back({"sparse_i8", "i8", "i8", true});
  list.push_back({"sparse_fp8", "fp8", "fp8", true});
  if (processor == "gfx942") {
    list.push_back({"product_xf32", "xf32", "xf32"});
    return list;
  }
  list.push_back({"product_f16_wide", "f16", "f16"});
  list.push_back({"product_bf16_wide", "bf16", "bf16"});
  list.push_back({"product_i8_wide", "i8", "i8"});
  list.push_back({"sparse_f16_wide", "f16", "f16", true});
  list.push_back({"sparse_i8_wide", "i8", "i8", true});
  list.push_back({"scaled_fp8", "fp8", "fp8", false, true});
  list.push_back({"scaled_fp4", "fp4", "fp4", false, true});
  list.push_back({"scaled_bf8_fp4", "bf8", "fp4", false, true});
  return list;
}

class MatrixKernels : public testing::TestWithParam<std::string> {};

TEST_P(MatrixKernels, MultiplyAsTheHostDoes) {
  const std::string processor = GetParam();
  const bool ocp = processor == "gfx950";
  const test::TemporaryDirectory directory;
  const auto compiled =
      test::run_command("clang-22 -x c -std=c23 -target amdgcn-amd-amdhsa -nogpulib -O2 -w -mcpu=" + processor +
                        " " MATRIX_KERNELS_SOURCE " -o " + (directory / "kernels.co") + " 2>&1");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const auto model = target::find_gpu(processor);
  ASSERT_TRUE(model) << model.error().message;
  const auto gpu = machine::Gpu::create(*model, engine::make_interpreter, {.threads = 2});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto code = (*gpu)->load(test::read_bytes(directory / "kernels.co"), {}, "kernels");
  ASSERT_TRUE(code) << code.error().message;

  for (const Product& product : products(processor)) {
    std::mt19937 random(11);
    const auto numbers = [&] {
      Numbers list(rows * depth);
      for (double& number : list) number = static_cast<int>(random() % 7) - 3;
      return list;
    };
    Numbers a = numbers(), b = numbers();
    std::vector<uint8_t> a_packed = pack(product.a, a, ocp), a_extra(rows * depth / 8 + 8), b_extra(rows * 2);
    if (product.sparse) {  // of each four of a row, two stay
      Numbers kept;
      for (unsigned four = 0; four < rows * depth / 4; ++four) {
        const unsigned first = static_cast<unsigned>(random() % 3);
        const unsigned second = first + 1 + static_cast<unsigned>(random() % (3 - first));
        for (unsigned i = 0; i < 4; ++i) {
          double& number = a[four * 4 + i];
          if (i == first || i == second) {
            kept.push_back(number);
          } else {
            number = 0;
          }
        }
        a_extra[four / 2] |= static_cast<uint8_t>((first | second << 2) << four % 2 * 4);
      }
      a_packed = pack(product.a, kept, ocp);
    }
    const auto scale_of = [&](const std::vector<uint8_t>& extra, unsigned row, unsigned k) {
      return product.scaled ? std::ldexp(1.0, extra[row * 2 + k / 32] - 127) : 1.0;
    };
    if (product.scaled) {
      for (unsigned i = 0; i < rows * 2; ++i) {
        a_extra[i] = static_cast<uint8_t>(124 + random() % 6);
        b_extra[i] = static_cast<uint8_t>(124 + random() % 6);
      }
    }
    const std::vector<uint8_t> b_packed = pack(product.b, b, ocp);

    const bool doubles = product.a == std::string("f64"), integers = product.a == std::string("i8");
    test::GuestVector<uint64_t> result(rows * rows);
    const auto placed = [](const std::vector<uint8_t>& bytes) {
      return test::GuestVector<uint8_t>(bytes.begin(), bytes.end());
    };
    const auto a_placed = placed(a_packed), b_placed = placed(b_packed), a_more = placed(a_extra),
               b_more = placed(b_extra);
    const test::GuestVector<const void*> arguments{a_placed.data(), b_placed.data(), result.data(), a_more.data(),
                                                   b_more.data()};
    const machine::LoadedSymbol* kernel = (*code)->find(std::string(product.kernel) + ".kd");
    ASSERT_NE(kernel, nullptr) << product.kernel;
    machine::aql::KernelDispatchPacket packet{};
    packet.setup = 1;
    packet.workgroup_size_x = 64;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = 64 * (doubles ? 16 : 4);
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.private_segment_size = 1024;
    packet.kernel_object = kernel->address;
    packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
    const auto run = (*gpu)->run(packet);
    ASSERT_TRUE(run) << product.kernel << ": " << run.error().message;

    const auto* words = reinterpret_cast<const uint32_t*>(result.data());
    for (unsigned i = 0; i < rows * rows; ++i) {
      const double got = doubles    ? std::bit_cast<double>(result[i])
                         : integers ? static_cast<int32_t>(words[i])
                                    : static_cast<double>(std::bit_cast<float>(words[i]));
      double expected = 0;
      for (unsigned k = 0; k < depth; ++k) {
        expected += a[i / rows * depth + k] * b[i % rows * depth + k] * scale_of(a_extra, i / rows, k) *
                    scale_of(b_extra, i % rows, k);
      }
      ASSERT_EQ(got, expected) << product.kernel << " row " << i / rows << " column " << i % rows;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, MatrixKernels, testing::Values("gfx908", "gfx90a", "gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll
