// isa: the formats of each generation; format.h explains them.
#include "isa/format.h"

#include <vector>

namespace Atoll::isa {
namespace {

using enum Bits;
using E = Encoding;

// --- Scalar ALU: the same on all generations ----------------------------------------------------------------------

constexpr Format sop2{E::sop2, 2, 0b10, 4, {{opcode, 23, 7}, {vdst, 16, 7}, {src0, 0, 8}, {src1, 8, 8}}};
constexpr Format sopk{E::sopk, 4, 0b1011, 4, {{opcode, 23, 5}, {vdst, 16, 7}, {simm16, 0, 16}}};
constexpr Format sop1{E::sop1, 9, 0b101111101, 4, {{opcode, 8, 8}, {vdst, 16, 7}, {src0, 0, 8}}};
constexpr Format sopc{E::sopc, 9, 0b101111110, 4, {{opcode, 16, 7}, {src0, 0, 8}, {src1, 8, 8}}};
constexpr Format sopp{E::sopp, 9, 0b101111111, 4, {{opcode, 16, 7}, {simm16, 0, 16}}};

// --- Vector ALU -----------------------------------------------------------------------------------------------------

constexpr Format vop2{E::vop2, 1, 0, 4, {{opcode, 25, 6}, {vdst, 17, 8}, {src0, 0, 9}, {src1, 9, 8}}};
constexpr Format vop1{E::vop1, 7, 0b0111111, 4, {{opcode, 9, 8}, {vdst, 17, 8}, {src0, 0, 9}}};
constexpr Format vopc{E::vopc, 7, 0b0111110, 4, {{opcode, 17, 8}, {src0, 0, 9}, {src1, 9, 8}}};

constexpr Format vop3_gfx6{E::vop3,
                           6,
                           0b110100,
                           8,
                           {{opcode, 17, 9},
                            {vdst, 0, 8},
                            {sdst, 8, 7},
                            {abs, 8, 3},
                            {clamp, 11, 1},
                            {src0, 32, 9},
                            {src1, 41, 9},
                            {src2, 50, 9},
                            {omod, 59, 2},
                            {neg, 61, 3}}};
constexpr Format vop3_from_gfx8(uint16_t prefix) {
  return {E::vop3,
          6,
          prefix,
          8,
          {{opcode, 16, 10},
           {vdst, 0, 8},
           {sdst, 8, 7},
           {abs, 8, 3},
           {op_sel, 11, 4},
           {clamp, 15, 1},
           {src0, 32, 9},
           {src1, 41, 9},
           {src2, 50, 9},
           {omod, 59, 2},
           {neg, 61, 3},
           {attribute, 32, 6},  // of interpolation, in src0's place; src1 is the register or the slot
           {channel, 38, 2},
           {high, 40, 1},
           {slot, 41, 9}}};
}
constexpr Format vop3p(uint8_t prefix_bits, uint16_t prefix, uint8_t opcode_bits = 7) {
  return {E::vop3p,
          prefix_bits,
          prefix,
          8,
          {{opcode, 16, opcode_bits},
           {vdst, 0, 8},
           {abs, 8, 3},
           {op_sel, 11, 3},
           {op_sel_hi2, 14, 1},
           {clamp, 15, 1},
           {src0, 32, 9},
           {src1, 41, 9},
           {src2, 50, 9},
           {op_sel_hi, 59, 2},
           {neg, 61, 3},
           // of matrix instructions on GFX9
           {cbsz, 8, 3},
           {abid, 11, 4},
           {accumulation, 15, 1},
           {source_accumulation, 59, 2},
           {blgp, 61, 3}}};
}

// Two instructions: the fields of the X half, and the Y half's where X's would be in the second word.
constexpr Format vopd{E::vopd,
                      6,
                      0b110010,
                      8,
                      {{opcode, 22, 4},
                       {opcode_high, 17, 5},
                       {src0, 0, 9},
                       {src1, 9, 8},
                       {vdst, 56, 8},
                       {src0_y, 32, 9},
                       {src1_y, 41, 8},
                       {vdst_y, 49, 7}}};

// As VOPD, with a third source and negations for each half, and any destinations.
constexpr Format vopd3{E::vopd3,
                       8,
                       0b11001111,
                       12,
                       {{opcode, 18, 6},
                        {opcode_high, 12, 6},
                        {src0, 0, 9},
                        {src1, 48, 8},
                        {src2, 56, 8},
                        {vdst, 64, 8},
                        {neg, 41, 3},
                        {src0_y, 32, 9},
                        {src1_y, 72, 8},
                        {src2_y, 80, 8},
                        {vdst_y, 88, 8},
                        {neg_y, 44, 3}}};

constexpr Format vintrp(uint16_t prefix) {
  return {E::vintrp,
          6,
          prefix,
          4,
          {{opcode, 16, 2}, {vdst, 18, 8}, {attribute, 10, 6}, {channel, 8, 2}, {src1, 0, 8}, {slot, 0, 8}}};
}
constexpr Format vinterp(uint8_t opcode_bits) {
  return {E::vinterp,
          8,
          0b11001101,
          8,
          {{opcode, 16, opcode_bits},
           {vdst, 0, 8},
           {wait_exp, 8, 3},
           {op_sel, 11, 4},
           {clamp, 15, 1},
           {src0, 32, 9},
           {src1, 41, 9},
           {src2, 50, 9},
           {neg, 61, 3}}};
}
constexpr Format ldsdir_gfx11{
    E::ldsdir,
    8,
    0b11001110,
    4,
    {{opcode, 20, 2}, {vdst, 0, 8}, {channel, 8, 2}, {attribute, 10, 6}, {wait_vdst, 16, 4}, {zero, 22, 2}}};
constexpr Format ldsdir_gfx12{E::ldsdir,
                              8,
                              0b11001110,
                              4,
                              {{opcode, 20, 2},
                               {vdst, 0, 8},
                               {channel, 8, 2},
                               {attribute, 10, 6},
                               {wait_vdst, 16, 4},
                               {zero, 22, 1},
                               {wait_vm_vsrc, 23, 1}}};

// --- Scalar memory --------------------------------------------------------------------------------------------------

constexpr Format smrd{E::smem,
                      5,
                      0b11000,
                      4,
                      {{opcode, 22, 5}, {sdata, 15, 7}, {sbase, 9, 6}, {offset_is_immediate, 8, 1}, {offset, 0, 8}}};
constexpr Format smem_gfx8{
    E::smem,
    6,
    0b110000,
    8,
    {{opcode, 18, 8}, {sbase, 0, 6}, {sdata, 6, 7}, {glc, 16, 1}, {offset_is_immediate, 17, 1}, {offset, 32, 20}}};
constexpr Format smem_gfx9{E::smem,
                           6,
                           0b110000,
                           8,
                           {{opcode, 18, 8},
                            {sbase, 0, 6},
                            {sdata, 6, 7},
                            {soffset_enable, 14, 1},
                            {glc, 16, 1},
                            {offset_is_immediate, 17, 1},
                            {offset, 32, 21},
                            {soffset, 57, 7}}};
constexpr Format smem_gfx10{
    E::smem,
    6,
    0b111101,
    8,
    {{opcode, 18, 8}, {sbase, 0, 6}, {sdata, 6, 7}, {dlc, 14, 1}, {glc, 16, 1}, {offset, 32, 21}, {soffset, 57, 7}}};
constexpr Format smem_gfx11{
    E::smem,
    6,
    0b111101,
    8,
    {{opcode, 18, 8}, {sbase, 0, 6}, {sdata, 6, 7}, {dlc, 13, 1}, {glc, 14, 1}, {offset, 32, 21}, {soffset, 57, 7}}};
constexpr Format smem_gfx12{E::smem,
                            6,
                            0b111101,
                            8,
                            {{opcode, 13, 6},
                             {sbase, 0, 6},
                             {sdata, 6, 7},
                             {nv, 20, 1},
                             {scope, 21, 2},
                             {temporal_hint, 23, 2},
                             {offset, 32, 24},
                             {scale_offset, 56, 1},
                             {soffset, 57, 7}}};

// --- LDS
// --------------------------------------------------------------------------------------------------------------

constexpr Format ds(uint8_t opcode_at, uint8_t gds_at) {
  return {E::ds,
          6,
          0b110110,
          8,
          {{opcode, opcode_at, 8},
           {gds, gds_at, 1},
           {offset, 0, 16},
           {addr, 32, 8},
           {data0, 40, 8},
           {data1, 48, 8},
           {vdst, 56, 8}}};
}
constexpr Format ds_gfx12{
    E::ds,
    6,
    0b110110,
    8,
    {{opcode, 18, 8}, {zero, 17, 1}, {offset, 0, 16}, {addr, 32, 8}, {data0, 40, 8}, {data1, 48, 8}, {vdst, 56, 8}}};
constexpr Format ds_gfx8{E::ds,
                         6,
                         0b110110,
                         8,
                         {{opcode, 17, 8},
                          {gds, 16, 1},
                          {accumulation, 25, 1},
                          {offset, 0, 16},
                          {addr, 32, 8},
                          {data0, 40, 8},
                          {data1, 48, 8},
                          {vdst, 56, 8}}};

// --- FLAT ---------------------------------------------------------------------------------------------------------

constexpr Format flat_gfx7{
    E::flat,
    6,
    0b110111,
    8,
    {{opcode, 18, 7}, {glc, 16, 1}, {slc, 17, 1}, {addr, 32, 8}, {data0, 40, 8}, {zero, 55, 1}, {vdst, 56, 8}}};
constexpr Format flat_gfx9(Encoding encoding) {
  return {encoding,
          6,
          0b110111,
          8,
          {{opcode, 18, 7},
           {segment, 14, 2},
           {offset, 0, 13},
           {lds, 13, 1},
           {glc, 16, 1},
           {slc, 17, 1},
           {scc, 25, 1},
           {addr, 32, 8},
           {data0, 40, 8},
           {saddr, 48, 7},
           {accumulation, 55, 1},
           {vdst, 56, 8}}};
}
constexpr Format flat_gfx10(Encoding encoding) {
  return {encoding,
          6,
          0b110111,
          8,
          {{opcode, 18, 7},
           {segment, 14, 2},
           {offset, 0, 12},
           {dlc, 12, 1},
           {lds, 13, 1},
           {glc, 16, 1},
           {slc, 17, 1},
           {addr, 32, 8},
           {data0, 40, 8},
           {saddr, 48, 7},
           {zero, 55, 1},
           {vdst, 56, 8}}};
}
constexpr Format flat_gfx11(Encoding encoding) {
  return {encoding,
          6,
          0b110111,
          8,
          {{opcode, 18, 7},
           {segment, 16, 2},
           {offset, 0, 13},
           {dlc, 13, 1},
           {glc, 14, 1},
           {slc, 15, 1},
           {addr, 32, 8},
           {data0, 40, 8},
           {saddr, 48, 7},
           {encoding == E::scratch ? vaddr_enable : zero, 55, 1},
           {vdst, 56, 8}}};
}
constexpr Format flat_gfx12(Encoding encoding, uint16_t prefix) {
  return {encoding,
          8,
          prefix,
          12,
          {{opcode, 14, 8},
           {saddr, 0, 7},
           {nv, 7, 1},
           {vdst, 32, 8},
           {scale_offset, 48, 1},
           {encoding == E::scratch ? vaddr_enable : zero, 49, 1},
           {scope, 50, 2},
           {temporal_hint, 52, 3},
           {data0, 55, 8},
           {addr, 64, 8},
           {offset, 72, 24}}};
}

// --- Buffers
// ----------------------------------------------------------------------------------------------------------

constexpr Format mubuf_gfx6{E::mubuf,
                            6,
                            0b111000,
                            8,
                            {{opcode, 18, 7},
                             {offset, 0, 12},
                             {offen, 12, 1},
                             {idxen, 13, 1},
                             {glc, 14, 1},
                             {addr64, 15, 1},
                             {lds, 16, 1},
                             {addr, 32, 8},
                             {data0, 40, 8},
                             {resource, 48, 5},
                             {slc, 54, 1},
                             {tfe, 55, 1},
                             {soffset, 56, 8}}};
constexpr Format mubuf_gfx8{E::mubuf,
                            6,
                            0b111000,
                            8,
                            {{opcode, 18, 7},
                             {offset, 0, 12},
                             {offen, 12, 1},
                             {idxen, 13, 1},
                             {glc, 14, 1},
                             {scc, 15, 1},
                             {lds, 16, 1},
                             {slc, 17, 1},
                             {addr, 32, 8},
                             {data0, 40, 8},
                             {resource, 48, 5},
                             {tfe, 55, 1},
                             {soffset, 56, 8}}};
constexpr Format mubuf_gfx10{E::mubuf,
                             6,
                             0b111000,
                             8,
                             {{opcode, 18, 8},
                              {offset, 0, 12},
                              {offen, 12, 1},
                              {idxen, 13, 1},
                              {glc, 14, 1},
                              {dlc, 15, 1},
                              {lds, 16, 1},
                              {addr, 32, 8},
                              {data0, 40, 8},
                              {resource, 48, 5},
                              {slc, 54, 1},
                              {tfe, 55, 1},
                              {soffset, 56, 8}}};
constexpr Format mubuf_gfx11{E::mubuf,
                             6,
                             0b111000,
                             8,
                             {{opcode, 18, 8},
                              {offset, 0, 12},
                              {slc, 12, 1},
                              {dlc, 13, 1},
                              {glc, 14, 1},
                              {addr, 32, 8},
                              {data0, 40, 8},
                              {resource, 48, 5},
                              {tfe, 53, 1},
                              {offen, 54, 1},
                              {idxen, 55, 1},
                              {soffset, 56, 8}}};
constexpr Format vbuffer(Encoding encoding) {
  return {encoding,
          6,
          0b110001,
          12,
          {{opcode, 14, 7},
           {segment, 21, 1},
           {soffset, 0, 7},
           {nv, 7, 1},
           {tfe, 22, 1},
           {data0, 32, 8},
           {resource, 41, 9},
           {scope, 50, 2},
           {temporal_hint, 52, 3},
           {data_format, 55, 7},
           {offen, 62, 1},
           {idxen, 63, 1},
           {addr, 64, 8},
           {offset, 72, 23},
           {zero, 95, 1}}};
}
constexpr Format mtbuf_gfx6{E::mtbuf,
                            6,
                            0b111010,
                            8,
                            {{opcode, 16, 3},
                             {offset, 0, 12},
                             {offen, 12, 1},
                             {idxen, 13, 1},
                             {glc, 14, 1},
                             {addr64, 15, 1},
                             {data_format, 19, 4},
                             {number_format, 23, 3},
                             {addr, 32, 8},
                             {data0, 40, 8},
                             {resource, 48, 5},
                             {slc, 54, 1},
                             {tfe, 55, 1},
                             {soffset, 56, 8}}};
constexpr Format mtbuf_gfx8{E::mtbuf,
                            6,
                            0b111010,
                            8,
                            {{opcode, 15, 4},
                             {offset, 0, 12},
                             {offen, 12, 1},
                             {idxen, 13, 1},
                             {glc, 14, 1},
                             {data_format, 19, 4},
                             {number_format, 23, 3},
                             {addr, 32, 8},
                             {data0, 40, 8},
                             {resource, 48, 5},
                             {scc, 53, 1},
                             {slc, 54, 1},
                             {tfe, 55, 1},
                             {soffset, 56, 8}}};
constexpr Format mtbuf_gfx10{E::mtbuf,
                             6,
                             0b111010,
                             8,
                             {{opcode, 16, 3},
                              {opcode_high, 53, 1},
                              {offset, 0, 12},
                              {offen, 12, 1},
                              {idxen, 13, 1},
                              {glc, 14, 1},
                              {dlc, 15, 1},
                              {data_format, 19, 7},
                              {addr, 32, 8},
                              {data0, 40, 8},
                              {resource, 48, 5},
                              {slc, 54, 1},
                              {tfe, 55, 1},
                              {soffset, 56, 8}}};
constexpr Format mtbuf_gfx11{E::mtbuf,
                             6,
                             0b111010,
                             8,
                             {{opcode, 15, 4},
                              {offset, 0, 12},
                              {slc, 12, 1},
                              {dlc, 13, 1},
                              {glc, 14, 1},
                              {data_format, 19, 7},
                              {addr, 32, 8},
                              {data0, 40, 8},
                              {resource, 48, 5},
                              {tfe, 53, 1},
                              {offen, 54, 1},
                              {idxen, 55, 1},
                              {soffset, 56, 8}}};

// --- Images -------------------------------------------------------------------------------------------------------

constexpr Format mimg_gfx6{E::mimg,
                           6,
                           0b111100,
                           8,
                           {{opcode, 18, 7},
                            {dmask, 8, 4},
                            {unorm, 12, 1},
                            {glc, 13, 1},
                            {da, 14, 1},
                            {r128, 15, 1},
                            {tfe, 16, 1},
                            {lwe, 17, 1},
                            {slc, 25, 1},
                            {addr, 32, 8},
                            {data0, 40, 8},
                            {resource, 48, 5},
                            {sampler, 53, 5},
                            {d16, 63, 1}}};
constexpr Format mimg_gfx9{E::mimg,
                           6,
                           0b111100,
                           8,
                           {{opcode, 18, 7},
                            {scc, 7, 1},
                            {dmask, 8, 4},
                            {unorm, 12, 1},
                            {glc, 13, 1},
                            {da, 14, 1},
                            {a16, 15, 1},
                            {tfe, 16, 1},
                            {lwe, 17, 1},
                            {slc, 25, 1},
                            {addr, 32, 8},
                            {data0, 40, 8},
                            {resource, 48, 5},
                            {sampler, 53, 5},
                            {d16, 63, 1}}};
constexpr Format mimg_gfx10{E::mimg,
                            6,
                            0b111100,
                            8,
                            {{opcode, 18, 7},
                             {opcode_high, 0, 1},
                             {nsa, 1, 2},
                             {dim, 3, 3},
                             {dlc, 7, 1},
                             {dmask, 8, 4},
                             {unorm, 12, 1},
                             {glc, 13, 1},
                             {r128, 15, 1},
                             {tfe, 16, 1},
                             {lwe, 17, 1},
                             {slc, 25, 1},
                             {addr, 32, 8},
                             {data0, 40, 8},
                             {resource, 48, 5},
                             {sampler, 53, 5},
                             {a16, 62, 1},
                             {d16, 63, 1}}};
constexpr Format mimg_gfx11{E::mimg,
                            6,
                            0b111100,
                            8,
                            {{opcode, 18, 8},
                             {nsa, 0, 1},
                             {dim, 2, 3},
                             {unorm, 7, 1},
                             {dmask, 8, 4},
                             {slc, 12, 1},
                             {dlc, 13, 1},
                             {glc, 14, 1},
                             {r128, 15, 1},
                             {a16, 16, 1},
                             {d16, 17, 1},
                             {addr, 32, 8},
                             {data0, 40, 8},
                             {resource, 48, 5},
                             {tfe, 53, 1},
                             {lwe, 54, 1},
                             {sampler, 58, 5}}};
constexpr Format vimage{E::mimg,
                        6,
                        0b110100,
                        12,
                        {{opcode, 14, 8},
                         {dim, 0, 3},
                         {r128, 4, 1},
                         {d16, 5, 1},
                         {a16, 6, 1},
                         {nv, 7, 1},
                         {dmask, 22, 4},
                         {data0, 32, 8},
                         {resource, 41, 9},
                         {scope, 50, 2},
                         {temporal_hint, 52, 3},
                         {tfe, 55, 1},
                         {address4, 56, 8},
                         {addr, 64, 8},
                         {address1, 72, 8},
                         {address2, 80, 8},
                         {address3, 88, 8}}};
constexpr Format vsample{E::vsample,
                         6,
                         0b111001,
                         12,
                         {{opcode, 14, 8},
                          {dim, 0, 3},
                          {tfe, 3, 1},
                          {r128, 4, 1},
                          {d16, 5, 1},
                          {a16, 6, 1},
                          {nv, 7, 1},
                          {unorm, 13, 1},
                          {dmask, 22, 4},
                          {data0, 32, 8},
                          {lwe, 40, 1},
                          {resource, 41, 9},
                          {scope, 50, 2},
                          {temporal_hint, 52, 3},
                          {sampler, 55, 9},
                          {addr, 64, 8},
                          {address1, 72, 8},
                          {address2, 80, 8},
                          {address3, 88, 8}}};

// --- Export -------------------------------------------------------------------------------------------------------

constexpr Format exp(uint16_t prefix) {
  return {E::exp,
          6,
          prefix,
          8,
          {{enable, 0, 4},
           {export_target, 4, 6},
           {compressed, 10, 1},
           {done, 11, 1},
           {valid_mask, 12, 1},
           {src0, 32, 8},
           {src1, 40, 8},
           {src2, 48, 8},
           {data0, 56, 8}}};
}
constexpr Format exp_gfx11{E::exp,
                           6,
                           0b111110,
                           8,
                           {{enable, 0, 4},
                            {export_target, 4, 6},
                            {done, 11, 1},
                            {row_enable, 13, 1},
                            {src0, 32, 8},
                            {src1, 40, 8},
                            {src2, 48, 8},
                            {data0, 56, 8}}};

// --- Generations ----------------------------------------------------------------------------------------------------

constexpr std::array gfx6{sop2,       sopk,       sop1,      sopc,         sopp,       vop2,
                          vop1,       vopc,       vop3_gfx6, smrd,         ds(18, 17), vintrp(0b110010),
                          mubuf_gfx6, mtbuf_gfx6, mimg_gfx6, exp(0b111110)};
constexpr std::array gfx7{sop2,      sopk,       sop1,       sopc,      sopp,         vop2,
                          vop1,      vopc,       vop3_gfx6,  smrd,      ds(18, 17),   vintrp(0b110010),
                          flat_gfx7, mubuf_gfx6, mtbuf_gfx6, mimg_gfx6, exp(0b111110)};
constexpr std::array gfx8{sop2,
                          sopk,
                          sop1,
                          sopc,
                          sopp,
                          vop2,
                          vop1,
                          vopc,
                          vop3_from_gfx8(0b110100),
                          smem_gfx8,
                          ds_gfx8,
                          vintrp(0b110101),
                          flat_gfx9(E::flat),
                          mubuf_gfx8,
                          mtbuf_gfx8,
                          mimg_gfx6,
                          exp(0b110001)};
constexpr std::array gfx9{sop2,
                          sopk,
                          sop1,
                          sopc,
                          sopp,
                          vop2,
                          vop1,
                          vopc,
                          vop3_from_gfx8(0b110100),
                          vop3p(9, 0b110100111),
                          smem_gfx9,
                          ds_gfx8,
                          vintrp(0b110101),
                          flat_gfx9(E::flat),
                          flat_gfx9(E::scratch),
                          flat_gfx9(E::global),
                          mubuf_gfx8,
                          mtbuf_gfx8,
                          mimg_gfx9,
                          exp(0b110001)};
constexpr std::array gfx90a{sop2,
                            sopk,
                            sop1,
                            sopc,
                            sopp,
                            vop2,
                            vop1,
                            vopc,
                            vop3_from_gfx8(0b110100),
                            vop3p(9, 0b110100111),
                            smem_gfx9,
                            ds_gfx8,
                            vintrp(0b110101),
                            flat_gfx9(E::flat),
                            flat_gfx9(E::scratch),
                            flat_gfx9(E::global),
                            mubuf_gfx8,
                            mtbuf_gfx8,
                            mimg_gfx9,
                            exp(0b110001)};
constexpr std::array gfx10{sop2,
                           sopk,
                           sop1,
                           sopc,
                           sopp,
                           vop2,
                           vop1,
                           vopc,
                           vop3_from_gfx8(0b110101),
                           vop3p(9, 0b110011000),
                           smem_gfx10,
                           ds(18, 17),
                           vintrp(0b110010),
                           flat_gfx10(E::flat),
                           flat_gfx10(E::scratch),
                           flat_gfx10(E::global),
                           mubuf_gfx10,
                           mtbuf_gfx10,
                           mimg_gfx10,
                           exp(0b111110)};
constexpr std::array gfx11{sop2,
                           sopk,
                           sop1,
                           sopc,
                           sopp,
                           vop2,
                           vop1,
                           vopc,
                           vop3_from_gfx8(0b110101),
                           vop3p(9, 0b110011000),
                           smem_gfx11,
                           ds(18, 17),
                           vopd,
                           vinterp(7),
                           ldsdir_gfx11,
                           flat_gfx11(E::flat),
                           flat_gfx11(E::scratch),
                           flat_gfx11(E::global),
                           mubuf_gfx11,
                           mtbuf_gfx11,
                           mimg_gfx11,
                           exp_gfx11};
constexpr std::array gfx12{sop2,
                           sopk,
                           sop1,
                           sopc,
                           sopp,
                           vop2,
                           vop1,
                           vopc,
                           vop3_from_gfx8(0b110101),
                           vop3p(9, 0b110011000),
                           smem_gfx12,
                           ds_gfx12,
                           vopd,
                           vinterp(5),
                           ldsdir_gfx12,
                           flat_gfx12(E::flat, 0b11101100),
                           flat_gfx12(E::scratch, 0b11101101),
                           flat_gfx12(E::global, 0b11101110),
                           vbuffer(E::mubuf),
                           vbuffer(E::mtbuf),
                           vimage,
                           vsample,
                           exp_gfx11};

constexpr std::array gfx12_5{sop2,
                             sopk,
                             sop1,
                             sopc,
                             sopp,
                             vop2,
                             vop1,
                             vopc,
                             vop3_from_gfx8(0b110101),
                             vop3p(8, 0b11001100, 8),
                             smem_gfx12,
                             ds_gfx12,
                             vopd,
                             vopd3,
                             flat_gfx12(E::flat, 0b11101100),
                             flat_gfx12(E::scratch, 0b11101101),
                             flat_gfx12(E::global, 0b11101110),
                             vbuffer(E::mubuf),
                             vimage};

}  // namespace

std::span<const Format> formats_of(target::Generation generation) {
  switch (generation) {
    case target::Generation::gfx6:
      return gfx6;
    case target::Generation::gfx7:
      return gfx7;
    case target::Generation::gfx8:
      return gfx8;
    case target::Generation::gfx9:
      return gfx9;
    case target::Generation::gfx90a:
    case target::Generation::gfx940:
    case target::Generation::gfx950:
      return gfx90a;
    case target::Generation::gfx10:
    case target::Generation::gfx10_3:
      return gfx10;
    case target::Generation::gfx11:
    case target::Generation::gfx11_5:
    case target::Generation::gfx11_7:
      return gfx11;
    case target::Generation::gfx12:
      return gfx12;
    case target::Generation::gfx12_5:
      return gfx12_5;
  }
  return {};
}

}  // namespace Atoll::isa
