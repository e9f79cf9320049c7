// Atomics of every operation, width and type, on global memory and on LDS, with and without use of the value before;
// loops of compare-and-swap, also for types narrower than the hardware's; scopes and orders by the compiler's builtins.
#include "check.h"

#include <algorithm>

namespace {

// One slot for each operation. Every work-item of the grid applies its number to every slot.
enum Operation { kAdd, kSub, kMin, kMax, kAnd, kOr, kXor, kExchange, kCas, kOperations };

template <typename T>
__device__ void apply(T* slots, T value) {
  atomicAdd(&slots[kAdd], value);
  atomicMin(&slots[kMin], value);
  atomicMax(&slots[kMax], value);
  atomicAnd(&slots[kAnd], static_cast<T>(~value));
  atomicOr(&slots[kOr], value);
  atomicXor(&slots[kXor], value);
  if (atomicExch(&slots[kExchange], value) == value) slots[kExchange] = T(-1);  // each value comes once
  T seen = slots[kCas];
  for (;;) {
    const T before = atomicCAS(&slots[kCas], seen, static_cast<T>(seen + value * 3));
    if (before == seen) break;
    seen = before;
  }
  if constexpr (sizeof(T) == 4) {
    atomicSub(&slots[kSub], value);
  } else {
    __hip_atomic_fetch_add(&slots[kSub], static_cast<T>(-value), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}

template <typename T>
__global__ void global_integers(T* slots) {
  apply(slots, static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x + 1));
}

template <typename T>
__global__ void shared_integers(T* out, const T* initial) {
  __shared__ T slots[kOperations];
  if (threadIdx.x < kOperations) slots[threadIdx.x] = initial[threadIdx.x];
  __syncthreads();
  apply(slots, static_cast<T>(threadIdx.x + 1));
  __syncthreads();
  if (threadIdx.x < kOperations) out[threadIdx.x] = slots[threadIdx.x];
}

template <typename T>
std::vector<T> initial_slots() {
  std::vector<T> slots(kOperations, T(0));
  slots[kMin] = std::numeric_limits<T>::max();
  slots[kMax] = std::numeric_limits<T>::min();
  slots[kAnd] = static_cast<T>(-1);
  return slots;
}

template <typename T>
void check_slots(const char* what, const std::vector<T>& got, T count) {
  std::vector<T> want = initial_slots<T>();
  for (T value = 1; value <= count; ++value) {
    want[kAdd] += value;
    want[kSub] -= value;
    want[kMin] = std::min(want[kMin], value);
    want[kMax] = std::max(want[kMax], value);
    want[kAnd] &= ~value;
    want[kOr] |= value;
    want[kXor] ^= value;
    want[kCas] += value * 3;
  }
  want[kExchange] = got[kExchange];  // whichever came last
  check::equal(what, got, want);
  EXPECT(got[kExchange] >= 1 && got[kExchange] <= count);
}

template <typename T>
void check_integers(const char* what) {
  const check::Device<T> initial(initial_slots<T>()), slots(initial_slots<T>()), out(kOperations);
  global_integers<T><<<5, 100>>>(slots.get());
  shared_integers<T><<<1, 300>>>(out.get(), initial.get());
  check::finish();
  check_slots<T>((std::string("global ") + what).c_str(), slots.read(), 500);
  check_slots<T>((std::string("shared ") + what).c_str(), out.read(), 300);
}

// The values before, taken together, must be a permutation: every ticket is drawn once.
template <typename T>
__global__ void draw_tickets(T* global_counter, T* global_tickets, T* shared_tickets) {
  __shared__ T shared_counter;
  if (threadIdx.x == 0) shared_counter = 0;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  global_tickets[i] = atomicAdd(global_counter, T(1));
  shared_tickets[i] = atomicAdd(&shared_counter, T(1)) + blockIdx.x * blockDim.x;
}

template <typename T>
void check_tickets(const char* what) {
  constexpr int blocks = 6, block = 200;
  const check::Device<T> counter(1), global_tickets(blocks * block), shared_tickets(blocks * block);
  draw_tickets<T><<<blocks, block>>>(counter.get(), global_tickets.get(), shared_tickets.get());
  check::finish();
  std::vector<T> want(blocks * block);
  for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<T>(i);
  for (const auto* tickets : {&global_tickets, &shared_tickets}) {
    std::vector<T> got = tickets->read();
    std::sort(got.begin(), got.end());
    check::equal(what, got, want);
  }
}

// atomicInc and atomicDec wrap at a limit.
__global__ void wrap(unsigned* slots, unsigned* before) {
  before[threadIdx.x] = atomicInc(&slots[0], 9);
  atomicDec(&slots[1], 6);
}

void check_wrap() {
  constexpr unsigned count = 137;
  const check::Device<unsigned> slots(std::vector<unsigned>{0, 3}), before(count);
  wrap<<<1, count>>>(slots.get(), before.get());
  check::finish();
  unsigned down = 3;
  for (unsigned i = 0; i < count; ++i) down = down == 0 || down > 6 ? 6 : down - 1;
  check::equal("wrap", slots.read(), {count % 10, down});
  std::vector<unsigned> got = before.read(), want(count);
  for (unsigned i = 0; i < count; ++i) want[i] = i % 10;
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  check::equal("atomicInc's values before", got, want);
}

// Floating point sums of small integers are exact in any order.
template <typename T>
__global__ void floating(T* global_slots, T* shared_out) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const T value = static_cast<T>(threadIdx.x) - T(0.5);
  atomicAdd(&global_slots[0], value);
  unsafeAtomicAdd(&global_slots[1], value);
  safeAtomicAdd(&global_slots[2], value);
  const T before = atomicAdd(&sum, value);
  if (before != before) global_slots[0] = before;
  atomicMax(&global_slots[3], value);
  atomicMin(&global_slots[4], value);
  __syncthreads();
  if (threadIdx.x == 0) shared_out[blockIdx.x] = sum;
}

template <typename T>
void check_floating(const char* what) {
  constexpr int blocks = 4, block = 256;
  const T sum = T(block) * (block - 1) / 2 - T(block) / 2;
  const check::Device<T> slots(std::vector<T>{0, 0, 0, -1000, 1000}), shared(blocks);
  floating<T><<<blocks, block>>>(slots.get(), shared.get());
  check::finish();
  check::equal(what, slots.read(), {blocks * sum, blocks * sum, blocks * sum, T(block) - T(1.5), T(-0.5)});
  check::equal(what, shared.read(), std::vector<T>(blocks, sum));
}

// Types that the hardware has no atomics for, by compare-and-swap on the word around them.
template <typename T>
__device__ void add_narrow(T* address, T value) {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  auto* word = reinterpret_cast<unsigned*>(bits & ~uintptr_t{3});
  const unsigned shift = (bits & 3) * 8, mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
  unsigned seen = *word, before;
  do {
    before = seen;
    const unsigned sum = static_cast<T>((before >> shift) + value);
    seen = atomicCAS(word, before, (before & ~mask) | (sum << shift));
  } while (seen != before);
}

template <typename T>
__global__ void narrow(T* slots) {
  add_narrow(&slots[threadIdx.x % 6], static_cast<T>(threadIdx.x));
}

template <typename T>
void check_narrow(const char* what) {
  std::vector<T> want(8);
  for (unsigned i = 0; i < 512; ++i) want[i % 6] = static_cast<T>(want[i % 6] + i);
  const check::Device<T> slots(8);
  narrow<T><<<1, 512>>>(slots.get());
  check::finish();
  check::equal(what, slots.read(), want);
}

// A message goes from one work-group to another in order: data first, then the flag (release and acquire).
__global__ void pass_message(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    if (threadIdx.x == 0) {
      while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
    }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
  }
}

