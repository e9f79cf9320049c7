// Where clang 22's code differs from the table of the memory model, and why. Patterns are regular expressions for the
// whole text. A row has to hold for every target that it names.
#pragma once

namespace Atoll::test {

struct CompilerDifference {
  const char* targets;     ///< as CompiledTarget::name() has them
  const char* operations;  ///< as to_string() has them
  const char* difference;  ///< as differences() says it
  const char* reason;
};

constexpr CompilerDifference compiler_differences[] = {
    {"gfx(?!.*tgsplit).*", "(atomic (load|store)|atomicrmw).* (release|acq_rel|seq_cst) \\w+ local",
     "waits for (lgkmcnt|dscnt) before ds_\\w+",
     "LLVM releases in the same way whatever the access is (SIMemoryLegalizer, insertRelease). The user guide has no "
     "such "
     "wait before an access to LDS, which does not overtake the wave's earlier ones"},
    {"gfx1[01]\\d\\d.*", "(atomic load|atomicrmw|fence).* (acquire|acq_rel|seq_cst) .*",
     "waits for vmcnt before buffer_gl[01]_inv",
     "SIInsertWaitcnts waits for loads before every such instruction; it is a remnant that its own comment says the "
     "memory legalizer makes superfluous"},
    {"gfx1[0-2]\\d\\d_cumode", "(atomic load|atomicrmw).* (acq_rel|seq_cst) workgroup(-one-as)? (global|generic)",
     "waits for (vmcnt|vscnt|loadcnt|storecnt) at the end",
     "LLVM asks whether the order includes release, which needs the wait in CU mode, for the acquiring half of the "
     "operation, too; the user guide has no wait there"},
    {"(?!gfx1250).*", "atomicrmw.* private", "waits for [a-z, ]+ before (buffer|scratch)_store_\\w+",
     "not the model's: the value that is stored is computed from the one that was loaded, and the compiler may "
     "compute what else it has to meanwhile"},
    {"gfx1200.*", "load volatile.* (global|generic|private)", "waits for bvhcnt, samplecnt at the end",
     "LLVM waits for all kinds of loads after a volatile one (insertWait without AtomicsOnly); the load itself is "
     "counted "
     "by loadcnt"},
    {"gfx9\\w+_tgsplit", "(atomic|atomicrmw|fence).* (release|acquire|acq_rel|seq_cst) .*", "waits for lgkmcnt .*",
     "the user guide omits lgkmcnt with tgsplit, where no LDS can be allocated; LLVM leaves LDS out, too, but waits "
     "for "
     "GDS, which lgkmcnt also counts"},
    {"gfx1250", ".* (release|acq_rel|seq_cst) (agent|system|agent-one-as|one-as).*",
     "does not wait for loadcnt, storecnt before global_wb scope:SCOPE_(DEV|SYS)",
     "the user guide of 2026 wants earlier stores and atomics to have reached L2 before the write-back; LLVM 22.1 has "
     "no "
     "such wait yet (later: FeatureINVWBL2WaitCntRequirement)"},
    {"gfx1250", ".* (acquire|acq_rel|seq_cst) (agent|system|agent-one-as|one-as).*",
     "does not wait for loadcnt at the end",
     "the user guide of 2026 waits for the invalidation, which later loads could be done before; LLVM 22.1 has no such "
     "wait yet (later: FeatureINVWBL2WaitCntRequirement)"},
};

}  // namespace Atoll::test
