// support: a variable of the C library, for Atoll's shared libraries only.
//
// The static yaml-cpp is linked into them. Debian compiles it for programs (PIE), and so it addresses the variable that
// says whether the process has one thread directly, which a shared library can do only with a variable of its own. This
// one says what is always right: there may be several, so shared pointers count atomically.
extern "C" __attribute__((visibility("hidden"))) char __libc_single_threaded;  // NOLINT(bugprone-reserved-identifier)
char __libc_single_threaded = 0;                                               // NOLINT(bugprone-reserved-identifier)
