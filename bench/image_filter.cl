// A filter of 5 x 5 texels, each of which is sampled: image_comparison.cpp. The sampler is an argument, so that the same
// kernel takes the nearest texels or interpolates between them.
kernel void filter_5x5(read_only image2d_t in, write_only image2d_t out, sampler_t sampler, constant float* weights,
                       float offset) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
  for (int dy = -2; dy <= 2; ++dy) {
    for (int dx = -2; dx <= 2; ++dx) {
      const float2 where = (float2)(at.x + dx, at.y + dy) + offset;
      sum += weights[(dy + 2) * 5 + dx + 2] * read_imagef(in, sampler, where);
    }
  }
  write_imagef(out, at, sum);
}
