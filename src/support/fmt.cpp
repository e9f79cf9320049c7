// support: the functions of the fmt library that are no templates, out of its headers. Debian packages fmt as a shared
// library only, and what Atoll installs is to run where there is none, or one of another version.
#include <fmt/format-inl.h>

namespace fmt::inline v9::detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto thousands_sep_impl<wchar_t>(locale_ref) -> thousands_sep_result<wchar_t>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
template FMT_API auto decimal_point_impl<wchar_t>(locale_ref) -> wchar_t;

}  // namespace fmt::inline v9::detail
