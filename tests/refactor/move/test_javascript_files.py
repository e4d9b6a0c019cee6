"""Moves of JavaScript and TypeScript modules: sources are written the way they were."""

from pathlib import Path

from codeplane.refactor.move.file_move import plan_file_move
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository

FILES = {
    "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}',
    "package.json": '{"name": "it", "main": "./src/lib/tool.ts"}',
    "src/lib/tool.ts": (
        "import { low } from './low';\nimport data from '../data.js';\nexport const tool = low + data;\n"
    ),
    "src/lib/low.ts": "export const low = 1;\n",
    "src/lib/index.ts": "export * from './tool';\nexport { low } from './low';\n",
    "src/data.ts": "export default 1;\n",
    "src/app.ts": (
        "import { tool } from './lib/tool';\n"
        'import { tool as again } from "@/lib/tool";\n'
        "import * as all from './lib';\n"
        "import type { Tool } from './lib/tool.js';\n"
        "const lazy = () => import('./lib/tool');\n"
        "const old = require('./lib/tool');\n"
    ),
    "src/app.test.ts": "vi.mock('./lib/tool', () => ({}));\nimport './lib/tool';\n",
    "src/lib/deep/leaf.ts": "import { low } from '..';\nimport { tool } from '../tool';\n",
}


@requirement("REF-11")
def test_a_module_goes_to_another_folder(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        draft = repo.plan(plan_file_move, "src/lib/tool.ts", "src/kit/gear.ts")
        assert repo.after(draft) == {
            "src/kit/gear.ts": (
                "import { low } from '../lib/low';\nimport data from '../data.js';\nexport const tool = low + data;\n"
            ),
            "src/lib/index.ts": "export * from '../kit/gear';\nexport { low } from './low';\n",
            "src/app.ts": (
                "import { tool } from './kit/gear';\n"
                'import { tool as again } from "@/kit/gear";\n'
                "import * as all from './lib';\n"
                "import type { Tool } from './kit/gear.js';\n"
                "const lazy = () => import('./kit/gear');\n"
                "const old = require('./kit/gear');\n"
            ),
            "src/app.test.ts": "vi.mock('./lib/tool', () => ({}));\nimport './kit/gear';\n",
            "src/lib/deep/leaf.ts": "import { low } from '..';\nimport { tool } from '../../kit/gear';\n",
        }
        assert [(edit.path, edit.new) for edit in draft.edits if edit.tier == "UNKNOWN"] == [
            ("src/app.test.ts", "./kit/gear")
        ]
        assert "package_entry" in {danger.kind for danger in draft.dangers}


@requirement("REF-11")
def test_a_folder_takes_its_index_along(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        after = repo.after(repo.plan(plan_file_move, "src/lib", "src/inner/kit"))
        assert after["src/app.ts"] == (
            "import { tool } from './inner/kit/tool';\n"
            'import { tool as again } from "@/inner/kit/tool";\n'
            "import * as all from './inner/kit';\n"
            "import type { Tool } from './inner/kit/tool.js';\n"
            "const lazy = () => import('./inner/kit/tool');\n"
            "const old = require('./inner/kit/tool');\n"
        )
        assert after["src/inner/kit/tool.ts"].startswith(
            "import { low } from './low';\nimport data from '../../data.js'"
        )
        assert after["src/inner/kit/deep/leaf.ts"] == FILES["src/lib/deep/leaf.ts"]


@requirement("REF-11")
def test_a_module_becomes_the_index_of_a_folder(tmp_path: Path) -> None:
    files = {
        "a.ts": "export const x = 1;\n",
        "b.ts": "import { x } from './a';\n",
        "c.mts": "import { x } from './a.ts';\n",
    }
    with repository(tmp_path, files) as repo:
        assert repo.after(repo.plan(plan_file_move, "a.ts", "kit/index.ts")) == {
            "kit/index.ts": files["a.ts"],
            "b.ts": "import { x } from './kit';\n",
            "c.mts": "import { x } from './kit/index.ts';\n",
        }
