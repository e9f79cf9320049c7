// Differential tests: atomics of all lanes on one address, in memory and in LDS. The compiler makes one atomic of
// them, and of the rest a scan over the wave: with -mllvm -amdgpu-atomic-optimizer-strategy=DPP out of DPP row shifts
// and broadcasts, v_readlane, v_writelane and whole-wave mode; with =Iterative a loop over the lanes. Some of them stand
// under a divergent branch, so that EXEC has holes.
typedef unsigned int u32;
typedef int i32;
typedef unsigned long u64;
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3), loader_uninitialized))

#define FETCH(operation, ...) __scoped_atomic_fetch_##operation(__VA_ARGS__, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)

static LDS u32 shared_words[8];
static LDS u64 shared_longs[8];

// Each lane has one input and 16 outputs, the old values that it saw. `words` and `longs` are the memory; LDS begins as
// their first eight and ends in the eight from the sixteenth on.
__attribute__((amdgpu_kernel)) void atomics(const GLOBAL u64* in, GLOBAL u64* out, GLOBAL u32* words,
                                            GLOBAL u64* longs) {
  const u32 lane = __builtin_amdgcn_workitem_id_x();
  const u64 input = in[lane];
  const u32 word = (u32)input;
  GLOBAL u64* old = out + lane * 16;
  if (lane < 8) {
    shared_words[lane] = words[lane];
    shared_longs[lane] = longs[lane];
  }
  __builtin_amdgcn_s_barrier();
  if (input >> 40 & 1) old[0] = FETCH(add, &words[0], word);
  old[1] = FETCH(sub, &words[1], word);
  if (input >> 41 & 1) old[2] = FETCH(or, &words[2], word);
  old[3] = FETCH(and, &words[3], word);
  old[4] = FETCH(xor, &words[4], word);
  old[5] = FETCH(max, &words[5], word);
  if (input >> 42 & 1) old[6] = (u32)FETCH(min, (GLOBAL i32*)&words[6], (i32)word);
  old[7] = FETCH(add, &longs[0], input);
  old[8] = FETCH(add, &shared_words[0], word);
  if (input >> 43 & 1) old[9] = FETCH(add, &shared_longs[0], input);
  old[10] = FETCH(xor, &shared_words[1], word);
  old[11] = FETCH(max, &shared_words[2], word);
  old[12] = FETCH(add, &words[7], 5u);
  if (input >> 44 & 1) old[13] = FETCH(add, &words[8], 3u);
  FETCH(add, &longs[1 + (word >> 3 & 3)], input >> 9);  // four addresses
  __builtin_amdgcn_s_barrier();
  if (lane < 8) {
    words[16 + lane] = shared_words[lane];
    longs[16 + lane] = shared_longs[lane];
  }
}
