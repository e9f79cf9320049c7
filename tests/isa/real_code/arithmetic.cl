// Arithmetic of every width, compiled for each processor by real_code_test.cpp; the code is read, not run.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void integers(global int* a, global uint* b, global long* c, global ulong* d, global short* e, global uchar* f) {
  const size_t i = get_global_id(0);
  a[i] = a[i] / a[i + 1] + mul24(a[i], 7) - abs(a[i + 2]) + (a[i] >> (b[i] & 31));
  b[i] = b[i] % 10u + rotate(b[i], 5u) * popcount(b[i + 1]) + clz(b[i]) + add_sat(b[i], b[i + 1]) + mad_hi(b[i], 3u, 4u);
  c[i] = c[i] / (c[i + 1] | 1) + (c[i] << 3) + max(c[i], c[i + 2]) + mul_hi(c[i], c[i + 1]);
  d[i] = d[i] * d[i + 1] + (d[i] >> (i & 63)) + (d[i] < d[i + 1] ? 0x123456789abcdefUL : d[i + 2]);
  e[i] = add_sat(e[i], (short)3) * e[i + 1] + min(e[i], e[i + 2]);
  f[i] = (f[i] + f[i + 1] + 1) >> 1 ^ f[i + 3];
}

kernel void floats(global float* a, global double* b, global half* c, global float4* d, global half2* e) {
  const size_t i = get_global_id(0);
  a[i] = fma(a[i], 2.5f, sqrt(a[i + 1])) / a[i + 2] - fabs(a[i + 3]) + ldexp(a[i], 3) + native_sin(a[i]) +
         (isnan(a[i]) ? 1.0f : a[i + 4]) + fmin(a[i], -0.5f) + trunc(a[i]) + native_exp(a[i]);
  b[i] = fma(b[i], b[i + 1], 0.5) / b[i + 2] - floor(b[i]) + sqrt(b[i]) + (double)a[i] + (double)(int)i + fmax(b[i], 4.0);
  c[i] = c[i] * (half)0.15915494h + c[i + 1] / (half)3 - fabs(c[i + 2]) + (half)a[i];
  d[i] = mix(d[i], d[i + 1], 0.25f) * d[i].wzyx + convert_float4(convert_int4(d[i + 2])) + clamp(d[i], 0.0f, 1.0f);
  e[i] = fma(e[i], e[i + 1], -e[i + 2].yx) + (half2)(1, -2);
  a[i + 1] = (uchar)(int)a[i] + (float)(((uint)i >> 8) & 255);
}

kernel void control(global uint* a, global const uint* b, const uint n) {
  const size_t i = get_global_id(0);
  uint sum = 0;
  for (uint k = 0; k < n; ++k) {
    if (b[k] == 3) continue;
    if (b[k] > 1000000) break;
    switch (b[k + i] & 7) {
      case 0: sum += k; break;
      case 1: sum ^= b[k]; break;
      case 2: sum *= 3; break;
      case 5: sum -= 70000; break;
      default: sum = sum << 1 | sum >> 31; break;
    }
  }
  a[i] = sum;
}
