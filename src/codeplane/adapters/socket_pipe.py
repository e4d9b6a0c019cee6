"""Connects stdin and stdout with a Unix socket: `python socket_pipe.py SOCKET`; runs alone, in sandboxes."""

import os
import socket
import sys
import threading

_BYTES = 65_536


def main() -> None:
    """Copy both ways until one side ends."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(sys.argv[1])

    def send() -> None:
        while data := os.read(0, _BYTES):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=send, daemon=True).start()
    while data := connection.recv(_BYTES):
        while data:
            data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
