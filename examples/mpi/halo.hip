// A HIP and MPI program: a ring of cells over several GPUs, one for each rank of a host. In every step a cell becomes a mean
// of itself and its neighbours, so ranks exchange the cells at their ends: by messages, or, with --ipc, each reads them out
// of its neighbours' device memory. Integers, so that the result is the host's, exactly.
//
//   hipcc --offload-arch=gfx90a halo.hip $(mpicxx --showme:compile) $(mpicxx --showme:link) -o halo
//   mpirun -n 4 atoll run --gpus 4 --threads 1 -- ./halo [--ipc]
#include <hip/hip_runtime.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int cells = 4096, steps = 20;  // of a rank

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

__host__ __device__ unsigned mean(unsigned left, unsigned middle, unsigned right) {
  return (left + 2 * middle + right) / 4;
}

/// Cells 1 to `cells` of a rank; before and after them lie copies of the neighbours'.
__global__ void step(const unsigned* now, unsigned* next) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  next[i] = mean(now[i - 1], now[i], now[i + 1]);
}

unsigned first_value(int cell) { return static_cast<unsigned>(cell) * 2654435761u >> 4; }

std::vector<unsigned> on_host(int all_cells) {
  std::vector<unsigned> now(all_cells), next(all_cells);
  for (int i = 0; i < all_cells; i++) now[i] = first_value(i);
  for (int s = 0; s < steps; s++) {
    for (int i = 0; i < all_cells; i++)
      next[i] = mean(now[(i + all_cells - 1) % all_cells], now[i], now[(i + 1) % all_cells]);
    now.swap(next);
  }
  return now;
}

struct Ranks {
  int here = 0, count = 0, left = 0, right = 0;
};

/// This rank's GPU: by its number on the host, if it sees several; ranks that are shown one each take that.
std::string choose_gpu(const Ranks& ranks) {
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks.here, MPI_INFO_NULL, &host);
  int number = 0, gpus = 0;
  MPI_Comm_rank(host, &number);
  MPI_Comm_free(&host);
  CHECK(hipGetDeviceCount(&gpus));
  const int device = number % gpus;
  CHECK(hipSetDevice(device));
  char bus[16] = {};
  CHECK(hipDeviceGetPCIBusId(bus, sizeof bus, device));
  return bus;
}

