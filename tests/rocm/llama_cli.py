"""Has llama.cpp's llama-cli answer a prompt by a model that scripts/make-gguf wrote."""

import re
import subprocess

# Debian's package llama.cpp-tools has the program, libggml0-backend-hip the backend, which is linked with HIP 6.4.
PACKAGES = ["llama.cpp-tools", "libggml0-backend-hip"]


def answer(suite, model, words, *options, device="ROCm0", atoll=True):
    """The answer's words, or None; and its speed (tokens of the prompt and of the answer in a second), or what is wrong."""
    process = suite.start(
        ["llama-cli", "--model", model, "--device", device, "--gpu-layers", "99", *options, "--no-warmup", "--temp", "0",
         "--seed", "1", "--ignore-eos", "--predict", str(words), "--simple-io", "--single-turn", "--prompt", "What is it?"],
        atoll=atoll, stderr=subprocess.STDOUT)
    output, _ = process.communicate()
    # After the prompt, the answer; then its times.
    found = re.search(r"^> [^\n]*\n(.*?)\n\s*\[ Prompt: ([\d.]+) t/s \| Generation: ([\d.]+) t/s \]", output,
                      re.MULTILINE | re.DOTALL)
    if process.returncode != 0 or found is None:
        return None, f"llama-cli on {device} ended with {process.returncode}: {output.strip()[-1000:]}"
    return found[1].split(), f"prompt {found[2]}, answer {found[3]} tokens/s"
