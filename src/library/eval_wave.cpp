#include "library/eval_wave.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/engines.h"
#include "engine/interpreter/hardware_register.h"
#include "engine/target_code.h"
#include "isa/code_map.h"
#include "isa/decode.h"
#include "isa/effects.h"
#include "isa/encode.h"
#include "isa/opcode_map.h"
#include "isa/vgpr_banks.h"
#include "machine/clock.h"
#include "machine/memory/memory.h"
#include "machine/report/fault_guard.h"
#include "machine/report/fault_report.h"
#include "machine/wave/barrier.h"
#include "support/bytes.h"

namespace Atoll::library {

using machine::Fault;
using machine::Wave;
using machine::WaveState;
using support::ErrorKind;
using support::fail;
using support::Result;
namespace scalar = isa::scalar;

namespace {

constexpr uint64_t page_bytes = 4096, look_at_clock_after = 1'000'000;
constexpr uint32_t scratch_bytes_per_lane = 1024;
constexpr unsigned row_count = isa::vector_registers;
/// Rows that an instruction reaches whose registers go past the last one.
constexpr unsigned further_rows = 32;

template <typename T>
T* allocate(size_t bytes) {
  void* memory = std::aligned_alloc(page_bytes, (bytes + page_bytes - 1) / page_bytes * page_bytes);
  if (memory == nullptr) std::abort();
  std::memset(memory, 0, bytes);
  return static_cast<T*>(memory);
}

/// The first word of an instruction that can be encoded.
uint32_t word_of(const isa::Instruction& instruction, const target::Processor& processor) {
  const auto encoded = isa::encode(instruction, processor);
  if (!encoded) std::abort();
  uint32_t word = 0;
  std::memcpy(&word, encoded->bytes.data(), sizeof word);
  return word;
}

/// The last pair of TTMPs, which code in user mode does not write.
uint16_t jump_register(const target::Processor& processor) {
  const isa::CodeMap& codes = isa::code_map_of(processor, 0);
  uint16_t last = scalar::m0 - 2;
  while (codes.code_of_register(last) == isa::CodeMap::none) last -= 2;
  return last;
}

/// The word of s_setpc_b64 to the address in that pair.
uint32_t jump_word(const target::Processor& processor) {
  isa::Instruction jump{.opcode = isa::Opcode::s_setpc_b64,
                        .encoding = isa::Encoding::sop1,
                        .generation = processor.generation,
                        .operand_count = 1};
  jump.operands[0] = {
      .kind = isa::OperandKind::scalar, .type = isa::DataType::b64, .words = 2, .reg = jump_register(processor)};
  return word_of(jump, processor);
}

}  // namespace

Result<std::unique_ptr<EvalWave>> EvalWave::create(const Options& options, std::span<const uint8_t> code_object) {
  // One run of the code is all that there is: the compiled engine is to have it compiled then.
  if (options.engine == "compiled") setenv("ATOLL_COMPILE", "wait", 1);
  const auto make_engine = engine::find_engine(options.engine);
  if (!make_engine) return fail(ErrorKind::invalid_argument, "{}", make_engine.error().message);
  const auto of_gpu = engine::find_engine("interpreter");
  auto gpu = machine::Gpu::create(options.gpu, *of_gpu, {.threads = 1});
  if (!gpu) return std::unexpected(gpu.error());
  std::unique_ptr<EvalWave> eval(new EvalWave);
  eval->gpu_ = std::move(*gpu);
  eval->target_ = target::Target(options.gpu.target).with_wave_size(options.wave_size);
  // Compiled code has no instrumentation: it is to be what runs programs.
  if (options.engine != "compiled") {
    eval->observers_.add(eval->memory_);
    eval->observers_.add(eval->stepper_);
  }
  eval->engine_ = options.engine == "compiled"
                      ? (*make_engine)(options.gpu.target)
                      : engine::observed_engine(eval->observers_, options.engine)(options.gpu.target);
  if (auto ok = eval->place(code_object); !ok) return std::unexpected(ok.error());
  if (auto ok = eval->open_code(); !ok) return std::unexpected(ok.error());
  eval->begin(*options.gpu.target.processor);
  if (options.engine == "compiled") eval->end_alive();
  eval->dispatch_.progress.deadline_ns = machine::now_ns() + static_cast<uint64_t>(options.timeout_seconds * 1e9);
  return eval;
}

Result<void> EvalWave::place(std::span<const uint8_t> code_object) {
  auto code = gpu_->load(code_object, [](std::string_view) { return std::nullopt; }, "memory://eval");
  if (!code) return std::unexpected(code.error());
  code_ = std::move(*code);
  for (const object::Segment& segment : code_->code_object().segments) {
    memory_.allow(code_->base() + segment.address, segment.memory_size,
                  segment.writable ? EvalMemory::Use::read_write : EvalMemory::Use::read);
    if (!segment.executable) continue;
    code_begin_ = code_->base() + segment.address;
    code_end_ = code_begin_ + segment.bytes.size();
  }
  if (code_begin_ == code_end_) return fail(ErrorKind::invalid_file, "there is no code");
  const auto* bytes = reinterpret_cast<const uint8_t*>(code_begin_);
  code_bytes_.assign(bytes, bytes + (code_end_ - code_begin_));
  return {};
}

void EvalWave::begin(const target::Processor& processor) {
  rows_.reset(allocate<machine::Row>((row_count + further_rows) * sizeof(machine::Row)));
  lds_.reset(allocate<uint8_t>(processor.lds_bytes));
  const size_t scratch_bytes = size_t{scratch_bytes_per_lane} * target_.wave_size;
  scratch_.reset(allocate<uint8_t>(scratch_bytes));
  memory_.allow(reinterpret_cast<uint64_t>(scratch_.get()), scratch_bytes, EvalMemory::Use::read_write);

  dispatch_.gpu = gpu_.get();
  dispatch_.launch.code = code_;
  dispatch_.kernel = std::make_shared<machine::Kernel>();
  dispatch_.kernel->name = "eval";
  dispatch_.kernel->entry = code_begin_;
  dispatch_.kernel->code = code_;
  dispatch_.launch.wave_size = target_.wave_size;
  dispatch_.launch.lds_bytes = processor.lds_bytes;
  dispatch_.launch.scratch_bytes_per_lane = scratch_bytes_per_lane;
  dispatch_.launch.scratch_bytes_per_wave = scratch_bytes_per_lane * target_.wave_size;
  for (unsigned d = 0; d < 3; ++d) {
    dispatch_.launch.grid_size[d] = dispatch_.launch.work_group_size[d] = d == 0 ? target_.wave_size : 1;
    dispatch_.launch.work_groups[d] = 1;
  }
  dispatch_.launch.work_group_count = 1;

  group_.dispatch = &dispatch_;
  group_.lds = lds_.get();
  group_.lds_bytes = processor.lds_bytes;
  group_.waves.resize(1);
  group_.waves_begun = group_.waves_running = 1;
  Wave& wave = group_.waves[0];
  wave.pc = code_begin_;
  wave.vgpr = rows_.get();
  wave.agpr = rows_.get() + isa::first_agpr;
  wave.sgprs = processor.addressable_sgprs;
  wave.vgprs = isa::opcode_map_of(processor).layout.vgprs;
  wave.agprs = processor.has_agprs ? isa::vector_registers_of_a_kind : 0;
  wave.wave_size = target_.wave_size;
  // What clang's kernels begin with: denormals kept, and until GFX11 IEEE and DX10_CLAMP.
  wave.mode = processor.ieee_mode ? 0x3F0 : 0xF0;
  wave.float_mode = machine::float_mode_of(wave.mode, processor);
  wave.watches_exceptions = code_->looks_at_exceptions(processor);
  wave.scratch = scratch_.get();
  wave.scratch_bytes_per_lane = scratch_bytes_per_lane;
  wave.work_group = &group_;
  wave.set_exec(~uint64_t{0});
  if (processor.flat_scratch != target::FlatScratch::none) {
    wave.set_scalar64(scalar::flat_scratch_lo, reinterpret_cast<uint64_t>(scratch_.get()));
  }
  wave.state = WaveState::ready;
}

/// Loaded code is read-only; here jumps and ends are written into it.
support::Result<void> EvalWave::open_code() {
  constexpr uint64_t page = 4096;
  const uint64_t begin = code_begin_ / page * page;
  return machine::Memory::protect_part(begin, support::align_up(code_end_ + 8, page) - begin,
                                       machine::Access::read_write);
}

/// The compiled engine leaves registers as they are that nothing reads before the wave ends. So it ends by a jump, of
/// which the engine cannot know where it leads, to an s_endpgm after the code.
void EvalWave::end_alive() {
  uint64_t last = code_begin_;
  for (uint64_t pc = code_begin_; pc < code_end_;) {
    const auto instruction = instruction_at(pc);
    if (instruction && instruction->opcode == isa::Opcode::s_endpgm) {
      const uint32_t word = jump_word(*target_.processor);
      std::memcpy(reinterpret_cast<void*>(pc), &word, sizeof word);
      last = pc;
    }
    pc += instruction ? instruction->size : 4;
  }
  // Two have been put after the code: the first is a jump, too, the last one is where it leads.
  std::memcpy(reinterpret_cast<void*>(last), &code_bytes_[last - code_begin_], 4);
  group_.waves[0].set_scalar64(jump_register(*target_.processor), last);
}

Result<void> EvalWave::assign(const Assignment& assignment) {
  using Kind = Destination::Kind;
  switch (assignment.destination.kind) {
    case Kind::vgpr:
    case Kind::agpr:
      return assign_rows(assignment);
    case Kind::lds:
    case Kind::memory:
      return assign_bytes(assignment);
    default:
      return assign_scalar(assignment);
  }
}

Result<void> EvalWave::assign_rows(const Assignment& assignment) {
  const Destination& to = assignment.destination;
  const bool accumulation = to.kind == Destination::Kind::agpr;
  if (accumulation && wave().agprs == 0) {
    return fail(ErrorKind::invalid_argument, "{}: {} has no AGPRs", assignment.text, target_.processor->name);
  }
  if (!accumulation && to.reg + to.words > wave().vgprs) {
    return fail(ErrorKind::invalid_argument, "{}: {} has v0 to v{}", assignment.text, target_.processor->name,
                wave().vgprs - 1);
  }
  std::vector<uint8_t> lanes = to.lanes;
  for (unsigned lane = 0; to.lanes.empty() && lane < target_.wave_size; ++lane) {
    lanes.push_back(static_cast<uint8_t>(lane));
  }
  machine::Row* rows = (accumulation ? wave().agpr : wave().vgpr) + to.reg;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] >= target_.wave_size) {
      return fail(ErrorKind::invalid_argument, "{}: the wave has {} lanes", assignment.text, target_.wave_size);
    }
    const auto bytes = bytes_of_item(assignment.value, i, to.high ? 16 : to.words * 32, lanes[i]);
    if (!bytes) return std::unexpected(bytes.error());
    if (to.high) {
      const auto half = static_cast<uint32_t>((*bytes)[0] | (*bytes)[1] << 8);
      uint32_t& word = rows[0][lanes[i]];
      word = *to.high ? (word & 0xFFFF) | half << 16 : (word & 0xFFFF0000) | half;
      continue;
    }
    for (unsigned word = 0; word < to.words; ++word) {
      std::memcpy(&rows[word][lanes[i]], bytes->data() + size_t{word} * 4, 4);
    }
  }
  return {};
}

