#include "library/failure.h"

#include <algorithm>
#include <utility>

#include "observe/report/finding.h"

namespace Atoll::library {

FailureKind kind_of(support::ErrorKind kind) {
  switch (kind) {
    case support::ErrorKind::invalid_argument:
      return FailureKind::invalid_argument;
    case support::ErrorKind::invalid_file:
      return FailureKind::invalid_file;
    case support::ErrorKind::incompatible:
      return FailureKind::incompatible;
    case support::ErrorKind::not_found:
      return FailureKind::not_found;
    case support::ErrorKind::unsupported:
      return FailureKind::unsupported;
    case support::ErrorKind::out_of_resources:
      return FailureKind::out_of_resources;
    case support::ErrorKind::memory_fault:
      return FailureKind::memory_fault;
    case support::ErrorKind::illegal_instruction:
      return FailureKind::illegal_instruction;
    case support::ErrorKind::aborted:
      return FailureKind::aborted;
    case support::ErrorKind::system:
      break;
  }
  return FailureKind::system;
}

namespace {

KernelFault::Kind kind_of(machine::Fault::Kind kind) {
  using Kind = machine::Fault::Kind;
  switch (kind) {
    case Kind::memory:
      return KernelFault::Kind::memory;
    case Kind::illegal_instruction:
      return KernelFault::Kind::illegal_instruction;
    case Kind::instruction_fetch:
      return KernelFault::Kind::instruction_fetch;
    case Kind::scratch_overflow:
      return KernelFault::Kind::scratch_overflow;
    case Kind::lds_overflow:
      return KernelFault::Kind::lds_overflow;
    case Kind::exception:
      return KernelFault::Kind::exception;
    case Kind::timeout:
      return KernelFault::Kind::timeout;
    case Kind::interrupted:
      return KernelFault::Kind::interrupted;
    default:
      return KernelFault::Kind::abort;
  }
}

}  // namespace

KernelFault fault_of(const machine::FaultReport& report) {
  KernelFault fault{.kind = kind_of(report.fault.kind),
                    .kernel = report.kernel,
                    .function = report.function,
                    .instruction = report.instruction,
                    .program_counter = report.fault.pc,
                    .source_file = {},
                    .is_write = report.fault.is_write,
                    .near = report.owner,
                    .wave = report.wave,
                    .lane = report.fault.lane,
                    .lane_known = report.lane_known};
  observe::SourcePlace source = observe::SourcePlace::parse(report.source);
  fault.line = source.line;
  fault.column = source.column;
  fault.source_file = std::move(source.file);
  if (fault.kind == KernelFault::Kind::memory && report.fault.address_known) fault.address = report.fault.address;
  std::ranges::copy(report.work_group, fault.work_group.begin());
  std::ranges::copy(report.work_item, fault.work_item.begin());
  return fault;
}

}  // namespace Atoll::library
