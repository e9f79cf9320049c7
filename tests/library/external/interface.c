/* interface CODE_OBJECT: goes through the C interface as a strict C99 program, and exits with 1 at the first thing that is
   not as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atoll/atoll_c.h>

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);     \
      if (error != NULL) fprintf(stderr, "%s\n", atoll_error_message(error));     \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

static atoll_error* error = NULL;

static void check_failures(void) {
  atoll_gpu* gpu = (atoll_gpu*)&error;
  EXPECT(atoll_gpu_create("voodoo2", NULL, &gpu, &error) == ATOLL_NOT_FOUND);
  EXPECT(gpu == NULL && strstr(atoll_error_message(error), "voodoo2") != NULL);
  EXPECT(atoll_error_status(error) == ATOLL_NOT_FOUND && atoll_error_fault(error) == NULL);
  atoll_error_free(error);
  EXPECT(atoll_gpu_create(NULL, NULL, &gpu, &error) == ATOLL_INVALID_ARGUMENT);
  atoll_error_free(error);
  EXPECT(atoll_gpu_create("gfx90a", NULL, NULL, NULL) == ATOLL_INVALID_ARGUMENT); /* nobody wants the error */
  error = NULL;
  atoll_gpu_free(NULL);
  atoll_error_free(NULL);
  EXPECT(strcmp(atoll_status_name(ATOLL_MEMORY_FAULT), "memory_fault") == 0);
  EXPECT(strcmp(atoll_version(), ATOLL_VERSION_STRING) == 0 && atoll_version_number() == ATOLL_VERSION_NUMBER);
}

static void check_description(const atoll_code* code) {
  const atoll_kernel_info *info, *again;
  size_t i, kernels = 0;
  for (i = 0; i < atoll_code_kernel_count(code); i++) kernels += strcmp(atoll_code_kernel_name(code, i), "scale") == 0;
  EXPECT(kernels == 1 && atoll_code_kernel_name(code, i) == NULL);
  EXPECT(atoll_code_describe(code, "reverse", &info, &error) == ATOLL_OK);
  EXPECT(info->parameter_count == 3 && strcmp(info->parameters[0].name, "data") == 0);
  EXPECT(info->parameters[0].kind == ATOLL_PARAMETER_POINTER && info->parameters[2].kind == ATOLL_PARAMETER_LOCAL_MEMORY);
  EXPECT(atoll_code_describe(code, "fixed", &again, &error) == ATOLL_OK && again->required_block[1] == 4);
  EXPECT(atoll_code_describe(code, "reverse", &again, &error) == ATOLL_OK && again == info);
  EXPECT(atoll_code_describe(code, "nothing", &info, NULL) == ATOLL_NOT_FOUND && info == NULL);
}

static void add_one(void* user) { ++*(int*)user; }

