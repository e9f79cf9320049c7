// Textures and surfaces: of linear memory, of pitched memory and of arrays; filters and address modes against formulas
// of the OpenCL C specification, "Image addressing and filtering", on the host.
#include "check.h"

namespace {

constexpr int width = 37, height = 23, depth = 5;

__global__ void fetch(hipTextureObject_t texture, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<float>(texture, i);
}

template <typename T>
__global__ void sample_2d(hipTextureObject_t texture, const float2* at, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex2D<T>(texture, at[i].x, at[i].y);
}

__global__ void sample_3d(hipTextureObject_t texture, const float2* at, float z, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex3D<float>(texture, at[i].x, at[i].y, z);
}

__global__ void sample_layer(hipTextureObject_t texture, const float2* at, int layer, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex2DLayered<float>(texture, at[i].x, at[i].y, layer);
}

__global__ void write_surface(hipSurfaceObject_t surface) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  surf2Dwrite(float4{x * 1.0F, y * 2.0F, x + y * 0.5F, -1.0F}, surface, x * static_cast<int>(sizeof(float4)), y);
}

__global__ void double_surface(hipSurfaceObject_t surface) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  float4 value;
  surf2Dread(&value, surface, x * static_cast<int>(sizeof(float4)), y);
  value.x *= 2;
  surf2Dwrite(value, surface, x * static_cast<int>(sizeof(float4)), y);
}

std::vector<float> random_values(size_t count, uint64_t seed) {
  check::Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.next() >> 40) / (1 << 22) - 2;
  return values;
}

/// Points in and around the image, in elements or as fractions of it.
std::vector<float2> points(bool normalized) {
  check::Random random(5);
  std::vector<float2> at;
  const auto coordinate = [&](int size) {
    const double value = (static_cast<double>(random.next() >> 40) / (1 << 24) * 3 - 1) * size;
    return static_cast<float>(normalized ? value / size : value);
  };
  for (int i = 0; i < 1000; ++i) at.push_back({coordinate(width), coordinate(height)});
  for (const float edge : {0.0F, 0.5F, 1.0F, -0.5F, -1.0F, 2.0F}) {
    const float scale = normalized ? 1 : width;
    at.push_back({edge * scale, edge * (normalized ? 1 : height)});
  }
  return at;
}

/// Two elements along an axis and the second one's weight; -1 where the border is.
struct Taps {
  int index[2];
  double weight;
};
Taps taps(double s, int size, bool normalized, hipTextureAddressMode mode, bool linear) {
  double u = normalized ? s * size : s;
  if (mode == hipAddressModeWrap) u = (s - std::floor(s)) * size;
  if (mode == hipAddressModeMirror) u = std::fabs(s - 2 * std::nearbyint(0.5 * s)) * size;
  if (linear) u -= 0.5;
  const int first = static_cast<int>(std::floor(u));
  Taps result{{first, first + 1}, linear ? u - first : 0};
  for (int& index : result.index) {
    if (mode == hipAddressModeWrap) index = (index + size) % size;
    if (mode == hipAddressModeMirror || mode == hipAddressModeClamp) index = std::clamp(index, 0, size - 1);
    if (mode == hipAddressModeBorder && (index < 0 || index >= size)) index = -1;
  }
  return result;
}

double expected(const float* values, float2 at, bool normalized, hipTextureAddressMode mode, bool linear) {
  const Taps x = taps(at.x, width, normalized, mode, linear), y = taps(at.y, height, normalized, mode, linear);
  double sum = 0;
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 2; ++i) {
      const double weight = (i != 0 ? x.weight : 1 - x.weight) * (j != 0 ? y.weight : 1 - y.weight);
      const bool inside = x.index[i] >= 0 && y.index[j] >= 0;
      if (inside) sum += weight * values[y.index[j] * width + x.index[i]];
    }
  }
  return sum;
}

