// Text and launches of the shaders in shader_cases.h.
#include "shader_cases.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include <fmt/format.h>

#include "support/command.h"

namespace Atoll::test {

namespace {

constexpr uint32_t group_size = 64;
constexpr std::array<uint32_t, 3> work_groups[] = {{3, 1, 1}, {2, 2, 1}, {2, 1, 2}};  ///< by dimensions - 1
constexpr uint32_t operand = 0x9E3779B9, operand_entry = 100, descriptor_entry = 104;

/// Numbers of registers (LLVM 22, AMDGPUPALMetadata.cpp), and of the mappings (user guide, "User Data").
constexpr uint32_t rsrc2 = 0x2e13, user_data_0 = 0x2e40;
constexpr uint32_t global_table = 0x10000000, shader_table = 0x10000001, spill_table = 0x10000002,
                   grid_table = 0x10000006;

struct Operation {
  const char* name;
  const char* ir;  ///< computes %r of %x and %k
  uint32_t (*host)(uint32_t x, uint32_t k);
};

const std::array<Operation, 10>& operations() {
  static const std::array<Operation, 10> table{{
      {"add", "  %r = add i32 %x, %k\n", [](uint32_t x, uint32_t k) { return x + k; }},
      {"multiply", "  %r = mul i32 %x, %k\n", [](uint32_t x, uint32_t k) { return x * k; }},
      {"high_half",
       "  %x64 = zext i32 %x to i64\n  %k64 = zext i32 %k to i64\n  %p64 = mul i64 %x64, %k64\n"
       "  %h64 = lshr i64 %p64, 32\n  %r = trunc i64 %h64 to i32\n",
       [](uint32_t x, uint32_t k) { return static_cast<uint32_t>(uint64_t{x} * k >> 32); }},
      {"rotate", "  %n = and i32 %k, 31\n  %r = call i32 @llvm.fshl.i32(i32 %x, i32 %x, i32 %n)\n",
       [](uint32_t x, uint32_t k) { return std::rotl(x, static_cast<int>(k & 31)); }},
      {"count", "  %d = xor i32 %x, %k\n  %r = call i32 @llvm.ctpop.i32(i32 %d)\n",
       [](uint32_t x, uint32_t k) { return static_cast<uint32_t>(std::popcount(x ^ k)); }},
      {"float",
       "  %xf = uitofp i32 %x to float\n  %kn = and i32 %k, 1023\n  %kf = uitofp i32 %kn to float\n"
       "  %m = fmul float %xf, %kf\n  %sum = fadd float %m, 5.000000e-01\n  %r = bitcast float %sum to i32\n",
       [](uint32_t x, uint32_t k) {
         const float product = static_cast<float>(x) * static_cast<float>(k & 1023);
         return std::bit_cast<uint32_t>(product + 0.5F);
       }},
      {"select",
       "  %c = icmp ult i32 %x, 80\n  %a = sub i32 %k, %x\n  %o = or i32 %k, %x\n"
       "  %r = select i1 %c, i32 %a, i32 %o\n",
       [](uint32_t x, uint32_t k) { return x < 80 ? k - x : k | x; }},
      {"divide", "  %d = add i32 %x, 1\n  %r = udiv i32 %k, %d\n", [](uint32_t x, uint32_t k) { return k / (x + 1); }},
      {"reverse", "  %d = add i32 %x, %k\n  %r = call i32 @llvm.bitreverse.i32(i32 %d)\n",
       [](uint32_t x, uint32_t k) {
         uint32_t reversed = 0;
         for (unsigned i = 0; i < 32; ++i) reversed |= ((x + k) >> i & 1) << (31 - i);
         return reversed;
       }},
      {"loop",
       "  %n = and i32 %x, 15\n  br label %head\nhead:\n  %j = phi i32 [ 0, %op ], [ %j1, %head ]\n"
       "  %acc = phi i32 [ %k, %op ], [ %acc1, %head ]\n  %step = mul i32 %acc, 1664525\n  %acc1 = add i32 %step, %j\n"
       "  %j1 = add i32 %j, 1\n  %more = icmp ule i32 %j1, %n\n  br i1 %more, label %head, label %after\nafter:\n"
       "  %r = xor i32 %acc1, %x\n",
       [](uint32_t x, uint32_t k) {
         uint32_t acc = k;
         for (uint32_t j = 0; j <= (x & 15); ++j) acc = acc * 1664525 + j;
         return acc ^ x;
       }},
  }};
  return table;
}

bool uses_scratch(Storage storage) { return storage == Storage::scratch || storage == Storage::both; }
bool uses_lds(Storage storage) { return storage == Storage::lds || storage == Storage::both; }
bool uses_chain(Storage storage) { return storage == Storage::chain || storage == Storage::dynamic_vgprs; }

/// LLVM takes the global table from s0: for scratch, and for a chain, whose functions receive the scratch resource.
bool uses_global_table(const ShaderCase& shader, const ShaderTarget& target) {
  return uses_scratch(shader.storage) || (uses_chain(shader.storage) && !target.has_flat_scratch);
}

unsigned wave_size_of(const ShaderCase& shader, const ShaderTarget& target) {
  if (shader.wave_size != 0) return shader.wave_size;
  return target.has_wave32 ? 32 : 64;  // LLVM's default
}

/// The user SGPRs of a shader, in order: name of the argument, mapping.
std::vector<std::pair<std::string, uint32_t>> user_sgprs(const ShaderCase& shader, const ShaderTarget& target) {
  std::vector<std::pair<std::string, uint32_t>> list;
  if (uses_global_table(shader, target)) list.emplace_back("git", global_table);
  switch (shader.source) {
    case Source::plain:
    case Source::mapped:
      list.emplace_back("k", operand_entry);
      break;
    case Source::spilled:
    case Source::descriptor:
      list.emplace_back("table", spill_table);
      break;
    case Source::shader_table:
      list.emplace_back("table", shader_table);
      break;
    case Source::grid_table:
      list.emplace_back("grid_lo", grid_table);
      list.emplace_back("grid_hi", UINT32_MAX);
      break;
  }
  list.emplace_back("lo", 5);
  list.emplace_back("hi", 6);
  return list;
}

std::string metadata_of(const ShaderCase& shader, const ShaderTarget& target) {
  const auto sgprs = user_sgprs(shader, target);
  // USER_SGPR, TGID_X_EN to TGID_Z_EN for the dimensions.
  uint32_t resources = static_cast<uint32_t>(sgprs.size()) << 1;
  for (unsigned d = 0; d < shader.dimensions; ++d) resources |= 1u << (7 + d);
  std::vector<std::pair<uint32_t, uint32_t>> registers{{rsrc2, resources}};
  for (uint32_t i = 0; shader.source != Source::plain && i < sgprs.size(); ++i)
    if (sgprs[i].second != UINT32_MAX) registers.emplace_back(user_data_0 + i, sgprs[i].second);
  std::string text;
  if (shader.storage != Storage::dynamic_vgprs) {
    for (const auto& [number, value] : registers)
      text += fmt::format("{}i32 {}, i32 {}", text.empty() ? "" : ", ", number, value);
    return "!amdgpu.pal.metadata = !{!0}\n!0 = !{" + text + "}\n";
  }
  // Register pairs have no key for dynamic VGPRs. MessagePack: a map of .registers in a list of one pipeline.
  text = fmt::format(R"(\81\B0amdpal.pipelines\91\81\AA.registers\{:02X})", 0x80 + registers.size());
  for (const auto& [number, value] : registers)
    text += fmt::format(R"(\CD\{:02X}\{:02X}\CE\{:02X}\{:02X}\{:02X}\{:02X})", number >> 8, number & 0xFF, value >> 24,
                        value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF);
  return "!amdgpu.pal.metadata.msgpack = !{!0}\n!0 = !{!\"" + text + "\"}\n";
}

std::string pointer(std::string_view name, std::string_view lo, std::string_view hi, unsigned space) {
  return fmt::format(
      "  %{0}_a = insertelement <2 x i32> poison, i32 {1}, i64 0\n"
      "  %{0}_b = insertelement <2 x i32> %{0}_a, i32 {2}, i64 1\n"
      "  %{0}_c = bitcast <2 x i32> %{0}_b to i64\n  %{0} = inttoptr i64 %{0}_c to ptr addrspace({3})\n",
      name, lo, hi, space);
}

/// The address of a table, whose high half is the program counter's.
std::string table_pointer(std::string_view low) {
  return "  %pc = call i64 @llvm.amdgcn.s.getpc()\n  %pch = lshr i64 %pc, 32\n  %high = trunc i64 %pch to i32\n" +
         pointer("t", low, "%high", 4);
}

std::string load_operand(const ShaderCase& shader) {
  const auto element = [](uint32_t index) {
    return fmt::format(
        "  %kp = getelementptr i32, ptr addrspace(4) %t, i32 {}\n  %k = load i32, ptr addrspace(4) %kp\n", index);
  };
  switch (shader.source) {
    case Source::plain:
    case Source::mapped:
      return "";
    case Source::spilled:
      return table_pointer("%table") + element(operand_entry);
    case Source::shader_table:
      return table_pointer("%table") + element(2);
    case Source::grid_table:
      return pointer("t", "%grid_lo", "%grid_hi", 4) + element(0);
    case Source::descriptor:
      return table_pointer("%table") +
             fmt::format(
                 "  %rp = getelementptr i32, ptr addrspace(4) %t, i32 {}\n"
                 "  %rsrc = load <4 x i32>, ptr addrspace(4) %rp, align 16\n"
                 "  %k = call i32 @llvm.amdgcn.raw.buffer.load.i32(<4 x i32> %rsrc, i32 12, i32 0, i32 0)\n",
                 descriptor_entry);
  }
  return "";
}

/// The number of the work-item in the grid, %i, and in the work-group, %local.
std::string number_of_item(const ShaderCase& shader, const ShaderTarget& target) {
  const auto& groups = work_groups[shader.dimensions - 1];
  std::string text = "  %local = and i32 %id, 1023\n";
  if (target.has_ids_in_ttmps) {
    for (unsigned d = 0; d < shader.dimensions; ++d)
      text += fmt::format("  %g{} = call i32 @llvm.amdgcn.workgroup.id.{}()\n", d, "xyz"[d]);
  }
  std::string group = "%g0";
  uint32_t stride = 1;
  for (unsigned d = 1; d < shader.dimensions; ++d) {
    stride *= groups[d - 1];
    text += fmt::format("  %gm{0} = mul i32 %g{0}, {1}\n  %gs{0} = add i32 {2}, %gm{0}\n", d, stride, group);
    group = fmt::format("%gs{}", d);
  }
  return text + fmt::format("  %first = mul i32 {}, {}\n  %i = add i32 %first, %local\n", group, group_size);
}

/// Moves %x0 to %x by way of the storage.
std::string pass_through(Storage storage) {
  std::string text, from = "%x0";
  if (uses_lds(storage)) {
    text +=
        "  %l = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %local\n"
        "  store i32 %x0, ptr addrspace(3) %l\n  fence syncscope(\"workgroup\") release\n"
        "  call void @llvm.amdgcn.s.barrier()\n  fence syncscope(\"workgroup\") acquire\n"
        "  %other = sub i32 63, %local\n"
        "  %lo2 = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %other\n"
        "  %x1 = load i32, ptr addrspace(3) %lo2\n";
    from = "%x1";
  }
  if (uses_scratch(storage)) {
    text += fmt::format(
        "  %stack = alloca [16 x i32], addrspace(5)\n  %slot = and i32 %i, 15\n"
        "  %q = getelementptr [16 x i32], ptr addrspace(5) %stack, i32 0, i32 %slot\n"
        "  store volatile i32 {}, ptr addrspace(5) %q\n  %x2 = load volatile i32, ptr addrspace(5) %q\n",
        from);
    from = "%x2";
  }
  return text + fmt::format("  %x = add i32 {}, 0\n", from);
}

constexpr const char* declarations =
    "declare i64 @llvm.amdgcn.s.getpc()\ndeclare void @llvm.amdgcn.s.barrier()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.x()\ndeclare i32 @llvm.amdgcn.workgroup.id.y()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.z()\ndeclare i32 @llvm.fshl.i32(i32, i32, i32)\n"
    "declare i32 @llvm.ctpop.i32(i32)\ndeclare i32 @llvm.bitreverse.i32(i32)\n"
    "declare i32 @llvm.amdgcn.raw.buffer.load.i32(<4 x i32>, i32, i32, i32)\n";

/// The end of a shader: the operation and the store.
std::string finish(const Operation& operation) {
  return fmt::format("  br label %op\nop:\n{}  store i32 %r, ptr addrspace(1) %e\n  ret void\n}}\n", operation.ir);
}

std::string chain(const ShaderCase& shader, const ShaderTarget& target) {
  const bool is_dynamic = shader.storage == Storage::dynamic_vgprs;
  const std::string exec = wave_size_of(shader, target) == 32 ? "i32" : "i64";
  const std::string types = fmt::format("ptr, {}, <3 x i32>, {{i32, i32}}, i32, ...", exec);
  const std::string attribute = is_dynamic ? " #0" : "";
  std::string text =
      "  %s0 = insertelement <3 x i32> poison, i32 %lo, i64 0\n  %s1 = insertelement <3 x i32> %s0, i32 %hi, i64 1\n"
      "  %s2 = insertelement <3 x i32> %s1, i32 %k, i64 2\n  %v0 = insertvalue {i32, i32} poison, i32 %x0, 0\n"
      "  %v1 = insertvalue {i32, i32} %v0, i32 %i, 1\n";
  // A chain call with dynamic VGPRs falls back to a function that needs none if there are too few.
  text += fmt::format(
      "  call void({0}) @llvm.amdgcn.cs.chain(ptr @next, {1} -1, <3 x i32> inreg %s2, {{i32, i32}} %v1, i32 {2})\n"
      "  unreachable\n}}\n",
      types, exec, is_dynamic ? "1, i32 64, i32 -1, ptr @next" : "0");
  text += fmt::format("define amdgpu_cs_chain void @next(<3 x i32> inreg %s, {{i32, i32}} %v){} {{\n", attribute) +
          "  %lo = extractelement <3 x i32> %s, i64 0\n  %hi = extractelement <3 x i32> %s, i64 1\n"
          "  %k = extractelement <3 x i32> %s, i64 2\n  %x = extractvalue {i32, i32} %v, 0\n"
          "  %i = extractvalue {i32, i32} %v, 1\n" +
          pointer("p", "%lo", "%hi", 1) + "  %e = getelementptr i32, ptr addrspace(1) %p, i32 %i\n" +
          finish(operations()[shader.operation]) +
          fmt::format("declare void @llvm.amdgcn.cs.chain({}) noreturn\n", types);
  if (is_dynamic) text += "attributes #0 = { \"amdgpu-dynamic-vgpr-block-size\"=\"32\" }\n";
  return text;
}

/// Kernels in clover's form. Attributes leave out user SGPRs that Mesa3D does not set, as LLVM's attributor does.
constexpr const char* mesa_kernels_text = R"(
define amdgpu_kernel void @scale(ptr addrspace(1) %data, i32 %k, i64 %term) #0 {
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %b = mul i32 %g, 64
  %i = add i32 %b, %x
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %dimensions = load i32, ptr addrspace(4) %implicit
  %e = getelementptr i32, ptr addrspace(1) %data, i32 %i
  %v = load i32, ptr addrspace(1) %e
  %m = mul i32 %v, %k
  %t = trunc i64 %term to i32
  %n = add i32 %m, %t
  %r = add i32 %n, %dimensions
  store i32 %r, ptr addrspace(1) %e
  ret void
}
define amdgpu_kernel void @stack(ptr addrspace(1) %data) #0 {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %a = alloca [16 x i32], addrspace(5)
  %slot = and i32 %x, 15
  %q = getelementptr [16 x i32], ptr addrspace(5) %a, i32 0, i32 %slot
  store volatile i32 %x, ptr addrspace(5) %q
  %v = load volatile i32, ptr addrspace(5) %q
  %r = mul i32 %v, 7
  %e = getelementptr i32, ptr addrspace(1) %data, i32 %x
  store i32 %r, ptr addrspace(1) %e
  ret void
}
define amdgpu_kernel void @size(ptr addrspace(1) %data) #1 {
  %packet = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %at = getelementptr i16, ptr addrspace(4) %packet, i32 2
  %v = load i16, ptr addrspace(4) %at
  %r = zext i16 %v to i32
  store i32 %r, ptr addrspace(1) %data
  ret void
}
define amdgpu_kernel void @queue(ptr addrspace(1) %data) #2 {
  %queue = call ptr addrspace(4) @llvm.amdgcn.queue.ptr()
  %v = load i32, ptr addrspace(4) %queue
  store i32 %v, ptr addrspace(1) %data
  ret void
}
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare ptr addrspace(4) @llvm.amdgcn.queue.ptr()
attributes #0 = { "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-flat-scratch-init" }
attributes #1 = { "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
attributes #2 = { "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
)";

