// Differential tests: the way into a random program, on a GPU and on the host. Each work-item has three inputs and
// FUNCTIONS outputs.
#ifdef __AMDGCN__
__attribute__((amdgpu_kernel)) void kernel_entry(const GLOBAL u64* in, GLOBAL u64* out) {
  const u32 item = __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x();
  evaluate(in[item * 3], in[item * 3 + 1], in[item * 3 + 2], out + item * FUNCTIONS);
}
#else
void host_entry(const u64* in, u64* out) { evaluate(in[0], in[1], in[2], out); }
#endif
