// target: the product catalogue.
//
// Figures are the vendor's published specifications: compute units and engines of the one device that the runtime
// shows (an MI250X shows two of 110 units each), peak engine clock, memory. There is a product for every
// processor whose code Atoll runs.
//
// Families are numbered as in Linux's include/uapi/drm/amdgpu_drm.h (AMDGPU_FAMILY_AI, _RV, _NV, _GC_11_0_0 ...); copy
// engines are counted as its kfd_device.c and kfd_topology.c do, which keep two for all uses and leave the others to
// links between GPUs.
#include "target/product.h"

#include <algorithm>
#include <array>

#include "support/spelling.h"
#include "target/executed.h"
#include "target/named_target.h"

namespace Atoll::target {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr uint64_t GiB = uint64_t{1} << 30;
constexpr uint32_t KiB = 1 << 10, MiB = 1 << 20;

// name, marketing name, processor, | CUs, engines, arrays per engine, | clock, memory clock, bus,
// memory, L1, L2, L3, | PCI device, revision, sramecc, | family, XCCs, copy engines, those for xGMI, APU
// clang-format off
constexpr std::array catalogue{
    Product{"vega64", "AMD Radeon RX Vega 64",
            "gfx900", 64,
            4,        1,
            1630,     945,
            2048,  //
            8 * GiB,  16 * KiB,
            4 * MiB,  0,
            0x687f,   0xc1,
            false,    141,
            1,        2,
            0,        false},
    Product{"vega56", "AMD Radeon RX Vega 56",
            "gfx900", 56,
            4,        1,
            1590,     800,
            2048,  //
            8 * GiB,  16 * KiB,
            4 * MiB,  0,
            0x687f,   0xc3,
            false,    141,
            1,        2,
            0,        false},
    Product{"mi25",   "AMD Radeon Instinct MI25",
            "gfx900", 64,
            4,        1,
            1500,     945,
            2048,  //
            16 * GiB, 16 * KiB,
            4 * MiB,  0,
            0x6860,   0x00,
            false,    141,
            1,        2,
            0,        false},
    Product{"vega11", "AMD Radeon Vega 11 Graphics",
            "gfx902", 11,
            1,        1,
            1250,     1466,
            128,  //
            4 * GiB,  16 * KiB,
            1 * MiB,  0,
            0x15dd,   0xc6,
            false,    142,
            1,        1,
            0,        true},
    Product{"vega-pro-20",
            "AMD Radeon Pro Vega 20",
            "gfx904",
            20,
            4,
            1,
            1283,
            740,
            1024,  //
            4 * GiB,
            16 * KiB,
            2 * MiB,
            0,
            0x69af,
            0xc0,
            false,
            141,
            1,
            2,
            0,
            false},
    Product{"mi50",   "AMD Radeon Instinct MI50",
            "gfx906", 60,
            4,        1,
            1725,     1000,
            4096,  //
            16 * GiB, 16 * KiB,
            4 * MiB,  0,
            0x66a1,   0x00,
            true,     141,
            1,        2,
            0,        false},
    Product{"mi60",   "AMD Radeon Instinct MI60",
            "gfx906", 64,
            4,        1,
            1800,     1000,
            4096,  //
            32 * GiB, 16 * KiB,
            4 * MiB,  0,
            0x66a0,   0x00,
            true,     141,
            1,        2,
            0,        false},
    Product{"radeon-vii", "AMD Radeon VII", "gfx906", 60, 4,      1,    1801,  1000, 4096,  //
            16 * GiB,     16 * KiB,         4 * MiB,  0,  0x66af, 0xc1, false, 141,  1,    2, 0, false},
    Product{"mi100",  "AMD Instinct MI100",
            "gfx908", 120,
            8,        1,
            1502,     1200,
            4096,  //
            32 * GiB, 16 * KiB,
            8 * MiB,  0,
            0x738c,   0x01,
            true,     141,
            1,        2,
            6,        false},
    Product{"vega3",   "AMD Radeon Vega 3 Graphics",
            "gfx909",  3,
            1,         1,
            1100,      1200,
            128,  //
            2 * GiB,   16 * KiB,
            512 * KiB, 0,
            0x15d8,    0xcc,
            false,     142,
            1,         1,
            0,         true},
    Product{"mi250x", "AMD Instinct MI250X",
            "gfx90a", 110,
            8,        1,
            1700,     1600,
            4096,  //
            64 * GiB, 16 * KiB,
            8 * MiB,  0,
            0x7408,   0x01,
            true,     141,
            1,        2,
            3,        false},
    Product{"mi250",  "AMD Instinct MI250",
            "gfx90a", 104,
            8,        1,
            1700,     1600,
            4096,  //
            64 * GiB, 16 * KiB,
            8 * MiB,  0,
            0x740c,   0x01,
            true,     141,
            1,        2,
            3,        false},
    Product{"mi210",  "AMD Instinct MI210",
            "gfx90a", 104,
            8,        1,
            1700,     1600,
            4096,  //
            64 * GiB, 16 * KiB,
            8 * MiB,  0,
            0x740f,   0x02,
            true,     141,
            1,        2,
            3,        false},
    Product{"vega8",  "AMD Radeon Vega 8 Graphics",
            "gfx90c", 8,
            1,        1,
            2000,     1600,
            128,  //
            4 * GiB,  16 * KiB,
            1 * MiB,  0,
            0x1638,   0xc1,
            false,    142,
            1,        1,
            0,        true},
    Product{"mi300x",  "AMD Instinct MI300X",
            "gfx942",  304,
            32,        1,
            2100,      1300,
            8192,  //
            192 * GiB, 32 * KiB,
            4 * MiB,   256 * MiB,
            0x74a1,    0x00,
            true,      141,
            8,         2,
            14,        false},
    Product{"mi300a",  "AMD Instinct MI300A",
            "gfx942",  228,
            24,        1,
            2100,      1300,
            8192,  //
            128 * GiB, 32 * KiB,
            4 * MiB,   256 * MiB,
            0x74a0,    0x00,
            true,      141,
            6,         2,
            14,        true},
    Product{"mi325x",  "AMD Instinct MI325X",
            "gfx942",  304,
            32,        1,
            2100,      1500,
            8192,  //
            256 * GiB, 32 * KiB,
            4 * MiB,   256 * MiB,
            0x74a5,    0x00,
            true,      141,
            8,         2,
            14,        false},
    Product{"mi350x",  "AMD Instinct MI350X",
            "gfx950",  256,
            32,        1,
            2200,      2000,
            8192,  //
            288 * GiB, 32 * KiB,
            4 * MiB,   256 * MiB,
            0x75a0,    0x00,
            true,      141,
            8,         2,
            14,        false},
    Product{"mi355x",  "AMD Instinct MI355X",
            "gfx950",  256,
            32,        1,
            2400,      2000,
            8192,  //
            288 * GiB, 32 * KiB,
            4 * MiB,   256 * MiB,
            0x75a3,    0x00,
            true,      141,
            8,         2,
            14,        false},
    // Radeons. Device numbers: the PCI ID database; figures: the vendor's specifications.
    Product{"rx5700xt", "AMD Radeon RX 5700 XT", "gfx1010", 40, 2, 2, 1905, 875, 256, 8 * GiB, 16 * KiB, 4 * MiB, 0, 0x731f, 0xc1, false, 143, 1, 2, 0, false},
    Product{"rx5700", "AMD Radeon RX 5700", "gfx1010", 36, 2, 2, 1725, 875, 256, 8 * GiB, 16 * KiB, 4 * MiB, 0, 0x731f, 0xc4, false, 143, 1, 2, 0, false},
    Product{"pro5600m", "AMD Radeon Pro 5600M", "gfx1011", 40, 2, 2, 1030, 770, 2048, 8 * GiB, 16 * KiB, 4 * MiB, 0, 0x7360, 0x41, false, 143, 1, 2, 0, false},
    Product{"rx5500xt", "AMD Radeon RX 5500 XT", "gfx1012", 22, 1, 2, 1845, 875, 128, 8 * GiB, 16 * KiB, 2 * MiB, 0, 0x7340, 0xc5, false, 143, 1, 2, 0, false},
    Product{"bc250", "AMD BC-250", "gfx1013", 24, 2, 2, 2000, 875, 256, 12 * GiB, 16 * KiB, 4 * MiB, 0, 0x13fe, 0x00, false, 143, 1, 2, 0, true},
    Product{"rx6900xt", "AMD Radeon RX 6900 XT", "gfx1030", 80, 4, 2, 2250, 1000, 256, 16 * GiB, 16 * KiB, 4 * MiB, 128 * MiB, 0x73bf, 0xc0, false, 143, 1, 4, 0, false},
    Product{"rx6800xt", "AMD Radeon RX 6800 XT", "gfx1030", 72, 4, 2, 2250, 1000, 256, 16 * GiB, 16 * KiB, 4 * MiB, 128 * MiB, 0x73bf, 0xc1, false, 143, 1, 4, 0, false},
    Product{"rx6800", "AMD Radeon RX 6800", "gfx1030", 60, 3, 2, 2105, 1000, 256, 16 * GiB, 16 * KiB, 4 * MiB, 128 * MiB, 0x73bf, 0xc3, false, 143, 1, 4, 0, false},
    Product{"rx6700xt", "AMD Radeon RX 6700 XT", "gfx1031", 40, 2, 2, 2581, 1000, 192, 12 * GiB, 16 * KiB, 3 * MiB, 96 * MiB, 0x73df, 0xc1, false, 143, 1, 2, 0, false},
    Product{"rx6600xt", "AMD Radeon RX 6600 XT", "gfx1032", 32, 2, 2, 2589, 1000, 128, 8 * GiB, 16 * KiB, 2 * MiB, 32 * MiB, 0x73ff, 0xc1, false, 143, 1, 2, 0, false},
    Product{"rx6600", "AMD Radeon RX 6600", "gfx1032", 28, 2, 2, 2491, 875, 128, 8 * GiB, 16 * KiB, 2 * MiB, 32 * MiB, 0x73ff, 0xc7, false, 143, 1, 2, 0, false},
    Product{"steam-deck", "AMD Custom GPU 0405", "gfx1033", 8, 1, 1, 1600, 687, 128, 4 * GiB, 16 * KiB, 1 * MiB, 0, 0x163f, 0xae, false, 144, 1, 1, 0, true},
    Product{"rx6500xt", "AMD Radeon RX 6500 XT", "gfx1034", 16, 1, 2, 2815, 1124, 64, 4 * GiB, 16 * KiB, 1 * MiB, 16 * MiB, 0x743f, 0xc1, false, 143, 1, 1, 0, false},
    Product{"radeon680m", "AMD Radeon 680M", "gfx1035", 12, 1, 2, 2400, 1600, 128, 4 * GiB, 16 * KiB, 2 * MiB, 0, 0x1681, 0xc8, false, 146, 1, 1, 0, true},
    Product{"radeon610m", "AMD Radeon 610M", "gfx1036", 2, 1, 1, 2200, 1200, 128, 2 * GiB, 16 * KiB, 256 * KiB, 0, 0x164e, 0xc1, false, 149, 1, 1, 0, true},
    Product{"rx7900xtx", "AMD Radeon RX 7900 XTX", "gfx1100", 96, 6, 2, 2500, 1249, 384, 24 * GiB, 32 * KiB, 6 * MiB, 96 * MiB, 0x744c, 0xc8, false, 145, 1, 2, 0, false},
    Product{"rx7900xt", "AMD Radeon RX 7900 XT", "gfx1100", 84, 6, 2, 2400, 1249, 320, 20 * GiB, 32 * KiB, 6 * MiB, 80 * MiB, 0x744c, 0xcc, false, 145, 1, 2, 0, false},
    Product{"w7900", "AMD Radeon PRO W7900", "gfx1100", 96, 6, 2, 2495, 1124, 384, 48 * GiB, 32 * KiB, 6 * MiB, 96 * MiB, 0x7448, 0x00, false, 145, 1, 2, 0, false},
    Product{"rx7800xt", "AMD Radeon RX 7800 XT", "gfx1101", 60, 3, 2, 2430, 1218, 256, 16 * GiB, 32 * KiB, 4 * MiB, 64 * MiB, 0x747e, 0xc8, false, 145, 1, 2, 0, false},
    Product{"rx7700xt", "AMD Radeon RX 7700 XT", "gfx1101", 54, 3, 2, 2544, 1124, 192, 12 * GiB, 32 * KiB, 4 * MiB, 48 * MiB, 0x747e, 0xff, false, 145, 1, 2, 0, false},
    Product{"rx7600", "AMD Radeon RX 7600", "gfx1102", 32, 2, 2, 2655, 1125, 128, 8 * GiB, 32 * KiB, 2 * MiB, 32 * MiB, 0x7480, 0xcf, false, 145, 1, 2, 0, false},
    Product{"radeon780m", "AMD Radeon 780M", "gfx1103", 12, 1, 2, 2700, 1400, 128, 4 * GiB, 32 * KiB, 2 * MiB, 0, 0x15bf, 0xc8, false, 148, 1, 1, 0, true},
    Product{"radeon890m", "AMD Radeon 890M", "gfx1150", 16, 1, 2, 2900, 1000, 128, 8 * GiB, 32 * KiB, 2 * MiB, 0, 0x150e, 0xc1, false, 150, 1, 1, 0, true},
    Product{"radeon8060s", "AMD Radeon 8060S", "gfx1151", 40, 2, 2, 2900, 1000, 256, 64 * GiB, 32 * KiB, 2 * MiB, 32 * MiB, 0x1586, 0xc1, false, 150, 1, 1, 0, true},
    Product{"radeon860m", "AMD Radeon 860M", "gfx1152", 8, 1, 1, 3000, 1000, 128, 8 * GiB, 32 * KiB, 1 * MiB, 0, 0x1114, 0xc2, false, 150, 1, 1, 0, true},
    Product{"radeon820m", "AMD Radeon 820M", "gfx1153", 2, 1, 1, 2800, 1000, 128, 4 * GiB, 32 * KiB, 256 * KiB, 0, 0x1902, 0xc1, false, 150, 1, 1, 0, true},
    // Announced as nothing yet, so called as their processors are. The marketing name is libdrm's for what it has no name
    // of, the family what Linux's amdgpu_discovery.c says of GC 11.5.4, 11.7.0 and 11.7.1; the figures are the Radeon
    // 860M's, as their own are not published.
    Product{"gfx1154", "AMD Radeon Graphics", "gfx1154", 8, 1, 1, 3000, 1000, 128, 8 * GiB, 32 * KiB, 1 * MiB, 0, 0, 0, false, 150, 1, 1, 0, true},
    Product{"gfx1170", "AMD Radeon Graphics", "gfx1170", 8, 1, 1, 3000, 1000, 128, 8 * GiB, 32 * KiB, 1 * MiB, 0, 0, 0, false, 154, 1, 1, 0, true},
    Product{"gfx1171", "AMD Radeon Graphics", "gfx1171", 8, 1, 1, 3000, 1000, 128, 8 * GiB, 32 * KiB, 1 * MiB, 0, 0, 0, false, 154, 1, 1, 0, true},
    Product{"gfx1172", "AMD Radeon Graphics", "gfx1172", 8, 1, 1, 3000, 1000, 128, 8 * GiB, 32 * KiB, 1 * MiB, 0, 0, 0, false, 154, 1, 1, 0, true},
    Product{"rx9060xt", "AMD Radeon RX 9060 XT", "gfx1200", 32, 2, 2, 3130, 1258, 128, 16 * GiB, 32 * KiB, 4 * MiB, 32 * MiB, 0x7590, 0xc0, false, 152, 1, 2, 0, false},
    Product{"rx9070xt", "AMD Radeon RX 9070 XT", "gfx1201", 64, 4, 2, 2970, 1258, 256, 16 * GiB, 32 * KiB, 8 * MiB, 64 * MiB, 0x7550, 0xc0, false, 152, 1, 2, 0, false},
    Product{"rx9070", "AMD Radeon RX 9070", "gfx1201", 56, 4, 2, 2520, 1258, 256, 16 * GiB, 32 * KiB, 8 * MiB, 64 * MiB, 0x7550, 0xc3, false, 152, 1, 2, 0, false},
    Product{"r9700", "AMD Radeon AI PRO R9700", "gfx1201", 64, 4, 2, 2920, 1258, 256, 32 * GiB, 32 * KiB, 8 * MiB, 64 * MiB, 0x7551, 0xc0, false, 152, 1, 2, 0, false},
    // GFX12.5. The MI455X's figures are those of AMD's own simulator (ROCm/rocm-systems, emulation/rocjitsu,
    // gfx1250_mi455x.json), which has no L3 cache and no family: GFX12's. gfx1251 is called as its processor is, as no product
    // with published figures has it yet; sizes that LLVM does not say are the MI355X's.
    Product{"mi455x", "AMD Instinct MI455X", "gfx1250", 256, 16, 2, 2700, 1600, 24576, 432 * GiB, 64 * KiB, 192 * MiB, 0, 0x75c1, 1, true, 152, 8, 5, 12, false},
    Product{"gfx1251", "AMD Radeon Graphics", "gfx1251", 256, 32, 1, 2400, 2000, 8192, 288 * GiB, 32 * KiB, 4 * MiB, 256 * MiB, 0, 0, true, 152, 8, 2, 14, false},
    // GPUs before GFX9, last, as of those that fit a program the first is taken. Device numbers: the PCI ID database and
    // libdrm's amdgpu.ids; figures: the vendor's specifications. Nothing is published of gfx705, whose figures are Kabini's.
    Product{"rx580", "AMD Radeon RX 580", "gfx803", 36, 4, 1, 1340, 2000, 256, 8 * GiB, 16 * KiB, 2 * MiB, 0, 0x67df, 0xe7, false, 130, 1, 2, 0, false},
    Product{"rx480", "AMD Radeon RX 480", "gfx803", 36, 4, 1, 1266, 2000, 256, 8 * GiB, 16 * KiB, 2 * MiB, 0, 0x67df, 0xc7, false, 130, 1, 2, 0, false},
    Product{"rx470", "AMD Radeon RX 470", "gfx803", 32, 4, 1, 1206, 1650, 256, 4 * GiB, 16 * KiB, 2 * MiB, 0, 0x67df, 0xcf, false, 130, 1, 2, 0, false},
    Product{"rx570", "AMD Radeon RX 570", "gfx803", 32, 4, 1, 1244, 1750, 256, 4 * GiB, 16 * KiB, 2 * MiB, 0, 0x67df, 0xef, false, 130, 1, 2, 0, false},
    Product{"rx590", "AMD Radeon RX 590", "gfx803", 36, 4, 1, 1545, 2000, 256, 8 * GiB, 16 * KiB, 2 * MiB, 0, 0x67df, 0xe1, false, 130, 1, 2, 0, false},
    Product{"fury-x", "AMD Radeon R9 Fury X", "gfx803", 64, 4, 1, 1050, 500, 4096, 4 * GiB, 16 * KiB, 2 * MiB, 0, 0x7300, 0xc8, false, 130, 1, 2, 0, false},
    Product{"fury", "AMD Radeon R9 Fury", "gfx803", 56, 4, 1, 1000, 500, 4096, 4 * GiB, 16 * KiB, 2 * MiB, 0, 0x7300, 0xcb, false, 130, 1, 2, 0, false},
    Product{"r9-nano", "AMD Radeon R9 Nano", "gfx803", 64, 4, 1, 1000, 500, 4096, 4 * GiB, 16 * KiB, 2 * MiB, 0, 0x7300, 0xca, false, 130, 1, 2, 0, false},
    Product{"carrizo", "AMD Radeon R7 Graphics", "gfx801", 8, 1, 1, 800, 1066, 128, 2 * GiB, 16 * KiB, 512 * KiB, 0, 0x9874, 0xc4, false, 135, 1, 2, 0, true},
    Product{"r9-285", "AMD Radeon R9 285", "gfx802", 28, 4, 1, 918, 1375, 256, 2 * GiB, 16 * KiB, 512 * KiB, 0, 0x6939, 0x00, false, 130, 1, 2, 0, false},
    Product{"r9-380x", "AMD Radeon R9 380X", "gfx802", 32, 4, 1, 970, 1425, 256, 4 * GiB, 16 * KiB, 512 * KiB, 0, 0x6938, 0xf1, false, 130, 1, 2, 0, false},
    Product{"firepro-s7150", "AMD FirePro S7150", "gfx805", 32, 4, 1, 920, 1250, 256, 8 * GiB, 16 * KiB, 512 * KiB, 0, 0x6929, 0x00, false, 130, 1, 2, 0, false},
    Product{"stoney", "AMD Radeon R5 Graphics", "gfx810", 3, 1, 1, 847, 933, 64, 2 * GiB, 16 * KiB, 256 * KiB, 0, 0x98e4, 0xc1, false, 135, 1, 1, 0, true},
    Product{"r9-290x", "AMD Radeon R9 290X", "gfx702", 44, 4, 1, 1000, 1250, 512, 4 * GiB, 16 * KiB, 1 * MiB, 0, 0x67b0, 0x00, false, 120, 1, 2, 0, false},
    Product{"r9-290", "AMD Radeon R9 290", "gfx702", 40, 4, 1, 947, 1250, 512, 4 * GiB, 16 * KiB, 1 * MiB, 0, 0x67b1, 0x00, false, 120, 1, 2, 0, false},
    Product{"r9-390x", "AMD Radeon R9 390X", "gfx702", 44, 4, 1, 1050, 1500, 512, 8 * GiB, 16 * KiB, 1 * MiB, 0, 0x67b0, 0x80, false, 120, 1, 2, 0, false},
    Product{"w9100", "AMD FirePro W9100", "gfx701", 44, 4, 1, 930, 1250, 512, 16 * GiB, 16 * KiB, 1 * MiB, 0, 0x67a0, 0x00, false, 120, 1, 2, 0, false},
    Product{"kaveri", "AMD Radeon R7 Graphics", "gfx700", 8, 1, 1, 720, 1066, 128, 2 * GiB, 16 * KiB, 512 * KiB, 0, 0x130f, 0xd4, false, 125, 1, 2, 0, true},
    Product{"kabini", "AMD Radeon HD 8330", "gfx703", 2, 1, 1, 500, 800, 64, 1 * GiB, 16 * KiB, 128 * KiB, 0, 0x9832, 0x00, false, 125, 1, 2, 0, true},
    Product{"r7-260x", "AMD Radeon R7 260X", "gfx704", 14, 2, 1, 1100, 1625, 128, 2 * GiB, 16 * KiB, 256 * KiB, 0, 0x6658, 0x00, false, 120, 1, 2, 0, false},
    Product{"gfx705", "AMD Radeon Graphics", "gfx705", 2, 1, 1, 500, 800, 64, 1 * GiB, 16 * KiB, 128 * KiB, 0, 0, 0, false, 125, 1, 2, 0, true},
    Product{"hd7970", "AMD Radeon HD 7970", "gfx600", 32, 2, 2, 925, 1375, 384, 3 * GiB, 16 * KiB, 768 * KiB, 0, 0x6798, 0x00, false, 110, 1, 2, 0, false},
    Product{"hd7870", "AMD Radeon HD 7870", "gfx601", 20, 2, 2, 1000, 1200, 256, 2 * GiB, 16 * KiB, 512 * KiB, 0, 0x6818, 0x00, false, 110, 1, 2, 0, false},
    Product{"hd7770", "AMD Radeon HD 7770", "gfx601", 10, 1, 2, 1000, 1125, 128, 1 * GiB, 16 * KiB, 256 * KiB, 0, 0x683d, 0x00, false, 110, 1, 2, 0, false},
    Product{"r7-250", "AMD Radeon R7 250", "gfx602", 6, 1, 1, 1000, 1150, 128, 1 * GiB, 16 * KiB, 256 * KiB, 0, 0x6610, 0x00, false, 110, 1, 2, 0, false},
};
// clang-format on

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Returns the message for a name that is neither a product nor a processor, with a suggestion.
std::unexpected<support::Error> unknown_gpu(std::string_view name) {
  const std::string head = lower(name.substr(0, name.find(':')));
  support::SpellingOf spelling(head);
  for (const Product& product : catalogue) spelling.consider(product.name);
  for (const Processor& processor : processors()) spelling.consider(processor.name);
  return fail(ErrorKind::not_found, "unknown GPU '{}'{} (`atoll gpus` lists products, processors and target IDs)", name,
              spelling.question());
}

void settle(Setting& setting, bool usual) {
  if (setting == Setting::any) setting = usual ? Setting::on : Setting::off;
}

}  // namespace

