// A filter of 5 x 5 texels on an image of 512 x 512 (image_filter.cl): by a GPU's image instructions, which Atoll runs,
// and by pocl on this host. The texels are taken as they are, and interpolated. Run under `atoll run`. Prints Markdown.
//
//     image_comparison IMAGE_FILTER.cl CODE_OBJECT GPU
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hsa_program.h"
#include "measure.h"
#include "pocl.h"

using namespace Atoll::bench;

namespace {

constexpr uint32_t width = 512, height = 512;
constexpr size_t texel = 4, image_bytes = texel * width * height;
constexpr std::array<uint16_t, 2> group{16, 16};
/// Where in its texel an image is sampled: away from the middle, so that there is something to interpolate.
constexpr float offset = 0.3F;
/// Levels of 255 by which results may differ: the weights between texels have as many bits as a GPU's have.
constexpr int tolerance = 2;

struct Picture {
  std::vector<uint8_t> texels = std::vector<uint8_t>(image_bytes);
  std::vector<float> weights;

  Picture() {
    uint32_t random = 12345;
    for (uint8_t& level : texels) {
      random = random * 1664525 + 1013904223;
      level = static_cast<uint8_t>(random >> 24);
    }
    constexpr float row[] = {1, 4, 6, 4, 1};
    for (const float y : row) {
      for (const float x : row) weights.push_back(x * y / 256);
    }
  }
};

// --- By a GPU -------------------------------------------------------------------------------------------------------

class GpuFilter {
 public:
  GpuFilter(const HsaProgram& program, const Picture& picture, bool interpolates)
      : program_(program), kernel_(program.kernel("filter_5x5")) {
    const hsa_agent_t gpu = program.gpu();
    const hsa_ext_image_descriptor_t descriptor{
        .geometry = HSA_EXT_IMAGE_GEOMETRY_2D,
        .width = width,
        .height = height,
        .depth = 0,
        .array_size = 0,
        .format = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}};
    hsa_ext_image_data_info_t info{};
    check(hsa_ext_image_data_get_info(gpu, &descriptor, HSA_ACCESS_PERMISSION_RW, &info), "the image's size");
    for (hsa_ext_image_t* image : {&in_, &out_}) {
      check(hsa_ext_image_create(gpu, &descriptor, program.allocate(info.size), HSA_ACCESS_PERMISSION_RW, image),
            "hsa_ext_image_create");
    }
    check(hsa_ext_image_import(gpu, picture.texels.data(), 0, 0, in_, &all), "hsa_ext_image_import");
    const hsa_ext_sampler_descriptor_t sampler{
        .coordinate_mode = HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
        .filter_mode = interpolates ? HSA_EXT_SAMPLER_FILTER_MODE_LINEAR : HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
        .address_mode = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE};
    check(hsa_ext_sampler_create(gpu, &sampler, &sampler_), "hsa_ext_sampler_create");
    const size_t weight_bytes = picture.weights.size() * sizeof(float);
    void* const weights = program.allocate(weight_bytes);
    std::memcpy(weights, picture.weights.data(), weight_bytes);
    const Arguments arguments{.in = in_.handle,
                              .out = out_.handle,
                              .sampler = sampler_.handle,
                              .weights = weights,
                              .offset = offset,
                              .groups = {width / group[0], height / group[1], 1},
                              .group_size = {group[0], group[1], 1}};
    arguments_ = program.allocate(sizeof arguments + 256);  // the rest of the hidden ones are zeros
    std::memset(arguments_, 0, sizeof arguments + 256);
    std::memcpy(arguments_, &arguments, sizeof arguments);
    check(hsa_signal_create(0, 0, nullptr, &done_), "hsa_signal_create");
  }

  void run() const {
    hsa_signal_store_relaxed(done_, 1);
    program_.dispatch(kernel_, {width, height}, group, arguments_, done_);
    wait(done_);
  }

  std::vector<uint8_t> result() const {
    std::vector<uint8_t> texels(image_bytes);
    check(hsa_ext_image_export(program_.gpu(), out_, texels.data(), 0, 0, &all), "hsa_ext_image_export");
    return texels;
  }

 private:
  static constexpr hsa_ext_image_region_t all{{0, 0, 0}, {width, height, 1}};
  struct Arguments {
    uint64_t in, out, sampler;
    const void* weights;
    float offset;
    uint32_t padding = 0;
    uint32_t groups[3];  // the hidden arguments of code object V5
    uint16_t group_size[3];
  };

  const HsaProgram& program_;
  HsaProgram::Kernel kernel_;
  hsa_ext_image_t in_{}, out_{};
  hsa_ext_sampler_t sampler_{};
  void* arguments_ = nullptr;
  hsa_signal_t done_{};
};

// --- By pocl --------------------------------------------------------------------------------------------------------

