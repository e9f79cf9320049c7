#!/usr/bin/env python3
"""LLVM IR of functions that read several images, one after the other, and use the results after all of them.

    image_waits.py GPU

There is a function for each kind of read and dimension. llc puts waits where results are used, and none before. Also
functions that index an array in registers while loads are under way.
"""

import sys

gpu = sys.argv[1]
has_extended = gpu not in ("gfx90a",)

# Coordinates, and gradients of each direction.
DIMENSIONS = {"1d": (1, 1), "2d": (2, 2), "3d": (3, 3), "cube": (3, 2), "1darray": (2, 1), "2darray": (3, 2)}
SAMPLED = [""] + (
    [".lz", ".c", ".o", ".l", ".b", ".cl", ".d", ".d.cl", ".c.d", ".c.d.cl.o", ".c.b.cl.o", ".c.l.o"] if has_extended else [])

declarations, functions = set(), []


def add(name, arguments, sampled):
    """A function with three reads, whose addresses are computed from its arguments."""
    types = [t for t, _ in arguments]
    tail = "<8 x i32>" + (", <4 x i32>, i1" if sampled else "") + ", i32, i32"
    mangled = f"llvm.amdgcn.image.{name}"
    declarations.add(f"declare <4 x float> @{mangled}(i32, {', '.join(types)}, {tail})")
    function = f"define amdgpu_ps void @{mangled.replace('.', '_')}(<8 x i32> inreg %r, <4 x i32> inreg %s, ptr addrspace(1) inreg %p"
    function += "".join(f", {t} %a{i}" for i, t in enumerate(types)) + ") {\n"
    for read in range(3):
        operands = []
        for i, (t, changes) in enumerate(arguments):
            value = f"%a{i}"
            if read > 0 and changes:
                value = f"%v{read}_{i}"
                function += f"  {value} = {'fadd' if t == 'float' else 'add'} {t} %a{i}, {str(read) + '.0' if t == 'float' else read}\n"
            operands.append(f"{t} {value}")
        rest = "<8 x i32> %r" + (", <4 x i32> %s, i1 false" if sampled else "") + ", i32 0, i32 0"
        mask = 1 if name.startswith("gather4") else 15
        function += f"  %t{read} = call <4 x float> @{mangled}(i32 {mask}, {', '.join(operands)}, {rest})\n"
    function += "  %sum = fadd <4 x float> %t0, %t1\n  %all = fadd <4 x float> %sum, %t2\n"
    function += "  store <4 x float> %all, ptr addrspace(1) %p\n  ret void\n}\n"
    functions.append(function)


for dimension, (coordinates, gradients) in DIMENSIONS.items():
    for kind in ["sample", "gather4"]:
        if kind == "gather4" and dimension not in ("2d", "cube", "2darray"):
            continue
        for parts in SAMPLED:
            if kind == "gather4" and (".d" in parts or ".cl" in parts or parts.count(".") > 1 or not has_extended):
                continue
            flags = parts.split(".")
            arguments, suffix = [], ".v4f32"
            if "o" in flags:
                arguments.append(("i32", False))
            if "b" in flags:
                arguments.append(("float", False))
                suffix += ".f32"
            if "c" in flags:
                arguments.append(("float", False))
            if "d" in flags:
                arguments += [("float", True)] * (2 * gradients)
                suffix += ".f32"
            arguments += [("float", True)] * coordinates
            if "l" in flags or "cl" in flags:
                arguments.append(("float", True))
            add(f"{kind}{parts}.{dimension}{suffix}.f32", arguments, True)
    for kind in ["load", "load.mip"]:
        if kind == "load.mip" and not has_extended:
            continue
        add(f"{kind}.{dimension}.v4f32.i32", [("i32", True)] * (coordinates + (1 if "mip" in kind else 0)), False)
for dimension, coordinates in {"2dmsaa": 3, "2darraymsaa": 4}.items():
    if has_extended:
        add(f"load.{dimension}.v4f32.i32", [("i32", True)] * coordinates, False)

# An element of an array in registers, by an index, between loads that it does not depend on.
functions.append("""define amdgpu_ps void @indexed(<16 x i32> %array, i32 inreg %index, ptr addrspace(1) inreg %p, ptr addrspace(1) inreg %q) {
  %a = load volatile i32, ptr addrspace(1) %q
  %element = extractelement <16 x i32> %array, i32 %index
  %changed = insertelement <16 x i32> %array, i32 %element, i32 %index
  %other = extractelement <16 x i32> %changed, i32 3
  %sum = add i32 %element, %other
  %all = add i32 %sum, %a
  store i32 %all, ptr addrspace(1) %p
  ret void
}
""")
print("\n".join(functions))
print("\n".join(sorted(declarations)))
