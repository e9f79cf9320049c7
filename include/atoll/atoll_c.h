/* Atoll's C interface: a virtual AMD GPU, and the tools for its code, for C and for what calls C. atoll.h is the same
   for C++, and explains more.

       atoll_error* error = NULL;
       atoll_gpu* gpu = NULL;
       if (atoll_gpu_create("gfx90a", NULL, &gpu, &error) != ATOLL_OK) {
         fprintf(stderr, "%s\n", atoll_error_message(error));
         atoll_error_free(error);
       }

   Functions that can fail return a status, and put an error, which the caller frees, where `error` points to; `error`
   may be null. What they make they put where their parameter of the type `**` points to: null after a failure. Handles
   are freed by the function for their type, which takes null, too; what a handle needs lives as long as it does, so a
   GPU's may be freed while there still is code. Different threads may use the same handles. Strings are UTF-8 with a
   zero at the end, and live as long as the handle that they come from.

   Structures that a program fills in begin with their size, so that later versions can add members: begin with the
   *_INIT macros, all else zero is what is usual. */
#ifndef ATOLL_C_H
#define ATOLL_C_H

#include <stddef.h>
#include <stdint.h>

#include "atoll/version.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATOLL_API __attribute__((visibility("default")))

/* ATOLL_VERSION_STRING of the library that the program runs with, and its ATOLL_VERSION_NUMBER. */
ATOLL_API const char* atoll_version(void);
ATOLL_API int atoll_version_number(void);

/* ---- What went wrong ---- */

typedef enum atoll_status {
  ATOLL_OK = 0,
  ATOLL_INVALID_ARGUMENT = 1,    /* the caller asked for something that makes no sense */
  ATOLL_INVALID_FILE = 2,        /* bytes are not what they claim to be, or are damaged */
  ATOLL_INCOMPATIBLE = 3,        /* well formed, but not for this GPU */
  ATOLL_NOT_FOUND = 4,           /* a name that nothing has */
  ATOLL_UNSUPPORTED = 5,         /* known, but not implemented: the message names it */
  ATOLL_OUT_OF_RESOURCES = 6,    /* more registers, memory, LDS, ... than there is */
  ATOLL_MEMORY_FAULT = 7,        /* a kernel touched memory that is not mapped for it */
  ATOLL_ILLEGAL_INSTRUCTION = 8, /* a kernel ran into bytes that are no instruction of its GPU */
  ATOLL_ABORTED = 9,             /* a kernel trapped, ran out of time or was stopped */
  ATOLL_SYSTEM = 10              /* the host's operating system refused something */
} atoll_status;

/* "memory_fault". */
ATOLL_API const char* atoll_status_name(atoll_status status);

typedef enum atoll_fault_kind {
  ATOLL_FAULT_MEMORY = 0,
  ATOLL_FAULT_ILLEGAL_INSTRUCTION = 1,
  ATOLL_FAULT_INSTRUCTION_FETCH = 2,
  ATOLL_FAULT_SCRATCH_OVERFLOW = 3,
  ATOLL_FAULT_LDS_OVERFLOW = 4,
  ATOLL_FAULT_ABORT = 5,
  ATOLL_FAULT_EXCEPTION = 6,
  ATOLL_FAULT_TIMEOUT = 7,
  ATOLL_FAULT_INTERRUPTED = 8
} atoll_fault_kind;

/* Where and how a kernel failed. Strings that are not known are empty. */
typedef struct atoll_fault {
  size_t struct_size; /* what the library has filled in */
  atoll_fault_kind kind;
  const char* kind_name; /* "memory" */
  const char* kernel;
  const char* function;    /* around the instruction, when that is not the kernel itself */
  const char* instruction; /* as text */
  uint64_t program_counter;
  const char* source_file;
  uint32_t line, column; /* in the source file; 0 when not known */
  int address_known;
  uint64_t address; /* that was accessed */
  int is_write;
  const char* near; /* what lies next to the address, in words */
  uint32_t work_group[3], work_item[3];
  uint32_t wave, lane;
  int lane_known; /* otherwise lane and work-item are the wave's first active ones */
} atoll_fault;

