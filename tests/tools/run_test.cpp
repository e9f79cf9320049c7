// `atoll run`: which GPU a program gets, what it sees, and what comes back of it. Ordinary programs are run, by a copy
// of the command with a runtime of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "object/compiled.h"
#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

class RunCommand : public testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    fs::create_directories(directory.path() / "bin");
    fs::create_directories(directory.path() / "lib");
    fs::copy_file(ATOLL_COMMAND, directory.path() / "bin/atoll");
    fs::create_symlink(ATOLL_HSA_LIBRARY, directory.path() / "lib/libhsa-runtime64.so.1");
  }

  test::CommandResult run(const std::string& arguments) const {
    return test::run_command(fmt::format("{}/bin/atoll run {} 2>&1", directory.path().string(), arguments));
  }

  test::CommandResult run_with(const std::string& variables, const std::string& arguments) const {
    return test::run_command(
        fmt::format("env {} {}/bin/atoll run {} 2>&1", variables, directory.path().string(), arguments));
  }

  /// Compiles C and puts an offload bundle with code for `targets` into the result, as hipcc would, but without
  /// linking the HIP runtime.
  std::string compile(const std::string& name, const std::vector<std::string>& targets, const std::string& source,
                      const std::string& options = "") const {
    std::string ids = "host-x86_64-unknown-linux", inputs = "-input=/dev/null";
    for (const std::string& target : targets) {
      const std::string path = directory / (target + ".co");
      if (target == "gfx1310") {
        test::compile_code_object_of_gfx1310(path);
      } else {
        test::compile_code_object("clang-15", 4, target, path);
      }
      ids += ",hipv4-amdgcn-amd-amdhsa--" + target;
      inputs += fmt::format(" -input={}.co", target);
    }
    test::write_file(directory / (name + ".c"), source);
    const auto compiled = test::run_command(
        fmt::format("cd {0} && clang-offload-bundler-19 -type=o -targets={1} {2} -output=bundle 2>&1 && "
                    "clang-19 {3}.c {4} -o {3} 2>&1 && llvm-objcopy-22 --add-section=.hip_fatbin=bundle {3} 2>&1",
                    directory.path().string(), ids, inputs, name, options));
    EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
    return directory / name;
  }

  std::string program(const std::string& name, const std::vector<std::string>& targets) const {
    return compile(
        name, targets,
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts(getenv(\"ATOLL_GPU\")) < 0; }\n");
  }

  test::TemporaryDirectory directory;
};

TEST_F(RunCommand, ExitCodesAndSignalsAreThePrograms) {
  EXPECT_EQ(run("-- true").exit_code, 0);
  EXPECT_EQ(run("-- sh -c 'exit 42'").exit_code, 42);
  EXPECT_EQ(run("-- sh -c 'kill -TERM $$'").exit_code, 128 + 15);
}

TEST_F(RunCommand, StreamsAndArgumentsPassThrough) {
  const auto echoed = test::run_command(
      fmt::format("echo in | {}/bin/atoll run -- sh -c 'cat; echo \"$@\"; echo err >&2' x --gpu -- 'a b' 2>{}",
                  directory.path().string(), directory / "err"));
  EXPECT_EQ(echoed.output, "in\n--gpu -- a b\n");
  EXPECT_EQ(test::run_command("cat " + (directory / "err")).output, "err\n");
  EXPECT_EQ(run("echo without dashes --gpu").output, "without dashes --gpu\n");
}

TEST_F(RunCommand, TellsTheRuntimeWhatWasAskedFor) {
  const std::string show = " -- sh -c 'echo $ATOLL_GPU,$ATOLL_STATS,$ATOLL_TIMEOUT,$ATOLL_THREADS'";
  EXPECT_EQ(run("--gpu mi100" + show).output, "mi100:sramecc+:xnack-,,,\n");
  EXPECT_EQ(run("--gpu gfx906:xnack+ --stats --timeout 2.5 --threads 3" + show).output,
            "mi50:sramecc+:xnack+,1,2.5,3\n");
  EXPECT_EQ(run(show).output, "mi250x:sramecc+:xnack-,,,\n");
  // The program may go to another directory.
  EXPECT_THAT(run("--gpu mi100 --stats=stats.%p.json" + show).output,
              testing::MatchesRegex("mi100:sramecc.:xnack-,/.*/stats.%p.json,,\n"));
}

TEST_F(RunCommand, TellsTheRuntimeOfSeveralGpus) {
  const std::string show = " -- sh -c 'echo $ATOLL_GPU $ATOLL_GPUS $ATOLL_MEMORY'";
  EXPECT_EQ(run("--gpus 3 --gpu mi50 --memory 4G" + show).output,
            "mi50:sramecc+:xnack-,mi50:sramecc+:xnack-,mi50:sramecc+:xnack- 4G\n");
  EXPECT_EQ(run("--gpu mi250x:xnack+,rx7900xtx" + show).output, "mi250x:sramecc+:xnack+,rx7900xtx\n");
  EXPECT_EQ(run("--gpus 2 -- " + program("twice", {"gfx906"})).output, "mi50:sramecc+:xnack-,mi50:sramecc+:xnack-\n");
}

TEST_F(RunCommand, WarnsForEachKindOfGpuThatHasNoCode) {
  const std::string output = run("--gpu gfx906,gfx90a,vega64,gfx90a -- " + program("some", {"gfx906"})).output;
  EXPECT_THAT(output, testing::AllOf(HasSubstr("--gpu mi250x is gfx90a"), HasSubstr("--gpu vega64 is gfx900"),
                                     testing::Not(HasSubstr("--gpu mi50"))));
  EXPECT_EQ(std::ranges::count(output, '\n'), 3) << output;
}

TEST_F(RunCommand, NumbersOfGpusAndAmountsOfMemoryMakeSense) {
  const auto refused = [&](const std::string& options) {
    const auto result = run(options + " -- true");
    EXPECT_EQ(result.exit_code, 2) << options;
    return result.output;
  };
  EXPECT_THAT(refused("--gpus 0"), HasSubstr("--gpus"));
  EXPECT_THAT(refused("--gpus 65"), HasSubstr("64"));
  EXPECT_THAT(refused("--gpus two"), HasSubstr("--gpus"));
  EXPECT_THAT(refused("--gpus 3 --gpu mi50,mi100"), HasSubstr("a list of 2 GPUs, and 3 are asked for"));
  EXPECT_THAT(refused("--memory 1X"), HasSubstr("--memory 1X: '1X' is not an amount of memory; use 4G, 512M"));
  EXPECT_THAT(refused("--memory 0"), HasSubstr("--memory"));
  EXPECT_THAT(refused("--memory 99999999999T"), HasSubstr("--memory"));
  EXPECT_THAT(run("--gpu mi50,voodoo2 -- true").output, HasSubstr("unknown GPU 'voodoo2'"));
}

// A CI matrix sets these; each job has its own GPU.
TEST_F(RunCommand, TheEnvironmentNamesTheGpuWhenNoOptionDoes) {
  const std::string show = "-- sh -c 'echo $ATOLL_GPU'";
  EXPECT_EQ(run_with("ATOLL_GPU=gfx1030", show).output, "rx6900xt\n");
  EXPECT_EQ(run_with("ATOLL_GPU=gfx1030 ATOLL_GPUS=2", show).output, "rx6900xt,rx6900xt\n");
  EXPECT_EQ(run_with("ATOLL_GPUS=2", show).output, "mi250x:sramecc+:xnack-,mi250x:sramecc+:xnack-\n");
  EXPECT_EQ(run_with("ATOLL_GPU=gfx1030 ATOLL_GPUS=2", "--gpu mi50 --gpus 1 " + show).output, "mi50:sramecc+:xnack-\n");
  EXPECT_THAT(run_with("ATOLL_GPU=vega64", "-- " + program("own", {"gfx906"})).output,
              HasSubstr("and ATOLL_GPU vega64 is gfx900"));
}

TEST_F(RunCommand, ARunInsideAnotherHasItsSettings) {
  const std::string inner = fmt::format("-- {}/bin/atoll run ", directory.path().string());
  const std::string show = "-- sh -c 'echo $ATOLL_GPU $ATOLL_TIMEOUT'";
  EXPECT_EQ(run("--gpu gfx1030 --timeout 3 " + inner + show).output, "rx6900xt 3\n");
  EXPECT_EQ(run("--gpu gfx1030 --timeout 3 " + inner + "--timeout 4 " + show).output, "rx6900xt 4\n");
  EXPECT_EQ(run("--gpu mi50 --gpus 2 " + inner + show).output, "mi50:sramecc+:xnack-,mi50:sramecc+:xnack-\n");
  // The outer one chooses for a program without GPU code, the inner one for a program that has some.
  EXPECT_EQ(run(inner + "-- " + program("mine", {"gfx906"})).output, "mi50:sramecc+:xnack-\n");
  EXPECT_EQ(run("--gpus 2 " + inner + "-- " + program("mine", {"gfx906"})).output,
            "mi50:sramecc+:xnack-,mi50:sramecc+:xnack-\n");
}

TEST_F(RunCommand, WrongSettingsEndTheRunBeforeTheProgram) {
  struct Case {
    const char *variable, *option, *value;
  };
  for (const auto& [variable, option, value] : {
           Case{"ATOLL_GPU", "--gpu", "voodoo2"},
           {"ATOLL_GPUS", "--gpus", "65"},
           {"ATOLL_MEMORY", "--memory", "1X"},
           {"ATOLL_TIMEOUT", "--timeout", "soon"},
           {"ATOLL_THREADS", "--threads", "2x"},
           {"ATOLL_ENGINE", "--engine", "bogus"},
           {"ATOLL_CHECK", "--check", "memroy"},
           {"ATOLL_CHECK=all ATOLL_CHECK_REPORT", "--check --check-report", "x.txt"},
           {"ATOLL_CHECK=all ATOLL_CHECK_EXIT_CODE", "--check --check-exit-code", "256"},
           {"ATOLL_CHECK=all ATOLL_CHECK_SUPPRESSIONS", "--check --check-suppressions", "/nowhere/x"},
           {"ATOLL_CHECK_EXIT_CODE", "--check-exit-code", "9"},
           {"ATOLL_CHECK_REPORT", "--check-report", "x.json"},
           {"ATOLL_COMPILE", "", "yes"},
           {"ATOLL_COMPILER", "", "/nowhere"},
           {"ATOLL_HOST_VECTORS", "", "mmx"},
           {"ATOLL_CACHE_SIZE", "", "many"},
           {"ATOLL_CACHE", "", "/dev/null"},
           {"HSA_XNACK", "", "yes"},
           {"HSA_CU_MASK", "", "0:x"},
           {"ATOLL_TIMOUT", "", "3"},
       }) {
    SCOPED_TRACE(std::string(variable) + "=" + value);
    const std::string name = std::string(variable).substr(std::string(variable).rfind(' ') + 1);
    const auto by_variable = run_with(fmt::format("{}={}", variable, value), "-- echo ran");
    EXPECT_NE(by_variable.exit_code, 0);
    EXPECT_THAT(by_variable.output, testing::AllOf(testing::StartsWith("atoll: "), HasSubstr(name)));
    EXPECT_THAT(by_variable.output, testing::Not(HasSubstr("ran")));
    if (*option == '\0') continue;
    const auto by_option =
        run(fmt::format("{}{}{} -- echo ran", option, std::string(option) == "--check" ? "=" : " ", value));
    EXPECT_NE(by_option.exit_code, 0);
    EXPECT_THAT(by_option.output, testing::StartsWith("atoll: "));
    EXPECT_THAT(by_option.output, testing::Not(HasSubstr("ran")));
  }
}

TEST_F(RunCommand, AnOptionIsGivenOnce) {
  for (const char* twice : {"--gpu mi50 --gpu mi100", "--gpus 1 --gpus 2", "--memory 1G --memory 2G", "--stats --stats",
                            "--stats --stats=x.json", "--timeout 1 --timeout 2", "--threads 1 --threads 1",
                            "--engine compiled --engine interpreter", "--core --core", "--check --check=race",
                            "--check --check-exit-code 1 --check-exit-code 2"}) {
    const auto refused = run(std::string(twice) + " -- echo ran");
    EXPECT_EQ(refused.exit_code, 2) << twice;
    EXPECT_THAT(refused.output, HasSubstr(" is given twice")) << twice;
  }
}

TEST_F(RunCommand, ForeignVariablesAreWarnedOf) {
  EXPECT_EQ(run_with("ATOLL_PACKAGE=x", "-- echo ran").output,
            "atoll: the environment variable ATOLL_PACKAGE has no meaning to Atoll\nran\n");
}

TEST_F(RunCommand, TheRuntimesDirectoryComesFirst) {
  EXPECT_EQ(test::run_command(fmt::format("LD_LIBRARY_PATH=/opt/x {}/bin/atoll run -- sh -c 'echo $LD_LIBRARY_PATH'",
                                          directory.path().string()))
                .output,
            fmt::format("{}/lib:/opt/x\n", std::filesystem::canonical(directory.path()).string()));
}

TEST_F(RunCommand, AnInstallationHasItsRuntimeInADirectoryOfItsOwn) {
  const std::string prefix = directory / "prefix";
  const auto installed = test::run_command(
      fmt::format("{} --install {} --component runtime --prefix {} 2>&1", ATOLL_CMAKE, ATOLL_BUILD, prefix));
  ASSERT_EQ(installed.exit_code, 0) << installed.output;
  const std::string runtime = fmt::format("{}/{}/atoll", std::filesystem::canonical(prefix).string(), ATOLL_LIBDIR);
  EXPECT_TRUE(std::filesystem::exists(runtime + "/libhsa-runtime64.so.1"));
  EXPECT_EQ(
      test::run_command(fmt::format("unset LD_LIBRARY_PATH; {}/bin/atoll run -- sh -c 'echo $LD_LIBRARY_PATH'", prefix))
          .output,
      runtime + "\n");
}

TEST_F(RunCommand, ChoosesAGpuForTheProgramsOwnCode) {
  EXPECT_EQ(run("-- " + program("one", {"gfx906"})).output, "mi50:sramecc+:xnack-\n");
  EXPECT_EQ(run("-- " + program("several", {"gfx900", "gfx908:xnack+", "gfx90a:xnack-"})).output,
            "mi250x:sramecc+:xnack-\n");
  EXPECT_EQ(run("-- " + program("replay", {"gfx90a:xnack+"})).output, "mi250x:sramecc+:xnack+\n");
  EXPECT_THAT(run("--gpu vega64 -- " + program("wish", {"gfx906"})).output, testing::EndsWith("\nvega64:xnack-\n"));
}

TEST_F(RunCommand, ChoosesAGpuForTheLibrariesOfAProgramWithoutCode) {
  compile("libkernels.so", {"gfx908"}, "void use(void) {}\n", "-shared -Wl,-soname,libkernels.so");
  test::write_file(directory / "plain.c",
                   "#include <stdio.h>\n#include <stdlib.h>\nvoid use(void);\n"
                   "int main(void) { use(); return puts(getenv(\"ATOLL_GPU\")) < 0; }\n");
  const auto compiled = test::run_command(
      fmt::format("cd {0} && clang-19 plain.c -o plain libkernels.so -Wl,-rpath,{0} 2>&1", directory.path().string()));
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  EXPECT_EQ(run("-- " + (directory / "plain")).output, "mi100:sramecc+:xnack-\n");
}

TEST_F(RunCommand, SaysWhichTargetsAndGpusThereAreWhenNoneFits) {
  const auto refused = run("-- " + program("foreign", {"gfx1310"}));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.output, testing::StartsWith("atoll: "));
  EXPECT_THAT(refused.output, testing::AllOf(HasSubstr("gfx1310"), HasSubstr("to GFX12.5 so far"),
                                             HasSubstr("gfx90a, gfx90c, gfx942")));
}

