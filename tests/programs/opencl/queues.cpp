// OpenCL queues and events: in order and out of order, wait lists, user events, markers and barriers, callbacks,
// profiling; what kernels print.
#include "opencl.h"

#include <atomic>

namespace {

using opencl::Buffer;
using opencl::Event;
using opencl::Gpu;
using opencl::Kernel;
using opencl::Queue;

cl_int execution_status(cl_event event) {
  cl_int status = 1000;
  CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  return status;
}

// Out of order where the device has such queues; AMD's implementation has had none for GPUs since ROCm, and says so.
// That of ROCm 5.7 makes one all the same.
Queue out_of_order(const Gpu& gpu) {
  constexpr cl_command_queue_properties kWanted = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  if ((gpu.info<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & kWanted) != 0) {
    return gpu.queue(kWanted);
  }
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, kWanted, 0};
  cl_int status = CL_SUCCESS;
  if (cl_command_queue made = clCreateCommandQueueWithProperties(gpu.context(), gpu.device(), list, &status)) {
    CL(clReleaseCommandQueue(made));
    return gpu.queue(kWanted);
  }
  EXPECT(status == CL_INVALID_QUEUE_PROPERTIES);
  return gpu.queue(0);
}

Event enqueue(cl_command_queue queue, cl_kernel kernel, size_t size, const std::vector<cl_event>& after) {
  cl_event event = nullptr;
  CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, static_cast<cl_uint>(after.size()),
                            after.empty() ? nullptr : after.data(), &event));
  return event;
}

// A tree of sums: each node waits for the two below it, the leaves for the host.
void check_out_of_order(const Gpu& gpu, cl_program program) {
  constexpr int kLeaves = 16, kNodes = 2 * kLeaves - 1, kCount = 500;
  const Queue queue = out_of_order(gpu);
  const Buffer values = gpu.buffer(std::vector<int>(kNodes * kCount));
  const Event start = CL_NEW(clCreateUserEvent(gpu.context(), &status));
  const Kernel leaf = opencl::kernel(program, "leaf"), node = opencl::kernel(program, "node");
  std::vector<Event> events;
  for (int i = 0; i < kNodes; ++i) {
    if (i < kLeaves) {
      opencl::set_arguments(leaf, 0, values, i * kCount, i);
      events.push_back(enqueue(queue, leaf, kCount, {start}));
    } else {
      const int left = 2 * (i - kLeaves), right = left + 1;
      opencl::set_arguments(node, 0, values, i * kCount, left * kCount, right * kCount);
      events.push_back(
          enqueue(queue, node, kCount, {events[static_cast<size_t>(left)], events[static_cast<size_t>(right)]}));
    }
  }
  CL(clFlush(queue));
  EXPECT(execution_status(events.back()) > CL_COMPLETE || execution_status(events.back()) == CL_QUEUED);
  CL(clSetUserEventStatus(start, CL_COMPLETE));
  const cl_event last = events.back();
  CL(clWaitForEvents(1, &last));
  EXPECT(execution_status(last) == CL_COMPLETE);
  std::vector<int> want(kCount);
  for (int i = 0; i < kCount; ++i) {
    for (int n = 0; n < kLeaves; ++n) want[static_cast<size_t>(i)] += n * 1000 + i;
  }
  check::equal("a tree of sums", gpu.read<int>(values, kCount, (kNodes - 1) * kCount), want);
}

// Barriers and markers order what has no events of its own.
void check_barriers(const Gpu& gpu, cl_program program) {
  const Queue queue = out_of_order(gpu);
  const Buffer values = gpu.buffer(std::vector<int>(1000, 1));
  const Kernel twice = opencl::kernel(program, "twice"), add = opencl::kernel(program, "add");
  opencl::set_arguments(twice, 0, values);
  opencl::set_arguments(add, 0, values, 3);
  for (int round = 0; round < 5; ++round) {
    opencl::launch(queue, twice, 1000);
    CL(clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr));
    opencl::launch(queue, add, 1000);
    CL(clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr));
  }
  cl_event marker = nullptr;
  CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker));
  CL(clWaitForEvents(1, &marker));
  opencl::release(marker);
  int want = 1;
  for (int round = 0; round < 5; ++round) want = want * 2 + 3;
  check::equal("barriers", gpu.read<int>(values, 1000), std::vector<int>(1000, want));
}