typedef struct atoll_error atoll_error;
ATOLL_API atoll_status atoll_error_status(const atoll_error* error);
/* For a person; of a fault in a kernel it has several lines. */
ATOLL_API const char* atoll_error_message(const atoll_error* error);
/* Null when it was not a kernel that failed. */
ATOLL_API const atoll_fault* atoll_error_fault(const atoll_error* error);
ATOLL_API void atoll_error_free(atoll_error* error);

/* ---- GPUs, code and memory ---- */

typedef struct atoll_gpu atoll_gpu;
typedef struct atoll_code atoll_code;
typedef struct atoll_buffer atoll_buffer;

/* What a kernel prints: `size` bytes without a zero after them. From any thread, one call at a time. */
typedef void (*atoll_output)(void* user, const char* text, size_t size, int is_standard_error);

typedef struct atoll_gpu_options {
  size_t struct_size;
  uint32_t threads;       /* host threads that run work-groups; 0: all of the host's */
  double timeout_seconds; /* of one launch; 0: none */
  const char* engine;     /* "compiled", which is the default, or "interpreter" */
  atoll_output on_output; /* null: the program's standard output and standard error */
  void* user;             /* what on_output gets */
  const char* check;      /* what is to be checked while kernels run: "memory", "all"; null: what ATOLL_CHECK says */
  const char* check_suppressions; /* path of a file of findings not to be reported, or null */
  const char* check_report;       /* where the findings go in the end: .json, .xml (JUnit), .sarif; or null */
  atoll_output on_finding;        /* gets the report of each finding; null: the program's standard error */
} atoll_gpu_options;
#define ATOLL_GPU_OPTIONS_INIT {sizeof(atoll_gpu_options), 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* A mistake of a kernel's, found by a checker. */
typedef struct atoll_finding {
  size_t struct_size;
  const char *checker, *kind;       /* "memory", "out-of-bounds" */
  const char *message, *report;     /* in one line, and in several */
  const char *kernel, *source_file; /* empty where there is none */
  uint32_t line, column;
  uint64_t count; /* how often it was made */
  int is_note;    /* something to know, no mistake */
} atoll_finding;

/* A product ("mi250x"), a processor ("gfx90a") or a target ID; one that runs the code in a file. `options` may be null.
 */
ATOLL_API atoll_status atoll_gpu_create(const char* name, const atoll_gpu_options* options, atoll_gpu** gpu,
                                        atoll_error** error);
ATOLL_API atoll_status atoll_gpu_create_for_file(const char* path, const atoll_gpu_options* options, atoll_gpu** gpu,
                                                 atoll_error** error);
ATOLL_API const char* atoll_gpu_product(const atoll_gpu* gpu);   /* "AMD Instinct MI250X" */
ATOLL_API const char* atoll_gpu_target_id(const atoll_gpu* gpu); /* "gfx90a:sramecc+:xnack-" */
/* What the checkers have found until now; the count may grow. A finding lives as long as the GPU's handle, and is as it
   was when it was first asked for. Null beyond the last. */
ATOLL_API size_t atoll_gpu_finding_count(const atoll_gpu* gpu);
ATOLL_API const atoll_finding* atoll_gpu_finding(const atoll_gpu* gpu, size_t index);
/* Stops what runs on the GPU, with ATOLL_ABORTED. May be called from a signal handler. */
ATOLL_API void atoll_gpu_interrupt(const atoll_gpu* gpu);
ATOLL_API void atoll_gpu_free(atoll_gpu* gpu);

/* A code object, a bundle or a program with one, from a file or from memory. */
ATOLL_API atoll_status atoll_code_load_file(const atoll_gpu* gpu, const char* path, atoll_code** code,
                                            atoll_error** error);
ATOLL_API atoll_status atoll_code_load(const atoll_gpu* gpu, const void* bytes, size_t size, atoll_code** code,
                                       atoll_error** error);
ATOLL_API size_t atoll_code_kernel_count(const atoll_code* code);
ATOLL_API const char* atoll_code_kernel_name(const atoll_code* code, size_t index); /* null beyond the last */
/* A device variable. */
ATOLL_API atoll_status atoll_code_variable(const atoll_code* code, const char* name, void** data, size_t* size,
                                           atoll_error** error);
