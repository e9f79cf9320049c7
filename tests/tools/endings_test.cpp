// What `atoll run` promises, however a process ends: the exit code of findings, the summary, the statistics, the
// report. And that a program which is supervised for that sees the signals, the terminal and the streams as without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

size_t count(const std::string& text, const std::string& part) {
  size_t times = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

class Endings : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    kernels = new test::TemporaryDirectory;
    test::write_file(*kernels / "racy.cl",
                     "__kernel void racy(__global int* p) { *p = __builtin_amdgcn_workitem_id_x() / 64; }");
    const auto compiled = test::run_command(
        fmt::format("clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -cl-std=CL2.0 -w {0}/racy.cl -o "
                    "{0}/racy.co 2>&1",
                    kernels->path().string()));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  }
  static void TearDownTestSuite() { delete kernels; }

  static std::string command(const std::string& options, const std::string& way) {
    return fmt::format("{} run --gpu gfx90a --threads 1 {} -- {} {} {}", ATOLL_COMMAND, options, ATOLL_ENDINGS,
                       *kernels / "racy.co", way);
  }
  static test::CommandResult run(const std::string& options, const std::string& way) {
    return test::run_command(command(options, way) + " 2>&1");
  }

  static test::TemporaryDirectory* kernels;
};
test::TemporaryDirectory* Endings::kernels = nullptr;

/// Ways to end with exit code 0.
constexpr const char* good_ways[] = {"return",
                                     "exit",
                                     "_exit",
                                     "_Exit",
                                     "quick_exit",
                                     "exit_group",
                                     "execl",
                                     "execlp",
                                     "execle",
                                     "execv",
                                     "execvp",
                                     "execvpe",
                                     "execve",
                                     "execve-empty",
                                     "fexecve",
                                     "fork",
                                     "exec-fails",
                                     "fork-exit",
                                     "vfork",
                                     "vfork-_exit",
                                     "posix_spawn",
                                     "pthread_exit",
                                     "pthread_exit-last",
                                     "shut-down-_exit",
                                     "child-exit",
                                     "child-_exit"};
struct Signalled {
  const char* way;
  int signal;
};
constexpr Signalled bad_ways[] = {{"abort", SIGABRT}, {"SIGSEGV", SIGSEGV}, {"SIGTERM", SIGTERM}, {"SIGKILL", SIGKILL}};

TEST_F(Endings, FindingsGiveTheExitCode) {
  for (const char* way : good_ways) {
    const auto result = run("--check=race --check-exit-code 7", way);
    EXPECT_EQ(result.exit_code, 7) << way << "\n" << result.output;
    EXPECT_EQ(count(result.output, "atoll: 1 finding"), 1U) << way << "\n" << result.output;
    EXPECT_EQ(count(result.output, "  race: "), 1U) << way << "\n" << result.output;
  }
  EXPECT_EQ(run("--check=race --check-exit-code 7", "exit-5").exit_code, 5);
  for (const auto& [way, signal] : bad_ways) {
    const auto result = run("--check=race --check-exit-code 7", way);
    EXPECT_EQ(result.exit_code, 128 + signal) << way << "\n" << result.output;
    EXPECT_EQ(count(result.output, "atoll: 1 finding"), 1U) << way << "\n" << result.output;
  }
}

// A process that is not the run's first one has an exit code of its own.
TEST_F(Endings, AChildsExitCodeIsThatOfItsFindings) {
  for (const char* way : {"child-exit", "child-_exit"})
    EXPECT_THAT(run("--check=race --check-exit-code 7", way).output, HasSubstr("child: 7\n")) << way;
  for (const char* way : {"fork", "fork-exit", "vfork-_exit"})  // the parent has found something, the child has not
    EXPECT_THAT(run("--check=race --check-exit-code 7", way).output, HasSubstr("child: 0\n")) << way;
}

TEST_F(Endings, StatisticsAreSaidOnce) {
  const std::string row = "racy ";
  for (const char* way : good_ways) {
    const auto result = run("--stats", way);
    EXPECT_EQ(result.exit_code, 0) << way << "\n" << result.output;
    EXPECT_EQ(count(result.output, "\nracy "), 1U) << way << "\n" << result.output;
  }
  for (const auto& [way, signal] : bad_ways) {
    const auto result = run("--stats", way);
    EXPECT_EQ(result.exit_code, 128 + signal) << way;
    EXPECT_EQ(count(result.output, "\nracy "), 1U) << way << "\n" << result.output;
  }
}

TEST_F(Endings, FilesAreWritten) {
  for (const char* way : {"return", "_exit", "execv", "SIGKILL", "child-_exit"}) {
    const test::TemporaryDirectory directory;
    run(fmt::format("--stats={0}/stats.%p.json --check=race --check-report={0}/report.json", directory.path().string()),
        way);
    const auto read = test::run_command(fmt::format(
        "python3 -c 'import glob, json; print(sum(k[\"calls\"] for f in glob.glob(\"{0}/stats.*.json\") for g in "
        "json.load(open(f))[\"gpus\"] for k in g[\"kernels\"]), "
        "len(json.load(open(\"{0}/report.json\"))[\"findings\"]))' "
        "2>&1",
        directory.path().string()));
    EXPECT_EQ(read.output, "1 1\n") << way;
  }
}

