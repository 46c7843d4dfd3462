"""From inside an MCP session nothing else can be reached: every route has a rule, every guess is refused."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from typing import Any

import httpx2
import pytest
from mcp_parts import TASK, Control, client_of
from starlette.routing import BaseRoute, Mount, Route

from tb_envs.mcp.app import make_app
from tb_envs.mcp.hub import Hub, Rules
from tb_envs.mcp.protocol import make_server
from tb_envs.mcp.serve import running
from tb_envs.task import get_task

RULES = {
    ("/episodes/{id}/mcp", "POST"): "agent",
    ("/control/sessions", "POST"): "control",
    ("/control/sessions", "GET"): "control",
    ("/control/renew", "POST"): "control",
    ("/control/sessions/{id}/journal", "GET"): "control",
    ("/control/sessions/{id}/dump", "GET"): "control",
    ("/control/sessions/{id}/say", "POST"): "control",
    ("/control/sessions/{id}/finish", "POST"): "control",
    ("/control/sessions/{id}", "DELETE"): "control",
    ("/healthz", "GET"): "open",
    ("/readyz", "GET"): "open",
    ("/metrics", "GET"): "open",
}
"""Who may use each route. A new route fails the tests below until it has a rule here."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")


def routes_of(routes: Iterable[BaseRoute], above: str = "") -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for route in routes:
        if isinstance(route, Mount):
            found |= routes_of(route.app.routes, above + route.path)  # pyright: ignore
        else:
            assert isinstance(route, Route) and route.methods, route
            found |= {(above + route.path, method) for method in route.methods - {"HEAD"}}
    return found


def test_every_route_has_a_rule() -> None:
    assert routes_of(make_app(Hub(Rules()), "token").routes) == set(RULES)


MESSAGES = {
    "tools/list": "its tools", "tools/call": "one of them", "prompts/list": "two names", "prompts/get": "the policy",
    "resources/list": "one name", "resources/read": "the policy", "server/discover": "this software", "ping": "nothing",
}  # fmt: skip
"""What a message of MCP tells of a session. One more, the SDK's own too, fails the test until it has a rule here."""


def test_every_message_that_is_answered_has_a_rule() -> None:
    server = make_server(lambda context: pytest.fail("nobody's session is looked for"))
    assert set(server._request_handlers) == set(MESSAGES)
    assert not server._notification_handlers and not server.middleware and not server.extensions


def guesses(own: str, other: str) -> list[str]:
    """Paths that somebody inside the session `own` may try."""
    ids = (own, other, "0", "1", "..", "*", "%2e%2e", "")
    paths = {path.replace("{id}", key) for (path, _), key in itertools.product(RULES, ids)}
    words = ("reset", "state", "checks", "expected", "verdict", "score", "finish", "journal", "dump", "say", "admin")
    paths |= {f"/episodes/{own}/{word}" for word in words} | {f"/episodes/{own}/mcp/{word}" for word in words}
    paths |= {f"/{word}" for word in (*words, "docs", "openapi.json", "sessions", "episodes", ".env", "debug", "")}
    paths |= {
        f"/episodes/{own}/mcp/../../../control/sessions", f"/episodes/{own}/..%2f..%2fcontrol%2fsessions",
        "//control/sessions", "/control//sessions", "/%63ontrol/sessions", "/CONTROL/sessions", "/control/sessions/",
        "/control", "/control/", f"/control/sessions/{own}", f"/episodes/{own}/mcp/", f"/episodes/{own[:-1]}/mcp",
        f"/episodes/{own}/mcp?token=", f"/episodes/{own};{other}/mcp", f"/episodes/{own}%00/mcp", "/static/../control",
    }  # fmt: skip
    return sorted(paths)


