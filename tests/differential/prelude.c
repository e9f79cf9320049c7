// Differential tests: what random programs are made of, the same for the host and for a GPU.
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));

#ifdef __AMDGCN__
#define GLOBAL __attribute__((address_space(1)))
#else
#define GLOBAL
#endif

// --- The result of a function: every variable's bits, mixed ----------------------------------------------------------

static inline u64 mix(u64 mixed, u64 value) {
  mixed ^= value + 0x9E3779B97F4A7C15ull + (mixed << 6) + (mixed >> 2);
  return mixed * 0xFF51AFD7ED558CCDull;
}

#define BITS_OF_INTEGER(type) \
  static inline u64 bits_##type(type value) { return (u64)value; }
BITS_OF_INTEGER(u8)
BITS_OF_INTEGER(i8)
BITS_OF_INTEGER(u16)
BITS_OF_INTEGER(i16)
BITS_OF_INTEGER(u32)
BITS_OF_INTEGER(i32)
BITS_OF_INTEGER(u64)
BITS_OF_INTEGER(i64)

// All NaNs count as the same: C leaves their bits open.
#define BITS_OF_FLOAT(type, word)              \
  static inline u64 bits_##type(type value) {  \
    word bits;                                 \
    __builtin_memcpy(&bits, &value, sizeof bits); \
    return value != value ? 0x7FF : bits;      \
  }
BITS_OF_FLOAT(f16, u16)
BITS_OF_FLOAT(f32, u32)
BITS_OF_FLOAT(f64, u64)

// --- Functions of one and two values ---------------------------------------------------------------------------------

#define COUNTS(bits, suffix, builtin)                                                                              \
  static inline u##bits population##bits(u##bits a) { return (u##bits)__builtin_popcount##suffix(a); }             \
  static inline u##bits leading##bits(u##bits a) { return a != 0 ? (u##bits)__builtin_clz##suffix(a) : 77; }       \
  static inline u##bits trailing##bits(u##bits a) { return a != 0 ? (u##bits)__builtin_ctz##suffix(a) : 77; }      \
  static inline u##bits reversed##bits(u##bits a) { return __builtin_bitreverse##bits(a); }                        \
  static inline u##bits swapped##bits(u##bits a) { return __builtin_bswap##bits(a); }
COUNTS(32, , )
COUNTS(64, l, )

