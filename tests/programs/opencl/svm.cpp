// OpenCL's shared virtual memory: pointers that host and device share; coarse-grained memory, mapped, copied and filled
// by commands; fine-grained memory, that both use without mapping; pointers in structures.
#include "opencl.h"

namespace {

using opencl::Gpu;
using opencl::Kernel;

struct Node {
  cl_int value;
  Node* next;
};

const char* const kSource = R"(
  typedef struct Node { int value; global struct Node* next; } Node;
  kernel void walk(global Node* node, global int* sum) {
    for (; node != 0; node = node->next) {
      *sum += node->value;
      node->value = -node->value;
    }
  }
  kernel void scale(global int* values, int factor) { values[get_global_id(0)] *= factor; }
  kernel void gather(global int* global* arrays, global int* out) {
    const int i = get_global_id(0);
    out[i] = arrays[i % 4][i];
  }
  kernel void count(global atomic_int* counter) { atomic_fetch_add(counter, 1); })";

template <typename T>
T* allocate(const Gpu& gpu, size_t count, cl_svm_mem_flags flags) {
  auto* memory = static_cast<T*>(clSVMAlloc(gpu.context(), CL_MEM_READ_WRITE | flags, count * sizeof(T), 0));
  if (memory == nullptr) {
    std::fprintf(stderr, "clSVMAlloc failed\n");
    std::exit(1);
  }
  return memory;
}

