"""A process of its own that serves one small model on loopback by llama.cpp, until its standard input ends."""

import sys


def main(model_file: str) -> None:
    """Print the address once the model is loaded, then serve."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model_file
    parameters.hostnames = ["127.0.0.1"]
    parameters.ui = False
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.use_jinja = True
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    # The starting process is gone when nothing more can come.
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
