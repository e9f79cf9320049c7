// The packages that CPack makes: what is in them, and that the tarball runs from wherever it is unpacked and with the
// few rights that programs have in containers (bubblewrap). The test package.build has made them, and a HIP program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "support/command.h"

namespace Atoll {
namespace {

namespace fs = std::filesystem;

const std::string tarball_folder = "atoll-" ATOLL_VERSION "-linux-x86_64";
const std::string tarball = ATOLL_PACKAGES "/" + tarball_folder + ".tar.gz";
const std::string debian_package = ATOLL_PACKAGES "/atoll_" ATOLL_VERSION "_amd64.deb";
const std::string program = ATOLL_PACKAGES "/mandelbrot";
constexpr const char* result = "418 of 2106 points never leave; 0 differences from the host\n";

std::string run(const std::string& command) {
  const auto done = test::run_command(command + " 2>&1");
  EXPECT_EQ(done.exit_code, 0) << command << "\n" << done.output;
  return done.output;
}

/// Returns each line without the leading `prefix`, and without directories.
std::set<std::string> files_of(const std::string& list, const std::string& prefix) {
  std::set<std::string> files;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with(prefix) || prefix.starts_with(line)) << line;
    if (!line.ends_with("/")) files.insert(line.substr(prefix.size()));
  }
  return files;
}

std::set<std::string> files_of_the_tarball() { return files_of(run("tar tf " + tarball), tarball_folder + "/"); }

TEST(InstallationPackage, TheTarballIsOneFolderWithEverything) {
  EXPECT_THAT(files_of_the_tarball(),
              testing::IsSupersetOf({"bin/atoll", "libexec/atoll/atoll-compiler", "lib/atoll/libhsa-runtime64.so.1",
                                     "lib/atoll/libatoll-driver.so", "lib/libatoll.so", "include/atoll/atoll.h",
                                     "lib/cmake/atoll/atollConfig.cmake", "lib/pkgconfig/atoll.pc",
                                     "share/doc/atoll/README.md", "share/doc/atoll/CHANGELOG.md",
                                     "share/doc/atoll/LICENSE", "share/doc/atoll/copyright", "share/man/man1/atoll.1",
                                     "share/man/man1/atoll-run.1", "share/bash-completion/completions/atoll",
                                     "share/zsh/site-functions/_atoll", "share/fish/vendor_completions.d/atoll.fish"}));
}

// Libraries that are linked in require their license text.
TEST(InstallationPackage, TheLicensesOfWhatIsLinkedInAreThere) {
  const std::string copyright = run(fmt::format("tar xOf {} {}/share/doc/atoll/copyright", tarball, tarball_folder));
  for (const char* words : {"MIT License", "LLVM Exceptions", "GCC Runtime Library Exception", "libfmt-dev",
                            "libcli11-dev", "nlohmann-json3-dev", "Boost Software License", "libyaml-cpp-dev",
                            "libzstd-dev", "zlib1g-dev", "libhsa-runtime-dev"})
    EXPECT_THAT(copyright, testing::HasSubstr(words));
}

TEST(InstallationPackage, TheDebianPackageNeedsTheCLibraryOnly) {
  EXPECT_EQ(run("dpkg-deb --field " + debian_package + " Package Version Architecture Depends"),
            "Package: atoll\nVersion: " ATOLL_VERSION "\nArchitecture: amd64\nDepends: libc6 (>= 2.35)\n");
}

// libatoll.so.0.1 is a library of the system's, and the list that the loader has of those is brought up to date.
TEST(InstallationPackage, TheDebianPackageTellsTheLoaderOfItsLibrary) {
  EXPECT_THAT(run("dpkg-deb --info " + debian_package + " postinst"), testing::HasSubstr("ldconfig"));
}

TEST(InstallationPackage, TheDebianPackageHasTheSameFilesInDebiansPlaces) {
  std::set<std::string> expected;
  for (std::string file : files_of_the_tarball()) {
    if (file == "share/doc/atoll/LICENSE") continue;
    if (file == "share/doc/atoll/CHANGELOG.md") file = "share/doc/atoll/changelog.gz";
    if (file.starts_with("share/man/")) file += ".gz";
    if (file.starts_with("share/zsh/site-functions")) file.replace(0, 24, "share/zsh/vendor-completions");
    expected.insert(file);
  }
  EXPECT_EQ(files_of(run("dpkg-deb --fsys-tarfile " + debian_package + " | tar t"), "./usr/"), expected);
  std::istringstream lines(run("dpkg-deb --contents " + debian_package));
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line, testing::MatchesRegex("(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--|lrwxrwxrwx) root/root .*"));
}

// Debug information contains the build directory, and is larger than everything else.
TEST(InstallationPackage, ProgramsAreStripped) {
  const test::TemporaryDirectory directory;
  run(fmt::format("tar xf {} -C {}", tarball, directory.path().string()));
  for (const char* file :
       {"bin/atoll", "libexec/atoll/atoll-compiler", "lib/atoll/libhsa-runtime64.so.1", "lib/libatoll.so"})
    EXPECT_THAT(run(fmt::format("readelf --wide --sections {}/{}/{}", directory.path().string(), tarball_folder, file)),
                testing::Not(testing::ContainsRegex(R"(\.debug_info|\.symtab)")));
}

