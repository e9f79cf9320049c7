// engine: functions that access guest memory. Races and wild addresses are the guest's, as on hardware, so they are
// excluded from the host's sanitizers. Copies use __builtin_memcpy_inline(), because sanitizers replace memcpy() by a
// checking function.
#pragma once

#define ATOLL_GUEST_ACCESS __attribute__((no_sanitize("address", "thread", "alignment", "null")))
