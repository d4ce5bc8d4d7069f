#!/bin/bash
# Runs on a machine with a card what `make card-kit` packed: `card.sh check` the tests, all at once, `card.sh time`
# the times, one after the other, and `card.sh host` those of the processor at 1 to 16 threads.
# Logs and rows go to $OUT. Each part has a limit of its own, and one that fails leaves the others.
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
kit=$root/.card
OUT=${OUT:-$root/.card/out}
mkdir -p "$OUT" "$kit/bin"
python3 - "$kit" <<'UNPACK'
import sys, tarfile
from concurrent.futures import ProcessPoolExecutor
from glob import glob

def unpack(f):
    with tarfile.open(f) as t:
        t.extractall(sys.argv[1] + "/bin", filter="data")

with ProcessPoolExecutor() as p:
    list(p.map(unpack, glob(sys.argv[1] + "/*.tar.xz")))
UNPACK
site=$(python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
export LD_LIBRARY_PATH=$(echo /usr/local/cuda/lib64 "$site"/nvidia/*/lib | tr ' ' ':'):$LD_LIBRARY_PATH
plugin=$(ls "$site"/jax_plugins/*/xla_cuda_plugin.so | head -1)
export TF_CPP_MIN_LOG_LEVEL=3 XLA_PYTHON_CLIENT_PREALLOCATE=false

# part NAME SECONDS COMMAND...: a log of its own, and a line with its end.
part() {
  local name=$1 seconds=$2 start=$SECONDS
  shift 2
  timeout "$seconds" "$@" >"$OUT/$name.log" 2>&1
  local rc=$?
  echo "== $name: exit $rc after $((SECONDS - start)) s"
}

check() {
  { nvidia-smi; lscpu | head -30; "$kit/bin/fxgen" devices; echo "$plugin"; ldconfig -p | grep -c cuda; } >"$OUT/machine.log" 2>&1
  part card 200 "$kit/bin/card.test" -test.run '^TestCard$' -test.v -runs 5 -rows "$OUT/checked.json" &
  (cd "$root/lowering/gpu" && GOFX_GPU=cuda part gpu 200 "$kit/bin/gpu.test" -test.v -test.skip 'ByCUDA|Nightly|Speed') &
  (cd "$root/lowering/xla" && GOFX_TEST_PLUGIN=$plugin part xla 200 "$kit/bin/xla.test" -test.v -test.run TestPlugin) &
  wait
  tail -n 12 "$OUT/card.log"
  for log in gpu xla; do
    echo "== $log: $(grep -c -- '--- PASS' "$OUT/$log.log") passed, $(grep -c -- '--- SKIP' "$OUT/$log.log") skipped"
    grep -- '--- FAIL\|^panic\|^fatal' "$OUT/$log.log" | head -60
  done
}

time_() {
  part times 150 "$kit/bin/card.test" -test.v -test.run '^TestCard$/^(resnet50|learning_to_paint|bert_base|gpt2)' -runs 50 -rows "$OUT/rows.json"
  part jax 80 python3 "$here/peers.py" jax "$OUT/jax.json" "$kit"
  part torch 120 python3 "$here/peers.py" torch "$OUT/torch.json"
  tail -n 70 "$OUT/times.log"
  cat "$OUT/jax.json" "$OUT/torch.json"
}

host() {
  for t in 1 2 4 8 16; do
    for net in resnet50 mobilenet_v2 bert_base gpt2; do
      timeout 30 "$kit/bin/fxgen" bench $net -threads $t -min-time 700ms -json | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)))'
    done
  done >"$OUT/host.json" 2>"$OUT/host.log"
  timeout 60 "$kit/bin/fxgen" profile resnet50 -threads 16 -by op >"$OUT/profile16.log" 2>&1
  timeout 60 "$kit/bin/fxgen" profile resnet50 -threads 1 -by op >"$OUT/profile1.log" 2>&1
}

case $1 in
check) check ;;
time) time_ ;;
host) host ;;
*) echo "usage: card.sh check|time|host" >&2; exit 2 ;;
esac
