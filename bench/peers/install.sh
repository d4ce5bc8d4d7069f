#!/bin/sh
# Installs what the measurements are compared with: PyTorch from the
# distribution, ONNX Runtime from npm. Both are optional; missing ones are
# left out of the results.
set -eu
cd "$(dirname "$0")"
if ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
	apt-get install -y python3-torch libopenblas0-openmp || echo "install.sh: PyTorch is not available" >&2
fi
# The package's own install script only fetches CUDA libraries.
npm ci --ignore-scripts
