import socket, subprocess, sys, time
from dataclasses import dataclass
from pathlib import Path
import pytest

@dataclass
class Toy:
    url: str; mcp_url: str; repo: Path; stdio: tuple

def serve(profile, tmp):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]
    p = subprocess.Popen([sys.executable, "/tmp/toy/server.py", "http", str(port), str(tmp), profile])
    for _ in range(200):
        try: socket.create_connection(("127.0.0.1", port)).close(); break
        except OSError: time.sleep(0.1)
    yield Toy(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port}/mcp", tmp, (sys.executable, "/tmp/toy/server.py", "stdio", str(tmp), profile))
    p.terminate(); p.wait(10)

@pytest.fixture(scope="session")
def codeplane_server(tmp_path_factory): yield from serve("plain", tmp_path_factory.mktemp("repo"))
@pytest.fixture(scope="session")
def fixture_server(tmp_path_factory): yield from serve("fixture", tmp_path_factory.mktemp("repo"))
