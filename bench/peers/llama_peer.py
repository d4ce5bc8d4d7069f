"""Decodes with llama.cpp's library, which the npm package node-llama-cpp carries: tokens of
each text after those that its cache holds. The structures are those of its llama.h."""

import ctypes
import glob
import json
import os
from ctypes import POINTER, Structure, c_bool, c_char_p, c_float, c_int8, c_int32, c_size_t, c_uint32, c_void_p

import numpy as np

import peer

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_modules", "@node-llama-cpp", "linux-x64")
CACHES = {"f32": 0, "f16": 1, "int8": 8}  # GGML_TYPE_F32, _F16, _Q8_0


class ModelParams(Structure):
    _fields_ = [("devices", c_void_p), ("overrides", c_void_p), ("gpu_layers", c_int32), ("split_mode", c_int32), ("load_mode", c_int32),
                ("lazy_mode", c_int32), ("main_gpu", c_int32), ("tensor_split", c_void_p), ("progress", c_void_p), ("progress_data", c_void_p),
                ("kv_overrides", c_void_p), ("vocab_only", c_bool), ("check_tensors", c_bool), ("use_extra_bufts", c_bool), ("no_host", c_bool),
                ("no_alloc", c_bool), ("load_mtp", c_bool)]


class ContextParams(Structure):
    _fields_ = [(n, c_uint32) for n in ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq", "n_outputs_max", "n_outputs_max_per_seq")]
    _fields_ += [(n, c_int32) for n in ("n_threads", "n_threads_batch", "ctx_type", "rope_scaling_type", "pooling_type", "attention_type", "flash_attn")]
    _fields_ += [(n, c_float) for n in ("rope_base", "rope_scale", "yarn_ext", "yarn_attn", "yarn_fast", "yarn_slow")]
    _fields_ += [("yarn_orig_ctx", c_uint32), ("defrag", c_float), ("cb_eval", c_void_p), ("cb_eval_data", c_void_p), ("type_k", c_int32),
                 ("type_v", c_int32), ("abort", c_void_p), ("abort_data", c_void_p)]
    _fields_ += [(n, c_bool) for n in ("embeddings", "offload_kqv", "no_perf", "op_offload", "swa_full", "kv_unified")]
    _fields_ += [("samplers", c_void_p), ("n_samplers", c_size_t), ("ctx_other", c_void_p)]


class Batch(Structure):
    _fields_ = [("n_tokens", c_int32), ("token", POINTER(c_int32)), ("embd", c_void_p), ("pos", POINTER(c_int32)),
                ("n_seq_id", POINTER(c_int32)), ("seq_id", POINTER(POINTER(c_int32))), ("logits", POINTER(c_int8))]


SILENT = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)


def library():
    folder = os.path.join(PACKAGE, "bins", "linux-x64")
    if not os.path.isdir(folder):
        raise ImportError("node_modules has no @node-llama-cpp/linux-x64; install.sh installs it")
    for name in ("libggml-base*", "libggml.*", "libllama.v*"):
        lib = ctypes.CDLL(glob.glob(os.path.join(folder, name))[0], ctypes.RTLD_GLOBAL)
        if name == "libggml.*":
            ggml = lib
    keep = SILENT(lambda level, text, data: None)
    lib.llama_log_set(keep, None)
    ggml.ggml_backend_load_all_from_path(folder.encode())
    lib.silent = keep
    lib.llama_model_default_params.restype = ModelParams
    lib.llama_context_default_params.restype = ContextParams
    for f, result, operands in (("llama_model_load_from_file", c_void_p, [c_char_p, ModelParams]), ("llama_init_from_model", c_void_p, [c_void_p, ContextParams]),
                                ("llama_get_memory", c_void_p, [c_void_p]), ("llama_memory_seq_rm", c_bool, [c_void_p, c_int32, c_int32, c_int32]),
                                ("llama_decode", c_int32, [c_void_p, Batch]), ("llama_get_logits_ith", POINTER(c_float), [c_void_p, c_int32]),
                                ("llama_batch_init", Batch, [c_int32, c_int32, c_int32]), ("llama_batch_free", None, [Batch]),
                                ("llama_free", None, [c_void_p]), ("llama_model_free", None, [c_void_p]),
                                ("llama_vocab_n_tokens", c_int32, [c_void_p]), ("llama_model_get_vocab", c_void_p, [c_void_p])):
        getattr(lib, f).restype, getattr(lib, f).argtypes = result, operands
    return lib


class Llama(peer.Peer):
    def hello(self, threads):
        self.lib = library()
        self.closes = {}
        with open(os.path.join(PACKAGE, "package.json"), encoding="utf-8") as f:
            return "llama.cpp of node-llama-cpp " + json.load(f)["version"]

    def load(self, q):
        lib = self.lib
        before, ids = peer.fill(q["attrs"]["past"]), peer.fill(q["inputs"][0])
        texts, past = before.shape
        p = lib.llama_model_default_params()
        p.gpu_layers = 0
        model = lib.llama_model_load_from_file(q["file"].encode(), p)
        if not model:
            raise ValueError("llama.cpp does not load the model")
        c = lib.llama_context_default_params()
        most = texts * max(past, ids.shape[1])
        c.n_ctx, c.n_batch, c.n_ubatch, c.n_seq_max = texts * max(256, past + ids.shape[1] + 64), most, most, texts
        c.n_threads = c.n_threads_batch = self.threads
        cache = q["attrs"].get("cache", "f32")
        c.type_k = c.type_v = CACHES[cache]
        # It reads values of 8 bits with attention in one operation alone.
        c.flash_attn, c.no_perf, c.kv_unified = int(cache == "int8"), True, False
        context = lib.llama_init_from_model(model, c)
        if not context:
            raise ValueError("llama.cpp makes no context")
        self.closes[q["id"]] = lambda: (lib.llama_free(context), lib.llama_model_free(model))
        memory = lib.llama_get_memory(context)

        def decode(batch):
            if (status := lib.llama_decode(context, batch)) != 0:
                raise ValueError("llama_decode returns %d" % status)

        first = self.batch(before, 0)
        decode(first)
        lib.llama_batch_free(first)
        batch = self.batch(ids, past)
        last = [ids.shape[1] * (i + 1) - 1 for i in range(texts)]  # places of the texts' last tokens
        vocabulary = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))

        def call():
            for i in range(texts):  # the tokens are decoded again
                lib.llama_memory_seq_rm(memory, i, past, -1)
            decode(batch)
            return lib.llama_get_logits_ith(context, last[0])

        def results():
            return [np.stack([np.ctypeslib.as_array(lib.llama_get_logits_ith(context, i), (vocabulary,)) for i in last])]

        return call, results

    def batch(self, ids, start):
        """The tokens of each text from a position on; the last one's scores are wanted."""
        texts, n = ids.shape
        b = self.lib.llama_batch_init(texts * n, 0, 1)
        b.n_tokens = texts * n
        for i in range(texts * n):
            text, at = divmod(i, n)
            b.token[i], b.pos[i], b.n_seq_id[i] = int(ids[text, at]), start + at, 1
            b.seq_id[i][0], b.logits[i] = text, at == n - 1
        return b

    def handle(self, q):
        answer = super().handle(q)
        if q["do"] == "drop" and q["id"] in self.closes:
            self.closes.pop(q["id"])()
        return answer


Llama().serve()
