// support: environment variables, for all that becomes a part of a program (the runtime, the library, the engines).
#pragma once

#include <cstdlib>

#include "support/settings.h"

namespace Atoll::support {

/// The value of a setting; null where it is not set, and in a program that has more rights than the user who started it
/// (set-user-ID, set-group-ID, file capabilities: AT_SECURE of getauxval(3)). Such a program must not take from its
/// environment which files it is to execute, read or write.
inline const char* environment_variable(Setting setting) { return secure_getenv(row_of(setting).name); }

/// The user's own directories, which are no settings of Atoll's: HOME and XDG_CACHE_HOME.
inline const char* home_directory() { return secure_getenv("HOME"); }
inline const char* user_cache_directory() { return secure_getenv("XDG_CACHE_HOME"); }

}  // namespace Atoll::support