uint32_t host_operand(const ShaderCase& shader) {
  return shader.source == Source::grid_table ? work_groups[shader.dimensions - 1][0] : operand;
}

}  // namespace

const std::vector<ShaderTarget>& shader_targets() {
  // Word 3 of a buffer resource: user guides of the generations, and the default data format of LLVM 22.
  static const std::vector<ShaderTarget> targets{
      {"gfx600", false, false, false, 0x00027fac}, {"gfx700", false, false, false, 0x00027fac},
      {"gfx803", false, false, false, 0x00027fac}, {"gfx900", false, false, false, 0x00027fac},
      {"gfx1010", true, false, false, 0x31016fac}, {"gfx1030", true, false, false, 0x31016fac},
      {"gfx1100", true, false, true, 0x31016fac},  {"gfx1150", true, false, true, 0x31016fac},
      {"gfx1200", true, true, true, 0x31016fac}};
  return targets;
}

const std::vector<ShaderCase>& shader_cases() {
  static const std::vector<ShaderCase> cases = [] {
    // Six shaders for each operation. Sources and storages rotate, so that all pairs of neighbours appear.
    constexpr std::pair<Source, const char*> sources[] = {
        {Source::plain, "plain"},           {Source::mapped, "mapped"},
        {Source::spilled, "spilled"},       {Source::shader_table, "shader_table"},
        {Source::grid_table, "grid_table"}, {Source::descriptor, "descriptor"}};
    constexpr std::pair<Storage, const char*> storages[] = {
        {Storage::none, "none"}, {Storage::lds, "lds"},     {Storage::scratch, "scratch"},
        {Storage::both, "both"}, {Storage::chain, "chain"}, {Storage::dynamic_vgprs, "dynamic_vgprs"}};
    constexpr unsigned wave_sizes[] = {0, 64, 32};
    std::vector<ShaderCase> list;
    for (unsigned operation = 0; operation < operations().size(); ++operation) {
      for (unsigned i = 0; i < 6; ++i) {
        const auto& [source, source_name] = sources[i];
        const auto& [storage, storage_name] = storages[(i + operation) % 6];
        const unsigned dimensions = 1 + (i + operation / 2) % 3;
        const unsigned wave_size = storage == Storage::dynamic_vgprs ? 32 : wave_sizes[(i + operation / 3) % 3];
        list.push_back({.name = fmt::format("{}_{}_{}_{}d_w{}", operations()[operation].name, source_name, storage_name,
                                            dimensions, wave_size),
                        .operation = operation,
                        .source = source,
                        .storage = storage,
                        .dimensions = dimensions,
                        .wave_size = wave_size});
      }
    }
    return list;
  }();
  return cases;
}