ATOLL_API void atoll_code_free(atoll_code* code);

typedef enum atoll_parameter_kind {
  ATOLL_PARAMETER_VALUE = 0,
  ATOLL_PARAMETER_POINTER = 1,
  ATOLL_PARAMETER_LOCAL_MEMORY = 2,
  ATOLL_PARAMETER_UNSUPPORTED = 3
} atoll_parameter_kind;
typedef struct atoll_parameter {
  const char *name, *type; /* "data", "float*"; empty where neither the metadata nor the name in C++ has them */
  const char* element;     /* "f32": the type of the number, or of the numbers it points to; empty where not known */
  atoll_parameter_kind kind;
  uint32_t offset, size;
} atoll_parameter;
typedef struct atoll_kernel_info {
  size_t struct_size;
  const char* name;
  size_t parameter_count;
  const atoll_parameter* parameters;
  uint32_t lds_bytes, scratch_bytes, vgprs, agprs, sgprs;
  uint32_t max_block_size, required_block[3], max_blocks[3]; /* zeroes where any will do */
  int whole_blocks, on_load, on_unload;
  int is_shader;           /* a compute shader of amdpal or mesa3d: see atoll_launch_shader() */
  uint32_t argument_bytes; /* of a kernel of mesa3d, whose parameters are unknown */
} atoll_kernel_info;
/* Lives as long as the code's handle. */
ATOLL_API atoll_status atoll_code_describe(const atoll_code* code, const char* kernel, const atoll_kernel_info** info,
                                           atoll_error** error);

/* Zeroed memory, at the same address for host and GPU. */
ATOLL_API atoll_status atoll_buffer_create(const atoll_gpu* gpu, size_t bytes, atoll_buffer** buffer,
                                           atoll_error** error);
ATOLL_API void* atoll_buffer_data(const atoll_buffer* buffer);
ATOLL_API size_t atoll_buffer_size(const atoll_buffer* buffer);
ATOLL_API void atoll_buffer_free(atoll_buffer* buffer);

/* ---- Launches ---- */

typedef enum atoll_argument_kind {
  ATOLL_ARGUMENT_VALUE = 0,        /* `size` bytes at `value`: a number, a structure, a pointer */
  ATOLL_ARGUMENT_BUFFER = 1,       /* `value` is an atoll_buffer* */
  ATOLL_ARGUMENT_LOCAL_MEMORY = 2, /* `size` bytes of LDS */
  ATOLL_ARGUMENT_INTEGER = 3,      /* as ATOLL_ARGUMENT_VALUE; the parameter may not be a floating-point number */
  ATOLL_ARGUMENT_FLOATING = 4      /* as ATOLL_ARGUMENT_VALUE; the parameter may not be an integer */
} atoll_argument_kind;
typedef struct atoll_argument {
  atoll_argument_kind kind;
  size_t size;
  const void* value;
} atoll_argument;

