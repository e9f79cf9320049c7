// observe: compares the values that lanes of one store write to the same bytes.
#include "observe/race/lane_races.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "observe/race/race_checker.h"
#include "observe/report/place.h"
#include "observe/shadow/stored_value.h"

namespace Atoll::observe {

void check_lanes(Findings& findings, const machine::Wave& wave, const machine::AccessEvent& access) {
  if (std::popcount(access.lanes & ~access.pattern.follows) == 1) return;  // at consecutive addresses
  std::array<unsigned, 64> order{};
  size_t count = 0;
  bool ascends = true;
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    if (count != 0) ascends &= access.addresses[lane] >= access.addresses[order[count - 1]] + access.bytes;
    order[count++] = lane;
  }
  if (ascends) return;
  std::sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), [&](unsigned a, unsigned b) {
    return std::pair(access.addresses[a], a) < std::pair(access.addresses[b], b);
  });
  for (size_t i = 1; i < count; ++i) {
    const unsigned first = order[i - 1], second = order[i];
    if (access.addresses[first] != access.addresses[second]) continue;
    const auto a = stored_value(wave, access, first), b = stored_value(wave, access, second);
    if (!a || !b || *a == *b) continue;
    if (findings.known(race_checker, "lanes", access.pc, 1)) return;
    Finding finding;
    finding.checker = race_checker;
    finding.kind = "lanes";
    set_place(finding, wave, access.pc, second);
    finding.message = fmt::format(
        "kernel '{}' stores different values of lanes {} and {} to the same {} bytes of {} at once", finding.kernel,
        first, second, access.bytes, access.space == machine::Space::lds ? "LDS" : "memory");
    finding.address = fmt::format("{:#x}", access.addresses[first]);
    finding.advice =
        "let one work-item store, or combine the values by an atomic: which lane's value stays is not defined";
    findings.add(access.pc, std::move(finding));
    return;
  }
}

}  // namespace Atoll::observe
