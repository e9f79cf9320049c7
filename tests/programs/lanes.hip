// Lanes of a wave talk to each other: shuffles of every kind and width, ballots and votes, also where only part of the
// wave takes part; the cross-lane moves below them (DPP, swizzle, bpermute, readlane) by the compiler's builtins. In
// waves of as many lanes as the GPU's have, 32 or 64.
#include <algorithm>

#include "check.h"

namespace {

constexpr int kBlock = 192;  // several whole waves

/// Each row holds what one expression gave in every work-item.
template <typename T>
struct Rows {
  T* data;
  __device__ void set(int row, T value) const { data[row * kBlock + static_cast<int>(threadIdx.x)] = value; }
};

template <typename T>
__global__ void shuffles(const T* in, T* out) {
  const int i = static_cast<int>(threadIdx.x);
  const Rows<T> rows{out};
  const T value = in[i];
  int row = 0;
  for (const int most : {4, 16, 32, 64}) {
    const int width = most < warpSize ? most : warpSize;
    rows.set(row++, __shfl(value, 3, width));
    rows.set(row++, __shfl(value, (i * 5 + 1) % width, width));
    rows.set(row++, __shfl_up(value, 3, width));
    rows.set(row++, __shfl_down(value, 2, width));
    rows.set(row++, __shfl_xor(value, 1, width));
    rows.set(row++, __shfl_xor(value, width / 2, width));
  }
}

template <typename T>
void check_shuffles(const char* what, int wave) {
  std::vector<T> in(kBlock), want;
  for (int i = 0; i < kBlock; ++i) in[i] = static_cast<T>(i * 1000003 + 17);
  for (const int most : {4, 16, 32, 64}) {
    const int width = std::min(most, wave);
    for (int kind = 0; kind < 6; ++kind) {
      for (int i = 0; i < kBlock; ++i) {
        const int start = i / width * width, place = i % width;  // the lane's section of the wave
        int from = place;
        if (kind == 0) from = 3;
        if (kind == 1) from = (i * 5 + 1) % width;
        if (kind == 2 && place >= 3) from = place - 3;
        if (kind == 3 && place + 2 < width) from = place + 2;
        if (kind == 4) from = place ^ 1;
        if (kind == 5) from = place ^ (width / 2);
        want.push_back(in[start + from]);
      }
    }
  }
  const check::Device<T> device_in(in), out(want.size());
  shuffles<T><<<1, kBlock>>>(device_in.get(), out.get());
  check::finish();
  check::equal(what, out.read(), want);
}

__global__ void votes(uint64_t* out) {
  const int i = static_cast<int>(threadIdx.x), wave = warpSize;
  const Rows<uint64_t> rows{out};
  rows.set(0, __ballot(i % 3 == 0));
  rows.set(1, __any(i == 70));
  rows.set(2, __all(i < 128));
  rows.set(3, __lane_id());
  uint64_t divergent = 7;
  if (i % 5 != 2) {
    divergent = __ballot(i % 2 == 0);
    if (i % wave >= wave - 14) divergent += __all(i % wave >= wave - 14) + 2 * __any(i % wave == wave - 12);
  }
  rows.set(4, divergent);
  rows.set(5, __popcll(__ballot(i < 100)));
  rows.set(6, static_cast<uint64_t>(__ffsll(static_cast<unsigned long long>(__ballot(i % wave > wave - 24)))));
  // Compaction: the lanes that pass learn their place among those that pass.
  const uint64_t passing = __ballot(i * 7 % 11 < 4);
  rows.set(7, i * 7 % 11 < 4 ? __popcll(passing & ((uint64_t{1} << (i % wave)) - 1)) : 99);
  rows.set(8, __builtin_amdgcn_read_exec());
  // A loop that each lane leaves in its own turn.
  uint64_t rounds = 0, seen = 0;
  for (int turn = i % wave; turn >= 0; turn -= 9) {
    seen += __popcll(__ballot(1));
    ++rounds;
  }
  rows.set(9, rounds * 1000 + seen);
}

void check_votes(int wave_size) {
  std::vector<uint64_t> want(10 * kBlock);
  const auto ballot = [wave_size](int wave, auto predicate) {
    uint64_t mask = 0;
    for (int lane = 0; lane < wave_size; ++lane) mask |= uint64_t{predicate(wave * wave_size + lane)} << lane;
    return mask;
  };
  for (int i = 0; i < kBlock; ++i) {
    const int wave = i / wave_size, lane = i % wave_size, first = wave * wave_size;
    want[0 * kBlock + i] = ballot(wave, [](int j) { return j % 3 == 0; });
    want[1 * kBlock + i] = wave == 70 / wave_size;
    want[2 * kBlock + i] = first + wave_size <= 128;
    want[3 * kBlock + i] = lane;
    // Lanes with i % 5 == 2 stay away; the last but eleventh of a wave is there unless it is one of them.
    uint64_t divergent = 7;
    if (i % 5 != 2) {
      divergent = ballot(wave, [](int j) { return j % 5 != 2 && j % 2 == 0; });
      if (lane >= wave_size - 14) divergent += 1 + 2 * ((first + wave_size - 12) % 5 != 2);
    }
    want[4 * kBlock + i] = divergent;
    want[5 * kBlock + i] = std::clamp(100 - first, 0, wave_size);
    want[6 * kBlock + i] = wave_size - 22;
    const uint64_t passing = ballot(wave, [](int j) { return j * 7 % 11 < 4; });
    want[7 * kBlock + i] = i * 7 % 11 < 4 ? __builtin_popcountll(passing & ((uint64_t{1} << lane) - 1)) : 99;
    want[8 * kBlock + i] = ballot(wave, [](int) { return true; });
    uint64_t rounds = 0, seen = 0;
    for (int turn = lane; turn >= 0; turn -= 9) {
      const int gone = static_cast<int>(rounds);
      for (int other = 0; other < wave_size; ++other) seen += other - 9 * gone >= 0;
      ++rounds;
    }
    want[9 * kBlock + i] = rounds * 1000 + seen;
  }
  const check::Device<uint64_t> out(want.size());
  votes<<<1, kBlock>>>(out.get());
  check::finish();
  check::equal("votes", out.read(), want);
}

// The numbers of the DPP controls are those of the ISA manual, "DPP_CTRL enumeration".
template <int control, int row_mask, int bank_mask, bool bound>
__device__ int dpp(int old, int value) {
  return __builtin_amdgcn_update_dpp(old, value, control, row_mask, bank_mask, bound);
}

__global__ void moves(int* out) {
  const int i = static_cast<int>(threadIdx.x), wave = warpSize, lane = i % wave, value = 1000 + i;
  const Rows<int> rows{out};
  rows.set(0, dpp<0x1b, 0xf, 0xf, false>(-1, value));   // quad_perm:[3,2,1,0]
  rows.set(1, dpp<0x111, 0xf, 0xf, false>(-1, value));  // row_shr:1, lanes without a source keep the old value
  rows.set(2, dpp<0x111, 0xf, 0xf, true>(-1, value));   // row_shr:1, lanes without a source get 0
  rows.set(3, dpp<0x104, 0xf, 0xf, false>(-1, value));  // row_shl:4
  rows.set(4, dpp<0x123, 0xf, 0xf, false>(-1, value));  // row_ror:3
  rows.set(5, dpp<0x140, 0xf, 0xf, false>(-1, value));  // row_mirror
  rows.set(6, dpp<0x141, 0xf, 0xf, false>(-1, value));  // row_half_mirror
#if defined(__GFX9__)
  rows.set(7, dpp<0x142, 0xa, 0xf, false>(-1, value));  // row_bcast:15 into rows 1 and 3
  rows.set(8, dpp<0x143, 0xc, 0xf, false>(-1, value));  // row_bcast:31 into rows 2 and 3
  rows.set(9, dpp<0x138, 0xf, 0xf, false>(-1, value));  // wave_shr:1
#else
  rows.set(7, dpp<0x155, 0xa, 0xf, false>(-1, value));               // row_share:5 into rows 1 and 3
  rows.set(8, dpp<0x163, 0xf, 0xf, false>(-1, value));               // row_xmask:3
  constexpr unsigned backwards = 0b000'001'010'011'100'101'110'111;  // dpp8:[7,6,5,4,3,2,1,0]
  rows.set(9, static_cast<int>(__builtin_amdgcn_mov_dpp8(static_cast<unsigned>(value), backwards)));
#endif
  rows.set(10, dpp<0x1b, 0x5, 0x3, false>(-1, value));  // quad_perm in some rows and banks only
  rows.set(11, __builtin_amdgcn_readfirstlane(value));
  rows.set(12, __builtin_amdgcn_readlane(value, wave / 2 + 5));
  rows.set(13, __builtin_amdgcn_ds_bpermute((wave - 1 - lane) * 4, value));
  rows.set(14, __builtin_amdgcn_ds_permute((lane ^ 5) * 4, value));
  rows.set(15, __builtin_amdgcn_ds_swizzle(value, 0x041f));         // within 32 lanes: lane ^ 1
  rows.set(16, __builtin_amdgcn_ds_swizzle(value, 0x8000 | 0xb1));  // within quads: [1,0,3,2]
  int first = -1;
  if (lane >= 20) first = __builtin_amdgcn_readfirstlane(value + 7);
  rows.set(17, first);
}

void check_moves(int wave_size) {
  constexpr int count = 18;
  const bool has_waves_of_64 = wave_size == 64;  // GFX9's, whose controls are others
  std::vector<int> want(count * kBlock);
  for (int i = 0; i < kBlock; ++i) {
    const int wave = i - i % wave_size, lane = i % wave_size, row = lane / 16 * 16, place = lane % 16;
    const auto value = [wave](int from) { return 1000 + wave + from; };
    int r = 0;
    const auto set = [&](int expected) { want[r++ * kBlock + i] = expected; };
    set(value(lane ^ 3));
    set(place >= 1 ? value(lane - 1) : -1);
    set(place >= 1 ? value(lane - 1) : 0);
    set(place + 4 < 16 ? value(lane + 4) : -1);
    set(value(row + (place + 16 - 3) % 16));
    set(value(row + 15 - place));
    set(value(row + place / 8 * 8 + 7 - place % 8));
    if (has_waves_of_64) {
      set(row == 16 || row == 48 ? value(row - 1) : -1);
      set(row >= 32 ? value(31) : -1);
      set(lane >= 1 ? value(lane - 1) : -1);
    } else {
      set(row == 16 || row == 48 ? value(row + 5) : -1);
      set(value(lane ^ 3));
      set(value(lane ^ 7));
    }
    set((row == 0 || row == 32) && place / 4 < 2 ? value(lane ^ 3) : -1);
    set(value(0));
    set(value(wave_size / 2 + 5));
    set(value(wave_size - 1 - lane));
    set(value(lane ^ 5));
    set(value(lane ^ 1));
    set(value(lane ^ 1));
    set(lane >= 20 ? value(27) : -1);
  }
  const check::Device<int> out(want.size());
  moves<<<1, kBlock>>>(out.get());
  check::finish();
  check::equal("moves", out.read(), want);
}

}  // namespace

int main() {
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  const int wave = properties.warpSize;
  check_shuffles<int>("int", wave);
  check_shuffles<unsigned>("unsigned", wave);
  check_shuffles<float>("float", wave);
  check_shuffles<long long>("long long", wave);
  check_shuffles<double>("double", wave);
  check_votes(wave);
  check_moves(wave);
  return check::result();
}