/* Arguments for an array of them: {atoll_memory(buffer), ATOLL_VALUE(factor), ATOLL_VALUE(count)}. From C11 on,
   ATOLL_VALUE records whether the variable is an integer or a floating-point number, and a launch compares that with
   the parameter. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ATOLL_KIND_OF(variable)                   \
  _Generic((variable),                            \
      float: ATOLL_ARGUMENT_FLOATING,             \
      double: ATOLL_ARGUMENT_FLOATING,            \
      char: ATOLL_ARGUMENT_INTEGER,               \
      signed char: ATOLL_ARGUMENT_INTEGER,        \
      unsigned char: ATOLL_ARGUMENT_INTEGER,      \
      short: ATOLL_ARGUMENT_INTEGER,              \
      unsigned short: ATOLL_ARGUMENT_INTEGER,     \
      int: ATOLL_ARGUMENT_INTEGER,                \
      unsigned: ATOLL_ARGUMENT_INTEGER,           \
      long: ATOLL_ARGUMENT_INTEGER,               \
      unsigned long: ATOLL_ARGUMENT_INTEGER,      \
      long long: ATOLL_ARGUMENT_INTEGER,          \
      unsigned long long: ATOLL_ARGUMENT_INTEGER, \
      default: ATOLL_ARGUMENT_VALUE)
#else
#define ATOLL_KIND_OF(variable) ATOLL_ARGUMENT_VALUE
#endif
#define ATOLL_VALUE(variable) atoll_typed_value(ATOLL_KIND_OF(variable), &(variable), sizeof(variable))
static inline atoll_argument atoll_typed_value(atoll_argument_kind kind, const void* value, size_t size) {
  atoll_argument argument = {kind, size, value};
  return argument;
}
static inline atoll_argument atoll_value(const void* value, size_t size) {
  return atoll_typed_value(ATOLL_ARGUMENT_VALUE, value, size);
}
static inline atoll_argument atoll_memory(const atoll_buffer* buffer) {
  atoll_argument argument = {ATOLL_ARGUMENT_BUFFER, 0, buffer};
  return argument;
}
static inline atoll_argument atoll_local_memory(size_t bytes) {
  atoll_argument argument = {ATOLL_ARGUMENT_LOCAL_MEMORY, bytes, NULL};
  return argument;
}

typedef struct atoll_shape {
  size_t struct_size;
  uint32_t grid[3];  /* work-items in all; 0 in Y and Z counts as 1 */
  uint32_t block[3]; /* work-items of a work-group; 0 in Y and Z counts as 1 */
  uint32_t dynamic_lds_bytes;
} atoll_shape;
#define ATOLL_SHAPE_INIT {sizeof(atoll_shape), {1, 1, 1}, {1, 1, 1}, 0}

typedef struct atoll_launch_result {
  uint64_t work_groups, waves, wave_instructions;
  double seconds;
} atoll_launch_result;

/* Runs a kernel to its end. `result` may be null. */
ATOLL_API atoll_status atoll_launch(const atoll_gpu* gpu, const atoll_code* code, const char* kernel,
                                    const atoll_shape* shape, const atoll_argument* arguments, size_t argument_count,
                                    atoll_launch_result* result, atoll_error** error);

/* Runs a compute shader of OS ABI amdpal or mesa3d to completion. The dwords of values[i] are the user data entries
   from entries[i] on; a buffer is an address of two dwords. `result` may be null. */
ATOLL_API atoll_status atoll_launch_shader(const atoll_gpu* gpu, const atoll_code* code, const char* shader,
                                           const atoll_shape* shape, const uint32_t* entries,
                                           const atoll_argument* values, size_t count, atoll_launch_result* result,
                                           atoll_error** error);

/* Work that is done one after the other, while the program goes on. After a failure, what comes later in the stream is
   not done, until atoll_stream_synchronize has told what it was. */
typedef struct atoll_stream atoll_stream;
typedef struct atoll_event atoll_event;
ATOLL_API atoll_status atoll_stream_create(const atoll_gpu* gpu, atoll_stream** stream, atoll_error** error);
/* `event` may be null, here and below. Values are copied, buffers live until the kernel has run. */
ATOLL_API atoll_status atoll_stream_launch(const atoll_stream* stream, const atoll_code* code, const char* kernel,
                                           const atoll_shape* shape, const atoll_argument* arguments,
                                           size_t argument_count, atoll_event** event, atoll_error** error);
/* A function of the host's, in its turn; it must not wait for the stream. */
ATOLL_API atoll_status atoll_stream_call(const atoll_stream* stream, void (*function)(void* user), void* user,
                                         atoll_event** event, atoll_error** error);
/* What comes later in the stream waits for the event, of whatever stream. */
ATOLL_API atoll_status atoll_stream_wait(const atoll_stream* stream, const atoll_event* event, atoll_error** error);
/* Waits until all is done; the first failure since the last time. */
ATOLL_API atoll_status atoll_stream_synchronize(const atoll_stream* stream, atoll_error** error);
ATOLL_API void atoll_stream_free(atoll_stream* stream); /* waits until all is done */

ATOLL_API int atoll_event_is_done(const atoll_event* event);
/* Whether it was done within that time. */
ATOLL_API int atoll_event_wait_for(const atoll_event* event, double seconds);
/* Waits; what the launch took, or why it failed. */
ATOLL_API atoll_status atoll_event_wait(const atoll_event* event, atoll_launch_result* result, atoll_error** error);
ATOLL_API void atoll_event_free(atoll_event* event);

