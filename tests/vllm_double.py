"""A vLLM server's double: real HTTP on a real port, the same JSON, a small model behind it, and trouble on request.

It speaks what `tb_trainer.engines.wire`, `server` and `sync` use of vLLM and nothing else. A turn depends on the
prompt, the seed and the weights alone: from a table where the prompt is in it, otherwise sampled with the CPU engine;
its log-probs are a forward pass of transformers.
"""

from __future__ import annotations

import copy
import json
import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from tb_trainer.engines import Key, Request, Sampling
from tb_trainer.engines.cpu import CpuEngine
from tb_trainer.engines.draws import truncated

Trouble = Callable[[int], str | None]


class VllmDouble:
    """A server that is up until `stop`.

    Args:
        model: the weights that it starts with, each time anew.
        trouble: by the number of a turn that it is asked for (from 1, restarts included), what goes wrong with it.
        table: replies by prompt, without the model's choice.
        raw: whether log-probs are of the raw model.
        knows: ``version`` and ``start`` are the ways in which it says who it is.
        port: to listen on; 0: one that is free.
    """

    def __init__(
        self,
        model: Any,
        *,
        trouble: Trouble = lambda turn: None,
        table: dict[tuple[int, ...], list[int]] | None = None,
        raw: bool = False,
        knows: tuple[str, ...] = ("version", "start"),
        positions: int = 4096,
        port: int = 0,
    ) -> None:
        self._base, self.trouble, self.table = copy.deepcopy(model), trouble, table or {}
        self.raw, self.knows, self.positions = raw, knows, positions
        self.asked = self.given_up = self.starts = 0
        self.seen: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.lock = threading.RLock()
        self._open: set[socket.socket] = set()
        self._port = port
        self._boot()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _boot(self) -> None:
        """A process begins: base weights, nothing known."""
        self.model = copy.deepcopy(self._base).eval()
        self.writer = CpuEngine(self.model, Sampling())
        self.version, self.starts = "default", self.starts + 1
        self.stale = False

    def start(self) -> None:
        handler = type("Handler", (_Handler,), {"double": self})
        self._http = _Http(("127.0.0.1", self._port), handler)
        self._port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """The process is gone, and with it every connection."""
        self._http.shutdown()
        self._http.server_close()
        for open_ in list(self._open):
            with _quiet():
                open_.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def restart(self, away: float = 0.0) -> None:
        self.stop()
        time.sleep(away)
        with self.lock:
            self._boot()
        self.start()

    # -- what it does

    def read_weights(self, folder: str) -> None:
        """From files."""
        tensors: dict[str, torch.Tensor] = {}
        for path in sorted(Path(folder).glob("*.safetensors")):
            tensors |= load_file(path)
        self.take(tensors)

    def take(self, tensors: dict[str, torch.Tensor]) -> None:
        """New weights, in place."""
        missing, unexpected = self.model.load_state_dict(tensors, strict=False)
        assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
        self.writer.load(self.model)
        self.stale = True  # until cached prefixes are dropped

    def complete(self, body: dict[str, Any], kind: str | None) -> dict[str, Any]:
        with self.lock:
            assert not self.stale, "asked for a turn with prefixes of old weights in the cache"
            prompt, limit = body["prompt"], body["max_tokens"]
            sampling = Sampling(body["temperature"], body["top_p"], body["top_k"], tuple(body["stop_token_ids"]))
            ids = self.table.get(tuple(prompt))
            if ids is None:
                key = Key(body["seed"], 0, 0, 0)
                self.writer.sampling = sampling
                self.writer.submit(Request(key, prompt, limit))
                ids = self.writer.poll()[0].ids
                self.writer.release(key)
            ids = ids[:limit]
            logprobs = self._logprobs(prompt, ids, Sampling() if self.raw else sampling)
        finish = "stop" if ids[-1] in sampling.stop else "length"
        if kind == "nan":
            logprobs[len(ids) // 2] = float("nan")
        if kind == "short":
            logprobs = logprobs[:-1]
        names = [f"token_id:{token}" for token in ids]
        if kind == "shifted":
            names = [*names[1:], names[0]]
        return {
            "object": "text_completion",
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "text": "",
                    "finish_reason": "abort" if kind == "abort" else finish,
                    "token_ids": ids,
                    "prompt_token_ids": prompt[1:] if kind == "cut prompt" else prompt,
                    "logprobs": {"token_logprobs": logprobs, "tokens": names, "top_logprobs": [], "text_offset": []},
                }
            ],
        }

    @torch.no_grad()
    def _logprobs(self, prompt: list[int], ids: list[int], sampling: Sampling) -> list[float]:
        logits = self.model(input_ids=torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1]
        every = truncated(logits, sampling).log_softmax(-1)
        return every.gather(-1, torch.tensor(ids)[:, None])[:, 0].clamp(min=-9999.0).tolist()


