"""`scip.import`, `scip.status`, `scip.drop`: what fits is taken in, what does not is refused with the reason."""

import os
from pathlib import Path

import pytest

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.errors import CodePlaneError, NotFound, PathDenied, ScipRefused
from codeplane.query.knowledge import Knowledge
from codeplane.refactor.scip.authority import ScipAuthority
from codeplane.refactor.scip.operations import ScipImport, ScipOperations, ScipStatus
from codeplane.refactor.scip.store import ScipStore
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement
from tests.refactor.scip.index_writer import Doc, index_bytes
from tests.refactor.scip.indexers import indexed_by
from tests.refactor.structural.operation_calls import Asking, asked

FILES = {
    "shop/cart.py": "ü = '😀'; cart = 1\nclass Cart: ...\n",
    "shop/use.py": "from shop.cart import Cart\nCart()\n",
    "shop/empty.py": "",
    "web/a.js": "1\n",
}
CART, VALUE = "p . s 1 `shop.cart`/Cart#", "p . s 1 `shop.cart`/cart."
# `cart` stands behind a character that is two units in UTF-16 and four bytes.
PLACES = {1: (0, 13, 4, VALUE, 1), 2: (0, 10, 4, VALUE, 1), 3: (0, 9, 4, VALUE, 1)}
CART_DOC = Doc(path="shop/cart.py", places=((0, 10, 4, VALUE, 1), (1, 6, 4, CART, 1)))
USE_DOC = Doc(path="shop/use.py", places=((0, 22, 4, CART, 8), (1, 0, 4, CART, 8)))


def made(root: Path, knowledge: Knowledge) -> ScipOperations:
    store = ScipStore(root.parent / "scip.db")
    return ScipOperations(root=root.resolve(), knowledge=knowledge, store=store, clock=SystemClock())


def refused(error: pytest.ExceptionInfo[ScipRefused]) -> str:
    caught: CodePlaneError = error.value
    assert caught.hint
    return caught.message


@requirement("REF-23")
def test_an_index_that_fits_is_taken_in_and_holds_while_files_stay(tmp_path: Path) -> None:
    root = tmp_path / "a"

    async def body(ask: Asking) -> None:
        assert (await ask("scip.status")).text() == "no SCIP index was imported"
        (root / "index.scip").write_bytes(index_bytes([CART_DOC, USE_DOC], root=f"file://{root}"))
        done = await ask("scip.import")
        assert isinstance(done, ScipImport) and (done.documents, done.occurrences) == (2, 4)
        assert done.text() == "index.scip by scip-test 1.0: 2 documents, 4 occurrences taken in"
        (root / "shop/use.py").write_text("Cart()\n")
        status = await ask("scip.status")
        assert isinstance(status, ScipStatus) and status.indexes[0].changed == ("shop/use.py",)
        assert status.text() == "index.scip by scip-test 1.0: holds for 1 of 2 files; changed since: shop/use.py"
        with pytest.raises(NotFound):
            await ask("scip.drop", path="other.scip")
        assert (await ask("scip.drop")).text() == "1 indexes forgotten"
        assert (await ask("scip.drop")).text() == "0 indexes forgotten"

    asked(root, FILES, lambda knowledge: made(root, knowledge), body)


def test_a_secrets_file_is_not_read_as_an_index(tmp_path: Path) -> None:
    root = tmp_path / "a"

    async def body(ask: Asking) -> None:
        (root / ".env").write_text("TOKEN=abcdefgh12345678\n")
        with pytest.raises(PathDenied, match="secrets"):
            await ask("scip.import", path=".env")

    asked(root, FILES, lambda knowledge: made(root, knowledge), body)


@requirement("REF-23")
def test_columns_are_counted_as_the_indexer_did(tmp_path: Path) -> None:
    root = tmp_path / "a"

    async def body(ask: Asking) -> None:
        for encoding, place in PLACES.items():
            for output in (encoding, 0):
                cart = Doc(path="shop/cart.py", places=(place, (1, 6, 4, CART, 1)), encoding=output)
                (root / "index.scip").write_bytes(index_bytes([cart, USE_DOC]))
                await ask("scip.import")
            wrong = Doc(path="shop/cart.py", places=(place,), encoding=encoding % 3 + 1)
            (root / "index.scip").write_bytes(index_bytes([wrong, USE_DOC]))
            with pytest.raises(ScipRefused):
                await ask("scip.import")

    asked(root, FILES, lambda knowledge: made(root, knowledge), body)