std::span<const Product> products() { return catalogue; }

const Product* find_product(std::string_view name) {
  const auto product = std::ranges::find(catalogue, lower(name.substr(0, name.find(':'))), &Product::name);
  return product == catalogue.end() ? nullptr : &*product;
}

Result<TargetId> find_target(std::string_view name) {
  std::string text = lower(name);
  // A product may come with settings, too: "mi250x:xnack+".
  if (const Product* const product = find_product(name))
    text = fmt::format("{}{}", product->processor, text.substr(product->name.size()));
  auto target = parse_target_id(text);
  if (!target && target.error().kind == ErrorKind::not_found) return unknown_gpu(name);
  return target;
}

Result<GpuModel> find_gpu(std::string_view name, bool usual_xnack) {
  auto target = find_target(name);
  if (!target) return std::unexpected(target.error());
  auto product = std::ranges::find(catalogue, lower(name.substr(0, name.find(':'))), &Product::name);

  const Processor& processor = *target->processor;
  if (product == catalogue.end()) product = std::ranges::find(catalogue, processor.name, &Product::processor);
  if (product == catalogue.end() && processor.generic) {
    std::string covered;
    for (const Processor& each : processors())
      if (each.generic_processor == processor.name)
        covered += fmt::format("{}{}", covered.empty() ? "" : ", ", each.name);
    return fail(ErrorKind::not_found, "{} is a generic target, not a GPU; its code runs on {}", processor.name,
                covered);
  }
  if (product == nullptr)
    return fail(ErrorKind::unsupported,
                "Atoll cannot execute code for {} yet; it executes {} (`atoll gpus` lists its GPUs)", processor.name,
                executed_generations);
  settle(target->xnack, usual_xnack);
  settle(target->sramecc, product->sramecc);
  return GpuModel{*product, *target};
}

}  // namespace Atoll::target