class PoclFilter {
 public:
  PoclFilter(const Pocl& pocl, const Picture& picture, bool interpolates) : pocl_(pocl) {
    cl_int status = 0;
    const auto good = [&](std::string_view what) {
      if (status != CL_SUCCESS) die(fmt::format("{} failed with OpenCL error {}", what, status));
    };
    const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = width;
    description.image_height = height;
    in_ = clCreateImage(pocl.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &description,
                        const_cast<uint8_t*>(picture.texels.data()), &status);
    good("clCreateImage");
    out_ = clCreateImage(pocl.context(), CL_MEM_WRITE_ONLY, &format, &description, nullptr, &status);
    good("clCreateImage");
    weights_ =
        clCreateBuffer(pocl.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, picture.weights.size() * sizeof(float),
                       const_cast<float*>(picture.weights.data()), &status);
    good("clCreateBuffer");
    sampler_ = clCreateSampler(pocl.context(), CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE,
                               interpolates ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &status);
    good("clCreateSampler");
    kernel_ = clCreateKernel(pocl.program(), "filter_5x5", &status);
    good("clCreateKernel");
    const float where = offset;
    for (const auto& [index, size, value] : {Argument{0, sizeof in_, static_cast<void*>(&in_)},
                                             {1, sizeof out_, static_cast<void*>(&out_)},
                                             {2, sizeof sampler_, static_cast<void*>(&sampler_)},
                                             {3, sizeof weights_, static_cast<void*>(&weights_)},
                                             {4, sizeof where, &where}}) {
      status = clSetKernelArg(kernel_, index, size, value);
      good("clSetKernelArg");
    }
  }
  PoclFilter(const PoclFilter&) = delete;
  PoclFilter& operator=(const PoclFilter&) = delete;
  ~PoclFilter() {
    clReleaseKernel(kernel_);
    clReleaseSampler(sampler_);
    for (cl_mem memory : {in_, out_, weights_}) clReleaseMemObject(memory);
  }

  void run() const {
    const size_t grid[] = {width, height}, block[] = {group[0], group[1]};
    if (clEnqueueNDRangeKernel(pocl_.queue(), kernel_, 2, nullptr, grid, block, 0, nullptr, nullptr) != CL_SUCCESS ||
        clFinish(pocl_.queue()) != CL_SUCCESS) {
      die("pocl cannot run the filter");
    }
  }

  std::vector<uint8_t> result() const {
    std::vector<uint8_t> texels(image_bytes);
    const size_t origin[3] = {}, region[] = {width, height, 1};
    if (clEnqueueReadImage(pocl_.queue(), out_, CL_TRUE, origin, region, 0, 0, texels.data(), 0, nullptr, nullptr) !=
        CL_SUCCESS) {
      die("pocl cannot read the image");
    }
    return texels;
  }

 private:
  struct Argument {
    cl_uint index;
    size_t size;
    const void* value;
  };

  const Pocl& pocl_;
  cl_mem in_ = nullptr, out_ = nullptr, weights_ = nullptr;
  cl_sampler sampler_ = nullptr;
  cl_kernel kernel_ = nullptr;
};

bool agree(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want) {
  return std::ranges::equal(got, want, [](int a, int b) { return std::abs(a - b) <= tolerance; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) die("usage: image_comparison IMAGE_FILTER.cl CODE_OBJECT GPU");
  std::ifstream file(argv[1]);
  const Pocl pocl(std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  check(hsa_init(), "hsa_init");
  bool all_agree = true;
  {
    const HsaProgram program(argv[2]);
    const Picture picture;
    fmt::print("| {}, 512 x 512 RGBA8 | pocl, ms | Atoll, ms | of pocl's time |\n| --- | ---: | ---: | ---: |\n",
               argv[3]);
    std::vector<double> ratios;
    for (const bool interpolates : {false, true}) {
      const char* const name = interpolates ? "interpolated" : "nearest";
      const GpuFilter gpu(program, picture, interpolates);
      const PoclFilter host(pocl, picture, interpolates);
      gpu.run();
      host.run();
      if (!agree(gpu.result(), host.result())) {
        fmt::print(stderr, "image_comparison: {}: Atoll and pocl differ, {}\n", argv[3], name);
        all_agree = false;
      }
      const Contestant contestants[] = {{.run = [&] { host.run(); }}, {.run = [&] { gpu.run(); }}};
      const std::vector<double> seconds = median_seconds(contestants);
      fmt::print("| {} | {:.1f} | {:.1f} | {:.2f} |\n", name, seconds[0] * 1e3, seconds[1] * 1e3,
                 seconds[1] / seconds[0]);
      std::fflush(stdout);
      ratios.push_back(seconds[1] / seconds[0]);
    }
    fmt::print("\n");
    print_goal(fmt::format("{}'s filter of an image, of pocl's time", argv[3]), geometric_mean(ratios), "at most", 1);
  }
  check(hsa_shut_down(), "hsa_shut_down");
  return all_agree ? 0 : 1;
}
