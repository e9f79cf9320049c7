; Two reads of textures by addresses next to each other, whose lengths only the resource has. GPU: gfx900
; The second one's address is the first one's result in the wrong kernel; in the mended one it ends before that.
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body name, address
  kernel \name
\name:
  s_mov_b64 exec, 0  ; no lane reads a texture, which there is none of
  image_sample v4, v[0:1], s[8:15], s[16:19] dmask:0x1
  image_sample v5, v[\address:\address+1], s[8:15], s[16:19] dmask:0x1
  image_load v6, v[\address:\address+1], s[8:15] dmask:0x1 unorm
.endm
body wrong, 4  ; FINDING: wait missing-wait
  s_endpgm
descriptor wrong
body mended, 2
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"
