"""Problems on the command line: one exit code per kind, one line per message."""

import csv
import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from eigensieve.cli.methods import FLAGS


class ExitCode(IntEnum):
    """Exit codes of every command with their meaning; documented in ``docs/cli.md`` and in ``eigensieve --help``."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> "ExitCode":
        code = int.__new__(cls, value)
        code._value_, code.meaning = value, meaning
        return code

    OK = 0, "done"
    INTERNAL = 1, "a bug in eigensieve (EIGENSIEVE_DEBUG=1 shows the traceback)"
    USAGE = 2, "wrong command line: unknown option, bad value, options that do not go together"
    INPUT = 3, "input missing, unreadable, or not usable for the selection"
    OUTPUT = 4, "output exists without --force, or cannot be written (permissions, disk full)"
    MODEL = 5, "model file damaged, not trusted, or made for other columns"
    MISSING_PACKAGE = 6, "an optional package is missing (the message has the pip command)"
    HANGUP = 129, "ended by SIGHUP, as when the terminal closes; no output is half-written"
    INTERRUPTED = 130, "interrupted with Ctrl-C; no output is half-written"
    TERMINATED = 143, "ended by SIGTERM; no output is half-written"


class CommandError(Exception):
    """A problem the user can mend; its message names the problem and the fix."""

    code = ExitCode.INTERNAL


class UsageProblem(CommandError):
    code = ExitCode.USAGE


class InputProblem(CommandError):
    code = ExitCode.INPUT


class OutputProblem(CommandError):
    code = ExitCode.OUTPUT


class ModelProblem(CommandError):
    code = ExitCode.MODEL


class Terminated(BaseException):
    """Raised by the handler of SIGTERM and SIGHUP, so that staged files are removed on the way out."""

    def __init__(self, code: ExitCode) -> None:
        super().__init__(code)
        self.code = code


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_WORDS = ("No space left", "quota exceeded", "File too large")


def disk_full(error: BaseException) -> bool:
    """Whether the disk is full; some libraries say so only in the text of the error."""
    return getattr(error, "errno", None) in _FULL or any(words in str(error) for words in _FULL_WORDS)


def explain_os_error(error: Exception, path: object, doing: str) -> str:
    """Say in one sentence what the system refused, and what to do about it."""
    if disk_full(error):
        return f"No space left while {doing} '{path}'. Free some space or write to another disk."
    number = getattr(error, "errno", None)
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"No permission for {doing} '{path}'. Choose another place or change its permissions."
    if number == errno.ENOENT:
        return f"'{path}' does not exist. Check the path."
    return f"Problem while {doing} '{path}': {getattr(error, 'strerror', None) or one_line(error)}."


@contextmanager
def input_errors(path: object) -> Iterator[None]:
    """Turn what a reader or an estimator says about the data into an input problem, about a parameter into a usage
    problem."""
    try:
        yield
    except CommandError:
        raise
    except OSError as error:
        raise InputProblem(explain_os_error(error, path, "reading")) from error
    except UnicodeDecodeError as error:
        raise InputProblem(f"'{path}' is not UTF-8 text. Save it as UTF-8.") from error
    except csv.Error as error:
        raise InputProblem(
            f"'{path}' has a line that cannot be split into cells: {error}. Check its quotes."
        ) from error
    except (ValueError, TypeError, EOFError) as error:
        from eigensieve._sklearn import InvalidParameterError
        from eigensieve.tables import DataError

        kind = UsageProblem if isinstance(error, InvalidParameterError) else InputProblem
        raise kind(one_line(error) if isinstance(error, DataError) else in_options(one_line(error))) from error
    except MemoryError as error:
        raise InputProblem(out_of_memory(error, f" for '{path}'")) from error


def out_of_memory(error: BaseException | str, what: str = "") -> str:
    detail = one_line(error).rstrip(".")
    return f"Not enough memory{what}{': ' if detail else ''}{detail}. Free some, or use fewer samples or features."


_IMPUTER = "fill them in first, for example with sklearn.impute.SimpleImputer in a Pipeline, or drop those columns"


def in_options(message: str) -> str:
    """Say what an estimator says about its parameters in the words of the command line. Quoted names stay."""

    def flag(found: re.Match[str], value: str = "") -> str:
        return f"{FLAGS[found[1]]} {value}".rstrip() if found[1] in FLAGS else found[0]

    few = r"Found array with (\d+) (\w+)\(s\) \(shape=\(.*?\)\) while a minimum of (\d+) is required(?: by \w+)?\."
    message = re.sub(few, r"The table has too few \2s: \1, and \3 are the least.", message)
    message = message.replace(": raise max_iter or tol in solver_options.", ".")
    message = re.sub(r"The '(\w+)' parameter of \w+(?:\.fit)?", flag, message)
    message = re.sub(r"\b(and|with|in) '(keep|exclude)'", lambda found: f"{found[1]} {FLAGS[found[2]]}", message)
    setting = r"(?:\b[A-Z]\w+\()?\b(\w+)=(?:'([\w-]+)'|([\w.]*\w))\)?"
    message = re.sub(setting, lambda found: flag(found, (found[2] or found[3]).removeprefix("True")), message)
    message = message.replace(_IMPUTER, "say what to do with them: --missing median, drop-features or drop-samples")
    message = message.replace("transpose X if they stand in columns", "use --samples columns if they stand in columns")
    parts = re.split(r"('[^']*')", message)
    parts[::2] = map(_without_names, parts[::2])
    return "".join(parts)


_PLAIN = (
    (r" of \w+Selector\b", ""),
    (r"(^|[.:] )(?:\w+Selector|FeatureMap)\b", r"\1The method"),
    (r"\b(?:\w+Selector|FeatureMap)\b", "the method"),
    (r"\ba str among\b", "one of"),
    (r"\ba float in\b", "a number in"),
    (r"\ban int in\b", "a whole number in"),
)


def _without_names(text: str) -> str:
    """Options in place of parameters, the label in place of y, the table in place of X; no types, no classes."""
    for name, option in FLAGS.items():
        if "_" in name:  # the others may be words of a sentence
            text = re.sub(rf"\b{name}\b", option, text)
    text = text.replace("Leave out batches, or y.", "Leave out --batch or --label.")
    for python, plain in _PLAIN:
        text = re.sub(python, plain, text)
    return re.sub(r"\bX\b", "the table", re.sub(r"\by\b", "the label", text))


def one_line(error: BaseException | str) -> str:
    return " ".join(str(error).split())