// Other tests have directories beside these at the same time: each run says which one is its own.
TEST_F(Endings, TheDirectoryOfARunIsRemoved) {
  for (const char* way : {"return", "_exit", "SIGKILL", "execv"}) {
    const test::CommandResult result = test::run_command(fmt::format(
        "{} run --gpu gfx90a --threads 1 --stats -- sh -c 'echo \"directory: $ATOLL_RECORD\"; exec {} {} {}' 2>&1",
        ATOLL_COMMAND, ATOLL_ENDINGS, *kernels / "racy.co", way));
    const size_t begin = result.output.find("directory: /");
    ASSERT_NE(begin, std::string::npos) << result.output;
    const size_t name = begin + std::string_view("directory: ").size();
    const std::filesystem::path directory = result.output.substr(name, result.output.find('\n', name) - name);
    EXPECT_THAT(directory.filename().string(), testing::StartsWith("run-"));
    EXPECT_FALSE(std::filesystem::exists(directory)) << way << ": " << directory;
  }
}

// Programs that are supervised.
class Supervised : public testing::Test {
 protected:
  /// Runs a shell script in which $A is `atoll run` with statistics, which has the program supervised.
  static test::CommandResult script(const std::string& text) {
    const test::TemporaryDirectory directory;
    test::write_file(directory / "script", text);
    return test::run_command(fmt::format("A='{} run --stats --' D={} bash {} 2>&1", ATOLL_COMMAND,
                                         directory.path().string(), directory / "script"));
  }
};

TEST_F(Supervised, StreamsAndStatusPassThrough) {
  EXPECT_EQ(script("echo in | $A sh -c 'cat; echo out; exit 42'").exit_code, 42);
  EXPECT_EQ(script("echo in | $A sh -c 'cat; echo err >&2'").output, "in\nerr\n");
  EXPECT_THAT(script("$A sh -c 'kill -HUP $$'; echo $?").output, testing::EndsWith("129\n"));  // after the shell's word
  EXPECT_EQ(script("$A ./no-such-program").exit_code, 1);
  test::TemporaryDirectory directory;
  test::write_file(directory / "bad", "#!/nowhere/interpreter\n");
  EXPECT_THAT(script("chmod +x " + (directory / "bad") + "; $A " + (directory / "bad")).output,
              HasSubstr("cannot run " + (directory / "bad")));
}

// The shell ignores INT and QUIT for what it runs in the background.
TEST_F(Supervised, SignalsAreForwarded) {
  for (const char* signal : {"TERM", "HUP", "USR1", "USR2", "ALRM", "WINCH", "RTMIN"}) {
    const auto result = script(fmt::format(R"sh(
$A bash -c 'trap "echo got; exit 3" {0}; echo $$ > $D/ready; while :; do sleep 0.05; done' &
while ! [ -s $D/ready ]; do sleep 0.05; done
kill -{0} $!; wait $!; echo $?)sh",
                                           signal));
    EXPECT_EQ(result.output, "got\n3\n") << signal;
  }
}

// With job control the program has a process group of its own. The kernel does not stop one whose group has no parent
// in its session, as where tests run in the background.
TEST_F(Supervised, StopsAndGoesOnWithTheProgram) {
  const auto result = script(R"sh(
set -m
state() { sed 's/.*) \(.\).*/\1/' /proc/$1/stat; }
$A sh -c 'echo $$ > $D/ready; while ! [ -e $D/end ]; do sleep 0.05; done; exit 4' &
while ! [ -s $D/ready ]; do sleep 0.05; done
program=$(cat $D/ready)
kill -TSTP $!
for i in $(seq 100); do [ "$(state $!)$(state $program)" = TT ] && break; sleep 0.05; done
echo $(state $!) $(state $program)
kill -CONT $!
for i in $(seq 100); do [ "$(state $program)" = T ] || break; sleep 0.05; done
[ "$(state $program)" = T ] || echo goes on
touch $D/end; wait $!; echo $?)sh");
  EXPECT_EQ(result.output, "T T\ngoes on\n4\n");
}

TEST_F(Supervised, AKilledSupervisorTakesTheProgramWithIt) {
  const auto result = script(R"sh(
$A sh -c 'echo $$ > $D/ready; exec sleep 100' &
while ! [ -s $D/ready ]; do sleep 0.05; done
kill -KILL $!; wait $! 2>/dev/null
for i in $(seq 100); do [ -e /proc/$(cat $D/ready) ] || break; sleep 0.05; done
[ -e /proc/$(cat $D/ready) ] || echo gone)sh");
  EXPECT_THAT(result.output, testing::EndsWith("gone\n"));
}

// A terminal sends its signals to the process group, in which the program is, too: each arrives once.
TEST_F(Supervised, TheTerminalIsThePrograms) {
  const auto result = script(R"sh(
cat > $D/terminal.py <<'END'
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while b"ready" not in text: text += os.read(terminal, 1000)
os.write(terminal, b"\x03")  # the interrupt character
try:
    while True:
        more = os.read(terminal, 1000)
        if not more: break
        text += more
except OSError:
    pass
print(text.count(b"got"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
python3 $D/terminal.py $A bash -c 'n=0; trap "echo got" INT; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; exit 6')sh");
  EXPECT_EQ(result.output, "1 6\n");
}

}  // namespace
}  // namespace Atoll