// ROCm's major version is that of HIP's library. A stand-in for it is linked, so that the program runs.
TEST_F(RunCommand, SaysThatAProgramIsLinkedWithARocmThatIsNotServed) {
  test::write_file(directory / "hip.c", "int hip(void) { return 0; }\n");
  test::write_file(directory / "app.c",
                   "#include <stdio.h>\nint hip(void);\nint main(void) { return puts(\"ran\") < hip(); }\n");
  for (const int version : {4, 5, 6, 7, 8}) {
    SCOPED_TRACE(version);
    const auto compiled = test::run_command(fmt::format(
        "cd {0} && clang-19 -shared -fPIC hip.c -Wl,-soname,libamdhip64.so.{1} -o libamdhip64.so.{1} 2>&1 && "
        "clang-19 app.c -o app{1} ./libamdhip64.so.{1} -Wl,-rpath,{0} 2>&1",
        directory.path().string(), version));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    const std::string app = directory / fmt::format("app{}", version);
    const bool served = version >= 5 && version <= 7;
    for (const std::string gpu : {"", "--gpu mi100 "})
      EXPECT_EQ(run(gpu + "-- " + app).output,
                served ? "ran\n"
                       : fmt::format("atoll: {} is linked with the HIP of ROCm {}; Atoll runs programs of ROCm 5.2 to "
                                     "7.2\nran\n",
                                     app, version));
  }
}

