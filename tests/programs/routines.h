// Programs that check one routine of a library after the other. Without arguments all run, each on a few thousand
// elements; `PROGRAM ROUTINE [SIZE]` runs one, on as many elements as are asked for; `PROGRAM --list` prints their
// names.
#pragma once

#include "check.h"

namespace check {

struct Routine {
  const char* name;
  void (*run)(int size);
};

/// What main() returns.
template <size_t count>
int run_routines(const Routine (&routines)[count], int argc, char** argv, int small_size) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const int size = argc > 2 ? std::atoi(argv[2]) : small_size;
  bool found = wanted.empty() || wanted == "--list";
  for (const Routine& routine : routines) {
    if (wanted == "--list") {
      std::puts(routine.name);
    } else if (wanted.empty() || wanted == routine.name) {
      found = true;
      const int failures_before = failures;
      routine.run(size);
      if (failures != failures_before) std::fprintf(stderr, "%s is wrong\n", routine.name);
    }
  }
  if (!found) failed(wanted.c_str(), 0, "is no routine of this program");
  return result();
}

}  // namespace check
