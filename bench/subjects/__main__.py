"""`python -m bench.subjects SYSTEM VARIANT CALLERS STEPS FOLDER`: run once, and print the sample as JSON."""

import json
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from bench.subjects import Load, Variant


def main(system: str, name: str, callers: str, steps: str, folder: str) -> None:
    """Run one variant of one system."""
    variants: tuple[Variant, ...] = import_module(f"bench.subjects.{system}").VARIANTS
    chosen = next(variant for variant in variants if variant.name == name)
    load = Load(callers=int(callers), steps=int(steps), folder=Path(folder))
    # The marker, because libraries print what they like.
    print("sample:" + json.dumps(asdict(chosen.run(load))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