bool runs_on(const ShaderCase& shader, const ShaderTarget& target) {
  if (shader.wave_size == 32 && !target.has_wave32) return false;
  return shader.storage != Storage::dynamic_vgprs || target.has_ids_in_ttmps;
}

std::string ir_of(const ShaderCase& shader, const ShaderTarget& target) {
  std::string text;
  if (uses_lds(shader.storage)) text += "@lds = internal addrspace(3) global [64 x i32] poison\n";
  if (shader.source == Source::shader_table)
    text += fmt::format("@_amdgpu_cs_shdr_intrl_data = addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 {}, i32 4]\n",
                        static_cast<int32_t>(operand));
  text += "define amdgpu_cs void @_amdgpu_cs_main(";
  for (const auto& [name, mapping] : user_sgprs(shader, target)) text += "i32 inreg %" + name + ", ";
  for (unsigned d = 0; d < shader.dimensions && !target.has_ids_in_ttmps; ++d)
    text += fmt::format("i32 inreg %g{}, ", d);
  text += fmt::format("i32 %id){} {{\nentry:\n", shader.storage == Storage::dynamic_vgprs ? " #0" : "");
  text += number_of_item(shader, target) + pointer("p", "%lo", "%hi", 1) +
          "  %e = getelementptr i32, ptr addrspace(1) %p, i32 %i\n  %x0 = load i32, ptr addrspace(1) %e\n" +
          load_operand(shader);
  text += uses_chain(shader.storage) ? chain(shader, target)
                                     : pass_through(shader.storage) + finish(operations()[shader.operation]);
  return text + declarations + metadata_of(shader, target);
}