static void check_launches(const atoll_gpu* gpu, const atoll_code* code) {
  atoll_buffer* buffer;
  EXPECT(atoll_buffer_create(gpu, 128 * sizeof(int), &buffer, &error) == ATOLL_OK);
  EXPECT(atoll_buffer_size(buffer) == 512);
  int* data = atoll_buffer_data(buffer);
  for (int i = 0; i < 128; i++) data[i] = i;
  atoll_shape shape = ATOLL_SHAPE_INIT;
  shape.grid[0] = 128;
  shape.block[0] = 64;
  const atoll_argument reverse[] = {atoll_memory(buffer), atoll_local_memory(256), atoll_local_memory(256)};
  atoll_launch_result result;
  EXPECT(atoll_launch(gpu, code, "reverse", &shape, reverse, 3, &result, &error) == ATOLL_OK);
  EXPECT(data[0] == 63 && data[127] == 64 && result.work_groups == 2);
  EXPECT(atoll_launch(gpu, code, "reverse", &shape, reverse, 2, NULL, NULL) == ATOLL_INVALID_ARGUMENT);

  /* Shapes without work-items, and, where C can tell, numbers of another type. */
  const float factor = 1.0f;
  const int number = 1;
  const atoll_argument floats[] = {atoll_memory(buffer), ATOLL_VALUE(factor), ATOLL_VALUE(number)};
  EXPECT(atoll_launch(gpu, code, "scale", &shape, floats, 3, NULL, &error) == ATOLL_OK);
  const atoll_argument integers[] = {atoll_memory(buffer), ATOLL_VALUE(number), ATOLL_VALUE(number)};
#if __STDC_VERSION__ >= 201112L
  EXPECT(atoll_launch(gpu, code, "scale", &shape, integers, 3, NULL, &error) == ATOLL_INVALID_ARGUMENT);
  EXPECT(strcmp(atoll_error_message(error), "kernel scale: cannot pass an i32 for parameter 'float factor'") == 0);
  atoll_error_free(error);
  error = NULL;
#else
  EXPECT(atoll_launch(gpu, code, "scale", &shape, integers, 3, NULL, &error) == ATOLL_OK);
#endif
  shape.grid[0] = 0;
  EXPECT(atoll_launch(gpu, code, "scale", &shape, floats, 3, NULL, NULL) == ATOLL_INVALID_ARGUMENT);
  shape.grid[0] = 128;
  shape.block[0] = 0;
  EXPECT(atoll_launch(gpu, code, "scale", &shape, floats, 3, NULL, NULL) == ATOLL_INVALID_ARGUMENT);
  shape.block[0] = 64;
  for (int i = 0; i < 128; i++) data[i] = i < 64 ? 63 - i : 191 - i;

  /* A stream, with a kernel, a function and a kernel that fails. */
  atoll_stream* stream;
  atoll_event *event, *counted;
  int count = 0;
  EXPECT(atoll_stream_create(gpu, &stream, &error) == ATOLL_OK);
  EXPECT(atoll_stream_launch(stream, code, "reverse", &shape, reverse, 3, &event, &error) == ATOLL_OK);
  EXPECT(atoll_stream_call(stream, add_one, &count, &counted, &error) == ATOLL_OK);
  EXPECT(atoll_event_wait(event, &result, &error) == ATOLL_OK && result.waves == 2 && data[0] == 0);
  EXPECT(atoll_event_wait(counted, NULL, &error) == ATOLL_OK && count == 1);
  EXPECT(atoll_event_is_done(counted) && atoll_event_wait_for(counted, 0.0));
  EXPECT(atoll_stream_wait(stream, counted, &error) == ATOLL_OK);
  EXPECT(atoll_stream_launch(stream, code, "stray", NULL, reverse, 1, NULL, &error) == ATOLL_OK);
  EXPECT(atoll_stream_synchronize(stream, &error) == ATOLL_MEMORY_FAULT);
  const atoll_fault* fault = atoll_error_fault(error);
  EXPECT(fault != NULL && fault->kind == ATOLL_FAULT_MEMORY && strcmp(fault->kernel, "stray") == 0);
  EXPECT(fault->address_known && fault->address == (uint64_t)(uintptr_t)data + ((uint64_t)4 << 28) && fault->is_write);
  EXPECT(fault->line != 0 && fault->source_file[0] != '\0' && fault->struct_size == sizeof(atoll_fault));
  atoll_error_free(error);
  EXPECT(atoll_stream_synchronize(stream, &error) == ATOLL_OK && error == NULL);
  atoll_event_free(event);
  atoll_event_free(counted);
  atoll_stream_free(stream);
  atoll_buffer_free(buffer);
}

/* A program that was compiled when there were fewer options: the rest is not looked at. */
static void check_older_structure(void) {
  struct {
    size_t struct_size;
    uint32_t threads;
    unsigned char garbage[sizeof(atoll_gpu_options)];
  } options;
  memset(&options, 0xFF, sizeof options);
  options.struct_size = offsetof(atoll_gpu_options, threads) + sizeof(uint32_t);
  options.threads = 1;
  atoll_gpu* gpu;
  EXPECT(atoll_gpu_create("gfx90a", (const atoll_gpu_options*)&options, &gpu, &error) == ATOLL_OK);
  atoll_gpu_free(gpu);
}

