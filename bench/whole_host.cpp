// Waits until the host's processors are all there (whole_host.h), for scripts.
//
//     whole_host FILE
//
// FILE keeps how fast the host has been at its best, from call to call.
#include "whole_host.h"

#include <fstream>
#include <thread>

#include "measure.h"

int main(int argc, char** argv) {
  using namespace Atoll::bench;
  if (argc != 2) die("usage: whole_host FILE");
  double alone = 1e9;
  std::ifstream(argv[1]) >> alone;
  WholeHost host(std::thread::hardware_concurrency(), alone);
  host.wait();
  std::ofstream(argv[1]) << host.alone() << '\n';
}
