// support: where exceptions end. Atoll throws none, but the C++ library and others do when memory or threads run out.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "support/error.h"

namespace Atoll::support {

/// What the exception that is being handled says, as an error.
inline Error describe_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::out_of_resources, "there is not enough memory"};
  } catch (const std::length_error&) {
    return {ErrorKind::out_of_resources, "there is not enough memory"};
  } catch (const std::exception& exception) {
    return {ErrorKind::system, exception.what()};
  } catch (...) {
    return {ErrorKind::system, "an exception of an unknown kind"};
  }
}

/// What `work` returns, a Result; an exception that it throws is the error.
template <typename Work>
auto without_exceptions(Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    return std::unexpected(describe_exception());
  }
}

}  // namespace Atoll::support
