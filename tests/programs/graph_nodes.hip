// Graphs beyond the plain ones (graph.hip): node types, dependencies asked about and changed, parameters of an
// executable graph replaced, one updated from another, clones, capture that forks and joins, and what graphs own:
// memory and objects.
#include "check.h"

constexpr int kCount = 2000;

// In no unnamed namespace: HIP 5.2 does not find such a variable.
__device__ int device_table[kCount];

namespace {

constexpr size_t kBytes = kCount * sizeof(int);

__global__ void add(int* values, int amount) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) values[i] += amount;
}

__global__ void times(int* values, int factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) values[i] *= factor;
}

__global__ void from_table(int* values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) values[i] += device_table[i];
}

std::vector<int> ramp(int factor, int offset) {
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i * factor + offset;
  return values;
}

// The parameters of a kernel that takes device memory and a number, in one piece.
class Kernel {
 public:
  Kernel(void (*function)(int*, int), int* values, int number) : values_(values), number_(number) {
    parameters_.func = reinterpret_cast<void*>(function);
    parameters_.gridDim = dim3((kCount + 127) / 128);
    parameters_.blockDim = dim3(128);
    parameters_.kernelParams = pointers_;
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  const hipKernelNodeParams* get() const { return &parameters_; }

 private:
  int* values_;
  int number_;
  void* pointers_[2] = {&values_, &number_};
  hipKernelNodeParams parameters_{};
};

class Stream {
 public:
  Stream() { HIP(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { (void)hipStreamDestroy(stream_); }
  operator hipStream_t() const { return stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

hipGraphExec_t instantiate(hipGraph_t graph) {
  hipGraphExec_t executable;
  HIP(hipGraphInstantiateWithFlags(&executable, graph, 0));
  return executable;
}

void run(hipGraphExec_t executable) {
  const Stream stream;
  HIP(hipGraphLaunch(executable, stream));
  HIP(hipStreamSynchronize(stream));
}

void run_and_destroy(hipGraph_t graph) {
  hipGraphExec_t executable = instantiate(graph);
  run(executable);
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
}

// A child graph between two kernels, an empty node, and symbols copied to and from.
void check_node_types() {
  const check::Device<int> values(ramp(1, 0));
  const std::vector<int> table = ramp(10, 3);
  std::vector<int> back(kCount);
  hipGraph_t graph, child;
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphCreate(&child, 0));
  hipGraphNode_t first, inner, nested, empty, to_symbol, kernel, from_symbol;
  HIP(hipGraphAddKernelNode(&inner, child, nullptr, 0, Kernel(times, values.get(), 5).get()));
  HIP(hipGraphAddKernelNode(&first, graph, nullptr, 0, Kernel(add, values.get(), 2).get()));
  HIP(hipGraphAddChildGraphNode(&nested, graph, &first, 1, child));
  HIP(hipGraphAddMemcpyNodeToSymbol(&to_symbol, graph, nullptr, 0, HIP_SYMBOL(device_table), table.data(), kBytes, 0,
                                    hipMemcpyHostToDevice));
  const hipGraphNode_t both[] = {nested, to_symbol};
  HIP(hipGraphAddEmptyNode(&empty, graph, both, 2));
  hipKernelNodeParams parameters{};
  int* pointer = values.get();
  void* arguments[] = {&pointer};
  parameters.func = reinterpret_cast<void*>(from_table);
  parameters.gridDim = dim3((kCount + 127) / 128);
  parameters.blockDim = dim3(128);
  parameters.kernelParams = arguments;
  HIP(hipGraphAddKernelNode(&kernel, graph, &empty, 1, &parameters));
  HIP(hipGraphAddMemcpyNodeFromSymbol(&from_symbol, graph, &kernel, 1, back.data(), HIP_SYMBOL(device_table), kBytes, 0,
                                      hipMemcpyDeviceToHost));
  hipGraphNodeType type{};
  HIP(hipGraphNodeGetType(nested, &type));
  EXPECT(type == hipGraphNodeTypeGraph);
  HIP(hipGraphNodeGetType(empty, &type));
  EXPECT(type == hipGraphNodeTypeEmpty);
  run_and_destroy(graph);
  HIP(hipGraphDestroy(child));
  check::equal("a child graph and a symbol", values.read(), ramp(15, 13));
  check::equal("from the symbol", back, table);
}

// Copies of boxes and fills of rectangles as nodes.
void check_copies() {
  constexpr size_t width = 40, height = 50;
  static_assert(width * height == kCount);
  const std::vector<int> in = ramp(1, 0);
  const check::Device<int> values(kCount);
  std::vector<int> out(kCount, -1);
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipMemcpy3DParms copy{};
  copy.srcPtr = make_hipPitchedPtr(const_cast<int*>(in.data()), width * 4, width, height);
  copy.dstPtr = make_hipPitchedPtr(values.get(), width * 4, width, height);
  copy.extent = make_hipExtent(width * 4, height, 1);
  copy.kind = hipMemcpyHostToDevice;
  hipGraphNode_t copy_in, fill, copy_out;
  HIP(hipGraphAddMemcpyNode(&copy_in, graph, nullptr, 0, &copy));
  std::vector<int> want = in;
  hipMemsetParams set{};
  set.elementSize = 4;
  set.value = 0x01020304;
#if HIP_VERSION >= 50700000
  // Sixteen wide: HIP 7.2 fills up to a multiple of that.
  set.dst = values.get() + 3 * width + 4;
  set.width = 16;
  set.height = 20;
  set.pitch = width * 4;
  for (size_t y = 3; y < 23; ++y) std::fill_n(want.begin() + static_cast<long>(y * width + 4), 16, 0x01020304);
#else  // HIP 5.2 fills rectangles with the element's size
  set.dst = values.get() + 30;
  set.width = 100;
  set.height = 1;
  std::fill_n(want.begin() + 30, 100, 0x01020304);
#endif
  HIP(hipGraphAddMemsetNode(&fill, graph, &copy_in, 1, &set));
  hipMemsetParams got{};
  HIP(hipGraphMemsetNodeGetParams(fill, &got));
  EXPECT(got.width == set.width && got.height == set.height && got.value == set.value);
  HIP(hipGraphAddMemcpyNode1D(&copy_out, graph, &fill, 1, out.data(), values.get(), kBytes, hipMemcpyDeviceToHost));
  run_and_destroy(graph);
  check::equal("boxes and rectangles", out, want);
}

// Nodes, edges and roots as they were put in; an edge taken out and a node destroyed.
void check_structure() {
  const check::Device<int> values(ramp(1, 0));
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t a, b, c;
  HIP(hipGraphAddKernelNode(&a, graph, nullptr, 0, Kernel(add, values.get(), 1).get()));
  HIP(hipGraphAddKernelNode(&b, graph, nullptr, 0, Kernel(times, values.get(), 10).get()));
  HIP(hipGraphAddKernelNode(&c, graph, nullptr, 0, Kernel(add, values.get(), 1000).get()));
  HIP(hipGraphAddDependencies(graph, &a, &b, 1));
  HIP(hipGraphAddDependencies(graph, &a, &c, 1));
  HIP(hipGraphAddDependencies(graph, &b, &c, 1));
  size_t count = 0;
  HIP(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT(count == 3);
  HIP(hipGraphRemoveDependencies(graph, &a, &c, 1));
  hipGraphNode_t nodes[3];
  HIP(hipGraphNodeGetDependencies(c, nullptr, &count));
  EXPECT(count == 1);
  HIP(hipGraphNodeGetDependencies(c, nodes, &count));
  EXPECT(nodes[0] == b);
  HIP(hipGraphNodeGetDependentNodes(a, nullptr, &count));
  EXPECT(count == 1);
  HIP(hipGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 1);
  HIP(hipGraphGetRootNodes(graph, nodes, &count));
  EXPECT(nodes[0] == a);

  hipGraph_t clone;
  HIP(hipGraphClone(&clone, graph));
  hipGraphNode_t in_clone;
  HIP(hipGraphNodeFindInClone(&in_clone, c, clone));
#if HIP_VERSION >= 50700000  // HIP 5.2 does not survive it
  HIP(hipGraphDestroyNode(in_clone));
#else
  HIP(hipGraphKernelNodeSetParams(in_clone, Kernel(add, values.get(), 0).get()));
#endif
  run_and_destroy(clone);
  check::equal("a clone with another end", values.read(), ramp(10, 10));
  run_and_destroy(graph);
  check::equal("the original", values.read(), ramp(100, 1110));
}

// Parameters are replaced in the executable graph, alone or by those of a graph of the same shape.
void check_updates() {
  const check::Device<int> values(ramp(1, 0));
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t a, b;
  HIP(hipGraphAddKernelNode(&a, graph, nullptr, 0, Kernel(add, values.get(), 1).get()));
  HIP(hipGraphAddKernelNode(&b, graph, &a, 1, Kernel(times, values.get(), 2).get()));
  hipGraphExec_t executable = instantiate(graph);
  run(executable);
  check::equal("before the update", values.read(), ramp(2, 2));
  HIP(hipGraphExecKernelNodeSetParams(executable, b, Kernel(times, values.get(), 3).get()));
  run(executable);
  check::equal("a kernel's parameters", values.read(), ramp(6, 9));

  hipGraph_t other;
  HIP(hipGraphCreate(&other, 0));
  hipGraphNode_t c, d;
  HIP(hipGraphAddKernelNode(&c, other, nullptr, 0, Kernel(add, values.get(), -9).get()));
  HIP(hipGraphAddKernelNode(&d, other, &c, 1, Kernel(times, values.get(), 7).get()));
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result{};
  HIP(hipGraphExecUpdate(executable, other, &error_node, &result));
  EXPECT(result == hipGraphExecUpdateSuccess);
  run(executable);
  check::equal("a graph's parameters", values.read(), ramp(42, 0));

  hipGraphNode_t e;
  HIP(hipGraphAddKernelNode(&e, other, &d, 1, Kernel(times, values.get(), 7).get()));
  EXPECT(hipGraphExecUpdate(executable, other, &error_node, &result) == hipErrorGraphExecUpdateFailure);
  EXPECT(result == hipGraphExecUpdateErrorTopologyChanged);
  (void)hipGetLastError();
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipGraphDestroy(other));
}

// Capture follows events into another stream and back; a host function in between.
void check_forked_capture() {
  const check::Device<int> left(kCount), right(kCount);
  std::vector<int> out_left(kCount), out_right(kCount);
  const Stream first, second;
  hipEvent_t fork, join;
  HIP(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
  HIP(hipEventCreateWithFlags(&join, hipEventDisableTiming));
  int calls = 0;
  HIP(hipStreamBeginCapture(first, hipStreamCaptureModeThreadLocal));
  add<<<(kCount + 127) / 128, 128, 0, first>>>(left.get(), 4);
  HIP(hipEventRecord(fork, first));
  HIP(hipStreamWaitEvent(second, fork, 0));
  hipStreamCaptureStatus status{};
  HIP(hipStreamIsCapturing(second, &status));
  EXPECT(status == hipStreamCaptureStatusActive);
  add<<<(kCount + 127) / 128, 128, 0, second>>>(right.get(), 6);
  HIP(hipMemcpyAsync(out_right.data(), right.get(), kBytes, hipMemcpyDeviceToHost, second));
  HIP(hipEventRecord(join, second));
  times<<<(kCount + 127) / 128, 128, 0, first>>>(left.get(), 3);
  HIP(hipStreamWaitEvent(first, join, 0));
#if HIP_VERSION >= 50700000  // HIP 5.2 declares the function, but has none
  HIP(hipLaunchHostFunc(first, [](void* data) { ++*static_cast<int*>(data); }, &calls));
#else
  calls = 2;
#endif
  HIP(hipMemcpyAsync(out_left.data(), left.get(), kBytes, hipMemcpyDeviceToHost, first));
  hipGraph_t graph;
  HIP(hipStreamEndCapture(first, &graph));
  size_t nodes = 0;
  HIP(hipGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == (HIP_VERSION >= 50700000 ? 6 : 5));
  hipGraphExec_t executable = instantiate(graph);
  run(executable);
  check::equal("the left branch", out_left, ramp(0, 12));
  check::equal("the right branch", out_right, ramp(0, 6));
  run(executable);
  check::equal("the left branch again", out_left, ramp(0, 48));
  check::equal("the right branch again", out_right, ramp(0, 12));
  EXPECT(calls == 2);
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipEventDestroy(fork));
  HIP(hipEventDestroy(join));
}

// An event recorded by a graph, for which a stream outside waits.
void check_events() {
  const check::Device<int> values(ramp(1, 0));
  hipEvent_t event;
  HIP(hipEventCreate(&event));
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t kernel, record;
  HIP(hipGraphAddKernelNode(&kernel, graph, nullptr, 0, Kernel(times, values.get(), 4).get()));
  HIP(hipGraphAddEventRecordNode(&record, graph, &kernel, 1, event));
  hipEvent_t got = nullptr;
  HIP(hipGraphEventRecordNodeGetEvent(record, &got));
  EXPECT(got == event);
  hipGraphExec_t executable = instantiate(graph);
  const Stream first, second;
  HIP(hipGraphLaunch(executable, first));
  HIP(hipStreamWaitEvent(second, event, 0));
  add<<<(kCount + 127) / 128, 128, 0, second>>>(values.get(), 1);
  HIP(hipStreamSynchronize(second));
  check::equal("after the graph's event", values.read(), ramp(4, 1));
  HIP(hipStreamSynchronize(first));
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipEventDestroy(event));
}

#if HIP_VERSION >= 50700000
// Memory that a graph allocates and frees, by nodes and by capture.
void check_memory() {
  std::vector<int> out(kCount);
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location.type = hipMemLocationTypeDevice;
  memory.poolProps.location.id = 0;
  memory.bytesize = kBytes;
  hipGraphNode_t allocation, clear, kernel, copy, release;
  HIP(hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory));
  EXPECT(memory.dptr != nullptr);
  int* values = static_cast<int*>(memory.dptr);
  hipMemsetParams set{};
  set.dst = values;
  set.elementSize = 4;
  set.width = kCount;
  set.height = 1;
  set.value = 3;
  HIP(hipGraphAddMemsetNode(&clear, graph, &allocation, 1, &set));
  HIP(hipGraphAddKernelNode(&kernel, graph, &clear, 1, Kernel(times, values, 9).get()));
  HIP(hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, out.data(), values, kBytes, hipMemcpyDeviceToHost));
  HIP(hipGraphAddMemFreeNode(&release, graph, &copy, 1, values));
  hipGraphExec_t executable = instantiate(graph);
  for (int round = 0; round < 3; ++round) {
    std::fill(out.begin(), out.end(), 0);
    run(executable);
    check::equal("memory of a graph", out, ramp(0, 27));
  }
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipDeviceGraphMemTrim(0));

  const Stream stream;
  int* captured = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP(hipMallocAsync(reinterpret_cast<void**>(&captured), kBytes, stream));
  HIP(hipMemsetAsync(captured, 0, kBytes, stream));
  add<<<(kCount + 127) / 128, 128, 0, stream>>>(captured, 31);
  HIP(hipMemcpyAsync(out.data(), captured, kBytes, hipMemcpyDeviceToHost, stream));
  HIP(hipFreeAsync(captured, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  run_and_destroy(graph);
  check::equal("memory captured", out, ramp(0, 31));
}

// What a graph keeps alive goes with the last that holds it.
void check_user_objects() {
  int destroyed = 0;
  hipUserObject_t object;
  HIP(hipUserObjectCreate(
      &object, &destroyed, [](void* data) { ++*static_cast<int*>(data); }, 1, hipUserObjectNoDestructorSync));
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
  EXPECT(destroyed == 0);
  HIP(hipGraphDestroy(graph));
  EXPECT(destroyed == 1);
}
#endif

}  // namespace

int main() {
  check_node_types();
  check_copies();
  check_structure();
  check_updates();
  check_forked_capture();
  check_events();
#if HIP_VERSION >= 50700000
  check_memory();
  check_user_objects();
#endif
  return check::result();
}
