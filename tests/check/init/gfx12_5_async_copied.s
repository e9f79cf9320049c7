; LDS is read beside what an asynchronous copy has filled. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body name, offset
  kernel \name
\name:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  global_load_async_to_lds_b32 v1, v1, s[4:5] offset:256
  s_wait_asynccnt 0x0
  ds_load_b32 v2, v1 offset:\offset
  s_wait_dscnt 0x0
  v_cmp_lt_u32 vcc_lo, 5, v2
.endm
body wrong, 128
  s_cbranch_vccnz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
body mended, 256
  s_cbranch_vccnz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"
