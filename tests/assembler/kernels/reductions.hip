// Kernels as HIP compiles them: templates, LDS, calls, constant and device variables, math, atomics, scratch.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

typedef unsigned int uint32;

__constant__ float weights[8] = {0.5f, 1.5f, -2.0f, 4.0f, 0.25f, -0.125f, 3.0f, 1.0e-3f};
__device__ uint32 counter = 7;
__device__ double totals[4];

static __device__ uint32 item() { return __builtin_amdgcn_workitem_id_x(); }
static __device__ uint32 group() { return __builtin_amdgcn_workgroup_id_x(); }

template <typename T, int size>
static __device__ T reduce(T value) {
  __shared__ T part[size];
  part[item()] = value;
  for (int step = size / 2; step > 0; step /= 2) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (item() < (uint32)step) part[item()] += part[item() + step];
  }
  return part[0];
}

__attribute__((noinline)) __device__ float polynomial(float x, const float* coefficients, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum = __builtin_fmaf(sum, x, coefficients[i]);
  return sum;
}

__global__ void sum_floats(const float* in, float* out, int count) {
  float sum = 0;
  for (int i = (int)(group() * 64 + item()); i < count; i += 1024) sum += in[i] * weights[i & 7];
  const float all = reduce<float, 64>(sum);
  if (item() == 0) out[group()] = all;
}

__global__ void sum_doubles(const double* in, int count) {
  double sum = 0;
  for (int i = (int)item(); i < count; i += 64) sum += __builtin_sqrt(in[i]) / (1.0 + i);
  totals[group() & 3] = reduce<double, 64>(sum);
}

__global__ void evaluate(float* values, const float* coefficients, int count) {
  float table[16];
  for (int i = 0; i < 16; ++i) table[i] = coefficients[(i * 5) & 15] + (float)i;
  const int i = (int)(group() * 64 + item());
  values[i] = polynomial(values[i], table + (i & 3), count) + __builtin_sinf(values[i]);
}

__global__ void count(const uint32* in, unsigned long long* wide, uint32* histogram) {
  const uint32 value = in[item()];
  __atomic_fetch_add(&histogram[value & 15], 1u, __ATOMIC_RELAXED);
  __atomic_fetch_add(wide, (unsigned long long)value * value, __ATOMIC_SEQ_CST);
  __atomic_fetch_max(&counter, value, __ATOMIC_RELAXED);
}

__global__ void shuffle(short* halves, _Float16* floats, uint32* words) {
  const uint32 lane = item();
  halves[lane] = (short)(halves[lane] * 3 - halves[lane ^ 1]);
  floats[lane] = floats[lane] * (_Float16)1.5f + (_Float16)lane;
  words[lane] = (uint32)__builtin_amdgcn_update_dpp(0, (int)words[lane], 0xB1, 0xF, 0xF, false) ^
                (uint32)__builtin_amdgcn_ds_swizzle((int)words[lane], 0x801F) ^
                __builtin_amdgcn_readfirstlane((int)words[lane]);
}
