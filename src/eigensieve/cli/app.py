"""The application: how a function becomes a command, and how an error becomes an exit code."""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from types import FrameType
from typing import Annotated, Any, get_type_hints

import typer

from eigensieve._files import ENDING
from eigensieve._types import JsonDict
from eigensieve._version import __version__
from eigensieve.cli import errors
from eigensieve.cli.commands import COMMANDS
from eigensieve.cli.console import CLOSED, printable
from eigensieve.cli.outputs import PUBLISHED, discard_staged

_CODES = "\n\n".join(f"{int(code)}  {code.meaning}" for code in errors.ExitCode)

_CLICK_ERROR: type[Exception] = next(  # its home differs between versions of typer
    cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException"
)


def _application(arguments: Sequence[str]) -> typer.Typer:
    """Return the application with the command that is called; with all of them where none is, as for ``--help``."""
    app = typer.Typer(
        name="eigensieve",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=f"[bold]Exit codes[/bold]\n\n{_CODES}",
        help="Find the few features that matter in wide data, with or without labels.",
    )
    app.callback()(_main)
    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        module = import_module(f"eigensieve.cli.commands.{name}")
        title = "Examples" if len(module.EXAMPLES) > 1 else "Example"
        epilog = "\n\n".join([f"[bold]{title}[/bold]", *module.EXAMPLES])
        function = getattr(module, COMMANDS[name])
        paragraphs = (" ".join(part.split()) for part in function.__doc__.split("\n\n"))  # the terminal breaks lines
        app.command(name=name, epilog=epilog, help="\n\n".join(paragraphs))(_with_flat_options(function))
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"eigensieve {__version__}")
        raise typer.Exit()


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def _with_flat_options(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function as typer wants it. A command takes settings as dataclasses. Typer knows only flat parameters,
    so the function returned has one parameter per field and puts the fields together again."""
    groups: JsonDict = {}
    flat: list[Parameter] = []
    for parameter in signature(function, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            group = groups[parameter.name] = parameter.annotation
            hints = get_type_hints(group, include_extras=True)
            for field in fields(group):
                default = field.metadata.get("option", Parameter.empty if field.default is MISSING else field.default)
                kind = Parameter.KEYWORD_ONLY
                flat.append(Parameter(field.name, kind, default=default, annotation=hints[field.name]))
        else:
            flat.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(function)
    def call(**given: Any) -> None:
        settings = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        try:
            function(**settings, **given)
        except EOFError as error:  # typer takes it for Ctrl-C
            raise RuntimeError(f"EOFError: {error}") from error

    call.__signature__ = signature(function).replace(parameters=flat)  # type: ignore[attr-defined]  # typer reads it
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return call


_heard: list[float] = []
"""When signals came that end the command. Further ones must not disturb its ending: for two seconds they do nothing."""

_ends: list[BaseException] = []
"""Their exceptions. Libraries may answer with an error of their own, as numpy does where it calls Python from C."""

_CLEANING = 2.0
_AGAIN = 0.2  # seconds; shorter, and it may come before the thread that sends it is known to run


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; print at most one line about what went wrong."""
    for kept in (PUBLISHED, _heard, _ends):
        kept.clear()
    _open_closed_streams()
    previous, hook = _catch_signals(), sys.unraisablehook
    sys.unraisablehook = _send_again
    try:
        code = _run(arguments)
        _heard.append(math.inf)
    except (errors.Terminated, KeyboardInterrupt) as end:  # it came when the command was over
        code = _fail_ended(end)
    finally:
        _heard.append(math.inf)
        discard_staged()
        sys.unraisablehook = hook
        for number, handler in previous.items():
            signal.signal(number, handler)
    return code


def _open_closed_streams() -> None:
    """Put the null device in place of standard streams that the caller closed (``>&-``). Python has None for them. The
    next opened file would take their place and receive the printed text."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
            CLOSED.add(name)


def _run(arguments: Sequence[str]) -> int:
    try:
        outcome = _application(arguments)(args=list(arguments), prog_name="eigensieve", standalone_mode=False)
        sys.stdout.flush()
        return _outcome(outcome)
    except typer.Exit as stop:
        return _outcome(stop.exit_code)
    except (errors.Terminated, KeyboardInterrupt, typer.Abort) as end:
        return _fail_ended(end)
    except (BrokenPipeError, SystemExit) as stop:
        if not isinstance(stop, BrokenPipeError) and not isinstance(stop.__context__, BrokenPipeError):
            raise
        # keep Python from complaining at exit that the reader of our output has gone (``| head``)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.ExitCode.OK
    except Exception as problem:
        return _fail_ended(_ends[-1]) if _ends else _explained(problem)


def _explained(problem: Exception) -> int:
    if isinstance(problem, errors.CommandError):
        return _fail(errors.one_line(problem), problem.code, problem)
    if isinstance(problem, _CLICK_ERROR):  # typer's own message with where to find help; none without a command
        message = errors.one_line(problem.format_message()).rstrip(".")  # type: ignore[attr-defined]  # of click
        context = getattr(problem, "ctx", None)
        command = context.command_path if context is not None else "eigensieve"
        help = f"{message}. See '{command} --help'."
        return _fail(help, errors.ExitCode.USAGE, problem) if message else errors.ExitCode.USAGE
    if isinstance(problem, ImportError) and "pip install" in str(problem):
        return _fail(errors.one_line(problem), errors.ExitCode.MISSING_PACKAGE, problem)
    if isinstance(problem, MemoryError):
        return _fail(errors.out_of_memory(problem), errors.ExitCode.INPUT, problem)
    if isinstance(problem, OSError) and errors.disk_full(problem):
        already = f" Already written: {', '.join(PUBLISHED)}." if PUBLISHED else ""
        refused = errors.explain_os_error(problem, problem.filename or "standard output", "writing")
        return _fail(refused + already, errors.ExitCode.OUTPUT, problem)
    if "can't start new thread" in str(problem):
        return _fail(errors.out_of_memory("a thread cannot be started"), errors.ExitCode.INPUT, problem)
    bug = f"Unexpected {type(problem).__name__}: {errors.one_line(problem)}. "
    return _fail(f"{bug}Please report it; EIGENSIEVE_DEBUG=1 shows where.", errors.ExitCode.INTERNAL, problem)


def _outcome(code: object) -> int:
    """The exit code for what typer returned. Newer versions catch Ctrl-C themselves and only return its code."""
    if code == errors.ExitCode.INTERRUPTED:
        return _fail_ended(KeyboardInterrupt())
    return code if isinstance(code, int) else errors.ExitCode.OK


def _catch_signals() -> dict[int, Any]:
    """Let signals that end a process end it as Ctrl-C does; return the handlers there were. A signal that is ignored
    stays ignored, such as SIGHUP under ``nohup``."""
    heard = [number for number in ENDING if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    return {number: signal.signal(number, _on_signal) for number in heard}


def _on_signal(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _heard and now - _heard[-1] < _CLEANING:
        return
    _heard.append(now)
    told = errors.ExitCode.TERMINATED if number == signal.SIGTERM else errors.ExitCode.HANGUP
    _ends.append(KeyboardInterrupt() if number == signal.SIGINT else errors.Terminated(told))
    raise _ends[-1]


def _send_again(dropped: Any) -> None:
    """Send a signal once more whose exception came up in a destructor: Python drops those."""
    error = dropped.exc_value
    if isinstance(error, errors.Terminated | KeyboardInterrupt):
        number = int(error.code) - 128 if isinstance(error, errors.Terminated) else int(signal.SIGINT)
        _heard.clear()
        threading.Timer(_AGAIN, os.kill, (os.getpid(), number)).start()
    else:
        sys.__unraisablehook__(dropped)


def _ended(how: str) -> str:
    """Return a sentence about the outputs of a command that is ended early."""
    if not PUBLISHED:
        return f"{how}. Nothing was written; run the command again to start over."
    return f"{how} after the outputs were written: {', '.join(PUBLISHED)}."


def _fail_ended(end: BaseException) -> int:
    if not isinstance(end, errors.Terminated):
        return _fail(_ended("Interrupted"), errors.ExitCode.INTERRUPTED)
    return _fail(_ended("Terminated" if end.code == errors.ExitCode.TERMINATED else "Hung up"), end.code)


def _fail(message: str, code: errors.ExitCode, problem: BaseException | None = None) -> int:
    if problem is not None and os.environ.get("EIGENSIEVE_DEBUG"):
        import traceback

        traceback.print_exception(problem)
    print(f"error: {printable(message)}", file=sys.stderr)
    return code
