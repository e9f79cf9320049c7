// engine: the cache of prepared code (code_cache.h).
#include "engine/interpreter/code_cache.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/interpreter/observation.h"
#include "engine/target_code.h"
#include "machine/gpu.h"
#include "machine/loader.h"
#include "machine/wave/dispatch.h"
#include "machine/wave_control.h"

namespace Atoll::engine {

namespace {

void decode_here(Wave& wave, const MicroOp* op, Run& run) {
  if (!run.code->prepare(wave, CodePage::pc_of(op))) return;
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

void enter_next_page(Wave& wave, const MicroOp* op, Run& run) {
  op = run.code->find(CodePage::pc_of(op));
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

/// The handler of a slot with a breakpoint.
void at_breakpoint(Wave& wave, const MicroOp* op, Run& run) {
  const OpMetadata& origin = *op->origin;
  if (run.control != nullptr && run.control->on_breakpoint(wave, origin.pc)) {
    run.stopped = true;
    return stop(wave, machine::WaveState::ready, origin.pc);
  }
  [[clang::musttail]] return origin.unpatched(wave, op, run);
}

/// Sets every slot to be decoded anew.
void clear(CodePage& page) {
  for (unsigned slot = 0; slot < std::size(page.slots); ++slot) {
    __atomic_store_n(&page.slots[slot].handler, slot < code_page_slots ? decode_here : enter_next_page,
                     __ATOMIC_RELEASE);
  }
  page.origins.clear();
  page.constants.clear();
  page.constant_rows.clear();
}

/// Returns the number of bytes of loaded code from `pc` on; 0: none. Waves without a GPU (in tests) are trusted.
uint64_t code_bytes_from(const Wave& wave, uint64_t pc) {
  constexpr uint64_t longest_instruction = 20;
  const machine::Dispatch* dispatch = wave.work_group != nullptr ? wave.work_group->dispatch : nullptr;
  if (dispatch == nullptr || dispatch->gpu == nullptr) return longest_instruction;
  const std::shared_ptr<machine::LoadedCode> code = dispatch->gpu->code_at(pc);
  return code == nullptr ? 0 : std::min(longest_instruction, code->base() + code->size() - pc);
}

}  // namespace

const Row* CodePage::constant(uint64_t value) {
  const Row*& rows = constant_rows[value];
  if (rows == nullptr) {
    auto& pair = constants.emplace_back();
    for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
      pair[0][lane] = static_cast<uint32_t>(value);
      pair[1][lane] = static_cast<uint32_t>(value >> 32);
    }
    rows = pair.data();
  }
  return rows;
}

CodeCache::~CodeCache() {
  for (auto& head : buckets_) {
    for (CodePage* page = head.load(); page != nullptr;) delete std::exchange(page, page->next);
  }
}

CodePage* CodeCache::page_at(uint64_t base) const {
  CodePage* page = buckets_[bucket(base)].load(std::memory_order_acquire);
  while (page != nullptr && page->base != base) page = page->next;
  return page;
}

CodePage* CodeCache::add(uint64_t base) {
  const std::lock_guard lock(mutex_);
  if (CodePage* page = page_at(base)) return page;
  auto* page = new CodePage;
  page->base = base;
  page->next = buckets_[bucket(base)].load();
  clear(*page);
  buckets_[bucket(base)].store(page, std::memory_order_release);
  return page;
}

bool CodeCache::prepare(Wave& wave, uint64_t pc) {
  using enum machine::Fault::Kind;
  if (handler_of(find(pc)) != decode_here) return true;
  const uint64_t available = code_bytes_from(wave, pc);
  if (available < 4) {
    fault(wave, pc, instruction_fetch, "no code is loaded there", pc);
    return false;
  }
  wave.pc = pc;
  const auto instruction = decode(std::span(reinterpret_cast<const uint8_t*>(pc), available), target_,
                                  RegisterCounts(wave, target_), banks_);
  if (!instruction) {
    fault(wave, pc, illegal_instruction, instruction.error().message);
    return false;
  }

  const std::lock_guard lock(mutex_);
  const uint64_t base = pc & ~(code_page_bytes - 1);
  CodePage& page = *add(base);
  MicroOp& op = page.slots[(pc - base) / 4];
  if (op.handler != decode_here) return true;  // another wave was quicker
  OpMetadata& origin = page.origins.emplace_back(OpMetadata{.pc = pc, .instruction = *instruction});
  op.origin = &origin;
  op.slots = instruction->size / 4;
  const Handler handler = prepare_op(origin, op, page, *this);
  __atomic_store_n(&op.handler, slot_handler(origin, handler), __ATOMIC_RELEASE);
  return true;
}

Handler CodeCache::slot_handler(OpMetadata& origin, Handler handler) const {
  origin.unpatched = observe(origin, handler, watched_);
  return control_ != nullptr && control_->has_breakpoint(origin.pc) ? at_breakpoint : origin.unpatched;
}

void CodeCache::breakpoint_changed(uint64_t pc) {
  const std::lock_guard lock(mutex_);
  const uint64_t base = pc & ~(code_page_bytes - 1);
  CodePage* const page = pc % 4 == 0 ? page_at(base) : nullptr;
  if (page == nullptr) return;
  MicroOp& op = page->slots[(pc - base) / 4];
  if (op.handler == decode_here) return;
  const Handler handler = control_->has_breakpoint(pc) ? at_breakpoint : op.origin->unpatched;
  __atomic_store_n(&op.handler, handler, __ATOMIC_RELEASE);
}

void CodeCache::sweep(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  for (auto& head : buckets_) {
    for (CodePage* page = head.load(); page != nullptr; page = page->next) {
      if (page->base < end && page->base + code_page_bytes > begin) clear(*page);
    }
  }
}

void CodeCaches::sweep(uint64_t begin, uint64_t end) {
  for (CodeCache* cache : {&wave64_, &wave64_watching_, &wave32_, &wave32_watching_}) cache->sweep(begin, end);
  const std::lock_guard lock(banked_mutex_);
  for (auto& [key, cache] : banked_) cache.sweep(begin, end);
}

void CodeCaches::breakpoint_changed(uint64_t pc) {
  for (CodeCache* cache : {&wave64_, &wave64_watching_, &wave32_, &wave32_watching_}) cache->breakpoint_changed(pc);
  const std::lock_guard lock(banked_mutex_);
  for (auto& [key, cache] : banked_) cache.breakpoint_changed(pc);
}

CodeCache& CodeCaches::banked(const Wave& wave) {
  const std::lock_guard lock(banked_mutex_);
  const uint8_t banks = vgpr_banks(wave);
  return banked_
      .try_emplace(std::pair(wave.watches_exceptions, banks), wave32_.target(), wave.watches_exceptions, banks,
                   watched_, wave32_.control())
      .first->second;
}

}  // namespace Atoll::engine