TEST_F(RunCommand, SaysThatAProgramHasNoCodeForTheGpu) {
  const std::string app = program("elsewhere", {"gfx906"});
  EXPECT_EQ(run("--gpu mi100 -- " + app).output,
            "atoll: " + app +
                ": the GPU code is for gfx906, and --gpu mi100 is gfx908:sramecc+:xnack-; --gpu gfx906:sramecc+:xnack- "
                "runs it\nmi100:sramecc+:xnack-\n");
  const std::string foreign = program("foreign", {"gfx1310"});
  EXPECT_EQ(run("--gpu mi100 -- " + foreign).output,
            "atoll: " + foreign +
                ": the GPU code is for gfx1310, and --gpu mi100 is gfx908:sramecc+:xnack-; Atoll executes GFX6 to "
                "GFX12.5 so far\nmi100:sramecc+:xnack-\n");
}

TEST_F(RunCommand, FailuresAreOneLineAndExitCode1) {
  struct Case {
    const char *arguments, *message;
  };
  for (const auto& [arguments, message] :
       {Case{"-- no-such-program", "there is no program no-such-program in PATH"},
        Case{"-- ./no-such-program", "there is no program ./no-such-program"}, Case{"-- /tmp", "/tmp: Is a directory"},
        Case{"--gpu mi9000 -- true", "unknown GPU 'mi9000'"}}) {
    SCOPED_TRACE(arguments);
    const auto failed = run(arguments);
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_THAT(failed.output, testing::StartsWith("atoll: "));
    EXPECT_THAT(failed.output, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(failed.output, '\n'), 1) << failed.output;
  }
  std::filesystem::remove(directory / "lib/libhsa-runtime64.so.1");
  EXPECT_THAT(run("-- true").output, HasSubstr("is the installation complete?"));
}

}  // namespace
}  // namespace Atoll
