// How states that random code left compare (final_state.h).
#include "differential/final_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace Atoll::test {

namespace {

/// Lists what differs.
class Listing {
 public:
  void line(const std::string& where, uint64_t a, uint64_t b) {
    if (a != b) note(fmt::format("{}: {:#x} and {:#x}", where, a, b));
  }
  void note(const std::string& text) {
    if (lines_++ < max_lines) text_ += fmt::format("  {}{}\n", prefix_, text);
  }
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  void rows(const char* name, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, unsigned first_lane) {
    if (a == b) return;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (i % 64 >= first_lane) line(fmt::format("{}{} lane {}", name, i / 64, i % 64), a[i], b[i]);
    }
  }
  void words(const char* name, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
    if (a == b) return;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) line(fmt::format("{} at {:#x}", name, i * 4), a[i], b[i]);
  }
  std::string take() {
    if (lines_ > max_lines) text_ += fmt::format("  and {} more\n", lines_ - max_lines);
    return std::move(text_);
  }

 private:
  static constexpr unsigned max_lines = 24;
  std::string text_, prefix_;
  unsigned lines_ = 0;
};

void compare(Listing& list, const FinalWave& a, const FinalWave& b) {
  list.line("state (0 ready, 1 barrier, 2 ended, 3 faulted)", static_cast<unsigned>(a.state),
            static_cast<unsigned>(b.state));
  list.line("SCC", a.scc, b.scc);
  list.line("MODE", a.mode, b.mode);
  list.line("STATUS", a.status, b.status);
  list.line("TRAPSTS", a.trap_status, b.trap_status);
  list.line("instructions", a.instructions, b.instructions);
  for (unsigned i = 0; i < a.scalar.size(); ++i) list.line(fmt::format("scalar {}", i), a.scalar[i], b.scalar[i]);
  list.rows("v", a.vgprs, b.vgprs, 0);
  list.rows("a", a.agprs, b.agprs, 0);
  list.words("scratch", a.scratch, b.scratch);
}

/// A wave that faulted, of which lanes and scalar registers may be ahead. A pair of those may be a mask of lanes.
void compare_registers(Listing& list, const FinalWave& a, const FinalWave& b, unsigned lanes_ahead,
                       const std::bitset<isa::scalar::count>& scalars_ahead) {
  list.line("MODE", a.mode, b.mode);
  list.rows("v", a.vgprs, b.vgprs, lanes_ahead);
  list.rows("a", a.agprs, b.agprs, lanes_ahead);
  const uint64_t defined = lanes_ahead < 64 ? ~uint64_t{0} << lanes_ahead : 0;
  for (unsigned i = 0; i < a.scalar.size(); ++i) {
    if (scalars_ahead[i]) continue;
    const auto mask = static_cast<uint32_t>(i % 2 == 0 ? defined : defined >> 32);
    list.line(fmt::format("scalar {}", i), a.scalar[i] & mask, b.scalar[i] & mask);
  }
}

}  // namespace

bool FinalState::is_endless() const {
  return !fault &&
         std::ranges::any_of(waves, [](const FinalWave& wave) { return wave.state == machine::WaveState::ready; });
}

std::string FinalState::difference(const FinalState& other) const {
  Listing list;
  list.line("a fault", fault.has_value(), other.fault.has_value());
  list.line("waves", waves.size(), other.waves.size());
  if (fault.has_value() != other.fault.has_value() || waves.size() != other.waves.size()) return list.take();
  if (fault) {
    list.line("wave that faulted", fault->wave, other.fault->wave);
    list.line("kind of fault", static_cast<unsigned>(fault->kind), static_cast<unsigned>(other.fault->kind));
    list.line("pc of the fault", fault->pc, other.fault->pc);
    if (fault->what != other.fault->what) list.note(fault->what + " and " + other.fault->what);
    const unsigned lanes_ahead = std::max(fault->lanes_ahead, other.fault->lanes_ahead);
    if (fault->wave == other.fault->wave) {
      compare_registers(list, waves[fault->wave], other.waves[fault->wave], lanes_ahead, fault->scalars_ahead);
    }
    return list.take();
  }
  for (size_t i = 0; i < waves.size(); ++i) {
    list.set_prefix(waves.size() != 1 ? fmt::format("wave {}, ", i) : "");
    if (waves[i] != other.waves[i]) compare(list, waves[i], other.waves[i]);
  }
  list.set_prefix("");
  list.line("instructions of all waves", instructions, other.instructions);
  list.words("LDS", lds, other.lds);
  list.words("memory", memory, other.memory);
  return list.take();
}

uint64_t FinalState::digest() const {
  uint64_t hash = 14695981039346656037u;
  const auto add = [&](uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
  const auto add_all = [&](const auto& words) {
    for (const uint32_t word : words) add(word);
  };
  if (fault) {
    add(fault->wave);
    add(static_cast<uint64_t>(fault->kind));
    add(fault->pc);
  }
  for (const FinalWave& wave : waves) {
    add(static_cast<uint64_t>(wave.state));
    add(wave.scc);
    add(wave.mode);
    add_all(wave.scalar);
    add_all(wave.vgprs);
    add_all(wave.agprs);
    if (!fault) add_all(wave.scratch);
  }
  // How far the lanes of a store came that faults is not defined.
  if (!fault) add_all(lds);
  if (!fault) add_all(memory);
  return hash;
}

}  // namespace Atoll::test
