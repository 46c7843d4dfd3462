#!/bin/bash
# One machine of a run: starts the servers and the trainer that the plan gives it. For Slurm, for Ray, or by hand.
#
#   run-node.sh NODE HOST[,HOST…] [arguments of tbx train…]
#
# NODE is this machine's number, from 0, in the list of all machines; the first one plays. What each of them does, and each
# flag of a server, comes from `tbx train --dry-run`, which also refuses what does not fit. In the environment:
#   TRAIN, SERVE   the bin folders with accelerate and tbx, and with vllm (~/train/bin, ~/serve/bin)
#   LAUNCH         the launch file of accelerate (fsdp2.yaml, beside this script)
#   ACCELERATE     further arguments of accelerate launch, e.g. --fsdp_transformer_layer_cls_to_wrap …
#   PORT           where the trainers meet on the first machine (29500)
#
# Ends when its trainer ends, with its code, and ends its servers then; a machine that only serves ends when a server does.
set -euo pipefail
[[ $# -ge 2 && $1 =~ ^[0-9]+$ ]] || { echo "run-node.sh NODE HOST[,HOST…] [arguments of tbx train…]" >&2; exit 2; }
node=$1
IFS=, read -ra hosts <<<"$2"
shift 2
here=$(dirname "$(readlink -f "$0")")
train=${TRAIN:-$HOME/train/bin}
serve=${SERVE:-$HOME/serve/bin}
plan=$("$train/tbx" train --dry-run --json "$@")
eval "$("$train/python" -c '
import json, shlex, sys
plan = json.loads(sys.argv[1])
layout, engine = plan["layout"], plan["config"]["engine"]
lists = {"training": layout["training"], "serving": layout["serving"]}
words = {
    "machines": layout["nodes"], "trainers": layout["nodes"] - layout["serving_nodes"], "ranks": layout["ranks"],
    "copies": layout["copies"], "apart": layout["serving_nodes"], "tensor": engine["tensor_parallel"],
    "share": engine["memory_share"], "sync": engine["sync"], "model": plan["config"]["model"]["path"],
    "length": plan["config"]["sampling"]["episode_tokens"],
}
for name, value in words.items():
    print(f"{name}={shlex.quote(str(value))}")
for name, values in lists.items():
    print(f"{name}=({shlex.join(map(str, values))})")
' "$plan")"
if [[ ${#hosts[@]} -ne $machines || $node -ge $machines ]]; then
  echo "run-node.sh: the plan has $machines machines; named are ${#hosts[@]}, and this is number $node" >&2
  exit 2
fi

# The servers' addresses, in the order of the plan: of the machines that only serve, or of all.
first_server=$((apart ? trainers : 0))
urls=()
if ((copies)); then
  each=$((copies / (machines - first_server)))
  for ((at = first_server; at < machines; at++)); do
    for ((n = 0; n < each; n++)); do urls+=("http://${hosts[at]}:$((8000 + n))"); done
  done
fi

servers=()
stop() {
  kill "${servers[@]}" 2>/dev/null || true
  wait || true
}
trap stop EXIT
trap 'exit 143' TERM
if ((copies && node >= first_server)); then
  transfer=()
  [[ $sync == nccl ]] && transfer=(--weight-transfer-config '{"backend": "nccl"}')
  for ((n = 0; n < each; n++)); do
    gpus=$(IFS=,; echo "${serving[*]:n*tensor:tensor}")
    CUDA_VISIBLE_DEVICES=$gpus VLLM_SERVER_DEV_MODE=1 "$serve/vllm" serve "$model" --port $((8000 + n)) \
      --tensor-parallel-size "$tensor" --max-model-len "$length" --gpu-memory-utilization "$share" \
      --logprobs-mode processed_logprobs --generation-config vllm "${transfer[@]}" &
    servers+=($!)
  done
fi
if ((node >= trainers)); then
  code=0
  wait -n "${servers[@]}" || code=$?
  echo "run-node.sh: a server ended with $code" >&2
  exit $((code ? code : 1))
fi
address=()
((copies)) && address=(--set "engine.url=$(IFS=,; echo "${urls[*]}")")
if ((${#training[@]})); then
  CUDA_VISIBLE_DEVICES=$(IFS=,; echo "${training[*]}")
  export CUDA_VISIBLE_DEVICES
fi
# shellcheck disable=SC2086  # ACCELERATE is a list of words
"$train/accelerate" launch --config_file "${LAUNCH:-$here/fsdp2.yaml}" --num_machines "$trainers" \
  --num_processes "$ranks" --machine_rank "$node" --main_process_ip "${hosts[0]}" --main_process_port "${PORT:-29500}" \
  ${ACCELERATE:-} --no_python "$train/tbx" train "$@" "${address[@]}" &
trainer=$!
servers+=("$trainer") # ended with them, if this script is
code=0
wait "$trainer" || code=$?
exit "$code"
