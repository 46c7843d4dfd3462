"""The agent's side as an MCP server: tools, the policy as a prompt and a resource. Nothing else is here to be reached.

One low-level server serves every session; `find` says whose request it is. Tool lists are made once per domain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from tb_envs import __version__
from tb_envs.authoring.toolset import Tool
from tb_envs.errors import BackendError
from tb_envs.mcp.sessions import CUSTOMER_TOOL, EpisodeSession, KeyMisused, Session
from tb_envs.registration import load_domain

Context = ServerRequestContext[Any, Any]
Find = Callable[[Context], Session]
"""Whose session a request is for; raises `MCPError` for nobody's."""
NAME = "thinkingbox-gym"
ABOUT = (
    "You are an employee of a company and serve one customer. Read the prompt `policy` before you act. "
    "When all is done, call end_conversation; to pass the conversation to a colleague, call hand_over."
)
KEY = "idempotency-key"
LONGEST_KEY = 200


def make_server(find: Find) -> Server[Any]:
    """An MCP server for the sessions that `find` knows."""

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        session = find(context)
        customer_tool = isinstance(session, EpisodeSession) and session.customer_tool
        return _tool_list(session.task.domain.name, session.task.knobs.distractors, customer_tool)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        session = find(context)
        key = context.request.headers.get(KEY, "") if context.request is not None else ""
        if len(key) > LONGEST_KEY:
            raise MCPError(types.INVALID_PARAMS, f"an idempotency key has at most {LONGEST_KEY} characters")
        try:
            result = await session.call(params.name, params.arguments or {}, key)
        except BackendError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
        except KeyMisused as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result.text)],
            structured_content=result.data,
            is_error=not result.ok,
        )

    async def list_prompts(context: Context, params: Any) -> types.ListPromptsResult:
        find(context)
        return _PROMPTS

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        session = find(context)
        if params.name == "policy":
            return types.GetPromptResult(messages=[_said(session.task.instructions)])
        if params.name == "conversation":
            opening = session.opening if isinstance(session, EpisodeSession) else ""
            return types.GetPromptResult(messages=[_said(session.task.instructions), _said(opening)])
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:60]!r}; valid: policy, conversation")

    async def list_resources(context: Context, params: Any) -> types.ListResourcesResult:
        session = find(context)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=_policy_uri(session),
                    name="policy",
                    title=f"{session.task.domain.title}: the policy",
                    mime_type="text/markdown",
                )
            ]
        )

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        session = find(context)
        uri = _policy_uri(session)
        if str(params.uri) != uri:
            raise MCPError(types.INVALID_PARAMS, f"there is no such resource; the only one is {uri}")
        text = session.task.domain.policy_text
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=text, mime_type="text/markdown")]
        )

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        instructions=ABOUT,
        get_tool_input_schema=_no_headers,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )
    server.middleware.clear()  # its tracing is a tenth of a call's cost, and `/metrics` counts
    return server


def _no_headers(tool: str) -> None:
    """No argument of a tool is mirrored in a header, so there is nothing to compare."""


@cache
def _tool_list(domain: str, distractors: int, customer_tool: bool) -> types.ListToolsResult:
    tools = list(load_domain(domain).toolbox(distractors).tools.values())
    if customer_tool:
        tools.append(CUSTOMER_TOOL)
    return types.ListToolsResult(tools=[_entry(tool) for tool in tools])


def _entry(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(read_only_hint=tool.effect == "read", open_world_hint=False),
    )


_PROMPTS = types.ListPromptsResult(
    prompts=[
        types.Prompt(name="policy", description="Who you are, what time it is, and what you may do."),
        types.Prompt(name="conversation", description="The same, and the customer's first words."),
    ]
)


def _policy_uri(session: Session) -> str:
    return f"policy://{session.task.domain.name}/policy.md"


def _said(text: str) -> types.PromptMessage:
    return types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
