"""Instructions without a kernel: what they do, and how they are written."""

import atoll

print(atoll.eval("v_dot2_f32_f16 v0, v1, v2, v3", "rx7900xtx", v1="1.5:2.0", v2="f16:lane:0.5", v3=100.0, exec=3), end="")

result = atoll.eval(["v_mul_f32 v0, v1, v1", "v_add_f32 v0, v0, v2"], "gfx90a", v1=1.5, v2="f32:lane")
print("lane 7 has", result["v0"][7])

for instruction in atoll.decode([0x7E000280, 0x7E0202FF, 0x40490FDB], "gfx1100"):
    print(f"{instruction.offset:2}  {instruction.text}")

try:
    atoll.asm("v_add_f32 v0, v1, v2 glc\nv_add_f32_e32 v0, v1, s2\n", "gfx900")
except atoll.Error as error:
    print(error)
