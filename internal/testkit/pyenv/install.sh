#!/bin/sh
# Installs Python packages that tests compare gofx with into .venv at the root of the repository:
# those of requirements.txt, or of the file that is named.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
list=${1:-$root/internal/testkit/pyenv/requirements.txt}
test -x "$root/.venv/bin/pip" || python3 -m venv "$root/.venv" || { rm -rf "$root/.venv"; exit 1; }
"$root/.venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