static inline u64 high_u64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
static inline i64 high_i64(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
static inline f32 fma_f32(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
static inline f64 fma_f64(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
static inline f32 sqrt_f32(f32 a) { return __builtin_elementwise_sqrt(a); }
static inline f64 sqrt_f64(f64 a) { return __builtin_elementwise_sqrt(a); }

// C defines a conversion only of what fits.
#define CONVERSION(to, low, high)                                                                                    \
  static inline to to_##to##_f32(f32 a) { return a >= (f32)(low) && a <= (f32)(high) ? (to)a : (to)42; }             \
  static inline to to_##to##_f64(f64 a) { return a >= (f64)(low) && a <= (f64)(high) ? (to)a : (to)42; }
CONVERSION(u8, 0, 255)
CONVERSION(i8, -128, 127)
CONVERSION(u16, 0, 65535)
CONVERSION(i16, -32768, 32767)
CONVERSION(u32, 0, 4294960000.0)
CONVERSION(i32, -2147480000.0, 2147480000.0)
CONVERSION(u64, 0, 1.8e19)
CONVERSION(i64, -9.2e18, 9.2e18)

// --- Functions of three words ----------------------------------------------------------------------------------------

#define WORDS(name) static inline u32 name(u32 a, u32 b, u32 c)
#define HALVES(name, result)                 \
  WORDS(pk_##name) {                         \
    u16x2 x, y, z;                           \
    i16x2 p, q;                              \
    __builtin_memcpy(&x, &a, 4);             \
    __builtin_memcpy(&y, &b, 4);             \
    __builtin_memcpy(&z, &c, 4);             \
    __builtin_memcpy(&p, &a, 4);             \
    __builtin_memcpy(&q, &b, 4);             \
    const __typeof__(result) value = result; \
    u32 word;                                \
    __builtin_memcpy(&word, &value, 4);      \
    return word;                             \
  }
HALVES(add, x + y)
HALVES(sub, x - y)
HALVES(mul, x* y)
HALVES(mad, x* y + z)
HALVES(shl, x << (y & 15))
HALVES(shr, x >> (y & 15))
HALVES(sar, p >> (q & 15))
HALVES(umin, __builtin_elementwise_min(x, y))
HALVES(umax, __builtin_elementwise_max(x, y))
HALVES(imin, __builtin_elementwise_min(p, q))
HALVES(imax, __builtin_elementwise_max(p, q))
HALVES(uadd, __builtin_elementwise_add_sat(x, y))
HALVES(isub, __builtin_elementwise_sub_sat(p, q))
HALVES(swap, x.yx + y.xx)
HALVES(mix, x.yx - z.yy)

WORDS(pk_f32) {
  const f32x2 x = {(f32)(i32)a, (f32)(i32)b}, y = {(f32)(i32)c, 0.5f};
  const f32x2 z = __builtin_elementwise_fma(x * y + x, y, x);
  return (u32)bits_f32(z.x) ^ (u32)(bits_f32(z.y) >> 1);
}

static inline u32 byte(u32 a, int i) { return a >> 8 * i & 255; }
static inline i32 signed_byte(u32 a, int i) { return (i8)byte(a, i); }
static inline i32 signed_half(u32 a, int i) { return (i16)(a >> 16 * i); }
WORDS(dot_u8) {
  return byte(a, 0) * byte(b, 0) + byte(a, 1) * byte(b, 1) + byte(a, 2) * byte(b, 2) + byte(a, 3) * byte(b, 3) + c;
}
WORDS(dot_i8) {
  return (u32)(signed_byte(a, 0) * signed_byte(b, 0) + signed_byte(a, 1) * signed_byte(b, 1) +
               signed_byte(a, 2) * signed_byte(b, 2) + signed_byte(a, 3) * signed_byte(b, 3) + (i32)c);
}
WORDS(dot_u16) { return (a & 0xFFFF) * (b & 0xFFFF) + (a >> 16) * (b >> 16) + c; }
WORDS(dot_i16) {
  return (u32)(signed_half(a, 0) * signed_half(b, 0) + signed_half(a, 1) * signed_half(b, 1) + (i32)c);
}
WORDS(sad_u8) {
  for (int i = 0; i < 4; ++i) c += byte(a, i) > byte(b, i) ? byte(a, i) - byte(b, i) : byte(b, i) - byte(a, i);
  return c;
}
WORDS(sad_u32) { return (a > b ? a - b : b - a) + c; }
WORDS(bytes) { return byte(a, 1) | byte(b, 3) << 8 | byte(a, 0) << 16 | byte(c, 2) << 24; }
WORDS(med_u32) {
  const u32 low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}
WORDS(med_i32) {
  const i32 low = (i32)a < (i32)b ? (i32)a : (i32)b, high = (i32)a < (i32)b ? (i32)b : (i32)a;
  return (u32)((i32)c < low ? low : (i32)c > high ? high : (i32)c);
}
WORDS(bit_select) { return (a & b) | (~a & c); }
WORDS(align) { return (u32)(((u64)a << 32 | b) >> (c & 31)); }
WORDS(shift_or) { return a << (b & 31) | c; }
WORDS(extract) { return a >> (b & 31) & ((1u << (c & 31)) - 1); }
WORDS(rotate) { return (a << (b & 31) | a >> (-b & 31)) ^ c; }
WORDS(mad_24) { return (a & 0xFFFFFF) * (b & 0xFFFFFF) + c; }
WORDS(high_u32) { return (u32)((u64)a * b >> 32) + c; }
WORDS(high_i32) { return (u32)((i64)(i32)a * (i32)b >> 32) + c; }