class _Http(ThreadingHTTPServer):
    daemon_threads, block_on_close, request_queue_size = True, False, 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that was dropped is no news."""


class _Handler(BaseHTTPRequestHandler):
    double: VllmDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def setup(self) -> None:
        super().setup()
        self.double._open.add(self.connection)

    def finish(self) -> None:
        self.double._open.discard(self.connection)
        with _quiet():
            super().finish()

    def do_GET(self) -> None:
        double = self.double
        double.seen[self.path] += 1
        if self.path == "/v1/models":
            self._say({"data": [{"id": "policy", "max_model_len": double.positions}]})
        elif self.path == "/weight_info" and "version" in double.knows:
            self._say({"weight_version": double.version})
        elif self.path == "/metrics":
            start = f"process_start_time_seconds {1e9 + double.starts}\n" if "start" in double.knows else ""
            self._say(f"# TYPE x counter\nx 1.0\n{start}")
        else:
            self._say({"detail": "Not Found"}, 404)

    def do_POST(self) -> None:
        double = self.double
        double.seen[self.path] += 1
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        if self.path == "/v1/completions":
            self._complete(body)
        elif self.path == "/reset_prefix_cache":
            double.stale = False
            self._say({"success": True})
        elif self.path == "/update_weight_version" and "version" in double.knows:
            double.version = body["new_version"]
            self._say({"success": True, "new_version": double.version})
        elif self.path == "/collective_rpc" and body["method"] == "reload_weights":
            with double.lock:
                double.read_weights(body["kwargs"]["weights_path"])
            self._say({"results": [None]})
        else:
            self._say({"detail": "Not Found"}, 404)

    def _complete(self, body: dict[str, Any]) -> None:
        double = self.double
        probe = body["temperature"] in (0.0, 1000.0) and len(body["prompt"]) == 4
        kind = None
        with double.lock:
            if not probe:
                double.asked += 1
                double.bodies.append(body)
                kind = double.trouble(double.asked)
        if kind == "500" or (probe and double.trouble(-1) == "500"):
            return self._say({"error": {"message": "EngineDeadError"}}, 500)
        if kind == "400":
            return self._say({"error": {"message": "no such thing"}}, 400)
        if kind == "restart":
            double.restart(away=0.1)
            return None
        if kind == "restart unseen":  # the address answers on, with other weights; no connection is lost
            with double.lock:
                double._boot()
        if kind == "hang":
            select.select([self.connection], [], [], 30.0)  # readable: the other side is gone
            double.given_up += 1
            self.close_connection = True
            return None
        answer = double.complete(body, kind)
        if kind == "held":  # until the server has been given weights
            while double.version == "default":
                time.sleep(0.005)
            time.sleep(0.3)
        with _quiet():
            self._say(answer)

    def _say(self, what: Any, status: int = 200) -> None:
        data = (what if isinstance(what, str) else json.dumps(what)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class _quiet:
    def __enter__(self) -> None:
        """Errors of a connection that is gone are passed over."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return isinstance(error, OSError | ValueError)