void map(const Gpu& gpu, void* memory, size_t bytes) {
  CL(clEnqueueSVMMap(gpu.queue(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, memory, bytes, 0, nullptr, nullptr));
}

void unmap(const Gpu& gpu, void* memory) { CL(clEnqueueSVMUnmap(gpu.queue(), memory, 0, nullptr, nullptr)); }

void check_coarse(const Gpu& gpu, cl_program program) {
  int* values = allocate<int>(gpu, 3000, 0);
  map(gpu, values, 12'000);
  for (int i = 0; i < 3000; ++i) values[i] = i;
  unmap(gpu, values);
  const Kernel scale = opencl::kernel(program, "scale");
  CL(clSetKernelArgSVMPointer(scale, 0, values + 1000));
  opencl::set_arguments(scale, 1, 7);
  opencl::launch(gpu.queue(), scale, 1000);
  map(gpu, values, 12'000);
  std::vector<int> want(3000);
  for (int i = 0; i < 3000; ++i) want[i] = i >= 1000 && i < 2000 ? 7 * i : i;
  check::equal("coarse-grained", std::vector<int>(values, values + 3000), want);
  unmap(gpu, values);

  std::vector<int> host(500);
  CL(clEnqueueSVMMemcpy(gpu.queue(), CL_TRUE, host.data(), values + 1000, 2000, 0, nullptr, nullptr));
  check::equal("copied out", host, {want.begin() + 1000, want.begin() + 1500});
  const short pattern[2] = {1, 2};
  CL(clEnqueueSVMMemFill(gpu.queue(), values, pattern, sizeof pattern, 400, 0, nullptr, nullptr));
  CL(clEnqueueSVMMemcpy(gpu.queue(), CL_TRUE, host.data(), values, 2000, 0, nullptr, nullptr));
  std::fill_n(want.begin(), 100, 0x20001);
  check::equal("filled", host, {want.begin(), want.begin() + 500});
  void* pointers[] = {values};
  cl_event freed = nullptr;
  CL(clEnqueueSVMFree(gpu.queue(), 1, pointers, nullptr, nullptr, 0, nullptr, &freed));
  CL(clWaitForEvents(1, &freed));
  opencl::release(freed);
}

// A list, and arrays that a kernel finds through an array of pointers: the kernel is told of them, not given them.
void check_pointers(const Gpu& gpu, cl_program program, cl_svm_mem_flags flags) {
  const bool fine = flags != 0;
  std::vector<Node*> nodes;
  std::vector<void*> told;
  Node* head = nullptr;
  for (int i = 1; i <= 50; ++i) {
    Node* node = allocate<Node>(gpu, 1, flags);
    if (!fine) map(gpu, node, sizeof *node);
    *node = {i, head};
    if (!fine) unmap(gpu, node);
    head = node;
    nodes.push_back(node);
    told.push_back(node);
  }
  int* sum = allocate<int>(gpu, 1, flags);
  if (!fine) map(gpu, sum, sizeof *sum);
  *sum = 0;
  if (!fine) unmap(gpu, sum);
  const Kernel walk = opencl::kernel(program, "walk");
  CL(clSetKernelArgSVMPointer(walk, 0, head));
  CL(clSetKernelArgSVMPointer(walk, 1, sum));
  CL(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, told.size() * sizeof(void*), told.data()));
  opencl::launch(gpu.queue(), walk, 1);
  CL(clFinish(gpu.queue()));
  if (!fine) map(gpu, sum, sizeof *sum);
  check::equal(fine ? "a fine-grained list" : "a list", *sum, 1275);
  if (!fine) unmap(gpu, sum);
  CL(clFinish(gpu.queue()));
  clSVMFree(gpu.context(), sum);

  int** arrays = allocate<int*>(gpu, 4, flags);
  int* out = allocate<int>(gpu, 400, flags);
  told.clear();
  if (!fine) map(gpu, arrays, 4 * sizeof(int*));
  for (int n = 0; n < 4; ++n) {
    arrays[n] = allocate<int>(gpu, 400, flags);
    told.push_back(arrays[n]);
    if (!fine) map(gpu, arrays[n], 1600);
    for (int i = 0; i < 400; ++i) arrays[n][i] = n * 1000 + i;
    if (!fine) unmap(gpu, arrays[n]);
  }
  if (!fine) unmap(gpu, arrays);
  const Kernel gather = opencl::kernel(program, "gather");
  CL(clSetKernelArgSVMPointer(gather, 0, arrays));
  CL(clSetKernelArgSVMPointer(gather, 1, out));
  CL(clSetKernelExecInfo(gather, CL_KERNEL_EXEC_INFO_SVM_PTRS, told.size() * sizeof(void*), told.data()));
  opencl::launch(gpu.queue(), gather, 400);
  CL(clFinish(gpu.queue()));
  if (!fine) map(gpu, out, 1600);
  std::vector<int> want(400);
  for (int i = 0; i < 400; ++i) want[i] = i % 4 * 1000 + i;
  check::equal(fine ? "fine-grained arrays" : "arrays", std::vector<int>(out, out + 400), want);
  if (!fine) unmap(gpu, out);
  CL(clFinish(gpu.queue()));
  for (void* memory : told) clSVMFree(gpu.context(), memory);
  for (Node* node : nodes) clSVMFree(gpu.context(), node);
  clSVMFree(gpu.context(), arrays);
  clSVMFree(gpu.context(), out);
}

// A buffer on top of shared memory.
void check_buffer(const Gpu& gpu, cl_program program) {
  int* values = allocate<int>(gpu, 1000, 0);
  map(gpu, values, 4000);
  for (int i = 0; i < 1000; ++i) values[i] = i;
  unmap(gpu, values);
  {
    const opencl::Buffer buffer = gpu.buffer(4000, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, values);
    const Kernel scale = opencl::kernel(program, "scale");
    opencl::set_arguments(scale, 0, buffer, 3);
    opencl::launch(gpu.queue(), scale, 1000);
    CL(clFinish(gpu.queue()));
  }
  map(gpu, values, 4000);
  std::vector<int> want(1000);
  for (int i = 0; i < 1000; ++i) want[i] = 3 * i;
  check::equal("a buffer on shared memory", std::vector<int>(values, values + 1000), want);
  unmap(gpu, values);
  CL(clFinish(gpu.queue()));
  clSVMFree(gpu.context(), values);
}

void check_atomics(const Gpu& gpu, cl_program program) {
  int* counter = allocate<int>(gpu, 1, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS);
  *counter = 100;
  const Kernel count = opencl::kernel(program, "count");
  CL(clSetKernelArgSVMPointer(count, 0, counter));
  opencl::launch(gpu.queue(), count, 10'000);
  CL(clFlush(gpu.queue()));
  for (int i = 0; i < 1000; ++i) __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
  CL(clFinish(gpu.queue()));
  check::equal("counted by both", *counter, 11'100);
  clSVMFree(gpu.context(), counter);
}

}  // namespace

int main() {
  const Gpu gpu;
  const opencl::Program program = gpu.build(kSource);
  const auto offered = gpu.info<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  EXPECT((offered & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0);
  check_coarse(gpu, program);
  check_pointers(gpu, program, 0);
  check_buffer(gpu, program);
  if ((offered & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0) {
    check_pointers(gpu, program, CL_MEM_SVM_FINE_GRAIN_BUFFER);
    if ((offered & CL_DEVICE_SVM_ATOMICS) != 0) check_atomics(gpu, program);
  }
  return check::result();
}