/// The cells at the ends, by messages.
void exchange_by_messages(const Ranks& ranks, unsigned* now) {
  unsigned first = 0, last = 0, before = 0, after = 0;
  CHECK(hipMemcpy(&first, now + 1, sizeof first, hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(&last, now + cells, sizeof last, hipMemcpyDeviceToHost));
  MPI_Sendrecv(&first, 1, MPI_UNSIGNED, ranks.left, 0, &after, 1, MPI_UNSIGNED, ranks.right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&last, 1, MPI_UNSIGNED, ranks.right, 1, &before, 1, MPI_UNSIGNED, ranks.left, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(hipMemcpy(now, &before, sizeof before, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(now + cells + 1, &after, sizeof after, hipMemcpyHostToDevice));
}

/// A buffer of every rank, where this one can reach it: its own, and its neighbours' by handles.
class Neighbours {
 public:
  Neighbours(const Ranks& ranks, unsigned* own) : ranks_(ranks), buffers_(ranks.count) {
    buffers_[ranks.here] = own;
    hipIpcMemHandle_t handle;
    CHECK(hipIpcGetMemHandle(&handle, own));
    std::vector<hipIpcMemHandle_t> handles(ranks.count);
    MPI_Allgather(&handle, sizeof handle, MPI_BYTE, handles.data(), sizeof handle, MPI_BYTE, MPI_COMM_WORLD);
    for (const int rank : {ranks.left, ranks.right}) {
      if (buffers_[rank] != nullptr) continue;
      void* opened = nullptr;
      CHECK(hipIpcOpenMemHandle(&opened, handles[rank], hipIpcMemLazyEnablePeerAccess));
      buffers_[rank] = static_cast<unsigned*>(opened);
    }
  }
  void close() {
    for (int rank = 0; rank < ranks_.count; rank++)
      if (rank != ranks_.here && buffers_[rank] != nullptr) CHECK(hipIpcCloseMemHandle(buffers_[rank]));
  }
  /// When all ranks have done this, none of them reads what another is writing.
  void exchange(unsigned* now) {
    CHECK(hipDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(hipMemcpy(now, buffers_[ranks_.left] + cells, sizeof(unsigned), hipMemcpyDeviceToDevice));
    CHECK(hipMemcpy(now + cells + 1, buffers_[ranks_.right] + 1, sizeof(unsigned), hipMemcpyDeviceToDevice));
    CHECK(hipDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  const Ranks& ranks_;
  std::vector<unsigned*> buffers_;
};

/// The differences from the host's result, told by rank 0 of all.
int compare(const Ranks& ranks, const std::vector<unsigned>& own) {
  std::vector<unsigned> all(ranks.here == 0 ? static_cast<size_t>(cells) * ranks.count : 0);
  MPI_Gather(own.data(), cells, MPI_UNSIGNED, all.data(), cells, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  int differences = 0;
  if (ranks.here == 0) {
    const std::vector<unsigned> expected = on_host(cells * ranks.count);
    for (size_t i = 0; i < all.size(); i++) differences += all[i] != expected[i];
  }
  MPI_Bcast(&differences, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return differences;
}

/// How many GPUs the ranks have, by their places on the PCI buses.
int count_gpus(const Ranks& ranks, const std::string& bus) {
  char own[16] = {};
  bus.copy(own, sizeof own - 1);
  std::vector<char> all(sizeof own * ranks.count);
  MPI_Allgather(own, sizeof own, MPI_CHAR, all.data(), sizeof own, MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks.count; rank++) names.emplace_back(all.data() + sizeof own * rank);
  std::sort(names.begin(), names.end());
  return static_cast<int>(std::unique(names.begin(), names.end()) - names.begin());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool ipc = argc > 1 && std::string_view(argv[1]) == "--ipc";
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.here);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  ranks.left = (ranks.here + ranks.count - 1) % ranks.count;
  ranks.right = (ranks.here + 1) % ranks.count;
  const std::string bus = choose_gpu(ranks);

  unsigned* buffers[2];
  std::vector<unsigned> own(cells);
  for (int i = 0; i < cells; i++) own[i] = first_value(ranks.here * cells + i);
  for (unsigned*& buffer : buffers) CHECK(hipMalloc(&buffer, (cells + 2) * sizeof(unsigned)));
  CHECK(hipMemcpy(buffers[0] + 1, own.data(), cells * sizeof(unsigned), hipMemcpyHostToDevice));
  std::vector<Neighbours> neighbours;
  if (ipc)
    for (unsigned* const buffer : buffers) neighbours.emplace_back(ranks, buffer);

  for (int s = 0; s < steps; s++) {
    unsigned* const now = buffers[s % 2];
    if (ipc)
      neighbours[s % 2].exchange(now);
    else
      exchange_by_messages(ranks, now);
    step<<<cells / 256, 256>>>(now, buffers[(s + 1) % 2]);
    CHECK(hipGetLastError());
  }
  CHECK(hipMemcpy(own.data(), buffers[steps % 2] + 1, cells * sizeof(unsigned), hipMemcpyDeviceToHost));
  const int differences = compare(ranks, own);
  const int gpus = count_gpus(ranks, bus);
  for (Neighbours& each : neighbours) each.close();
  MPI_Barrier(MPI_COMM_WORLD);  // memory that another rank has open stays until it has closed it
  for (unsigned* const buffer : buffers) CHECK(hipFree(buffer));
  if (ranks.here == 0)
    std::printf("%d ranks on %d GPUs, %s: %d differences from the host\n", ranks.count, gpus,
                ipc ? "inter-process handles" : "messages", differences);
  MPI_Finalize();
  return differences == 0 ? 0 : 1;
}
