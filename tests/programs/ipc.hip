// Two processes: memory and events of one are opened in the other. The program starts itself once more, the two talk
// through a pair of pipes, and each checks what the other's kernels wrote.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int kCount = 5000;
constexpr int kOffset = 1000;  // a handle stands for a whole allocation

struct Handles {
  hipIpcMemHandle_t memory;
  hipIpcEventHandle_t event;
};

__global__ void add(int* values, int amount) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) values[i] = values[i] * 2 + amount;
}

void launch(int* values, int amount, hipStream_t stream = nullptr) {
  add<<<(kCount + 255) / 256, 256, 0, stream>>>(values, amount);
  HIP(hipGetLastError());
}

template <typename T>
void send(int descriptor, const T& value) {
  if (write(descriptor, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) std::exit(3);
}

template <typename T>
T receive(int descriptor) {
  T value;
  size_t got = 0;
  while (got < sizeof value) {
    const ssize_t part = read(descriptor, reinterpret_cast<char*>(&value) + got, sizeof value - got);
    if (part <= 0) std::exit(3);
    got += static_cast<size_t>(part);
  }
  return value;
}

std::vector<int> values_after(int steps) {
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) {
    values[i] = i;
    for (int step = 1; step <= steps; ++step) values[i] = values[i] * 2 + step;
  }
  return values;
}

std::vector<int> read_values(const int* device) {
  std::vector<int> values(kCount);
  HIP(hipMemcpy(values.data(), device, kCount * sizeof(int), hipMemcpyDeviceToHost));
  return values;
}

int child(int in, int out) {
  const auto handles = receive<Handles>(in);
  void* memory = nullptr;
  HIP(hipIpcOpenMemHandle(&memory, handles.memory, hipIpcMemLazyEnablePeerAccess));
  int* values = static_cast<int*>(memory) + kOffset;
  check::equal("what the parent wrote", read_values(values), values_after(1));
  hipEvent_t event;
  HIP(hipIpcOpenEventHandle(&event, handles.event));
  HIP(hipEventSynchronize(event));
  launch(values, 2);
  check::finish();
  send(out, 'a');  // the memory is the parent's again

  // The parent has recorded the event after a kernel that it has not waited for.
  (void)receive<char>(in);
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipStreamWaitEvent(stream, event, 0));
  launch(values, 4, stream);
  HIP(hipStreamSynchronize(stream));
  check::equal("after the parent's event", read_values(values), values_after(4));
  HIP(hipStreamDestroy(stream));
  HIP(hipEventDestroy(event));
  HIP(hipIpcCloseMemHandle(memory));
  send(out, 'b');
  return check::result();
}

int parent(const char* program) {
  int to_child[2], from_child[2];
  if (pipe(to_child) != 0 || pipe(from_child) != 0) return 3;
  // The child begins before this process uses the GPU, and anew: a GPU's state does not survive a fork.
  const pid_t process = fork();
  if (process == 0) {
    (void)close(to_child[1]);
    (void)close(from_child[0]);
    const std::string in = std::to_string(to_child[0]), out = std::to_string(from_child[1]);
    (void)execl(program, program, in.c_str(), out.c_str(), nullptr);
    std::_Exit(3);
  }
  (void)close(to_child[0]);
  (void)close(from_child[1]);

  int* memory = nullptr;
  HIP(hipMalloc(&memory, (kOffset + kCount) * sizeof(int)));
  int* values = memory + kOffset;
  const std::vector<int> start = values_after(0);
  HIP(hipMemcpy(values, start.data(), kCount * sizeof(int), hipMemcpyHostToDevice));
  launch(values, 1);
  check::finish();
  hipEvent_t event;
  HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventInterprocess));
  HIP(hipEventRecord(event, nullptr));
  HIP(hipEventSynchronize(event));
  Handles handles{};
  HIP(hipIpcGetMemHandle(&handles.memory, memory));
  HIP(hipIpcGetEventHandle(&handles.event, event));
  send(to_child[1], handles);

  (void)receive<char>(from_child[0]);
  check::equal("what the child wrote", read_values(values), values_after(2));
  launch(values, 3);
  HIP(hipEventRecord(event, nullptr));
  // HIP 6 gives the other process's stream nothing to wait for: its hipStreamWaitEvent puts nothing into a queue.
  if (HIP_VERSION < 70000000) check::finish();
  send(to_child[1], 'g');
  (void)receive<char>(from_child[0]);
  check::equal("what the child wrote after the event", read_values(values), values_after(4));
  int status = 0;
  (void)waitpid(process, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  HIP(hipEventDestroy(event));
  HIP(hipFree(memory));
  return check::result();
}

}  // namespace

int main(int argc, char** argv) {
  return argc == 3 ? child(std::atoi(argv[1]), std::atoi(argv[2])) : parent("/proc/self/exe");
}
