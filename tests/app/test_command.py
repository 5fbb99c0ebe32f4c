"""``eigensieve app`` as a command: missing packages and taken ports are told in one line."""

import socket
import sys

from eigensieve.cli import ExitCode
from eigensieve.cli.app import run


def test_a_port_that_is_taken_is_told(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(["app", "--no-browser", "--port", str(port)]) == ExitCode.USAGE
    assert f"Port {port} cannot be used" in capsys.readouterr().err


def test_a_missing_package_is_named_with_its_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(["app", "--no-browser"]) == ExitCode.MISSING_PACKAGE
    assert "eigensieve[app]" in capsys.readouterr().err


def test_the_address_is_on_this_computer_only(address):
    """Another address of the same computer does not answer."""
    host, _, port = address.removeprefix("http://").partition("/")[0].partition(":")
    assert host == "127.0.0.1"
    other = socket.socket()
    other.settimeout(2)
    own = socket.gethostbyname(socket.gethostname())
    if own != "127.0.0.1":
        assert other.connect_ex((own, int(port))) != 0
    other.close()
