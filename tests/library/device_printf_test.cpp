// Formats and records of device printf(), against the host's printf(); and that damaged ones do no harm.
#include "library/device_printf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "library/hostcalls.h"
#include "library/printf_buffer.h"

namespace Atoll::library {
namespace {

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

std::string device(std::string_view format, std::vector<std::span<const std::byte>> arguments) {
  size_t next = 0;
  return format_printf(format, [&](bool) -> std::span<const std::byte> {
    return next == arguments.size() ? std::span<const std::byte>() : arguments[next++];
  });
}

std::string host(const char* format, auto... values) {
  char text[8192];
  std::snprintf(text, sizeof text, format, values...);  // NOLINT(clang-diagnostic-format-nonliteral)
  return text;
}

TEST(DevicePrintf, ConversionsAreTheHosts) {
  const int64_t integers[] = {0, 1, -1, 42, -2147483648LL, 255, 65535};
  for (const char* conversion : {"d", "i", "u", "x", "X", "o"})
    for (const char* flags : {"", "-", "+", " ", "#", "0", "-+", "+0"})
      for (const char* size : {"", "1", "12", ".3", "12.5"})
        for (const char* length : {"", "hh", "h", "l"})
          for (const int64_t value : integers) {
            const std::string format = fmt::format("[%{}{}{}{}]", flags, size, length, conversion);
            const std::string expected = *length == 'l' ? host(format.c_str(), static_cast<long>(value))
                                                        : host(format.c_str(), static_cast<int>(value));
            EXPECT_EQ(device(format, {bytes_of(value)}), expected) << format << " " << value;
          }
  for (const char* conversion : {"f", "F", "e", "E", "g", "G", "a", "A"})
    for (const char* flags : {"", "-", "+", "#", "0"})
      for (const char* size : {"", "20", ".0", ".12", "25.3"})
        for (const double value : {0.0, -0.0, 1.5, -1e300, 1e-300, 3.14159}) {
          const std::string format = fmt::format("[%{}{}{}]", flags, size, conversion);
          EXPECT_EQ(device(format, {bytes_of(value)}), host(format.c_str(), value)) << format << " " << value;
        }
}

TEST(DevicePrintf, ArgumentsOfEverySizeAndKind) {
  const float f = 0.1F;
  const _Float16 half = 1.5;
  const int width = 6, negative = -6, precision = 2;
  const double d = 2.71828;
  const int16_t shorts[] = {-1, 2, -3, 0};
  EXPECT_EQ(device("%f %g", {bytes_of(f), bytes_of(half)}), host("%f %g", static_cast<double>(f), 1.5));
  EXPECT_EQ(device("[%*d] [%*d] [%.*f]", {bytes_of(width), bytes_of(width), bytes_of(negative), bytes_of(width),
                                          bytes_of(precision), bytes_of(d)}),
            host("[%*d] [%*d] [%.*f]", width, width, negative, width, precision, d));
  EXPECT_EQ(device("%v3hd %v4hd", {bytes_of(shorts), bytes_of(shorts)}), "-1,2,-3 -1,2,-3,0");
}

TEST(DevicePrintf, WhatIsMissingOrUnknownStaysAsItIsWritten) {
  const int one = 1;
  EXPECT_EQ(device("%d %d", {bytes_of(one)}), "1 %d");
  EXPECT_EQ(device("100%", {}), "100%");
  EXPECT_EQ(device("%y %", {}), "%y %");
  EXPECT_EQ(device("%99999999999d", {bytes_of(one)}).size(), 4096u);
}

TEST(PrintfRecords, FormatsAreUnescaped) {
  const std::string metadata[] = {R"(7:2:4:8:a\72 b\n\\ \"%d\" %s)", "no format", "8:1:4:", "9:0:plain"};
  const auto formats = parse_printf_formats(metadata);
  ASSERT_EQ(formats.size(), 3u);
  EXPECT_EQ(formats[0].id, 7u);
  EXPECT_THAT(formats[0].sizes, testing::ElementsAre(4, 8));
  EXPECT_EQ(formats[0].text, "a: b\n\\ \"%d\" %s");
  EXPECT_EQ(formats[1].text, "");
  EXPECT_EQ(formats[2].text, "plain");

  const uint32_t records[] = {7, 42, 0x6C6C6568, 0x0000006F, 9, 7, 1};  // "hello"
  EXPECT_THAT(print_records(formats, std::as_bytes(std::span(records))),
              testing::StartsWith("a: b\n\\ \"42\" helloplaina: b"));
}

// Kernels that go wrong may write anything there.
TEST(PrintfRecords, RandomBytesDoNoHarm) {
  const std::string metadata[] = {"1:3:4:8:16:%d %s %v4f\n", "2:1:4:%*.*f%n%hhd", "3:0:%s"};
  const auto formats = parse_printf_formats(metadata);
  std::mt19937 random(1);
  for (int round = 0; round < 2000; round++) {
    std::vector<uint32_t> words(random() % 40);
    for (uint32_t& word : words) word = static_cast<uint32_t>(random() % 3 == 0 ? random() % 4 : random());
    print_records(formats, std::as_bytes(std::span(words)));
    std::vector<uint64_t> message(random() % 12);
    for (uint64_t& word : message) word = random() % 2 == 0 ? 0x2573256425'2A66ULL : random();
    Output where{};
    print_message(message, where);
  }
}

}  // namespace
}  // namespace Atoll::library
