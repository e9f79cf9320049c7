// Words in memory that streams wait for and write: hipStreamWaitValue32/64, hipStreamWriteValue32/64, on signal memory,
// on pinned host memory and on device memory; the host sets streams going.
#include "check.h"

namespace {

__global__ void append(int* log, int* length, int value) { log[(*length)++] = value; }

struct Log {
  check::Device<int> values{16}, length{1};
  void add(int value, hipStream_t stream) const {
    append<<<1, 1, 0, stream>>>(values.get(), length.get(), value);
    HIP(hipGetLastError());
  }
  std::vector<int> read() const {
    std::vector<int> all = values.read();
    all.resize(length.read()[0]);
    return all;
  }
};

// One stream waits for what another writes, whichever is filled first.
template <typename Word>
void check_between_streams(Word* word, const char* what) {
  const Log log;
  hipStream_t first, second;
  HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  const auto wait = [&](hipStream_t stream, Word value, unsigned flags) {
    if constexpr (sizeof(Word) == 4) {
      HIP(hipStreamWaitValue32(stream, word, value, flags, 0xffffffff));
    } else {
      HIP(hipStreamWaitValue64(stream, word, value, flags, UINT64_MAX));
    }
  };
  const auto write = [&](hipStream_t stream, Word value) {
    if constexpr (sizeof(Word) == 4) {
      HIP(hipStreamWriteValue32(stream, word, value, 0));
    } else {
      HIP(hipStreamWriteValue64(stream, word, value, 0));
    }
  };
  write(first, 0);
  HIP(hipStreamSynchronize(first));
  wait(first, 5, hipStreamWaitValueEq);
  log.add(2, first);
  write(first, 6);
  log.add(1, second);
  write(second, 5);
  wait(second, 6, hipStreamWaitValueGte);
  log.add(3, second);
  HIP(hipStreamSynchronize(second));
  HIP(hipStreamSynchronize(first));
  check::equal(what, log.read(), {1, 2, 3});
  HIP(hipStreamDestroy(first));
  HIP(hipStreamDestroy(second));
}

// The host writes the word that a stream waits for; masks and comparisons.
void check_from_host(uint32_t* word) {
  hipStream_t stream;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  const Log log;
  __atomic_store_n(word, 0u, __ATOMIC_SEQ_CST);
  HIP(hipStreamWaitValue32(stream, word, 0x30, hipStreamWaitValueAnd, 0xf0));
  log.add(7, stream);
  EXPECT(hipStreamQuery(stream) == hipErrorNotReady);
  __atomic_store_n(word, 0x10fu, __ATOMIC_SEQ_CST);
  EXPECT(hipStreamQuery(stream) == hipErrorNotReady);
  __atomic_store_n(word, 0x20u, __ATOMIC_SEQ_CST);
  HIP(hipStreamSynchronize(stream));
  check::equal("set going by the host", log.read(), {7});
  HIP(hipStreamDestroy(stream));
}

}  // namespace

int main() {
  // Whether hipDeviceAttributeCanUseStreamWaitValue is set is HIP's decision by the GPU's name; it works on each.
  uint64_t* signal = nullptr;
  HIP(hipExtMallocWithFlags(reinterpret_cast<void**>(&signal), 8, hipMallocSignalMemory));
  check_between_streams(signal, "signal memory");
  check_from_host(reinterpret_cast<uint32_t*>(signal));
  HIP(hipFree(signal));

  uint64_t* pinned = nullptr;
  HIP(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64));
  check_between_streams(pinned, "pinned memory, 64 bits");
  check_between_streams(reinterpret_cast<uint32_t*>(pinned), "pinned memory, 32 bits");
  check_from_host(reinterpret_cast<uint32_t*>(pinned + 2));
  HIP(hipHostFree(pinned));
  return check::result();
}
