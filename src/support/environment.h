// support: environment variables, for all that becomes a part of a program (the runtime, the library, the engines).
#pragma once

#include <cstdlib>

namespace Atoll::support {

/// The variable's value; null where it is not set, and in a program that has more rights than whoever started it
/// (set-user-ID, set-group-ID, file capabilities: AT_SECURE of getauxval(3)). Such a program must not take from its
/// environment which files it is to execute, read or write.
inline const char* environment_variable(const char* name) { return secure_getenv(name); }

}  // namespace Atoll::support