void near(const char* what, const std::vector<float>& found, const std::vector<float>& want, double tolerance) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::fabs(found[i] - want[i]) <= tolerance) continue;
    check::failed(what, static_cast<int>(i), "got " + check::text(found[i]) + ", want " + check::text(want[i]));
  }
}

hipTextureObject_t texture_of(const hipResourceDesc& resource, hipTextureAddressMode mode, hipTextureFilterMode filter,
                              bool normalized, hipTextureReadMode read = hipReadModeElementType) {
  hipTextureDesc description{};
  for (auto& axis : description.addressMode) axis = mode;
  description.filterMode = filter;
  description.normalizedCoords = normalized ? 1 : 0;
  description.readMode = read;
  hipTextureObject_t texture{};
  HIP(hipCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

void check_linear_memory() {
  const std::vector<float> values = random_values(1000, 1);
  const check::Device<float> memory(values), out(values.size());
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = memory.get();
  resource.res.linear.desc = hipCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = values.size() * sizeof(float);
  const hipTextureObject_t texture = texture_of(resource, hipAddressModeClamp, hipFilterModePoint, false);
  fetch<<<4, 256>>>(texture, out.get(), 1000);
  check::finish();
  check::equal("linear memory", out.read(), values);
  HIP(hipDestroyTextureObject(texture));
}

void check_filters() {
  const std::vector<float> values = random_values(width * height, 2);
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipArray_t array{};
  HIP(hipMallocArray(&array, &format, width, height, hipArrayDefault));
  HIP(hipMemcpy2DToArray(array, 0, 0, values.data(), width * sizeof(float), width * sizeof(float), height,
                         hipMemcpyHostToDevice));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  for (const auto mode : {hipAddressModeWrap, hipAddressModeMirror, hipAddressModeClamp, hipAddressModeBorder}) {
    for (const bool normalized : {false, true}) {
      if (!normalized && (mode == hipAddressModeWrap || mode == hipAddressModeMirror)) continue;
      for (const auto filter : {hipFilterModePoint, hipFilterModeLinear}) {
        const std::vector<float2> at = points(normalized);
        const check::Device<float2> device_at(at);
        const check::Device<float> out(at.size());
        const hipTextureObject_t texture = texture_of(resource, mode, filter, normalized);
        sample_2d<float><<<4, 256>>>(texture, device_at.get(), out.get(), static_cast<int>(at.size()));
        check::finish();
        std::vector<float> want;
        for (const float2& point : at) {
          want.push_back(
              static_cast<float>(expected(values.data(), point, normalized, mode, filter == hipFilterModeLinear)));
        }
        char what[80];
        std::snprintf(what, sizeof what, "address mode %d, filter mode %d, normalized %d", mode, filter, normalized);
        near(what, out.read(), want, filter == hipFilterModeLinear ? 1e-5 : 0);
        HIP(hipDestroyTextureObject(texture));
      }
    }
  }
  HIP(hipFreeArray(array));
}

/// Bytes that are read as fractions, in rows of memory that is not an array.
void check_pitched_bytes() {
  std::vector<uchar4> values(width * height);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto byte = [&](size_t factor) { return static_cast<unsigned char>(i * factor); };
    values[i] = {byte(1), byte(3), byte(7), byte(11)};
  }
  void* memory = nullptr;
  size_t pitch = 0;
  HIP(hipMallocPitch(&memory, &pitch, width * sizeof(uchar4), height));
  HIP(hipMemcpy2D(memory, pitch, values.data(), width * sizeof(uchar4), width * sizeof(uchar4), height,
                  hipMemcpyHostToDevice));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  const hipTextureObject_t texture =
      texture_of(resource, hipAddressModeClamp, hipFilterModePoint, false, hipReadModeNormalizedFloat);
  std::vector<float2> at;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) at.push_back({x + 0.5F, y + 0.25F});
  }
  const check::Device<float2> device_at(at);
  const check::Device<float4> out(at.size());
  sample_2d<float4><<<(at.size() + 255) / 256, 256>>>(texture, device_at.get(), out.get(), static_cast<int>(at.size()));
  check::finish();
  const std::vector<float4> found = out.read();
  for (size_t i = 0; i < values.size(); ++i) {
    const float want[] = {values[i].x / 255.0F, values[i].y / 255.0F, values[i].z / 255.0F, values[i].w / 255.0F};
    const float got[] = {found[i].x, found[i].y, found[i].z, found[i].w};
    near("pitched bytes", {got, got + 4}, {want, want + 4}, 0);
  }
  HIP(hipDestroyTextureObject(texture));
  HIP(hipFree(memory));
}

