// The cache of translated code on disk: what was stored is found, and nothing else.
#include "engine/compiled/translation_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "engine/compiled/translation.h"
#include "support/command.h"

namespace Atoll::test {

namespace {

namespace fs = std::filesystem;
using engine::TranslationCache;
using Bytes = std::vector<uint8_t>;

Bytes bytes(unsigned seed, size_t size) {
  std::mt19937 random(seed);
  Bytes result(size);
  for (uint8_t& byte : result) byte = static_cast<uint8_t>(random());
  return result;
}

class TranslationCacheTest : public testing::Test {
 protected:
  TranslationCacheTest() : path_(directory_ / "cache") {
    setenv("ATOLL_CACHE", path_.c_str(), 1);
    unsetenv("ATOLL_CACHE_SIZE");
  }
  static TranslationCache cache() { return TranslationCache::from_environment().value().value(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    return found;
  }

  TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(TranslationCacheTest, FindsWhatWasStoredAndCountsIt) {
  const Bytes request = bytes(1, 100), answer = bytes(2, 5000);
  uint64_t group = 0;
  std::memcpy(&group, request.data(), sizeof group);
  EXPECT_FALSE(cache().has_group(group));
  EXPECT_EQ(cache().find(request), std::nullopt);
  cache().store(request, answer);
  EXPECT_TRUE(cache().has_group(group));
  EXPECT_EQ(cache().find(request), answer);
  EXPECT_EQ(cache().find(request), answer);
  Bytes other = request;
  other.back() ^= 1;  // the same group
  EXPECT_EQ(cache().find(other), std::nullopt);
  const auto contents = cache().contents();
  EXPECT_EQ(contents.files, 1U);
  EXPECT_EQ(contents.hits, 2U);
  EXPECT_GE(contents.bytes, 5100U);
}

TEST_F(TranslationCacheTest, RemovesADamagedFile) {
  const Bytes request = bytes(1, 100), answer = bytes(2, 500);
  for (const unsigned position : {0U, 20U, 30U, 60U, 300U, 639U}) {
    cache().store(request, answer);
    const fs::path file = files().at(0);
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(position);
    const auto byte = static_cast<char>(stream.get() ^ 0x40);
    stream.seekp(position);
    stream.put(byte);
    stream.close();
    EXPECT_EQ(cache().find(request), std::nullopt) << position;
    EXPECT_TRUE(files().empty()) << position;
  }
  cache().store(request, answer);
  fs::resize_file(files().at(0), 300);
  EXPECT_EQ(cache().find(request), std::nullopt);
  EXPECT_TRUE(files().empty());
}

TEST_F(TranslationCacheTest, DropsWhatWasUsedLongestAgo) {
  setenv("ATOLL_CACHE_SIZE", "100K", 1);
  const auto now = fs::file_time_type::clock::now();
  for (unsigned i = 0; i < 12; ++i) {
    cache().store(bytes(i, 100), bytes(i, 10'000));
    for (const fs::path& file : files()) {
      if (fs::last_write_time(file) > now - std::chrono::hours(1)) {
        fs::last_write_time(file, now - std::chrono::hours(100 - i));
      }
    }
  }
  EXPECT_NE(cache().find(bytes(0, 100)), std::nullopt);  // used now
  cache().trim();
  EXPECT_LE(cache().contents().bytes, 100U * 1024);
  EXPECT_NE(cache().find(bytes(0, 100)), std::nullopt);
  EXPECT_EQ(cache().find(bytes(1, 100)), std::nullopt);
  EXPECT_NE(cache().find(bytes(11, 100)), std::nullopt);
}

TEST_F(TranslationCacheTest, ClearsItsOwnFilesOnly) {
  cache().store(bytes(1, 100), bytes(2, 100));
  fs::create_directories(fs::path(path_) / "mine/too");
  const fs::path mine = fs::path(path_) / "mine/too/file";
  std::ofstream(mine) << "text";
  ASSERT_TRUE(cache().clear().has_value());
  EXPECT_EQ(files(), std::vector<fs::path>{mine});
  EXPECT_EQ(cache().contents().files, 0U);
}

TEST_F(TranslationCacheTest, HasThePastRunsAmongItsFiles) {
  cache().past_runs().add(5, 100);
  EXPECT_EQ(cache().past_runs().spent(5), 100U);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_EQ(cache().contents().files, 0U) << "they are no kernel";
  EXPECT_EQ(cache().contents().bytes, fs::file_size(files().at(0)));
  cache().store(bytes(1, 100), bytes(2, 100));
  EXPECT_EQ(cache().contents().files, 1U);
  fs::create_directories(fs::path(path_) / "mine");
  std::ofstream(fs::path(path_) / "mine/past-runs") << "text";
  ASSERT_TRUE(cache().clear().has_value());
  EXPECT_EQ(cache().past_runs().spent(5), 0U);
  EXPECT_EQ(files(), std::vector<fs::path>{fs::path(path_) / "mine/past-runs"});
}

TEST_F(TranslationCacheTest, LeavesThePastRunsOutWhereThereIsLittleRoom) {
  setenv("ATOLL_CACHE_SIZE", "200K", 1);
  cache().past_runs().add(5, 100);
  EXPECT_EQ(cache().past_runs().spent(5), 0U);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(TranslationCacheTest, IsSharedByManyWriters) {
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (unsigned i = 0; i < 50; ++i) {
        cache().store(bytes(i, 64), bytes(i, 2000));
        const auto found = cache().find(bytes(i, 64));
        EXPECT_TRUE(!found || *found == bytes(i, 2000));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache().contents().files, 50U);
}

TEST_F(TranslationCacheTest, ReadsItsVariables) {
  setenv("ATOLL_CACHE", "off", 1);
  EXPECT_EQ(TranslationCache::from_environment().value(), std::nullopt);
  unsetenv("ATOLL_CACHE");
  const std::string home = directory_ / "home";
  const char* const old = getenv("XDG_CACHE_HOME");
  const std::string before = old != nullptr ? old : "";
  setenv("XDG_CACHE_HOME", home.c_str(), 1);
  EXPECT_EQ(cache().directory(), fs::path(home) / "atoll");
  before.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before.c_str(), 1);
  setenv("ATOLL_CACHE_SIZE", "3M", 1);
  EXPECT_EQ(TranslationCache::from_environment().value()->max_bytes(), 3U << 20);
  setenv("ATOLL_CACHE_SIZE", "plenty", 1);
  EXPECT_FALSE(TranslationCache::from_environment().has_value());
}

TEST_F(TranslationCacheTest, IsItsUsersAlone) {
  const mode_t before = umask(0);
  cache().store(bytes(1, 100), bytes(2, 100));
  cache().past_runs().add(5, 100);
  umask(before);
  unsigned directories = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    EXPECT_EQ(entry.status().permissions(),
              entry.is_directory() ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
    directories += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(directories, 2U);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
}

TEST_F(TranslationCacheTest, TakesNothingThatOthersCouldHaveMade) {
  const Bytes request = bytes(1, 100), answer = bytes(2, 100);
  cache().store(request, answer);
  cache().past_runs().add(5, 100);
  ASSERT_EQ(cache().find(request), answer);
  const fs::path build = fs::directory_iterator(path_)->path();
  std::vector<fs::path> places{path_, build};
  for (const auto& entry : fs::recursive_directory_iterator(build)) places.push_back(entry.path());
  ASSERT_EQ(places.size(), 5U);
  for (const fs::path& place : places) {
    const auto found = [&] { return cache().find(request) == answer && cache().past_runs().spent(5) == 100; };
    const fs::perms mode = fs::status(place).permissions();
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(place, mode | others);
      EXPECT_FALSE(found()) << place;
      EXPECT_EQ(cache().check().has_value(), place != path_);
      fs::permissions(place, mode);
    }
    if (geteuid() == 0) {
      constexpr uid_t nobody = 65534;
      ASSERT_EQ(lchown(place.c_str(), nobody, nobody), 0);
      EXPECT_FALSE(found()) << place;
      ASSERT_EQ(lchown(place.c_str(), 0, 0), 0);
    }
    // A link in its place, to the very same.
    const fs::path moved = fs::path(directory_ / "moved");
    fs::rename(place, moved);
    fs::create_symlink(moved, place);
    EXPECT_EQ(found(), place == path_) << "only the cache's own directory may be named by a link: " << place;
    fs::remove(place);
    // A pipe in its place is not waited for.
    ASSERT_EQ(mkfifo(place.c_str(), 0600), 0);
    EXPECT_FALSE(found()) << place;
    fs::remove(place);
    fs::rename(moved, place);
    ASSERT_TRUE(found()) << place;
  }
}

TEST_F(TranslationCacheTest, WritesThroughNoLink) {
  cache().past_runs().add(5, 100);
  cache().store(bytes(1, 100), bytes(2, 100));
  const std::string victim = directory_ / "victim";
  write_file(victim, "precious");
  for (const fs::path& file : files()) {
    fs::remove(file);
    fs::create_symlink(victim, file);
  }
  cache().past_runs().add(5, 100);
  cache().store(bytes(1, 100), bytes(2, 100));
  EXPECT_EQ(cache().find(bytes(1, 100)), bytes(2, 100)) << "the link has been replaced";
  EXPECT_EQ(read_bytes(victim), (Bytes{'p', 'r', 'e', 'c', 'i', 'o', 'u', 's'}));
}

TEST_F(TranslationCacheTest, AFileThatSaysItIsHugeEndsNobody) {
  const Bytes request = bytes(1, 100);
  for (const bool in_header : {false, true}) {
    cache().store(request, bytes(2, 100));
    const fs::path file = files().at(0);
    constexpr uint64_t huge = uint64_t{1} << 40;
    if (in_header) {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      const uint64_t answer = huge - 40 - 100;
      stream.seekp(32);
      stream.write(reinterpret_cast<const char*>(&answer), sizeof answer);
    }
    fs::resize_file(file, huge);  // sparse
    EXPECT_EQ(cache().find(request), std::nullopt);
    EXPECT_TRUE(files().empty());
  }
}

TEST_F(TranslationCacheTest, WithoutAWritableDirectoryNothingIsKept) {
  setenv("ATOLL_CACHE", "/proc/no/such/place", 1);
  cache().store(bytes(1, 100), bytes(2, 100));
  EXPECT_EQ(cache().find(bytes(1, 100)), std::nullopt);
}

TEST(TranslatedCode, DamagedBytesAreRefusedOrHarmless) {
  engine::TranslatedCode code;
  code.entries = {{0, 0, 0}, {16, 32, 1}};
  code.helper_pcs = {4, 8};
  code.imports = {{48, 1}};
  code.code = bytes(1, 64);
  code.untranslated["s_sendmsg"] = 2;
  const Bytes whole = code.serialise();
  ASSERT_TRUE(engine::TranslatedCode::parse(whole).has_value());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(engine::TranslatedCode::parse(std::span(whole).first(size)).has_value());
  }
  std::mt19937 random(1);
  for (unsigned i = 0; i < 2000; ++i) {
    Bytes damaged = whole;
    damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    const auto parsed = engine::TranslatedCode::parse(damaged);
    if (!parsed) continue;
    for (const engine::EntryPoint& entry : parsed->entries) EXPECT_LT(entry.function, parsed->code.size());
    for (const engine::Import& import : parsed->imports) EXPECT_LE(import.slot + 8U, parsed->code.size());
  }
}

}  // namespace

}  // namespace Atoll::test
