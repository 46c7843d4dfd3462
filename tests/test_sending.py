"""Requests to endpoints: prepared parts make the same body, connections are used again and closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from chat_double import said
from hypothesis import given
from hypothesis import strategies as st
from llm_double import ModelDouble

from tb_envs.endpoints import Endpoint
from tb_envs.openai_client import ask
from tb_envs.sending import Prepared, close_clients, encode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def server() -> Iterator[ModelDouble]:
    double = ModelDouble(["Good day."])
    double.start()
    yield double
    double.stop()


@given(st.dictionaries(st.text(), JSON, max_size=4), st.data())
def test_prepared_parts_make_the_same_body(body: dict[str, Any], data: st.DataObject) -> None:
    def some(value: Any) -> Any:
        if data.draw(st.booleans()):
            return Prepared(value)
        return (
            [Prepared(item) if data.draw(st.booleans()) else item for item in value] if type(value) is list else value
        )

    assert encode({name: some(value) for name, value in body.items()}) == encode(body)
    assert json.loads(encode(body)) == body


def test_half_characters_are_sent_escaped() -> None:
    """A model may write them in its calls; UTF-8 has none."""
    assert json.loads(encode({"content": "a\ud800é"})) == {"content": "a\ud800é"}


def test_connections_are_used_again_and_closed(server: ModelDouble) -> None:
    endpoint, body = Endpoint("m", server.url, deadline=10.0), {"messages": [said("Hello.")]}

    async def play() -> None:
        server.think = 0.05
        await asyncio.gather(*(ask(endpoint, body) for _ in range(8)))
        assert server.connections == 8
        server.think = 0.0
        for _ in range(3):
            await ask(endpoint, body)
        assert server.connections == 8, "idle ones were there"
        server.hang_up()
        await ask(endpoint, body)  # they are found closed, which is no failure
        assert server.connections == 1
        await close_clients()
        for _ in range(100):
            if not server.connections:
                break
            await asyncio.sleep(0.02)
        assert not server.connections

    asyncio.run(play())
