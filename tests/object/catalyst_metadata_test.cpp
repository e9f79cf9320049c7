// AMD IL metadata: a test for each token and sentence of "AMD GPU Compiler and Runtime Metadata and ABI
// Specification", with the document's own examples where it has some.
#include <gtest/gtest.h>

#include "object/catalyst_metadata.h"

using namespace Atoll::object::catalyst;

namespace {

std::string block(std::string_view lines) { return fmt::format(";ARGSTART:k\n{}\n;ARGEND:k\n", lines); }

KernelText read(std::string_view lines) {
  const auto text = read_metadata_text(block(lines));
  EXPECT_TRUE(text) << (text ? "" : text.error().message);
  return text && text->kernels.size() == 1 ? text->kernels[0] : KernelText();
}

std::string error_of(std::string_view text) {
  const auto result = read_metadata_text(text);
  return result ? "no error" : result.error().message;
}

std::string error_in(std::string_view lines) { return error_of(block(lines)); }

TEST(CatalystMetadata, ReadsVersion) {
  const KernelText kernel = read(";version:3:1:104");
  const MetadataToken& token = *kernel.find("version");
  EXPECT_EQ(token.number("major"), 3u);
  EXPECT_EQ(token.number("minor"), 1u);
  EXPECT_EQ(token.number("revision"), 104u);
  EXPECT_EQ(error_in(";version:3:1"), "metadata: line 2: token 'version' ends before its field 'revision'");
}

TEST(CatalystMetadata, ReadsDevice) { EXPECT_EQ(read(";device:tahiti").find("device")->text("name"), "tahiti"); }

TEST(CatalystMetadata, ReadsErrorsAndWarnings) {
  // "This can occur multiple times per kernel"; "no more than 32 characters long ... prefixed by a 4 character ...
  // code".
  const KernelText kernel = read(";error:E001:no images\n;error:E002:no doubles\n;warning:W010:slow");
  EXPECT_EQ(kernel.tokens.size(), 3u);
  EXPECT_EQ(kernel.tokens[0].text("message"), "E001:no images");
  EXPECT_EQ(kernel.tokens[2].text("message"), "W010:slow");
  EXPECT_EQ(read(";error:E001:" + std::string(32, 'x')).tokens.size(), 1u);
  EXPECT_EQ(error_in(";error:E001:" + std::string(33, 'x')),
            "metadata: line 2: token 'error': the message has 38 characters; a code of 4 and up to 32 are allowed");
  EXPECT_EQ(error_in(";warning:W01"),
            "metadata: line 2: token 'warning': the message has 3 characters; a code of 4 and up to 32 are allowed");
}

TEST(CatalystMetadata, SumsMemory) {
  // "not required to be unique and the real value that is required is the sum"
  const KernelText kernel = read(
      ";memory:hwlocal:256\n;memory:hwlocal:16\n;memory:local:4\n;memory:private:8\n"
      ";memory:hwprivate:12");
  EXPECT_EQ(kernel.memory("hwlocal"), 272u);
  EXPECT_EQ(kernel.memory("local"), 4u);
  EXPECT_EQ(kernel.memory("private"), 8u);
  EXPECT_EQ(kernel.memory("hwprivate"), 12u);
  EXPECT_EQ(error_in(";memory:remote:4")
                .find("metadata: line 2: token 'memory' has 'remote' as field 'space', not one of "
                      "local, hwlocal, private, hwprivate"),
            0u);
}

TEST(CatalystMetadata, ReadsMemoryFlags) {
  EXPECT_NE(read(";memory:compilerwrite").find("memory", "compilerwrite"), nullptr);
  EXPECT_NE(read(";memory:datareqd").find("memory", "datareqd"), nullptr);
  EXPECT_TRUE(read(";memory:64bitABI").is_64_bit());
  EXPECT_FALSE(read(";memory:datareqd").is_64_bit());
}

TEST(CatalystMetadata, ReadsUniqueId) {
  EXPECT_EQ(read(";uniqueid:1024").number("uniqueid"), 1024u);
  EXPECT_EQ(error_in(";uniqueid:1\n;uniqueid:2"), "metadata: line 3: token 'uniqueid' occurs twice");
}

TEST(CatalystMetadata, ReadsSamplers) {
  const KernelText kernel = read(";sampler:s:0:0:0\n;value:s:i32:1:1:32\n;sampler:t:1:1:16");
  EXPECT_EQ(kernel.tokens[2].text("name"), "t");
  EXPECT_EQ(kernel.tokens[2].number("id"), 1u);
  EXPECT_EQ(kernel.tokens[2].text("kernel_defined"), "1");
  EXPECT_EQ(kernel.tokens[2].number("value"), 16u);
  // "Samplers that are defined as kernel arguments are defined in the Pass by value section."
  const auto arguments = kernel.arguments();
  ASSERT_EQ(arguments.size(), 1u);
  EXPECT_EQ(arguments[0].token, ArgumentToken::sampler);
  EXPECT_EQ(arguments[0].offset, 32u);
  EXPECT_EQ(error_in(";sampler:s:0:2:0"),
            "metadata: line 2: token 'sampler' has '2' as field 'kernel_defined', not one of 0, 1");
}

TEST(CatalystMetadata, ReadsImages) {
  for (const std::string_view dimension : {"2D", "3D"}) {
    for (const std::string_view access : {"RO", "WO", "RW"}) {
      const auto arguments = read(fmt::format(";image:img:{}:{}:3:1:208", dimension, access)).arguments();
      ASSERT_EQ(arguments.size(), 1u);
      EXPECT_EQ(arguments[0].token, ArgumentToken::image);
      EXPECT_EQ(arguments[0].name, "img");
      EXPECT_EQ(arguments[0].type, dimension);
      EXPECT_EQ(arguments[0].access, access);
      EXPECT_EQ(arguments[0].id, 3u);
      EXPECT_EQ(arguments[0].constant_buffer, 1u);
      EXPECT_EQ(arguments[0].offset, 208u);
    }
  }
  EXPECT_EQ(error_in(";image:img:4D:RO:0:1:0"),
            "metadata: line 2: token 'image' has '4D' as field 'dimension', not one of 1D, 1DA, 1DB, 2D, 2DA, 3D");
  EXPECT_EQ(error_in(";image:img:2D:XX:0:1:0"),
            "metadata: line 2: token 'image' has 'XX' as field 'access', not one of RO, WO, RW");
}

TEST(CatalystMetadata, ReadsCounters) {
  for (const uint32_t bits : {32u, 64u}) {
    const auto arguments = read(fmt::format(";counter:c:{}:2:1:400", bits)).arguments();
    ASSERT_EQ(arguments.size(), 1u);
    EXPECT_EQ(arguments[0].token, ArgumentToken::counter);
    EXPECT_EQ(arguments[0].count, bits);
    EXPECT_EQ(arguments[0].id, 2u);
    EXPECT_EQ(arguments[0].constant_buffer, 1u);
    EXPECT_EQ(arguments[0].offset, 400u);
  }
  EXPECT_EQ(error_in(";counter:c:16:0:1:0"),
            "metadata: line 2: token 'counter' has '16' as field 'bits', not one of 32, 64");
}

TEST(CatalystMetadata, ReadsValues) {
  for (const std::string_view type :
       {"i1", "i8", "i16", "i32", "i64", "float", "double", "struct", "union", "event", "opaque"}) {
    const auto arguments = read(fmt::format(";value:x:{}:1:1:32", type)).arguments();
    ASSERT_EQ(arguments.size(), 1u) << type;
    EXPECT_EQ(arguments[0].token, ArgumentToken::value);
    EXPECT_EQ(arguments[0].type, type);
    EXPECT_EQ(arguments[0].constant_buffer, 1u);
    EXPECT_EQ(arguments[0].offset, 32u);
  }
  for (const uint32_t count : {1u, 2u, 3u, 4u, 8u, 16u})
    EXPECT_EQ(read(fmt::format(";value:x:float:{}:1:32", count)).arguments()[0].count, count);
  EXPECT_EQ(error_in(";value:x:float:5:1:32"),
            "metadata: line 2: token 'value': 5 elements; 1, 2, 3, 4, 8 and 16 are allowed");
  // "structs hold the total size of the struct in bytes, and unions ... the largest element"
  EXPECT_EQ(read(";value:x:struct:82:1:32").arguments()[0].count, 82u);
  EXPECT_EQ(read(";value:x:union:12:1:32").arguments()[0].count, 12u);
  EXPECT_EQ(error_in(";value:x:event:2:1:32"),
            "metadata: line 2: token 'value': 2 elements of type event; 1 is allowed");
  EXPECT_EQ(
      error_in(";value:x:quad:1:1:32").find("metadata: line 2: token 'value' has 'quad' as field 'type', not one of"),
      0u);
}

TEST(CatalystMetadata, ReadsPointers) {
  for (const std::string_view type : {"i1", "i8", "i16", "i32", "i64", "float", "double"}) {
    for (const std::string_view memory : {"g", "p", "l", "uav", "c", "r", "hl", "hp", "hc", "hr"}) {
      const auto arguments = read(fmt::format(";pointer:p:{}:1:1:16:{}:11:8", type, memory)).arguments();
      ASSERT_EQ(arguments.size(), 1u) << type << memory;
      EXPECT_EQ(arguments[0].token, ArgumentToken::pointer);
      EXPECT_EQ(arguments[0].type, type);
      EXPECT_EQ(arguments[0].memory, memory);
      EXPECT_EQ(arguments[0].id, 11u);
      EXPECT_EQ(arguments[0].alignment, 8u);
      EXPECT_EQ(arguments[0].access, "");
    }
  }
  // Drivers add access, volatile and restrict.
  const KernelText kernel = read(";pointer:p:u32:1:1:0:uav:10:16:RO:0:1");
  EXPECT_EQ(kernel.tokens[0].text("access"), "RO");
  EXPECT_EQ(kernel.tokens[0].text("volatile"), "0");
  EXPECT_EQ(kernel.tokens[0].text("restrict"), "1");
  EXPECT_EQ(error_in(";pointer:p:i32:1:1:0:x:10:4").find("metadata: line 2: token 'pointer' has 'x' as field 'memory'"),
            0u);
  EXPECT_EQ(error_in(";pointer:p:i32:2:1:0:g:10:4"),
            "metadata: line 2: token 'pointer': 2 pointers in one argument; 1 is allowed");
  EXPECT_EQ(error_in(";pointer:p:i32:1:1:0:g:10:3"),
            "metadata: line 2: token 'pointer': alignment 3 is not a power of two");
  EXPECT_EQ(read(";pointer:p:struct:1:1:0:uav:10:52:RW:0:0").arguments()[0].alignment, 52u);
  EXPECT_EQ(error_in(";pointer:p:i32:1:1:0:g:10:4:RO"),
            "metadata: line 2: token 'pointer' ends before its field 'volatile'");
  EXPECT_EQ(error_in(";pointer:p:i32:1:1:0:g:10"),
            "metadata: line 2: token 'pointer' ends before its field 'alignment'");
}

TEST(CatalystMetadata, ReadsTheOlderFormOfArguments) {
  const KernelText kernel = read(";ARG:main:result:pointer:1:0:96:g:0:4\n;ARG:main:x:float:1:0:96");
  EXPECT_EQ(kernel.tokens[0].text("memory"), "g");
  EXPECT_EQ(kernel.tokens[0].number("alignment"), 4u);
  EXPECT_EQ(kernel.tokens[1].text("name"), "x");
  EXPECT_EQ(kernel.tokens[1].number("offset"), 96u);
}

TEST(CatalystMetadata, ReadsUavId) { EXPECT_EQ(read(";uavid:11").number("uavid"), 11u); }

TEST(CatalystMetadata, ReadsPrintf) {
  const KernelText kernel = read(
      ";printf_fmt:0:0:23:!---initizeWSDeque---!\\n;\n"
      ";printf_fmt:4:3:4:4:4:35:Bottom: %d Top: %d InitialSize: %d\\n;");
  ASSERT_EQ(kernel.printf_formats.size(), 2u);
  EXPECT_EQ(kernel.printf_formats[0].id, 0u);
  EXPECT_TRUE(kernel.printf_formats[0].argument_sizes.empty());
  EXPECT_EQ(kernel.printf_formats[0].format(), "!---initizeWSDeque---!\n");
  EXPECT_EQ(kernel.printf_formats[1].id, 4u);
  EXPECT_EQ(kernel.printf_formats[1].argument_sizes, (std::vector<uint32_t>{4, 4, 4}));
  EXPECT_EQ(kernel.printf_formats[1].format(), "Bottom: %d Top: %d InitialSize: %d\n");
  EXPECT_EQ(error_in(";printf_fmt:0:0:5:abc;"),
            "metadata: line 2: the format of token 'printf_fmt' has 3 characters instead of 5");
  EXPECT_EQ(error_in(";printf_fmt:0:0:3:abc"),
            "metadata: line 2: the format of token 'printf_fmt' does not end with ';'");
  EXPECT_EQ(error_in(";printf_fmt:0:2:4"),
            "metadata: line 2: token 'printf_fmt' ends before its field 'argument size'");
}

TEST(CatalystMetadata, ReadsTheCallGraph) {
  // "There can be multiple instances of this metadata."
  const KernelText kernel = read(";function:2:1027:1028\n;function:1:1030\n;intrinsic:3:1:2:3\n;function:0");
  EXPECT_EQ(kernel.functions("function"), (std::vector<uint32_t>{1027, 1028, 1030}));
  EXPECT_EQ(kernel.functions("intrinsic"), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(error_in(";function:2:1027"), "metadata: line 2: token 'function' has 1 of its 2 values");
  EXPECT_EQ(error_in(";function:1:1027:9"), "metadata: line 2: token 'function' has ':9' after its last field");
}

TEST(CatalystMetadata, ReadsGroupSizes) {
  const KernelText kernel = read(";cws:64:2:1\n;lws:256\n;limitgroupsize");
  EXPECT_EQ(kernel.find("cws")->number("x"), 64u);
  EXPECT_EQ(kernel.find("cws")->number("y"), 2u);
  EXPECT_EQ(kernel.find("cws")->number("z"), 1u);
  EXPECT_EQ(kernel.number("lws"), 256u);
  EXPECT_NE(kernel.find("limitgroupsize"), nullptr);
}

TEST(CatalystMetadata, ReadsTokensOfDrivers) {
  const KernelText kernel =
      read(";constarg:1:in\n;cbid:10\n;printfid:9\n;privateid:8\n;reflection:0:float*\n;WavesPerSimdHint:0");
  EXPECT_EQ(kernel.find("constarg")->text("name"), "in");
  EXPECT_EQ(kernel.number("cbid"), 10u);
  EXPECT_EQ(kernel.number("printfid"), 9u);
  EXPECT_EQ(kernel.number("privateid"), 8u);
  EXPECT_EQ(kernel.find("reflection")->text("type"), "float*");
  EXPECT_EQ(kernel.number("WavesPerSimdHint"), 0u);
}

TEST(CatalystMetadata, ReadsDataSegments) {
  const auto global = read_metadata_text(";#DATASTART:16\n;#i32:0:4:0:1:2:3\n;#DATAEND:0\n");
  ASSERT_TRUE(global);
  ASSERT_EQ(global->data.size(), 1u);
  EXPECT_FALSE(global->data[0].constant_buffer);
  EXPECT_EQ(global->data[0].bytes(), (std::vector<uint8_t>{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
  // Floating-point values are bits in hexadecimal: 91 is 42B60000.
  const auto hardware =
      read_metadata_text(";#DATASTART:2:24\n;#i32:0:3:20:9123:124\n;#float:16:2:42B60000:448C8000\n;#DATAEND:2\n");
  ASSERT_TRUE(hardware);
  EXPECT_EQ(hardware->data[0].constant_buffer, 2u);
  const auto bytes = hardware->data[0].bytes();
  EXPECT_EQ(bytes.size(), 24u);
  EXPECT_EQ((std::vector<uint8_t>(bytes.begin() + 16, bytes.end())),
            (std::vector<uint8_t>{0, 0, 0xB6, 0x42, 0, 0x80, 0x8C, 0x44}));
  EXPECT_EQ((std::vector<uint8_t>(bytes.begin(), bytes.begin() + 8)),
            (std::vector<uint8_t>{20, 0, 0, 0, 0xA3, 0x23, 0, 0}));
  // Vectors of three elements are padded with zeros.
  const auto padded = read_metadata_text(";#DATASTART:32\n;#v3i32:0:8:1:2:3:0:4:5:6:0\n;#DATAEND:0\n");
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->data[0].bytes()[16], 4);
  EXPECT_EQ(error_of(";#DATASTART:8\n;#i32:0:4:0:1:2:3\n;#DATAEND:0\n"),
            "metadata: line 2: data of 16 bytes at 0 is past the segment's 8 bytes");
  EXPECT_EQ(error_of(";#DATASTART:8\n;#i32:0:2:0\n;#DATAEND:0\n"), "metadata: line 2: data has 1 of its 2 values");
  EXPECT_EQ(error_of(";#DATASTART:2:8\n;#DATAEND:3\n"),
            "metadata: line 2: token '#DATAEND' has '3'; the segment began with 2");
  EXPECT_EQ(error_of(";#DATASTART:8\n;#i32:0:1:0\n"), "metadata: line 2: the data segment has no '#DATAEND'");
  EXPECT_EQ(error_of(";#DATASTART:8\n;#quad:0:1:0\n;#DATAEND:0\n"), "metadata: line 2: unknown type 'quad' of data");
}

TEST(CatalystMetadata, SkipsDebugInformation) {
  const auto text = read_metadata_text(";DEBUGSTART\n;ARGSTART:x\nanything\n;DEBUGEND\n" + block(";uavid:1"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->kernels.size(), 1u);
  EXPECT_EQ(error_of(";DEBUGSTART\n"), "metadata: line 1: ';DEBUGSTART' has no ';DEBUGEND'");
}

TEST(CatalystMetadata, ReadsSeveralKernelsWithinIl) {
  const auto text = read_metadata_text(
      "il_cs_2_0\ndcl_cb cb0[9]\n;$$$$$$$$$$\nendmain\nfunc 1024\nret\n;ARGSTART:a\n;uniqueid:1024\n"
      ";ARGEND:a\nfunc 1025\n; a comment\nret\n;ARGSTART:b\n;uniqueid:1025\n;ARGEND:b\nend\n");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_TRUE(text->has_entry_placeholder);
  EXPECT_EQ(text->find_kernel("a")->number("uniqueid"), 1024u);
  EXPECT_EQ(text->find_kernel("b")->number("uniqueid"), 1025u);
}

TEST(CatalystMetadata, RefusesWrongBlocks) {
  EXPECT_EQ(error_in(";frobnicate:1"), "metadata: line 2: unknown token 'frobnicate'");
  EXPECT_EQ(error_of(";ARGSTART:k\n;uavid:1\n"), "metadata: line 2: the block of 'k' has no ';ARGEND'");
  EXPECT_EQ(error_of(";ARGSTART:k\n;ARGEND:l\n"), "metadata: line 2: 'l' ends the block of 'k'");
  EXPECT_EQ(error_of(";ARGEND:k\n"), "metadata: line 1: ';ARGEND:k' without ';ARGSTART'");
  EXPECT_EQ(error_of(block("") + block("")), "metadata: line 4: a second block of 'k'");
  EXPECT_EQ(error_in("mov r0, r1"), "metadata: line 2: a line of a kernel's block does not begin with ';'");
  EXPECT_EQ(error_in(";uavid:4294967296"),
            "metadata: line 2: token 'uavid' has '4294967296' as field 'id', not a 32-bit number");
}

TEST(CatalystMetadata, NamesTheFieldThatEveryCutTokenLacks) {
  // A line cut at any colon is an error, or one of the tokens whose remaining fields are optional.
  for (const TokenKind& kind : token_kinds()) {
    for (size_t present = 0; present < kind.required; ++present) {
      std::string line = fmt::format(";{}", kind.name);
      for (size_t i = 0; i < present; ++i) {
        const TokenField& field = kind.fields[i];
        line += ':';
        line += field.type == FieldType::choice ? std::string(field.choices[0])
                : field.type == FieldType::list ? "0"
                                                : "1";
      }
      EXPECT_EQ(error_in(line), fmt::format("metadata: line 2: token '{}' ends before its field '{}'", kind.name,
                                            kind.fields[present].name))
          << line;
    }
  }
}

TEST(CatalystMetadata, WritesWhatItRead) {
  const std::string text =
      ";ARGSTART:__OpenCL_binarySearch_kernel\n;version:3:1:104\n;device:tahiti\n;uniqueid:1024\n;memory:uavprivate:0\n"
      ";memory:hwregion:0\n;memory:hwlocal:0\n;memory:datareqd\n;pointer:outputArray:u32:1:1:0:uav:10:16:RW:0:0\n"
      ";constarg:1:sortedArray\n;value:findMe:u32:1:1:32\n;printf_fmt:4:1:4:3:%d\\n;\n;function:1:1027\n;intrinsic:0\n"
      ";privateid:8\n;reflection:0:uint4*\n;ARGEND:__OpenCL_binarySearch_kernel\n";
  const auto read = read_metadata_text(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(write_kernel_text(read->kernels[0]), text);
  const std::string data = ";#DATASTART:2:8\n;#float:0:2:42B60000:448C8000\n;#DATAEND:2\n";
  EXPECT_EQ(write_data_segment(read_metadata_text(data)->data[0]), data);
  const std::string empty = ";#DATASTART:2:8\n;#i32:0:0\n;#DATAEND:2\n";
  EXPECT_EQ(write_data_segment(read_metadata_text(empty)->data[0]), empty);
}

}  // namespace