static void count_instruction(void* user, uint64_t offset, uint32_t size, const char* text) {
  (void)offset;
  *(size_t*)user += strcmp(text, "s_endpgm") == 0 ? size : 0;
}

static void check_tools(void) {
  atoll_assemble_options options = ATOLL_ASSEMBLE_OPTIONS_INIT;
  atoll_data *object, *linked, *text;
  options.gpu = "gfx90a";
  options.relocatable = 1;
  EXPECT(atoll_assemble(".globl f\n.type f,@function\nf:\ns_endpgm\n", &options, &object, &error) == ATOLL_OK);
  const atoll_link_input input = {"f.o", atoll_data_bytes(object), atoll_data_size(object)};
  EXPECT(atoll_link(&input, 1, &linked, &error) == ATOLL_OK);
  EXPECT(atoll_disassemble(atoll_data_bytes(linked), atoll_data_size(linked), NULL, NULL, 0, &text, &error) == ATOLL_OK);
  EXPECT(strstr(atoll_data_bytes(text), "s_endpgm") != NULL && strlen(atoll_data_bytes(text)) == atoll_data_size(text));
  atoll_data_free(text);
  EXPECT(atoll_inspect(atoll_data_bytes(linked), atoll_data_size(linked), NULL, NULL, 0, &text, &error) == ATOLL_OK);
  EXPECT(strstr(atoll_data_bytes(text), "\"gfx90a\"") != NULL);
  atoll_data_free(text);
  atoll_data_free(linked);
  atoll_data_free(object);
  EXPECT(atoll_assemble("v_nonsense", &options, &object, &error) == ATOLL_INVALID_ARGUMENT && object == NULL);
  EXPECT(strstr(atoll_error_message(error), "<text>:1:1: error") != NULL);
  atoll_error_free(error);
  error = NULL;

  const unsigned char end[] = {0x00, 0x00, 0x81, 0xBF};
  size_t found = 0;
  EXPECT(atoll_decode(end, sizeof end, "gfx900", 0, count_instruction, &found, &error) == ATOLL_OK && found == 4);

  const char* const lines[] = {"v_add_u32 v0, v1, v2"};
  const char* const values[] = {"v1=40", "v2=2"};
  atoll_evaluate_options evaluate = ATOLL_EVALUATE_OPTIONS_INIT;
  atoll_evaluation* evaluation;
  evaluate.gpu = "gfx90a";
  evaluate.values = values;
  evaluate.value_count = 2;
  EXPECT(atoll_evaluate(lines, 1, &evaluate, &evaluation, &error) == ATOLL_OK);
  EXPECT(strstr(atoll_evaluation_text(evaluation), "v0[0-63] = 0x0000002a") != NULL);
  EXPECT(atoll_evaluation_json(evaluation)[0] == '{' && atoll_evaluation_error(evaluation) == NULL);
  atoll_evaluation_free(evaluation);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  check_failures();
  check_older_structure();
  check_tools();
  atoll_gpu* gpu;
  atoll_code* code;
  EXPECT(atoll_gpu_create_for_file(argv[1], NULL, &gpu, &error) == ATOLL_OK);
  EXPECT(strcmp(atoll_gpu_target_id(gpu), "gfx90a:sramecc+:xnack-") == 0 && atoll_gpu_product(gpu)[0] != '\0');
  EXPECT(atoll_code_load_file(gpu, argv[1], &code, &error) == ATOLL_OK);
  check_description(code);
  void* variable;
  size_t size;
  EXPECT(atoll_code_variable(code, "launches", &variable, &size, &error) == ATOLL_OK && size == 4);
  EXPECT(atoll_code_variable(code, "nothing", &variable, &size, NULL) == ATOLL_NOT_FOUND);
  check_launches(gpu, code);
  atoll_gpu_free(gpu); /* its code keeps it */
  atoll_code_free(code);
  puts("all as it should be");
  return 0;
}