// Two queues of a context wait for each other's commands.
void check_two_queues(const Gpu& gpu, cl_program program) {
  const Queue other = gpu.queue(0);
  const Buffer values = gpu.buffer(std::vector<int>(1000, 5));
  const Kernel twice = opencl::kernel(program, "twice"), add = opencl::kernel(program, "add");
  opencl::set_arguments(twice, 0, values);
  opencl::set_arguments(add, 0, values, -5);
  std::vector<Event> events;
  for (int round = 0; round < 6; ++round) {
    std::vector<cl_event> after;
    if (!events.empty()) after.push_back(events.back());
    const bool odd = round % 2 == 1;
    const cl_command_queue queue = odd ? static_cast<cl_command_queue>(other) : gpu.queue();
    events.push_back(enqueue(queue, odd ? add : twice, 1000, after));
    CL(clFlush(queue));
  }
  const cl_event last = events.back();
  CL(clWaitForEvents(1, &last));
  check::equal("two queues", gpu.read<int>(values, 1000), std::vector<int>(1000, 5));
}

void check_times(const Gpu& gpu, cl_program program) {
  const Buffer values = gpu.buffer(std::vector<int>(1000));
  const Kernel twice = opencl::kernel(program, "twice");
  opencl::set_arguments(twice, 0, values);
  const Event event = enqueue(gpu.queue(), twice, 1000, {});
  CL(clFinish(gpu.queue()));
  cl_ulong times[4] = {};
  const cl_profiling_info kinds[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                     CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
  for (int i = 0; i < 4; ++i) CL(clGetEventProfilingInfo(event, kinds[i], sizeof times[i], &times[i], nullptr));
  EXPECT(times[0] > 0 && times[0] <= times[1] && times[1] <= times[2] && times[2] < times[3]);
}

// Callbacks come once, with the status, for success and for a failure that is passed on.
void check_callbacks(const Gpu& gpu, cl_program program) {
  static std::atomic<int> completed, failed;
  const auto count = [](cl_event, cl_int status, void*) { ++(status == CL_COMPLETE ? completed : failed); };
  const Buffer values = gpu.buffer(std::vector<int>(1000));
  const Kernel twice = opencl::kernel(program, "twice");
  opencl::set_arguments(twice, 0, values);
  const Event good = enqueue(gpu.queue(), twice, 1000, {});
  CL(clSetEventCallback(good, CL_COMPLETE, count, nullptr));
  CL(clFinish(gpu.queue()));
  const Event start = CL_NEW(clCreateUserEvent(gpu.context(), &status));
  const Queue queue = gpu.queue(0);
  const Event bad = enqueue(queue, twice, 1000, {start});
  CL(clSetEventCallback(bad, CL_COMPLETE, count, nullptr));
  CL(clSetUserEventStatus(start, -7));
  const cl_event waited = bad;
  EXPECT(clWaitForEvents(1, &waited) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT(execution_status(bad) < 0);
  while (completed + failed < 2) {
  }
  EXPECT(completed == 1 && failed == 1);
}

// Who runs the program compares the lines. The word is none of four letters: LLVM 21 and 22 leave out the zero after a
// string whose length is a multiple of four.
void check_printf(const Gpu& gpu) {
  const opencl::Program program = gpu.build(R"(
    kernel void print(float scale) {
      const int i = get_global_id(0);
      if (i % 50 == 0) printf("item %d: %.2f %s %v4d %c\n", i, i * scale, "words", (int4)(i, 1, 2, 3), 'x');
    })");
  const Kernel kernel = opencl::kernel(program, "print");
  opencl::set_arguments(kernel, 0, 0.25f);
  opencl::launch(gpu.queue(), kernel, 128);
  CL(clFinish(gpu.queue()));
}

}  // namespace

int main() {
  const Gpu gpu;
  const opencl::Program program = gpu.build(R"(
    kernel void leaf(global int* values, int at, int number) {
      values[at + get_global_id(0)] = number * 1000 + get_global_id(0);
    }
    kernel void node(global int* values, int at, int left, int right) {
      const int i = get_global_id(0);
      values[at + i] = values[left + i] + values[right + i];
    }
    kernel void twice(global int* values) { values[get_global_id(0)] *= 2; }
    kernel void add(global int* values, int amount) { values[get_global_id(0)] += amount; })");
  check_out_of_order(gpu, program);
  check_barriers(gpu, program);
  check_two_queues(gpu, program);
  check_times(gpu, program);
  check_callbacks(gpu, program);
  check_printf(gpu);
  return check::result();
}
