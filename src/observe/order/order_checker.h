// observe: the order checker: caches as an adversary. A load gets any value that the GPU's caches and the stores under
// way permit (cache_hierarchy.h), chosen by a seed: programs that are right only because Atoll's memory is kind go
// wrong, and where an ordinary load gets such a value, the report says what is missing: the wait or write-back after
// the store, or the invalidation before the load.
//
// Memory itself holds what was stored last, in the order in which instructions are executed. Of each dword, the
// values that stores have replaced are kept, with who stored what when; when it is certain that others see a store is
// worked out from the waits and write-backs that followed. A load may get the value before any store that it is not
// certain to see, but none older than what its work-group has read there already. It gets that when its wave waits for
// it, as of its issue, or, some of the time, as of the wait.
//
// A store, too, may come late: when its wave waits for it, it may take the place after those that other waves have
// executed since, as long as nobody can have seen it.
//
// Followed are vector loads and stores of memory by waves. LDS and scalar loads are left alone, and a dispatch sees all
// that those before it have done.
#pragma once

#include <cstdint>
#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_order_checker(Findings& findings, uint64_t seed);

}  // namespace Atoll::observe
