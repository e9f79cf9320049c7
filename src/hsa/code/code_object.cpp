// hsa: code objects before they are loaded: readers, and the older hsa_code_object_t, which is kept as bytes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "hsa/interface/attribute.h"
#include "hsa/interface/status.h"
#include "hsa/runtime.h"
#include "object/code_object.h"

namespace Atoll::hsa {

namespace {

/// Returns the path of an open file in URI form: characters other than [a-zA-Z0-9/_.~-] are percent-encoded
/// (hsa_ven_amd_loader.h, "file_path").
std::string encoded_path_of(int file) {
  char path[4096];
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", file).c_str(), path, sizeof path);
  if (length <= 0) return {};
  std::string encoded;
  for (const char c : std::string_view(path, static_cast<size_t>(length))) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/_.~-").contains(c);
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<uint8_t>(c));
  }
  return encoded;
}

}  // namespace

hsa_status_t read_code_object_file(int file, size_t offset, size_t size, std::unique_ptr<CodeObjectReader>& reader) {
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) return HSA_STATUS_ERROR_INVALID_FILE;
  const auto file_size = static_cast<size_t>(status.st_size);
  if (offset >= file_size || size > file_size - offset) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size == 0) size = file_size - offset;

  auto made = std::make_unique<CodeObjectReader>();
  made->storage.resize(size);
  for (size_t done = 0; done < size;) {
    const ssize_t count = pread(file, made->storage.data() + done, size - done, static_cast<off_t>(offset + done));
    if (count <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
    done += static_cast<size_t>(count);
  }
  made->bytes = made->storage.data();
  made->size = size;
  made->uri = fmt::format("file://{}", encoded_path_of(file));
  if (offset != 0 || size != file_size) made->uri += fmt::format("#offset={}&size={}", offset, size);
  made->file = file;
  reader = std::move(made);
  return HSA_STATUS_SUCCESS;
}

}  // namespace Atoll::hsa

using namespace Atoll;
using namespace Atoll::hsa;

hsa_status_t hsa_code_object_reader_create_from_memory(const void* code_object, size_t size,
                                                       hsa_code_object_reader_t* code_object_reader) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (code_object == nullptr || size == 0 || code_object_reader == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto reader = std::make_unique<CodeObjectReader>();
  reader->bytes = static_cast<const uint8_t*>(code_object);
  reader->size = size;
  reader->uri =
      fmt::format("memory://{}#offset=0x{:x}&size={}", getpid(), reinterpret_cast<uint64_t>(code_object), size);
  *code_object_reader = {reinterpret_cast<uint64_t>(Runtime::get()->executables.add_reader(std::move(reader)))};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t* code_object_reader) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (code_object_reader == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::unique_ptr<CodeObjectReader> reader;
  const hsa_status_t status = read_code_object_file(file, 0, 0, reader);
  if (status != HSA_STATUS_SUCCESS) return HSA_STATUS_ERROR_INVALID_FILE;
  *code_object_reader = {reinterpret_cast<uint64_t>(Runtime::get()->executables.add_reader(std::move(reader)))};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t code_object_reader) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Runtime::get()->executables.destroy_reader(code_object_reader) ? HSA_STATUS_SUCCESS
                                                                        : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
}

// The interface of HSA 1.0. An hsa_code_object_t is a reader that owns its bytes.

namespace {

CodeObjectReader* reader_of(hsa_code_object_t code_object) {
  return Runtime::get()->executables.find_reader({code_object.handle});
}

}  // namespace

hsa_status_t hsa_code_object_deserialize(void* serialized_code_object, size_t serialized_code_object_size, const char*,
                                         hsa_code_object_t* code_object) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (serialized_code_object == nullptr || serialized_code_object_size == 0 || code_object == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const auto* bytes = static_cast<const uint8_t*>(serialized_code_object);
  auto reader = std::make_unique<CodeObjectReader>();
  reader->storage.assign(bytes, bytes + serialized_code_object_size);
  reader->bytes = reader->storage.data();
  reader->size = reader->storage.size();
  reader->uri = fmt::format("memory://{}#offset=0x{:x}&size={}", getpid(), reinterpret_cast<uint64_t>(reader->bytes),
                            reader->size);
  if (const auto read = object::read_code_object(reader->storage); !read) {
    return report("hsa_code_object_deserialize", read.error(), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  }
  *code_object = {reinterpret_cast<uint64_t>(Runtime::get()->executables.add_reader(std::move(reader)))};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_serialize(hsa_code_object_t code_object,
                                       hsa_status_t (*alloc_callback)(size_t size, hsa_callback_data_t data,
                                                                      void** address),
                                       hsa_callback_data_t callback_data, const char*, void** serialized_code_object,
                                       size_t* serialized_code_object_size) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (alloc_callback == nullptr || serialized_code_object == nullptr || serialized_code_object_size == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const CodeObjectReader* reader = reader_of(code_object);
  if (reader == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  const hsa_status_t status = alloc_callback(reader->size, callback_data, serialized_code_object);
  if (status != HSA_STATUS_SUCCESS) return status;
  std::memcpy(*serialized_code_object, reader->bytes, reader->size);
  *serialized_code_object_size = reader->size;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_destroy(hsa_code_object_t code_object) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Runtime::get()->executables.destroy_reader({code_object.handle}) ? HSA_STATUS_SUCCESS
                                                                          : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

hsa_status_t hsa_code_object_get_info(hsa_code_object_t code_object, hsa_code_object_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const CodeObjectReader* reader = reader_of(code_object);
  if (reader == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto read = object::read_code_object({reader->bytes, reader->size});
  if (!read) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  switch (attribute) {
    case HSA_CODE_OBJECT_INFO_VERSION: {
      char text[64]{};
      fmt::format_to_n(text, sizeof text - 1, "{}.0", read->version);
      return give(value, text);
    }
    case HSA_CODE_OBJECT_INFO_TYPE:
      return give(value, HSA_CODE_OBJECT_TYPE_PROGRAM);
    case HSA_CODE_OBJECT_INFO_ISA: {
      hsa_isa_t isa{};
      const hsa_status_t status = hsa_isa_from_name(read->target.to_string().c_str(), &isa);
      return status == HSA_STATUS_SUCCESS ? give(value, isa) : status;
    }
    case HSA_CODE_OBJECT_INFO_MACHINE_MODEL:
      return give(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_CODE_OBJECT_INFO_PROFILE:
      return give(value, HSA_PROFILE_FULL);
    case HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
      return give(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                             hsa_code_object_t code_object, const char* options) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (reader_of(code_object) == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  return hsa_executable_load_agent_code_object(executable, agent, {code_object.handle}, options, nullptr);
}
