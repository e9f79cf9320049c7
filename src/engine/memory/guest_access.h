// engine: functions that access memory for the guest. Races and wild addresses are the guest's to make, as on hardware,
// so the host's sanitizers are not to look at them. Copies are __builtin_memcpy_inline(): in the place of the C
// library's memcpy() sanitizers put a function that looks at addresses, whoever calls it.
#pragma once

#define ATOLL_GUEST_ACCESS __attribute__((no_sanitize("address", "thread", "alignment", "null")))
