// hsa: device memory from and to files. On hardware a driver may let storage and GPU exchange data directly; Atoll's
// device memory is host memory, which the file is read into and written from.
// Source: hsa_ext_amd.h, "hsa_amd_ais_file_write".
#include <unistd.h>

#include <cerrno>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"

using namespace Atoll::hsa;

namespace {

using Transfer = ssize_t (*)(int file, void* memory, size_t size, off_t offset);

/// Moves up to `size` bytes, in as many steps as the system needs. `status` gets the system's error number.
hsa_status_t move(Transfer step, hsa_amd_ais_file_handle_t file, void* memory, uint64_t size, int64_t offset,
                  uint64_t* size_copied, int32_t* status) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (file.fd < 0 || memory == nullptr || size == 0 || offset < 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto record = Runtime::get()->find_memory(memory);
  if (!record || !record->holds_range(reinterpret_cast<uint64_t>(memory), size)) {
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  }
  uint64_t done = 0;
  int error = 0;
  while (done < size) {
    const ssize_t moved = step(file.fd, static_cast<uint8_t*>(memory) + done, size - done,
                               static_cast<off_t>(static_cast<uint64_t>(offset) + done));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) error = errno;
    if (moved <= 0) break;  // an error, or the end of the file
    done += static_cast<uint64_t>(moved);
  }
  if (size_copied != nullptr) *size_copied = done;
  if (status != nullptr) *status = error;
  return error == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

ssize_t write_step(int file, void* memory, size_t size, off_t offset) { return pwrite(file, memory, size, offset); }

}  // namespace

hsa_status_t hsa_amd_ais_file_write(hsa_amd_ais_file_handle_t handle, void* devicePtr, uint64_t size,
                                    int64_t file_offset, uint64_t* size_copied, int32_t* status) {
  return move(write_step, handle, devicePtr, size, file_offset, size_copied, status);
}

hsa_status_t hsa_amd_ais_file_read(hsa_amd_ais_file_handle_t handle, void* devicePtr, uint64_t size,
                                   int64_t file_offset, uint64_t* size_copied, int32_t* status) {
  return move(pread, handle, devicePtr, size, file_offset, size_copied, status);
}
