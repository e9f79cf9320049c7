// tools: `atoll cache`, which shows and clears the translated code that the compiled engine keeps on disk.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "engine/compiled/translation_cache.h"
#include "tools/command.h"
#include "tools/command_line.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;

namespace {

support::Result<int> show() {
  const auto cache = engine::TranslationCache::from_environment();
  if (!cache) return std::unexpected(cache.error());
  if (!*cache) {
    fmt::print("There is no cache: ATOLL_CACHE is off, or there is no home directory.\n");
    return 0;
  }
  if (auto ok = (*cache)->check(); !ok) {
    return fail(ErrorKind::system, "the cache is not used: {}", ok.error().message);
  }
  const auto contents = (*cache)->contents();
  constexpr double mebibyte = 1 << 20;
  fmt::print("directory  {}\n", (*cache)->directory().string());
  fmt::print("kernels    {}\n", contents.files);
  fmt::print("size       {:.1f} MiB of at most {:.1f} MiB\n", static_cast<double>(contents.bytes) / mebibyte,
             static_cast<double>((*cache)->max_bytes()) / mebibyte);
  fmt::print("hits       {}\n", contents.hits);
  return 0;
}

support::Result<int> clear() {
  const auto cache = engine::TranslationCache::from_environment();
  if (!cache) return std::unexpected(cache.error());
  if (*cache) {
    if (auto cleared = (*cache)->clear(); !cleared) return std::unexpected(cleared.error());
  }
  return 0;
}

}  // namespace

void add_cache(CLI::App& app, Invocation& invocation) {
  CLI::App* cache = app.add_subcommand("cache", "Show or clear the compiled kernels that are kept on disk");
  cache->formatter(with_usage("atoll cache [clear]"));
  cache->footer(
      "Compiled kernels are kept, so that the next run starts with them. The least recently used are removed when the\n"
      "limit is reached. A directory that others own or may write to is not used, because its content is executed.\n\n"
      "Environment:\n"
      "  ATOLL_CACHE        the directory, or off\n"
      "  ATOLL_CACHE_SIZE   the limit: 500M, 2G; 1G without it\n\n"
      "Files:\n"
      "  ~/.cache/atoll     the directory without ATOLL_CACHE; $XDG_CACHE_HOME/atoll if that is set");
  CLI::App* clearing = cache->add_subcommand("clear", "Remove all of them");
  cache->callback([&invocation, clearing] { invocation.work = clearing->parsed() ? clear : show; });
}

}  // namespace Atoll::tools
