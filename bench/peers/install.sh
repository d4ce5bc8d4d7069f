#!/bin/sh
# Installs what the measurements are compared with: PyTorch 1.13 from the distribution; ONNX Runtime 1.30
# and llama.cpp's library from npm; and Python's packages (requirements.txt, 5 GB: PyTorch's wheel
# brings CUDA) into .venv at the root of the repository. torch.compile wants a C++ compiler.
# All are optional; missing ones are left out of the results.
set -u
cd "$(dirname "$0")"
# Debian's PyTorch runs with the reference BLAS, too, thirty times as slow.
if ! /usr/bin/python3 -c 'import torch' 2>/dev/null || ! ldconfig -p | grep -q libopenblas; then
	apt-get install -y python3-torch libopenblas0-openmp || echo "install.sh: PyTorch 1.13 is not available" >&2
fi
command -v c++ >/dev/null || apt-get install -y g++ || echo "install.sh: there is no C++ compiler for torch.compile" >&2
# The packages' own install scripts only fetch CUDA libraries.
npm ci --ignore-scripts || echo "install.sh: npm's packages are not available" >&2
for list in ../../internal/testkit/pyenv/requirements.txt requirements.txt; do
	../../internal/testkit/pyenv/install.sh "$list" || echo "install.sh: $list could not be installed" >&2
done
