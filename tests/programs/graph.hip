// hipGraph: a graph made by hand from kernels, copies, memsets and host functions, and one captured from a stream; each
// launched several times.
#include "check.h"

namespace {

constexpr int kCount = 1000;

__global__ void add(int* values, int amount) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) values[i] += amount;
}

__global__ void combine(const int* a, const int* b, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) out[i] = a[i] * 1000 + b[i];
}

int host_calls = 0;

hipGraphNode_t add_kernel(hipGraph_t graph, const std::vector<hipGraphNode_t>& after, void* function,
                          void** arguments) {
  hipKernelNodeParams parameters{};
  parameters.func = function;
  parameters.gridDim = dim3((kCount + 127) / 128);
  parameters.blockDim = dim3(128);
  parameters.kernelParams = arguments;
  hipGraphNode_t node;
  HIP(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters));
  return node;
}

// A diamond: the input is copied in and branches; both branches meet again, and the result is copied out.
void check_explicit() {
  std::vector<int> in(kCount), result(kCount), want(kCount);
  for (int i = 0; i < kCount; ++i) {
    in[i] = i;
    want[i] = (i + 5) * 1000 + 7;
  }
  const check::Device<int> a(kCount), b(kCount), out(kCount);
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));

  hipGraphNode_t copy_in, clear, copy_out, host;
  HIP(hipGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, a.get(), in.data(), kCount * sizeof(int),
                              hipMemcpyHostToDevice));
  hipMemsetParams memset{};
  memset.dst = b.get();
  memset.elementSize = 4;
  memset.width = kCount;
  memset.height = 1;
  HIP(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &memset));
  int five = 5, seven = 7;
  int *pointer_a = a.get(), *pointer_b = b.get(), *pointer_out = out.get();
  void* add_five[] = {&pointer_a, &five};
  void* add_seven[] = {&pointer_b, &seven};
  void* both[] = {&pointer_a, &pointer_b, &pointer_out};
  const hipGraphNode_t left = add_kernel(graph, {copy_in}, reinterpret_cast<void*>(add), add_five);
  const hipGraphNode_t right = add_kernel(graph, {clear}, reinterpret_cast<void*>(add), add_seven);
  const hipGraphNode_t meet = add_kernel(graph, {left, right}, reinterpret_cast<void*>(combine), both);
  HIP(hipGraphAddMemcpyNode1D(&copy_out, graph, &meet, 1, result.data(), out.get(), kCount * sizeof(int),
                              hipMemcpyDeviceToHost));
  hipHostNodeParams call{};
  call.fn = [](void* data) { ++*static_cast<int*>(data); };
  call.userData = &host_calls;
  HIP(hipGraphAddHostNode(&host, graph, &copy_out, 1, &call));

  size_t nodes = 0;
  HIP(hipGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 7);
  hipGraphExec_t executable;
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  for (int round = 1; round <= 3; ++round) {
    std::fill(result.begin(), result.end(), 0);
    HIP(hipGraphLaunch(executable, stream));
    HIP(hipStreamSynchronize(stream));
    check::equal("explicit graph", result, want);
    EXPECT(host_calls == round);
  }
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
}

void check_capture() {
  const check::Device<int> values(kCount);
  std::vector<int> result(kCount);
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  hipGraph_t graph;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  for (int amount = 1; amount <= 4; ++amount) add<<<(kCount + 63) / 64, 64, 0, stream>>>(values.get(), amount);
  HIP(hipMemcpyAsync(result.data(), values.get(), kCount * sizeof(int), hipMemcpyDeviceToHost, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  check::equal("nothing runs while captured", values.read(), std::vector<int>(kCount, 0));
  hipGraphExec_t executable;
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int round = 1; round <= 3; ++round) {
    HIP(hipGraphLaunch(executable, stream));
    HIP(hipStreamSynchronize(stream));
    check::equal("captured graph", result, std::vector<int>(kCount, 10 * round));
  }
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
}

}  // namespace

int main() {
  check_explicit();
  check_capture();
  return check::result();
}
