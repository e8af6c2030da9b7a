"""A model behind an address of the environment, asked once for each message.

Knows the two common forms of such services: chat completions where `OPENAI_BASE_URL` is set, messages where
`ANTHROPIC_BASE_URL` is. Keeps nothing between two calls: what should be remembered belongs into the agent's memory.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional

# Long enough for a local model on a small machine.
TIMEOUT_SECONDS = 120.0
ANSWER_TOKENS_MAX = 1024
# A service that sends more than this does not send an answer.
BODY_BYTES_MAX = 1 << 20
SHOWN_CHARACTERS_MAX = 200


class ModelError(Exception):
    """The model gave no answer; the text says why and is fit to be shown."""


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key goes to the address that was configured and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_StayHere())


@dataclass(frozen=True)
class Model:
    """Where a model is and how it is spoken to."""

    url: str
    name: str
    headers: Mapping[str, str]
    is_chat: bool

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Optional["Model"]:
        """The model that the environment names, if it names one."""
        base = env.get("OPENAI_BASE_URL", "").rstrip("/")
        if base:
            key = _key(env, "OPENAI_API_KEY")
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            return cls(f"{base}/chat/completions", env.get("OPENAI_MODEL") or "gpt-4o-mini", headers, True)
        base = env.get("ANTHROPIC_BASE_URL", "").rstrip("/")
        if base:
            key = _key(env, "ANTHROPIC_API_KEY")
            headers = {"anthropic-version": "2023-06-01"}
            if key:
                headers["x-api-key"] = key
            base = base if base.endswith("/v1") else f"{base}/v1"
            return cls(f"{base}/messages", env.get("ANTHROPIC_MODEL") or "claude-haiku-4-5", headers, False)
        return None

    def answer(self, system: str, text: str) -> str:
        """What the model says to a message. Raises ModelError."""
        body: Dict[str, Any] = {"model": self.name, "max_tokens": ANSWER_TOKENS_MAX}
        message = {"role": "user", "content": text}
        if self.is_chat:
            body["messages"] = [{"role": "system", "content": system}, message]
        else:
            body["system"], body["messages"] = system, [message]
        return self._read(self._post(json.dumps(body).encode()))

    def _post(self, body: bytes) -> bytes:
        headers = {**self.headers, "Content-Type": "application/json"}
        try:
            request = urllib.request.Request(self.url, body, headers)
            with _OPENER.open(request, timeout=TIMEOUT_SECONDS) as response:
                answer: bytes = response.read(BODY_BYTES_MAX + 1)
        except urllib.error.HTTPError as error:
            detail = error.read(BODY_BYTES_MAX).decode("utf-8", "replace")
            raise ModelError(f"it answered with status {error.code}: {_shown(detail)}") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise ModelError(f"it cannot be reached: {_shown(str(reason))}") from error
        if len(answer) > BODY_BYTES_MAX:
            raise ModelError(f"its answer is longer than {BODY_BYTES_MAX} bytes")
        return answer

    def _read(self, body: bytes) -> str:
        try:
            answer = json.loads(body)
            if self.is_chat:
                text = answer["choices"][0]["message"]["content"]
            else:
                text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            found = _shown(body.decode("utf-8", "replace"))
            raise ModelError(f"its answer is in no form known here: {found}") from error
        if not isinstance(text, str) or not text.strip():
            raise ModelError("its answer holds no text")
        return text.strip()


def _key(env: Mapping[str, str], name: str) -> str:
    """The key from the variable, or from the file that `NAME_FILE` names, as a secret of a manifest is handed over."""
    path = env.get(f"{name}_FILE")
    if not path:
        return env.get(name, "").strip()
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def _shown(text: str) -> str:
    """A foreign text in one short line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:SHOWN_CHARACTERS_MAX]
