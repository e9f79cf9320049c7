/* The same as scale.cpp, in C.

     cc scale.c -o scale $(pkg-config --cflags --libs atoll)
     ./scale scale.co */
#include <stdio.h>
#include <stdlib.h>

#include <atoll/atoll_c.h>

static void check(atoll_status status, atoll_error* error) {
  if (status == ATOLL_OK) return;
  fprintf(stderr, "%s\n", atoll_error_message(error));
  exit(1);
}

int main(int argc, char** argv) {
  atoll_error* error = NULL;
  atoll_gpu* gpu;
  atoll_code* code;
  atoll_buffer* buffer;
  check(atoll_gpu_create("mi250x", NULL, &gpu, &error), error);
  check(atoll_code_load_file(gpu, argc > 1 ? argv[1] : "scale.co", &code, &error), error);
  check(atoll_buffer_create(gpu, 1000 * sizeof(float), &buffer, &error), error);
  float* data = atoll_buffer_data(buffer);
  for (int i = 0; i < 1000; i++) data[i] = (float)i;

  float factor = 2.5f;
  int count = 1000;
  atoll_argument arguments[] = {atoll_memory(buffer), ATOLL_VALUE(factor), ATOLL_VALUE(count)};
  atoll_shape shape = ATOLL_SHAPE_INIT;
  shape.grid[0] = 1024;
  shape.block[0] = 256;
  atoll_launch_result result;
  check(atoll_launch(gpu, code, "scale", &shape, arguments, 3, &result, &error), error);
  printf("data[3] is %g after %llu instructions of %llu waves\n", (double)data[3],
         (unsigned long long)result.wave_instructions, (unsigned long long)result.waves);

  /* 1280 floats are more than there are. */
  count = 1280;
  shape.grid[0] = 1280;
  atoll_status status = atoll_launch(gpu, code, "scale", &shape, arguments, 3, NULL, &error);
  printf("%s: %s\n", atoll_status_name(status), atoll_error_message(error));
  const atoll_fault* fault = atoll_error_fault(error);
  if (fault != NULL)
    printf("in fields: %s in line %u of %s, work-group %u, lane %u\n", fault->kind_name, fault->line,
           fault->source_file, fault->work_group[0], fault->lane);
  atoll_error_free(error);

  atoll_buffer_free(buffer);
  atoll_code_free(code);
  atoll_gpu_free(gpu);
  return 0;
}