void check_message() {
  const check::Device<int> data(128), flag(1), out(128);
  pass_message<<<2, 128>>>(data.get(), flag.get(), out.get());
  check::finish();
  std::vector<int> want(128);
  for (int i = 0; i < 128; ++i) want[i] = i * 3;
  check::equal("message", out.read(), want);
}

// Builtins with system scope on 64 bits, and a spin lock around a plain counter.
__global__ void locked(int* lock, int* counter, unsigned long long* sum) {
  for (int round = 0; round < 4; ++round) {
    __hip_atomic_fetch_add(sum, 1ull << 33, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
    if (threadIdx.x % 64 == 0) {  // one lane of each wave
      while (atomicCAS(lock, 0, 1) != 0) {
      }
      __threadfence();
      *reinterpret_cast<volatile int*>(counter) += 1;
      __threadfence();
      atomicExch(lock, 0);
    }
  }
}

void check_lock() {
  const check::Device<int> lock(1), counter(1);
  const check::Device<unsigned long long> sum(1);
  locked<<<8, 256>>>(lock.get(), counter.get(), sum.get());
  check::finish();
  check::equal("locked counter", counter.read(), {8 * 4 * 4});
  check::equal("system scope", sum.read(), {(8ull * 256 * 4) << 33});
}

// Loads and stores of 64 aligned bits happen at once: one work-group writes pairs of equal halves, by all lanes, by
// some and by one, while another reads them, each lane one, some, and all lanes the same. (Chained scans keep a state
// and a sum in such a pair.)
constexpr int pairs = 64;

__device__ unsigned halves_differ(const uint64_t* pair) {
  const uint64_t both = __hip_atomic_load(pair, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  return static_cast<unsigned>(both >> 32) ^ static_cast<unsigned>(both);
}

__global__ void write_or_read_pairs(uint64_t* slots, unsigned* torn, int rounds) {
  const unsigned lane = threadIdx.x;
  unsigned different = 0;
  for (int i = 0; i < rounds; ++i) {
    if (blockIdx.x == 0) {
      const uint64_t pair = static_cast<unsigned>(i) * 0x1'0000'0001ull;
      __hip_atomic_store(&slots[lane], pair, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      if (lane % 3 == 0) __hip_atomic_store(&slots[lane], ~pair, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      if (lane == 5) __hip_atomic_store(&slots[0], pair, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } else {
      different |= halves_differ(&slots[lane]) | halves_differ(&slots[0]);
      if (lane % 3 != 1) different |= halves_differ(&slots[lane]);
    }
  }
  if (different != 0) atomicOr(torn, different);
}

void check_pairs() {
  const check::Device<uint64_t> slots(std::vector<uint64_t>(pairs, 0));
  const check::Device<unsigned> torn(1);
  write_or_read_pairs<<<2, pairs>>>(slots.get(), torn.get(), 30'000);
  check::finish();
  check::equal("torn pairs", torn.read(), {0u});
}

// The same of 128 bits: C++ has no such atomic, but programs load and store them whole where they find them aligned.
struct alignas(16) Quad {
  unsigned word[4];
};

__device__ unsigned words_differ(const Quad* quad) {
  const Quad all = *quad;
  __asm__ volatile("" ::: "memory");
  return (all.word[0] ^ all.word[1]) | (all.word[0] ^ all.word[2]) | (all.word[0] ^ all.word[3]);
}

__device__ void write_quad(Quad* quad, unsigned value) {
  *quad = Quad{{value, value, value, value}};
  __asm__ volatile("" ::: "memory");
}

__global__ void write_or_read_quads(Quad* slots, unsigned* torn, int rounds) {
  const unsigned lane = threadIdx.x;
  unsigned different = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto value = static_cast<unsigned>(i);
    if (blockIdx.x == 0) {
      write_quad(&slots[lane], value);
      if (lane % 3 == 0) write_quad(&slots[lane], ~value);
      if (lane == 5) write_quad(&slots[0], value);
    } else {
      different |= words_differ(&slots[lane]) | words_differ(&slots[0]);
      if (lane % 3 != 1) different |= words_differ(&slots[lane]);
    }
  }
  if (different != 0) atomicOr(torn, different);
}

void check_quads() {
  const check::Device<Quad> slots(std::vector<Quad>(size_t{pairs}));
  const check::Device<unsigned> torn(1);
  write_or_read_quads<<<2, pairs>>>(slots.get(), torn.get(), 30'000);
  check::finish();
  check::equal("torn quads", torn.read(), {0u});
}

}  // namespace

int main() {
  check_integers<int>("int");
  check_integers<unsigned>("unsigned");
  check_integers<unsigned long long>("unsigned long long");
  check_tickets<unsigned>("unsigned tickets");
  check_tickets<unsigned long long>("unsigned long long tickets");
  check_wrap();
  check_floating<float>("float");
  check_floating<double>("double");
  check_narrow<uint8_t>("uint8_t");
  check_narrow<uint16_t>("uint16_t");
  check_message();
  check_lock();
  check_pairs();
  check_quads();
  return check::result();
}
