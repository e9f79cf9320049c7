// Directives, expressions, macros and conditions: the object that llvm-mc-22 makes of a text is the one that Atoll
// makes, byte for byte.
#include <gtest/gtest.h>

#include "assembler/llvm_assembler.h"

namespace Atoll::test {
namespace {

struct Text {
  const char* name;
  const char* text;
};
void PrintTo(const Text& text, std::ostream* out) { *out << text.name; }

class SameAsLlvm : public testing::TestWithParam<Text> {};

TEST_P(SameAsLlvm, Object) { expect_same_object(GetParam().text, "gfx90a"); }

constexpr Text texts[] = {
    {"Nothing", ""},
    {"Expressions", R"(
.set a, -8
.quad a>>1, 1==1, 2>1, 1&&2, 1||0, !3, ~3, 3!1, 5%3, 7/2, 1<<4+1, 6|1+1, 'a', 0b101, 017, -7/2, -7%3, 2<>3, 2!=2
.quad 3-2-1, 2*3+4, 2+3*4, (2+3)*4, 1<2, 2<=2, 3>=4, 6^3, 6&3, -(-3), +5, '\n', 0xFFFFFFFFFFFFFFFF, 10UL
.quad [1+2]*3, 1<<63, -1>>60
.long max(1,2,7), or(1,6), alignto(5,8), extrasgprs(1,1,0), extrasgprs(1,0,1), totalnumvgprs(5,9), max(max(1,2),3)
.long occupancy(10,8,256,9,8,40,30)
)"},
    {"ExplicitRelocations", R"(
x: .long 1
.reloc 0, R_AMDGPU_ABS32, foo
.reloc x+4, R_AMDGPU_REL32, foo+8
.reloc .+4, R_AMDGPU_RELATIVE64, x+3
.quad 5
.long foo
.reloc 2, BFD_RELOC_64, .data
.reloc 3, R_AMDGPU_NONE
.reloc 4, R_AMDGPU_REL16, 7
.data
.quad x
.reloc 0, R_AMDGPU_GOTPCREL32_HI, y
.globl y
y: .long 4
)"},
    {"WeakReferences", R"(
.weakref a, b
.weakref c, d
.weakref e, f
.weakref unused, nothing
.quad a
.long c
.long d
f: .long e
)"},
    {"WeakReferencesNamedBefore", R"(
.long a+4
.weakref a, b
.long c
.weakref c, d
.long d
)"},
    {"Subsections", R"(
.text 1
s_nop 1
.p2align 4
late: s_nop 2
.text
early: s_nop 0
s_branch late
.long late-early
.data 2
.long 2
.data
.long 0
.data 1
.quad late
.section .foo,"a"
.long 1
.subsection 3
.long 3
.pushsection .data, 1
.long 5
.popsection
.long 4
.subsection 2
.uleb128 end-begin
.previous
.long 6
begin: .long 7
end:
.bss 1
.skip 4
.bss
.skip 8
)"},
    {"SourceFileWithoutNumber", ".file \"name.c\"\ns_nop 0\n.line 5\n"},
    {"SectionFlagsAndTypes", R"(
.section .a,"aG",@progbits,g,comdat
.long 1
.section .b,"a?",@progbits
.long 2
.section .c,"a?",@progbits
.section .d,#alloc,#write
.long 3
.section .e,"0x2"
.section .f,"e",@llvm_linker_options
.asciz "a"
.section .g,"",@llvm_bb_addr_map
.section .h,"a",@unwind
)"},
    {"SymbolAttributesWithoutMeaning", R"(
.no_dead_strip undefined, defined
.memtag tagged
.type unique,@gnu_unique_object
defined: s_nop 0
unique: s_nop 0
)"},
    {"MoreData", R"(
.dcb.d 2, 1.5
.dcb.s 2, 1.5
.ds.x 2
.ds.p 1
.base64 "aGVsbG8=", "aGVsbG8hIQ=="
.macros_off
.macros_on
.uleb128 b-a
.sleb128 a-b
a: .skip 200
.byte 1
b:
)"},
    {"UnwindFrames", R"(
.cfi_startproc
s_nop 0
.cfi_def_cfa 3, 16
s_nop 1
.cfi_def_cfa_offset 8
.cfi_adjust_cfa_offset 4
s_nop 2
.cfi_def_cfa_register 5
.cfi_offset 16, -8
.cfi_offset 16, 8
.cfi_offset 70, 8
.cfi_rel_offset 16, -8
.cfi_val_offset 3, -8
.cfi_val_offset 3, 8
s_nop 3
.cfi_remember_state
.cfi_same_value 3
.cfi_restore 4
.cfi_restore 2570
.cfi_undefined 5
.cfi_register 6, 7
.cfi_window_save
.cfi_llvm_def_aspace_cfa 3, 16, 6
.cfi_restore_state
.cfi_escape 0x0f, 4, 0x30, 0x36, 0xe9, 0x02
.cfi_label inside
.fill 70,4,0xbf800000
.cfi_def_cfa pc, 8
.fill 300,4,0xbf800000
.cfi_undefined s0
.cfi_undefined s70
.fill 70000,4,0xbf800000
.cfi_undefined v0
.cfi_undefined a3
.cfi_undefined exec
.cfi_endproc
.quad inside
)"},
    {"FramesOfSeveralKinds", R"(
.cfi_sections .eh_frame, .debug_frame
.cfi_startproc
.cfi_personality 0x1b, handler
.cfi_lsda 0x1b, table
s_nop 0
.cfi_endproc
.cfi_startproc simple
.cfi_def_cfa_offset 12
s_nop 1
.cfi_adjust_cfa_offset 4
.cfi_endproc
.cfi_startproc
.cfi_signal_frame
.cfi_return_column 17
.section .text.other,"ax"
.cfi_startproc
.cfi_personality 0, another
.cfi_lsda 0xff
s_nop 2
.cfi_endproc
.text
s_nop 3
.cfi_endproc
)"},
    {"FramesForDebuggersOnly",
     ".cfi_sections .debug_frame\n.cfi_startproc\ns_nop 0\n.cfi_undefined s4\n.cfi_endproc\n"},
    {"Groups", R"(
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: .long 1
.quad g
.section .rodata.f,"aG",@progbits,f,comdat
.long 1
.quad f
.section .text.h,"axG",@progbits,hh
h: .long 5
.section .text.two,"axG",@progbits,f,comdat
.long 6
.section .data.undefined,"awG",@progbits,other,comdat
.quad other
.text
.long 7
)"},
    {"Integers",
     ".byte 1, -1, 255, -128\n.short 65535, -32768\n.2byte 3\n.value 4\n.long 0xFFFFFFFF\n.int -5\n.4byte 6\n"
     ".quad 1\n.8byte 2\n.dc.b 1\n.dc.w 2\n.dc.l 3\n.dc 4\n.octa 0x123456789abcdef0123456789abcdef, 5\n"},
    {"Reals",
     ".float 1.5, -2, 0x1p3, inf, -infinity, 1e10, .5, 3e-5\n.double 1.0, -0.1, 1e300, nan\n.single 2.5\n.dc.s "
     "1.0\n.dc.d 2.0\n"},
    {"Strings", R"(.ascii "a\n\t\"\\\101\x41", "b"
.ascii "c" "d"
.string "e", ""
)"},
    {"LocalLabels", "1: .long 1b-., 1f-., 2f-1b\n1:\n2: .long 1b-2b\n.long 2b\n"},
    {"Alignment", R"(
.long 1
.p2align 4
.byte 1
.balign 8, 0xff
.short 1
.balignw 8, 0x1234
.long 2
.p2alignl 4, 0x01020304
.align 32
.p2align 2
.section .rodata
.byte 1
.p2align 3
.byte 2
.balign 16, 7
)"},
    {"Fills", R"(
.skip 4, 7
.zero 3
.space 2
.fill 2,3,0x01020304
.fill 3,8,-1
.fill 2
.fill n, 1, 9
.set n, 3
.org 0x80
.long 1
.org . + 4, 0xaa
.dcb.w 3, 5
.ds.l 2
)"},
    {"Leb128", ".uleb128 300, 0, 127, 128\n.sleb128 -300, 63, 64, -64, -65\n.uleb128 b-a\na: .long 5\nb:\n"},
    {"Macros", R"(
.macro numbers a, b=3, c:vararg
.long \a, \b, \c
.endm
numbers 1, , 4, 5
numbers a=7, c=9
numbers 2 8 6
.macro label n:req
l\n\()_x: .long \@
.endm
label 1
label 2
.macro nested x
.macro inner_\x
.byte \x
.endm
inner_\x
.endm
nested 5
.macro count n
.if \n
.byte \n
count \n-1
.endif
.endm
count 3
.macro early n
.byte 1
.if \n == 0
.exitm
.endif
.byte 2
.endm
early 0
early 1
.purgem early
.macro early
.byte 77
.endm
early
)"},
    {"Repetition", R"(
.rept 3
.byte 1
.endr
.irp x,1,2,3
.byte \x
.endr
.irpc x,123
.byte \x
.endr
.rept 2
.irp y, 4, 5
.short \y
.endr
.endr
.rept 0
.byte 99
.endr
)"},
    {"Conditions", R"(
.set one, 1
.ifdef one
.byte 1
.else
.byte 2
.endif
.ifndef two
.byte 3
.endif
.if one == 2
.byte 4
.elseif one == 1
.byte 5
.else
.byte 6
.endif
.if 0
.if 1
.byte 7
.else
.byte 8
.endif
.elseif 1
.byte 9
.endif
.ifc a b, a b
.byte 10
.endif
.ifnc a, a
.byte 11
.endif
.ifeqs "a","a"
.byte 12
.endif
.ifnes "a","a"
.byte 13
.endif
.ifb
.byte 14
.endif
.ifnb x
.byte 15
.endif
.ifgt 1
.byte 16
.endif
.iflt 1
.byte 17
.endif
.ifeq 0
.byte 18
.endif
.ifge 0
.byte 19
.endif
.ifle -1
.byte 20
.endif
.ifne 0
.byte 21
.endif
)"},
    {"Sections", R"(
.section .rodata,"a",@progbits
.long 1
.data
.quad x
x: .long 2
.bss
.zero 16
.section .text.f,"ax",@progbits
.long 3
.pushsection .note.mine,"",@note
.long 4
.popsection
.long 5
.previous
.section .rodata.str,"aMS",@progbits,1
.asciz "text"
.section ".quoted name","w"
.byte 6
.text
.long 7
.section .note.GNU-stack,"",@progbits
.section .custom,"ao",@progbits,x
.long 8
.section .rodata
.long 9
)"},
    {"Symbols", R"(
.globl f, undefined_global
.weak w
.hidden h
.protected p
.local l
.type f,@function
f: .long 1
.size f, .-f
w: .long 2
.type w,STT_OBJECT
h: .long 3
p: .long 4
l: .long 5
.set alias, f
.set number, 42
later = f + 4
.equ early, number + 1
.comm common, 16, 3
.globl number
.Ltemporary: .long .Ltemporary2 - .Ltemporary
.Ltemporary2:
"odd name": .long "odd name" - f
.ident "somebody"
.ident "somebody else"
.addrsig
.addrsig_sym f
.addrsig_sym undefined_significant
.size l, 4
.amdgpu_lds shared, 64, 8
)"},
    {"Relocations", R"(
.globl g
l: .long 1
g: .long 2
.long ext, ext+4, l, g, ext@rel32@lo+4, ext@rel32@hi+8, ext@gotpcrel32@lo, ext@gotpcrel32@hi, ext@abs32@lo, ext@abs32@hi
.long l@rel32@lo+4, g@rel32@lo, ext@gotpcrel
.quad ext, l, g+8, ext-., l-., g-., ext@rel64, ext@abs64
.long ext-l, g-l
.weak w
.quad w
.data
.quad l, .Lhere
.long l-.
.section .rodata.str,"aMS",@progbits,1
.Lhere: .asciz "text"
.Lthere: .asciz "more"
.data
.quad .Lthere, .Lthere+1
.quad "quoted name"@rel64
)"},
    {"ValuesSetLater",
     ".long late, late+1\n.set late, 7\n.set twice, 1\n.byte twice\n.set twice, 2\n.byte twice\n.byte b-a\na: .long "
     "0\nb:\n"},
    {"Comments", "/* one\ntwo */ .byte 1 ; rest\n# a line\n.byte 2 // rest\n.byte 3 /* in between */ , 4\n"},
    {"Metadata", R"(
.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space: global
        .offset: 0
        .size: 8
        .value_kind: global_buffer
        .name: 'a'
    .group_segment_fixed_size: 256
    .kernarg_segment_align: 8
    .kernarg_segment_size: 20
    .language: OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 70000
    .name: vadd
    .private_segment_fixed_size: 0
    .sgpr_count: 0x25
    .sgpr_spill_count: 0
    .symbol: vadd.kd
    .uses_dynamic_stack: false
    .vgpr_count: 6
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
...
.end_amdgpu_metadata
)"},
    {"PalMetadata",
     ".amdgpu_pal_metadata\n---\namdpal.pipelines:\n  - .registers:\n      '0x2e12': 0x2c0000\n      '0x2e13': 3\n"
     "    .name: x\namdpal.version: [2, 6]\n...\n.end_amdgpu_pal_metadata\n"},
    {"PalMetadataWithNamesOfRegisters",
     ".amdgpu_pal_metadata\n---\namdpal.pipelines:\n  - .registers:\n"
     "      '0x2e13 (COMPUTE_PGM_RSRC2)': 0x90\n      '0x2e12 (COMPUTE_PGM_RSRC1)': 0xaf0000\n      0xa: 1\n"
     "      '0xa1b6 (SPI_PS_IN_CONTROL)': 2\n  - .name: y\n    .other: [true, True, yes, off, "
     "false]\n...\n.end_amdgpu_pal_metadata\n"},
    {"PalMetadataWithoutPipelines", ".amdgpu_pal_metadata\n---\namdpal.pipelines: []\n...\n.end_amdgpu_pal_metadata\n"},
    {"PalMetadataOfAVersionOnly", ".amdgpu_pal_metadata\n---\namdpal.version: [3, 0]\n...\n.end_amdgpu_pal_metadata\n"},
    {"SymbolsSetAnew",
     ".set a, x-y\n.set b, a+a\n.set a, 5\nx:\n.long 1\ny:\n.long b, a\n.set a, x\n.set c, a\n.set a, a+4\n"
     ".long a, c\n.set d, a-c+x\n.set a, d-x\n.set .Lt, y\n.set e, .Lt\n.set .Lt, 7\n.long a, e, .Lt, z\n"
     ".set z, x\n.long z\n.set z, y\n.long z\n"},
    {"SymbolsNamedBeforeTheyAreSet",
     ".set b, a+1\n.set c, b\n.long b\n.set a, 4\n.set b, 0\n.set a, 9\n.long c, b, a\n"},
    {"SymbolsSetAnewHaveALaterPlace",
     ".macro m\n.set a, a+1\n.endm\n.set a, 0\n.set b, 0\nm\nm\n.set c, 3\n.set d, x\n.set e, d\n.set d, 1\n"
     ".hidden f\n.set f, x\n.set f, 4\nx:\n"},
    {"CodeObjectVersion", ".amdhsa_code_object_version 4\n.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n.long 1\n"},
};

INSTANTIATE_TEST_SUITE_P(Texts, SameAsLlvm, testing::ValuesIn(texts),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace Atoll::test