def test_from_inside_a_session_nothing_else_can_be_reached() -> None:
    """Every method on every path, with every credential an agent may hold; every method and tool of MCP."""
    task = get_task(TASK)
    note = {"guest_id": task.scenario.about[0], "kind": "preference", "body": "MARKER-OF-ANOTHER-EPISODE"}

    async def body() -> None:
        async with running() as server:
            control = Control(server)
            own, other = await control.start(), await control.start()
            async with client_of(server.url + other["mcp"]) as client:
                assert not (await client.call_tool("add_guest_note", note)).is_error
            journal = (await control.ask("GET", f"/{other['id']}/journal")).data
            assert "MARKER" in str(journal)
            secrets = {
                server.token, other["id"], "MARKER-OF-ANOTHER-EPISODE", *task.scenario.mistakes,
                *(f'"name":"{check.name}"' for check in task.scenario.expects),
                "/control/sessions/", '"verdict"', '"outcome"', '"changes"', "tool_faults",
            }  # fmt: skip

            def reveals(answer: httpx2.Response, asked: str) -> list[str]:
                said = f"{answer.text} {dict(answer.headers)}".replace(asked, "").replace('": "', '":"')
                return [secret for secret in secrets if secret in said]

            allowed = {(path.replace("{id}", own["id"]), m) for (path, m), who in RULES.items() if who != "control"}
            credentials = [{}, {"authorization": f"Bearer {own['id']}"}, {"authorization": "Bearer"},
                           {"authorization": f"Bearer {server.token[:-1]}"}, {"mcp-session-id": other["id"]},
                           {"cookie": f"token={own['id']}"}]  # fmt: skip
            async with httpx2.AsyncClient(base_url=server.url, timeout=30, trust_env=False) as http:
                for path, method in itertools.product(guesses(own["id"], "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), METHODS):
                    for headers in credentials if "control" in path else credentials[:1]:
                        raw = {"target": path.encode() or b"/"}  # as written: a client would tidy it up
                        sent = {"headers": headers, "json": {"task_id": TASK}, "extensions": raw}
                        answer = await http.request(method, "/", **sent)
                        found = reveals(answer, own["id"])
                        assert not found, (method, path, headers, found)
                        if answer.status_code < 300:
                            assert (path, "GET" if method == "HEAD" else method) in allowed, (method, path)
                        if path.startswith("/control/sessions"):
                            assert answer.status_code == 401 and not answer.content, (method, path, answer)
                await attack_mcp(http, own, reveals)
            assert (await control.ask("GET", f"/{other['id']}/journal")).data == journal
            assert (await control.ask("GET", f"/{own['id']}/journal")).data == {"changes": []}
            listed = (await control.ask("GET", "")).data["sessions"]
            assert {each["id"] for each in listed} == {own["id"], other["id"]}
            assert not any(each["over"] for each in listed)

    asyncio.run(body())


async def attack_mcp(http: httpx2.AsyncClient, own: dict[str, Any], reveals: Any) -> None:
    """Every MCP method and tool name that comes to mind, raw."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    names = ["reset", "finish", "score", "grade", "verdict", "expected", "checks", "journal", "dump", "sql", "query",
             "list_sessions", "start", "say", "__init__", "call", "close", "eval", "take_changes", "control/sessions",
             "say_to_customer", "", "*", "../dump"]  # fmt: skip
    calls = [("tools/call", {"name": name, "arguments": {"id": own["id"], "text": "x"}}) for name in names]
    methods = ["resources/templates/list", "resources/subscribe", "completion/complete", "logging/setLevel",
               "subscriptions/listen", "sampling/createMessage", "roots/list", "elicitation/create", "tasks/list",
               "tasks/get", "server/discover", "ping", "control/finish", "rpc.discover", "initialize"]  # fmt: skip
    uris = ["policy://banking/policy.md", "file:///etc/passwd", "policy://hotel/../expected", "journal://", "db://"]
    calls += [(method, {}) for method in methods]
    calls += [("resources/read", {"uri": uri}) for uri in uris]
    calls += [("prompts/get", {"name": name}) for name in ("expected", "../policy", "verdict", "customer")]
    for method, params in calls:
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "accept": "application/json"}
        named = params.get("name") or params.get("uri")
        if named:
            headers["mcp-name"] = named
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        answer = await http.post(own["mcp"], json=message, headers=headers)
        assert not reveals(answer, own["id"]), (method, params)
        found = answer.json() if answer.content else {"error": {}}
        if method == "tools/call" and "result" in found:
            assert found["result"]["structuredContent"]["error"]["type"] == "unknown_tool"
        elif "result" in found:
            assert method in ("server/discover", "ping") and set(found["result"]) <= {
                "supportedVersions", "capabilities", "serverInfo", "instructions", "resultType", "ttlMs", "cacheScope",
                "_meta",
            }, found  # fmt: skip
        else:
            assert "error" in found, (method, params, found)
