// One-dimensional kernels: element-wise work of every element size, sizes that fill neither wave nor work-group,
// grid-stride loops, and kernel arguments of many kinds.
#include "check.h"

namespace {

template <typename T>
__global__ void add(const T* a, const T* b, T* sum, size_t count) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = static_cast<T>(a[i] + b[i]);
}

template <typename T>
void check_add(const char* what) {
  for (const size_t count : {1, 63, 64, 65, 1000, 4099}) {
    check::Random random(count);
    std::vector<T> a(count), b(count), want(count);
    for (size_t i = 0; i < count; ++i) {
      a[i] = static_cast<T>(random.next() >> 40);
      b[i] = static_cast<T>(random.next() >> 40);
      want[i] = static_cast<T>(a[i] + b[i]);
    }
    const check::Device<T> device_a(a), device_b(b), sum(count);
    add<T><<<(count + 255) / 256, 256>>>(device_a.get(), device_b.get(), sum.get(), count);
    check::finish();
    check::equal(what, sum.read(), want);
  }
}

__global__ void saxpy(float factor, const float* x, float* y, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    y[i] = fmaf(factor, x[i], y[i]);
  }
}

void check_grid_stride() {
  constexpr int count = 100003;
  std::vector<float> x(count), y(count), want(count);
  for (int i = 0; i < count; ++i) {
    x[i] = static_cast<float>(i) * 0.37f;
    y[i] = static_cast<float>(count - i);
    want[i] = std::fma(1.25f, x[i], y[i]);
  }
  const check::Device<float> device_x(x);
  for (const int block : {1, 64, 100, 192, 1024}) {
    const check::Device<float> device_y(y);
    saxpy<<<7, block>>>(1.25f, device_x.get(), device_y.get(), count);
    check::finish();
    check::equal("saxpy", device_y.read(), want);
  }
}

// Arguments of every size and alignment, and one that is passed by value as a structure.
struct Settings {
  char letter;
  double factor;
  uint16_t offsets[5];
  int64_t shift;
};

__global__ void arguments(bool flag, int8_t small, uint16_t half_word, float real, Settings settings, int64_t wide,
                          double* out) {
  const int i = threadIdx.x;
  out[i] = (flag ? 1 : 2) + small + half_word + real + settings.letter + settings.factor * i + settings.offsets[i % 5] +
           static_cast<double>(settings.shift) + static_cast<double>(wide);
}

void check_arguments() {
  const Settings settings{'q', 0.5, {10, 20, 30, 40, 50000}, -5};
  const check::Device<double> out(70);
  arguments<<<1, 70>>>(true, -7, 60000, 0.25f, settings, int64_t{1} << 40, out.get());
  check::finish();
  std::vector<double> want(70);
  for (int i = 0; i < 70; ++i) {
    want[i] = 1 - 7 + 60000 + 0.25 + 'q' + 0.5 * i + settings.offsets[i % 5] - 5 + 0x1p40;
  }
  check::equal("arguments", out.read(), want);
}

// Vector types are loaded and stored as a whole: two, three and four elements of 8 to 64 bits.
template <typename Vector>
__global__ void reverse(const Vector* in, Vector* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[count - 1 - i] = in[i];
}

template <typename Vector>
void check_vector_type(const char* what) {
  constexpr int count = 333;
  std::vector<uint8_t> bytes(count * sizeof(Vector)), want(bytes.size());
  check::Random random(sizeof(Vector));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  for (int i = 0; i < count; ++i) {
    std::memcpy(&want[(count - 1 - i) * sizeof(Vector)], &bytes[i * sizeof(Vector)], sizeof(Vector));
  }
  const check::Device<uint8_t> in(bytes), out(bytes.size());
  reverse<<<6, 64>>>(reinterpret_cast<const Vector*>(in.get()), reinterpret_cast<Vector*>(out.get()), count);
  check::finish();
  check::equal(what, out.read(), want);
}

}  // namespace

int main() {
  check_add<int8_t>("int8_t");
  check_add<uint16_t>("uint16_t");
  check_add<int32_t>("int32_t");
  check_add<uint64_t>("uint64_t");
  check_add<float>("float");
  check_add<double>("double");
  check_grid_stride();
  check_arguments();
  check_vector_type<char3>("char3");
  check_vector_type<short2>("short2");
  check_vector_type<ushort4>("ushort4");
  check_vector_type<float2>("float2");
  check_vector_type<float3>("float3");
  check_vector_type<float4>("float4");
  check_vector_type<double2>("double2");
  check_vector_type<ulonglong4>("ulonglong4");
  return check::result();
}