Result<void> EvalWave::assign_scalar(const Assignment& assignment) {
  using Kind = Destination::Kind;
  const Destination& to = assignment.destination;
  Wave& wave = group_.waves[0];
  if (assignment.value.items.size() > 1) {
    return fail(ErrorKind::invalid_argument,
                "{}: a scalar register has one value; the words of several are separated by colons", assignment.text);
  }
  const bool mask = to.kind == Kind::exec || to.kind == Kind::vcc;
  const unsigned bits = mask ? target_.wave_size : to.words * 32;
  const auto bytes = bytes_of_item(assignment.value, 0, bits, 0);
  if (!bytes) return std::unexpected(bytes.error());
  uint64_t value = 0;
  std::memcpy(&value, bytes->data(), std::min(bytes->size(), sizeof value));
  switch (to.kind) {
    case Kind::exec:
      wave.set_exec(value);
      return {};
    case Kind::vcc:
      wave.set_vcc(value);
      return {};
    case Kind::scc:
      if (value > 1) return fail(ErrorKind::invalid_argument, "{}: scc is 0 or 1", assignment.text);
      wave.scc = value != 0;
      return {};
    case Kind::mode:
      wave.mode = static_cast<uint32_t>(value);
      wave.float_mode = machine::float_mode_of(wave.mode, *target_.processor);
      if (target_.processor->generation < target::Generation::gfx12 && (wave.mode & machine::enabled_exceptions) != 0)
        wave.watches_exceptions = true;
      return {};
    default:
      break;
  }
  const uint16_t general = target_.processor->addressable_sgprs;
  if (to.reg < scalar::vcc_lo && to.reg + to.words > general) {
    return fail(ErrorKind::invalid_argument, "{}: {} has s0 to s{}", assignment.text, target_.processor->name,
                general - 1);
  }
  std::memcpy(&wave.scalar[to.reg], bytes->data(), bytes->size());
  return {};
}

