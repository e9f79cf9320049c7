kernel void scale(global float* data, float factor) {
  data[__builtin_amdgcn_workitem_id_x()] *= factor;
}
