#!/bin/sh
# Installs torch_xla, whose sessions are LazyTensor's, with the PyTorch that it wants into .venv-xla at the root of the repository
# (2 GB). It is optional; without it the rows of papers have no times of it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
test -x "$root/.venv-xla/bin/pip" || python3 -m venv "$root/.venv-xla"
"$root/.venv-xla/bin/pip" install --quiet --disable-pip-version-check numpy torch_xla==2.9.0 torch==2.9.1