@requirement("REF-23")
def test_what_does_not_fit_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    root = tmp_path / "a"
    text = Doc(path="shop/cart.py", text=FILES["shop/cart.py"])
    swapped = Doc(path="shop/use.py", places=((1, 0, 3, CART, 8),))
    cases: tuple[tuple[list[Doc], str], ...] = (
        ([CART_DOC], "no document of 1 file of python, such as shop/use.py"),
        ([], "speaks of no file"),
        ([CART_DOC, USE_DOC, Doc(path="shop/gone.py")], "shop/gone.py: there is no such file here"),
        ([CART_DOC, USE_DOC, Doc(path="../a/shop/x.py")], "there is no such file here"),
        ([Doc(path="shop/cart.py", text="other"), USE_DOC], "its text is another one"),
        ([Doc(path="shop/cart.py", places=((1, 7, 4, CART, 1),)), USE_DOC], "do not spell"),
        ([Doc(path="shop/cart.py", places=((1, 0, 4, CART, 1),)), USE_DOC], "do not spell"),
        ([Doc(path="shop/cart.py", places=((9, 0, 4, CART, 8),)), USE_DOC], "do not spell"),
        ([Doc(path="shop/cart.py", places=((1, 90, 4, CART, 8),)), USE_DOC], "do not spell"),
        ([CART_DOC, swapped], "do not spell"),
    )

    async def body(ask: Asking) -> None:
        file = root / "index.scip"
        for documents, output in cases:
            file.write_bytes(index_bytes(documents))
            with pytest.raises(ScipRefused) as error:
                await ask("scip.import")
            assert output in refused(error)
        file.write_bytes(index_bytes([text, USE_DOC]))
        with pytest.raises(ScipRefused) as error:
            await ask("scip.import", exit_code=1)
        assert "ended with 1" in refused(error)
        os.utime(file, ns=(1, 1))
        with pytest.raises(ScipRefused) as error:
            await ask("scip.import")
        assert "shop/use.py: it was changed after the index was written" in refused(error)
        file.write_bytes(index_bytes([text, USE_DOC])[:-3])
        with pytest.raises(ScipRefused) as error:
            await ask("scip.import")
        assert "ends in the middle" in refused(error)
        with pytest.raises(NotFound):
            await ask("scip.import", path="nowhere.scip")
        with pytest.raises(NotFound):
            await ask("scip.import", path="shop")
        with pytest.raises(PathDenied):
            await ask("scip.import", path="../index.scip")
        assert (await ask("scip.status")).text() == "no SCIP index was imported"

    asked(root, FILES, lambda knowledge: made(root, knowledge), body)


@requirement("REF-23")
def test_an_index_of_a_part_says_which(tmp_path: Path) -> None:
    root = tmp_path / "a"
    inner = [Doc(path="cart.py", places=CART_DOC.places), Doc(path="use.py", places=USE_DOC.places)]
    files = {**FILES, "tests/test_a.py": "x = 1\n"}

    async def body(ask: Asking) -> None:
        (root / "index.scip").write_bytes(index_bytes(inner, root=f"file://{root}/shop"))
        with pytest.raises(ScipRefused) as error:
            await ask("scip.import")
        assert "tests/test_a.py: it is partial" in refused(error)
        await ask("scip.import", paths=["shop"])
        (root / "index.scip").write_bytes(index_bytes(inner, root="file:///elsewhere"))
        with pytest.raises(ScipRefused):
            await ask("scip.import", paths=["shop"])
        await ask("scip.import", paths=["shop"], folder="shop")

    asked(root, files, lambda knowledge: made(root, knowledge), body)


PYTHON = {
    "shop/__init__.py": "",
    "shop/cart.py": "class Cart:\n    def total(self, items):\n        return items\n\ndef make(): return Cart()\n",
    "shop/use.py": "from shop.cart import Cart, make\n\nü = '😀'; cart = make()\ncart.total([1])\n",
}
TYPESCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"target": "es2020", "module": "esnext"}, "include": ["src"]}',
    "package.json": '{"name": "shop", "version": "1.0.0"}',
    "src/a.ts": "export class Cart { total(x: number) { return x } }\nexport function make() { return new Cart() }\n",
    "src/b.ts": 'import { make } from "./a";\nconst ü = "😀"; const cart = make(); cart.total(1);\n',
}


@pytest.mark.parametrize(
    ("language", "files", "user"), [("python", PYTHON, "shop/use.py"), ("typescript", TYPESCRIPT, "src/b.ts")]
)
def test_what_real_indexers_write(tmp_path: Path, language: str, files: dict[str, str], user: str) -> None:
    root = tmp_path / "a"

    async def body(ask: Asking) -> None:
        code = indexed_by(language, root)
        done = await ask("scip.import", exit_code=code)
        assert isinstance(done, ScipImport) and f"scip-{language}" in done.tool and done.documents >= 2

    make_repo(root, files)
    asked(root, files, lambda knowledge: made(root, knowledge), body)
    indexer = RecordingIndexer(root, tmp_path / "home")
    scip = ScipAuthority(ScipStore(tmp_path / "scip.db"), indexer.start())
    at = files[user].encode().index(b"total")
    (symbol,) = scip.at(user, at, at + 5)
    assert symbol.endswith("Cart#total().")
    indexer.close()
