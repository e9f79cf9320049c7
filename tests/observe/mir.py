"""Machine IR of LLVM's (MIR), as the scripts beside this one write it: registers by name, and functions of one block."""


def registers(first, count=1, kind="v"):
    """That many registers one after the other, as one operand; `kind`: v, a or s."""
    return "$" + "_".join(f"{kind}gpr{i}" for i in range(first, first + count))


def print_function(name, instructions):
    print(f"---\nname: {name}\nbody: |\n  bb.0:")
    for instruction in [*instructions, "S_ENDPGM 0"]:
        print("    " + instruction)
    print("...")
