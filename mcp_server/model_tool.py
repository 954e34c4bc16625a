"""Tools whose arguments and answer are the store's own records."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ValidationError

from mcp_server.callers import Caller, CurrentCaller
from mcp_server.errors import as_tool_error, wrong_arguments

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


class _Metadata(FuncMetadata):
    def validate_arguments(self, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
        """Take arguments as they are; those that fail, also as JSON text of a list or an object."""
        given = arguments_to_validate
        try:
            return self.arg_model.model_validate(given).model_dump_one_level()
        except ValidationError as error:
            failed = {str(entry["loc"][0]) for entry in error.errors()}
            parsed = self.pre_parse_json({name: given[name] for name in failed & given.keys()})
            if parsed.items() <= given.items():
                raise
        return self.arg_model.model_validate(given | parsed).model_dump_one_level()


class _ModelTool(Tool):
    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Run the tool; what was wrong is told in plain words, without the SDK's and pydantic's."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                known = self.fn_metadata.arg_model.model_fields
                raise ToolError(wrong_arguments(error.__cause__, known)) from error.__cause__
            if type(error.__cause__) is ToolError:
                raise error.__cause__ from error.__cause__.__cause__
            raise


def model_tool(
    caller: CurrentCaller,
    function: Callable[[Caller, ArgumentsT], Awaitable[AnswerT]],
    arguments: type[ArgumentsT],
    answer: type[AnswerT],
    annotations: ToolAnnotations,
) -> Tool:
    """Make a tool of a function; its name and docstring are what the model reads.

    The answer is structured content, and the same as compact JSON text without its nulls.
    """
    name = function.__name__
    accepted: type[ArgModelBase] = type(f"{name}_arguments", (arguments, ArgModelBase), {})

    async def call(**given: Any) -> CallToolResult:
        with as_tool_error():
            # The same fields, validated just now.
            made = await function(await caller(), arguments.model_construct(**given))
        text = TextContent(type="text", text=made.model_dump_json(exclude_none=True))
        return CallToolResult(content=[text], structured_content=made.model_dump(mode="json"))

    return _ModelTool(
        fn=call,
        name=name,
        title=annotations.title,
        description=inspect.cleandoc(function.__doc__ or ""),
        parameters=accepted.model_json_schema(),
        fn_metadata=_Metadata(arg_model=accepted, output_model=answer),
        is_async=True,
        context_kwarg=None,
        annotations=annotations,
    )