Expected<std::string> compile_ir(const std::string& ir, const std::string& directory, std::string_view triple,
                                 std::string_view gpu, unsigned wave_size) {
  const std::string path = directory + "/shader";
  write_file(path + ".ll", ir);
  const std::string attributes = wave_size == 0 ? "" : fmt::format(" -mattr=+wavefrontsize{}", wave_size);
  const bool has_xnack = gpu == "gfx900";
  const auto made = run_command(fmt::format("llc-22 -mtriple={} -mcpu={}{}{} -filetype=obj {}.ll -o {}.o 2>&1", triple,
                                            gpu, has_xnack ? " -mattr=-xnack" : "", attributes, path, path));
  if (made.exit_code != 0) return std::unexpected(Failure{.message = made.output, .kind = FailureKind::invalid_file});
  return path + ".o";
}

std::string run_case(const ShaderCase& shader, const ShaderTarget& target, const Gpu& gpu,
                     const std::string& directory) {
  const unsigned wave_size = target.has_wave32 ? shader.wave_size : 0;
  const auto object = compile_ir(ir_of(shader, target), directory, "amdgcn--amdpal", target.gpu, wave_size);
  if (!object) return object.error().message;
  const auto code = gpu.load_file(*object);
  if (!code) return code.error().message;
  const auto& groups = work_groups[shader.dimensions - 1];
  const uint32_t items = group_size * groups[0] * groups[1] * groups[2];
  const auto buffer = gpu.allocate<uint32_t>(items);
  const auto constants = gpu.allocate<uint32_t>(4);
  if (!buffer || !constants) return "no memory";
  for (uint32_t i = 0; i < items; ++i) buffer->span()[i] = i * 3;
  constants->span()[3] = operand;

  const bool is_plain = shader.source == Source::plain;
  const uint32_t first_plain = uses_global_table(shader, target) ? 1 : 0;  // after the global table
  std::vector<UserData> data{
      {.entry = is_plain ? first_plain + 1 : 5, .value = Argument(static_cast<const Buffer&>(*buffer))}};
  if (is_plain || shader.source == Source::mapped || shader.source == Source::spilled)
    data.push_back({.entry = is_plain ? first_plain : operand_entry, .value = operand});
  if (shader.source == Source::descriptor) {
    const auto address = reinterpret_cast<uint64_t>(constants->span().data());
    const std::array<uint32_t, 4> resource{static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), 16,
                                           target.buffer_word3};
    data.push_back({.entry = descriptor_entry, .value = resource});
  }
  const auto done =
      gpu.launch_shader(*code, "_amdgpu_cs_main",
                        {.grid = {group_size * groups[0], groups[1], groups[2]}, .block = {group_size, 1, 1}}, data);
  if (!done) return done.error().message;
  const std::vector<uint32_t> results = buffer->read();
  for (uint32_t i = 0; i < items; ++i) {
    const uint32_t from = uses_lds(shader.storage) ? i / group_size * group_size + group_size - 1 - i % group_size : i;
    const uint32_t expected = operations()[shader.operation].host(from * 3, host_operand(shader));
    if (results[i] != expected) return fmt::format("work-item {} has {:#x}, the host {:#x}", i, results[i], expected);
  }
  return "";
}