Result<void> EvalWave::assign_bytes(const Assignment& assignment) {
  const Destination& to = assignment.destination;
  const Value& value = assignment.value;
  uint64_t total = to.bytes.value_or(0);
  for (size_t i = 0; !to.bytes && i < std::max<size_t>(1, value.items.size()); ++i) {
    total += natural_bits(value, i) / 8;
  }
  uint8_t* place = nullptr;
  if (to.kind == Destination::Kind::lds) {
    if (to.address >= group_.lds_bytes || total > group_.lds_bytes - to.address) {
      return fail(ErrorKind::invalid_argument, "{}: a work-group has {} bytes of LDS", assignment.text,
                  group_.lds_bytes);
    }
    place = lds_.get() + to.address;
  } else {
    const auto memory = memory_.give(to.address, total, assignment.text);
    if (!memory) return std::unexpected(memory.error());
    place = *memory;
  }
  uint64_t at = 0;
  for (uint64_t item = 0; at < total; ++item) {
    const auto bytes = bytes_of_item(value, item, natural_bits(value, item), item);
    if (!bytes) return std::unexpected(bytes.error());
    const uint64_t count = std::min<uint64_t>(bytes->size(), total - at);
    std::memcpy(place + at, bytes->data(), count);
    at += count;
  }
  return {};
}