void check_slices(bool layered) {
  const std::vector<float> values = random_values(width * height * depth, 3);
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipArray_t array{};
  HIP(hipMalloc3DArray(&array, &format, make_hipExtent(width, height, depth),
                       layered ? hipArrayLayered : hipArrayDefault));
  hipMemcpy3DParms copy{};
  copy.srcPtr = make_hipPitchedPtr(const_cast<float*>(values.data()), width * sizeof(float), width, height);
  copy.dstArray = array;
  copy.extent = make_hipExtent(width, height, depth);
  copy.kind = hipMemcpyHostToDevice;
  HIP(hipMemcpy3D(&copy));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  const hipTextureObject_t texture = texture_of(resource, hipAddressModeClamp, hipFilterModeLinear, false);
  const std::vector<float2> at = points(false);
  const check::Device<float2> device_at(at);
  const check::Device<float> out(at.size());
  const auto slice = [&](int z) { return values.data() + std::clamp(z, 0, depth - 1) * width * height; };
  for (const float z : {-2.0F, 0.5F, 1.0F, 2.25F, 3.9F, 9.0F}) {
    const int layer = static_cast<int>(std::floor(z));
    if (layered) {
      sample_layer<<<4, 256>>>(texture, device_at.get(), layer, out.get(), static_cast<int>(at.size()));
    } else {
      sample_3d<<<4, 256>>>(texture, device_at.get(), z, out.get(), static_cast<int>(at.size()));
    }
    check::finish();
    const int first = static_cast<int>(std::floor(z - 0.5));
    const double weight = z - 0.5 - first;
    std::vector<float> want;
    for (const float2& point : at) {
      const auto in = [&](int number) { return expected(slice(number), point, false, hipAddressModeClamp, true); };
      want.push_back(static_cast<float>(layered ? in(layer) : in(first) * (1 - weight) + in(first + 1) * weight));
    }
    near(layered ? "layers" : "3D", out.read(), want, 1e-5);
  }
  HIP(hipDestroyTextureObject(texture));
  HIP(hipFreeArray(array));
}

void check_surface() {
  // HIP before 6 knows of surfaces, but refuses the flag for them.
  const unsigned surface_flag = HIP_VERSION_MAJOR >= 6 ? hipArraySurfaceLoadStore : hipArrayDefault;
  const hipChannelFormatDesc format = hipCreateChannelDesc<float4>();
  hipArray_t array{};
  HIP(hipMallocArray(&array, &format, width, height, surface_flag));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipSurfaceObject_t surface{};
  HIP(hipCreateSurfaceObject(&surface, &resource));
  write_surface<<<dim3(1, height), 64>>>(surface);
  double_surface<<<dim3(1, height), 64>>>(surface);
  check::finish();
  std::vector<float4> found(width * height);
  HIP(hipMemcpy2DFromArray(found.data(), width * sizeof(float4), array, 0, 0, width * sizeof(float4), height,
                           hipMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float4 value = found[y * width + x];
      near("surface", {value.x, value.y, value.z, value.w}, {x * 2.0F, y * 2.0F, x + y * 0.5F, -1.0F}, 0);
    }
  }
  HIP(hipDestroySurfaceObject(surface));
  HIP(hipFreeArray(array));
}

}  // namespace

int main() {
  check_linear_memory();
  check_filters();
  check_pitched_bytes();
  check_slices(false);
  check_slices(true);
  check_surface();
  return check::result();
}
