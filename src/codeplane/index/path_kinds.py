"""The kind of a file by its path: a test, a copy, or a part of what others make."""

import re

# A folder `test` inside another is part of the program where Python is written, and of its tests elsewhere.
_TEST = re.compile(
    r"(?:^|/)(?:tests|__tests__|specs?)/|^(?:test|testing)/|(?:^|/)src/test/|(?:^|/)test/(?:.*/)?[^/]*\.(?!pyi?$)\w+$"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|tests\.py|tests?\.(?:c|cc|cpp))$|(?:[._]test|_tests|[._]spec|Test|Tests|Spec)\.\w+$"
)
# Maven's and Gradle's folder for the program itself, where `TypeSpec.java` is no test.
_MAIN = re.compile(r"(?:^|/)src/main/(?:.*/)?[^/]*\.\w+$")
_FIXTURE = re.compile(r"(?:^|/)(?:testdata|test[-_]data|(?:test[-_])?fixtures)/", re.IGNORECASE)
_VENDORED = re.compile(r"(?:^|/)(?:vendor|vendored|third_party|node_modules)/")
_COPY = re.compile(r"(^|/)(dist|build|out|lib/cjs|lib/esm|vendor|third_party|node_modules)/|\.min\.\w+$|\.d\.[cm]?ts$")


def is_test(path: str) -> bool:
    """Whether a path names a test."""
    return _TEST.search(path) is not None and _MAIN.search(path) is None


def is_copy(path: str) -> bool:
    """Whether a file is built, bundled or vendored."""
    return _COPY.search(path) is not None


def is_vendored(path: str) -> bool:
    """Whether a file is of a third-party package that is kept along."""
    return _VENDORED.search(path) is not None


def is_fixture(path: str) -> bool:
    """Whether a file is what tests work on, such as a package that they install."""
    return _FIXTURE.search(path) is not None