WaveSnapshot EvalWave::snapshot() const {
  WaveSnapshot now;
  const Wave& w = wave();
  now.scalars.assign(std::begin(w.scalar), std::end(w.scalar));
  now.scc = w.scc;
  now.mode = w.mode;
  now.trap_status = w.trap_status;
  now.rows.resize(row_count);
  std::memcpy(now.rows.data(), rows_.get(), row_count * sizeof(machine::Row));
  const auto* scratch = reinterpret_cast<const uint32_t*>(scratch_.get());
  now.scratch.assign(scratch, scratch + size_t{scratch_bytes_per_lane} / 4 * target_.wave_size);
  now.lds.assign(lds_.get(), lds_.get() + group_.lds_bytes);
  now.memory = memory_.content();
  return now;
}

std::optional<isa::Instruction> EvalWave::instruction_at(uint64_t pc) const {
  if (pc < code_begin_ || pc >= code_end_) return std::nullopt;
  const std::span<const uint8_t> rest = std::span(code_bytes_).subspan(pc - code_begin_);
  const auto instruction = isa::decode(rest, *target_.processor, target_.wave_size);
  return instruction ? std::optional(*instruction) : std::nullopt;
}

std::vector<isa::Instruction> EvalWave::instructions() const {
  std::vector<isa::Instruction> all;
  std::optional<uint8_t> banks = 0;
  for (uint64_t pc = code_begin_; pc < code_end_;) {
    const auto instruction = instruction_at(pc);
    if (instruction) {
      all.push_back(*instruction);
      isa::choose_banks(all.back(), banks.value_or(0));
      banks = engine::banks_after(*instruction, banks.value_or(0));
    }
    pc += instruction ? instruction->size : 4;
  }
  return all;
}

EvalWave::Outcome EvalWave::run_some(uint64_t limit) {
  Wave& wave = group_.waves[0];
  const uint64_t end = wave.instructions + limit;
  while (wave.instructions < end) {
    if (machine::now_ns() >= dispatch_.progress.deadline_ns) return Outcome::timed_out;
    machine::HostFault host;
    // The clock is looked at now and then; compiled loops look at it themselves.
    const uint64_t budget = std::min(end - wave.instructions, look_at_clock_after);
    if (!machine::guarded(host, [&] { engine_->run(wave, budget); })) machine::set_host_fault(*engine_, wave, host);
    if (wave.state == WaveState::ended) return Outcome::ended;
    if (wave.state == WaveState::faulted) return Outcome::faulted;
    const uint32_t phase = group_.barrier.phase;
    machine::stop_at_barrier(wave);
    if (group_.barrier.phase != phase) machine::release_from_barrier(group_);
    if (wave.state == WaveState::waits_at_barrier) {
      wave.state = WaveState::faulted;
      wave.fault = std::make_unique<Fault>(Fault{
          .kind = Fault::Kind::abort, .pc = wave.pc, .what = "the wave waits at a barrier that it has not signalled"});
      return Outcome::faulted;
    }
  }
  return Outcome::over_limit;
}

EvalWave::Outcome EvalWave::run(uint64_t limit) {
  engine_->code_changed(code_begin_, code_end_);
  return run_some(limit);
}

std::optional<EvalWave::Outcome> EvalWave::step() {
  Wave& wave = group_.waves[0];
  machine::WaveControl& control = stepper_.control;
  if (!control.is_stopped(wave)) {
    control.stop({});
    control.before_run(wave);
  }
  control.step(wave);
  const Outcome outcome = run_some(1);
  control.after_run(wave);
  return outcome == Outcome::over_limit ? std::nullopt : std::optional(outcome);
}

machine::FaultReport EvalWave::fault_report() const {
  machine::FaultReport report = machine::report_fault(wave());
  if (report.fault.kind == Fault::Kind::memory) report.owner = memory_.neighbourhood(report.fault.address);
  return report;
}

support::Error EvalWave::fault() const {
  const machine::FaultReport report = fault_report();
  // What the report would take for llvm.trap says itself what it is.
  if (report.fault.kind == Fault::Kind::abort && !report.fault.what.empty()) {
    return {report.error_kind(), fmt::format("{}\n  instruction  {}", report.fault.what, report.instruction)};
  }
  return {report.error_kind(), report.to_string()};
}

}  // namespace Atoll::library