TEST(InstallationPackage, SymbolsHaveVersions) {
  const test::TemporaryDirectory directory;
  run(fmt::format("tar xf {} -C {} --strip-components=1", tarball, directory.path().string()));
  const std::string minor = std::string(ATOLL_VERSION).substr(0, std::string(ATOLL_VERSION).rfind('.'));
  EXPECT_THAT(run("readelf --dynamic " + (directory / "lib/libatoll.so")),
              testing::HasSubstr("soname: [libatoll.so." + minor + "]"));
  for (const auto& [file, version] : {std::pair{"lib/libatoll.so", "ATOLL_" + minor},
                                      std::pair{"lib/atoll/libhsa-runtime64.so.1", std::string("ROCR_1")}}) {
    std::istringstream symbols(run("nm --dynamic --defined-only --with-symbol-versions " + (directory / file)));
    int count = 0;
    for (std::string symbol; std::getline(symbols, symbol); count++)
      EXPECT_TRUE(symbol.ends_with(version)) << file << ": " << symbol;
    EXPECT_GT(count, 5) << file;
  }
}

/// The tarball, unpacked in a folder whose name the loader would take apart.
class InstallationTarball : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder);
    run(fmt::format("tar xf {} -C '{}' --strip-components=1", tarball, folder.string()));
  }

  test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "it:s; $HOME";
  const std::string atoll = fmt::format("'{}/bin/atoll'", folder.string());
};

TEST_F(InstallationTarball, RunsFromAnywhereWithoutAnEnvironment) {
  for (const char* engine : {"interpreter", "compiled"}) {
    SCOPED_TRACE(engine);
    EXPECT_THAT(
        run(fmt::format("cd / && env -i PATH=/usr/bin:/bin ATOLL_CACHE=off ATOLL_COMPILE=wait {} run --engine {} -- {}",
                        atoll, engine, program)),
        testing::EndsWith(result));
  }
}

TEST_F(InstallationTarball, RunsByALinkToTheCommand) {
  fs::create_symlink(folder / "bin/atoll", directory.path() / "atoll");
  EXPECT_THAT(run(fmt::format("PATH=$PATH:{} ATOLL_CACHE=off atoll run --gpu rx6900xt -- {}", directory.path().string(),
                              program)),
              testing::EndsWith(result));
}

/// As a container of CI may be: no user of the host, no rights, every file system read-only, no /dev/shm, no home. HIP
/// compiles the kernels of its copies through files in TMPDIR or /tmp, on hardware, too.
class InstallationSandbox : public InstallationTarball {
 protected:
  std::string in_sandbox(const std::string& options, const std::string& command) const {
    return fmt::format(
        "bwrap --ro-bind / / --proc /proc --tmpfs /dev --dev-bind /dev/null /dev/null --remount-ro /dev --unshare-all "
        "--uid 65534 --gid 65534 --cap-drop ALL --setenv HOME /nonexistent --unsetenv ATOLL_CACHE {} -- {}",
        options, command);
  }
};

TEST_F(InstallationSandbox, IsAsNarrowAsItShouldBe) {
  EXPECT_THAT(
      run(in_sandbox("", "sh -c 'id -u; ls /dev; for d in / /tmp /dev /dev/shm ~; do touch $d/x || echo no; done'")),
      testing::MatchesRegex("65534\nnull\n(touch:[^\n]+\nno\n){5}"));
}

TEST_F(InstallationSandbox, ProgramsRun) {
  // Only the tarball and the program are to be seen in /tmp, which can be written.
  const std::string tmp =
      fmt::format("--tmpfs /tmp --ro-bind '{0}' '{0}' --ro-bind {1} {1}", folder.string(), ATOLL_PACKAGES);
  EXPECT_THAT(run(in_sandbox(tmp, fmt::format("{} run -- {}", atoll, program))), testing::EndsWith(result));
  EXPECT_THAT(run(in_sandbox(tmp + " --setenv ATOLL_COMPILE wait", fmt::format("{} run -- {}", atoll, program))),
              testing::EndsWith(result));
}

TEST_F(InstallationSandbox, ProgramsRunWhereOnlyTmpdirCanBeWritten) {
  const std::string own = directory / "own";
  fs::create_directory(own);
  EXPECT_THAT(run(in_sandbox(fmt::format("--bind {0} {0} --setenv TMPDIR {0}", own),
                             fmt::format("{} run -- {}", atoll, program))),
              testing::EndsWith(result));
}

TEST_F(InstallationSandbox, KernelsRunWhereNothingCanBeWritten) {
  const std::string eval = " eval 'v_add_u32 v0, v1, v2' --gpu gfx90a v1=2 v2=3 --engine compiled";
  EXPECT_THAT(run(in_sandbox("", atoll + eval)), testing::HasSubstr("v0[0-63] = 0x00000005"));
  // The folder's name needs a link then; elsewhere there is nothing to be written.
  const auto refused = test::run_command(in_sandbox("", fmt::format("{} run -- true 2>&1", atoll)));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.output,
              testing::HasSubstr("has characters that the loader does not take, and the link to it has no "
                                 "place for temporary files, neither /tmp nor TMPDIR"));
  fs::rename(folder, directory.path() / "plain");
  EXPECT_EQ(run(in_sandbox("", (directory / "plain/bin/atoll") + " run -- " + ATOLL_HSA_PROGRAM)), "1 GPU: gfx90a\n");
}

}  // namespace
}  // namespace Atoll