std::string mesa_kernels() { return mesa_kernels_text; }

std::string run_mesa_kernels(const ShaderTarget& target, const Gpu& gpu, const std::string& directory) {
  const auto object = compile_ir(mesa_kernels_text, directory, "amdgcn-mesa-mesa3d", target.gpu, 0);
  if (!object) return object.error().message;
  const auto code = gpu.load_file(*object);
  if (!code) return code.error().message;
  constexpr uint32_t items = 192;
  const auto buffer = gpu.allocate<uint32_t>(items);
  if (!buffer) return buffer.error().message;
  const Argument data(static_cast<const Buffer&>(*buffer));
  std::string wrong;
  const auto compare = [&](const char* kernel, std::span<const Argument> arguments, uint32_t size,
                           uint32_t (*host)(uint32_t)) {
    for (uint32_t i = 0; i < items; ++i) buffer->span()[i] = i;
    const auto done =
        gpu.launch_with(*code, kernel, {.grid = {size}, .block = {std::min(size, group_size)}}, arguments);
    if (!done) wrong += fmt::format("{}: {}\n", kernel, done.error().message);
    for (uint32_t i = 0; done && i < size; ++i)
      if (buffer->span()[i] != host(i)) {
        wrong += fmt::format("{}: work-item {} has {}, the host {}\n", kernel, i, buffer->span()[i], host(i));
        return;
      }
  };
  const std::array<Argument, 3> arguments{data, uint32_t{5}, uint64_t{1000}};
  compare("scale", arguments, items, [](uint32_t i) { return i * 5 + 1000 + 1; });  // 1 dimension
  compare("stack", {&data, 1}, group_size, [](uint32_t i) { return i * 7; });
  compare("size", {&data, 1}, 48, [](uint32_t i) { return i == 0 ? 48 : i; });
  return wrong;
}

}  // namespace Atoll::test
