"""The command's entry: options that all share, commands loaded when used, errors to exit codes."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import NoReturn

import click

from .. import __version__
from ..errors import INTERRUPTED, UNEXPECTED, USAGE, ExitCode, RocmlockError
from .options import examples

# Command -> (module below this room, object). Modules import click only; the work is imported when it starts.
_COMMANDS = {
    "init": "init",
    "import": "import_",
    "resolve": "resolve",
    "realize": "realize",
    "run": "run",
    "show": "show",
    "tree": "tree",
    "why": "why",
    "why-not": "why_not",
    "check": "check",
    "diff": "diff",
    "update": "update",
    "outdated": "outdated",
    "merge": "merge",
    "export": "export",
    "catalog": "catalog",
    "recipe": "recipe",
    "store": "store",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- as above
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f".{_COMMANDS[cmd_name]}", __package__)
        return module.command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], _COMMANDS, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("rocmlock init", "rocmlock resolve", "rocmlock realize", "rocmlock run -- python"),
)
@click.version_option(__version__, prog_name="rocmlock", message="%(prog)s %(version)s")
def commands() -> None:
    """Pin, build and prove PyTorch, Triton and vLLM from source for AMD Instinct GPUs.

    A manifest (rocmlock.toml) is resolved to a lock of exact commits, each with its reason; the lock is
    realized by sandboxed source builds in a content-addressed store.
    """


def main() -> NoReturn:
    """Run the command and exit; the one place where errors become exit codes."""
    # Imports make many objects that live to the end: looking for garbage among them costs time for nothing.
    gc.set_threshold(100_000)
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    # Plugins of pydantic would be looked for among all installed packages at every start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    as_json = "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments
    try:
        # A non-integer comes back from commands that return nothing.
        code = commands.main(arguments, prog_name="rocmlock", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.format_message())
        return ExitCode.USAGE
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`rocmlock show | head`): not a failure of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILED
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- the last resort of every command
        return _fail(_told(error), as_json=as_json)
    return code if isinstance(code, int) else 0


def _told(error: BaseException) -> RocmlockError:
    """Whatever ended a command, as an error with a reference."""
    match error:
        case RocmlockError():
            return error
        case click.UsageError():
            where = f"{error.ctx.command_path} --help" if error.ctx else "rocmlock --help"
            return RocmlockError(USAGE, error.format_message(), hint=where)
        case KeyboardInterrupt() | click.exceptions.Abort():
            return RocmlockError(INTERRUPTED, "Interrupted.")
        case _:
            return _unexpected(error)


def _unexpected(error: BaseException) -> RocmlockError:
    import traceback

    lines = traceback.format_exception(error)
    shown = "".join(lines).splitlines() if os.environ.get("ROCMLOCK_DEBUG") else lines[-1].splitlines()[:3]
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return RocmlockError(
        UNEXPECTED,
        "rocmlock itself failed.",
        context=[*shown, f"in {frame.name}, line {frame.lineno} of {os.path.basename(frame.filename)}"],  # noqa: PTH119 -- a name, not a path to open
        hint="Set ROCMLOCK_DEBUG=1 for the full trace, and please report it.",
    )


def _fail(error: RocmlockError, *, as_json: bool) -> int:
    from .render import render_error, render_error_json

    if as_json:
        click.echo(render_error_json(error))
    else:
        render_error(error)
    return error.reason.code