/* ---- Code without a GPU: what `atoll asm`, `link`, `disasm`, `inspect` and `eval` do ---- */

/* Bytes, with a zero after them that does not count. */
typedef struct atoll_data atoll_data;
ATOLL_API const void* atoll_data_bytes(const atoll_data* data);
ATOLL_API size_t atoll_data_size(const atoll_data* data);
ATOLL_API void atoll_data_free(atoll_data* data);

typedef struct atoll_assemble_options {
  size_t struct_size;
  const char* gpu;              /* processor, target ID or product */
  const char* name;             /* what messages call the text; null: "<text>" */
  int relocatable;              /* an object for atoll_link() */
  uint32_t wave_size;           /* 32 or 64; 0: 32 where there are both */
  uint32_t code_object_version; /* 3 to 6; 0: 6 */
} atoll_assemble_options;
#define ATOLL_ASSEMBLE_OPTIONS_INIT {sizeof(atoll_assemble_options), NULL, NULL, 0, 0, 0}
/* The error's message lists all mistakes. */
ATOLL_API atoll_status atoll_assemble(const char* text, const atoll_assemble_options* options, atoll_data** object,
                                      atoll_error** error);

typedef struct atoll_link_input {
  const char* name; /* what messages call it */
  const void* bytes;
  size_t size;
} atoll_link_input;
ATOLL_API atoll_status atoll_link(const atoll_link_input* objects, size_t count, atoll_data** code_object,
                                  atoll_error** error);

/* The text of the code objects in a file. `gpu` and `kernel` choose among several; they may be null. */
ATOLL_API atoll_status atoll_disassemble(const void* file, size_t size, const char* gpu, const char* kernel,
                                         int with_bytes, atoll_data** text, atoll_error** error);

/* Instructions that stand alone: `each` is called for one after the other, with an empty text for what is none. */
typedef void (*atoll_decoded)(void* user, uint64_t offset, uint32_t size, const char* text);
ATOLL_API atoll_status atoll_decode(const void* code, size_t size, const char* gpu, uint32_t wave_size,
                                    atoll_decoded each, void* user, atoll_error** error);

/* JSON, as `atoll gpus --json` prints it: all GPUs with their names, target IDs and properties. */
ATOLL_API atoll_status atoll_gpus(atoll_data** json, atoll_error** error);

/* JSON, as `atoll inspect --json` prints it. `gpu` and `kernel` may be null, `work_group_size` 0. */
ATOLL_API atoll_status atoll_inspect(const void* file, size_t size, const char* gpu, const char* kernel,
                                     uint32_t work_group_size, atoll_data** json, atoll_error** error);

typedef struct atoll_evaluate_options {
  size_t struct_size;
  const char* gpu;           /* product, processor or target ID */
  const char* const* values; /* what the wave begins with: "v1=1.5", "s[2:3]=lane*4" */
  size_t value_count;
  uint32_t wave_size;        /* 32 or 64; 0: 32 where there are both */
  uint64_t max_instructions; /* 0: 1000000 */
  double timeout_seconds;    /* 0: 10 */
} atoll_evaluate_options;
#define ATOLL_EVALUATE_OPTIONS_INIT {sizeof(atoll_evaluate_options), NULL, NULL, 0, 0, 0, 0}

/* Runs lines of assembly text on one wave. */
typedef struct atoll_evaluation atoll_evaluation;
ATOLL_API atoll_status atoll_evaluate(const char* const* lines, size_t line_count,
                                      const atoll_evaluate_options* options, atoll_evaluation** evaluation,
                                      atoll_error** error);
ATOLL_API const char* atoll_evaluation_text(const atoll_evaluation* evaluation); /* a line for each change */
ATOLL_API const char* atoll_evaluation_json(const atoll_evaluation* evaluation); /* as `atoll eval --json` prints it */
/* A fault, or that it had to be stopped; null when it ended well. */
ATOLL_API const atoll_error* atoll_evaluation_error(const atoll_evaluation* evaluation);
ATOLL_API void atoll_evaluation_free(atoll_evaluation* evaluation);

#ifdef __cplusplus
}
#endif

#endif
