// settings: the values of the settings (support/settings.h), and which source each one has.
//
// The precedence is one for all: an option of `atoll run`, else the environment variable, else the default.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "support/settings.h"

namespace Atoll::settings {

using support::Setting;

class Values {
 public:
  /// The values that the environment has.
  static Values from_environment();

  /// Replaces a value by that of an option, by whose name errors call it from then on.
  void set_by_option(Setting setting, std::string value);

  /// Replaces a value, without a change of source.
  void set(Setting setting, std::string value) { values_[static_cast<size_t>(setting)].text = std::move(value); }
  void unset(Setting setting) { values_[static_cast<size_t>(setting)] = {}; }
  /// Makes names of files absolute: the program may go to another directory.
  void make_paths_absolute();
  /// Writes all values to this process's environment.
  void export_all() const;

  /// The value; nothing when it is unset. An empty value is unset, except for ROCR_VISIBLE_DEVICES.
  std::optional<std::string_view> get(Setting setting) const;
  bool is_option(Setting setting) const { return of(setting).is_option; }

  /// "--gpu" or "ATOLL_GPU", by the source of the value.
  std::string name(Setting setting) const;
  /// An invalid-argument error that begins with the name and the value: "ATOLL_TIMEOUT=soon: ...".
  std::unexpected<support::Error> wrong(Setting setting, std::string_view why) const;
  /// The same for an error of a function that has read the value. Its kind stays.
  std::unexpected<support::Error> wrong(Setting setting, const support::Error& error) const;

 private:
  struct Value {
    std::optional<std::string> text;
    bool is_option = false;
  };
  const Value& of(Setting setting) const { return values_[static_cast<size_t>(setting)]; }
  std::string said(Setting setting) const;

  std::array<Value, std::size(support::setting_rows)> values_;
};

/// What is wrong with the names of environment variables that begin with ATOLL_.
struct NameFaults {
  std::vector<std::string> errors;    ///< a name is unknown and close to a known one
  std::vector<std::string> warnings;  ///< a name is unknown
};
NameFaults check_names(std::span<const char* const> environment);
/// The same of this process.
NameFaults check_names();

}  // namespace Atoll::settings
