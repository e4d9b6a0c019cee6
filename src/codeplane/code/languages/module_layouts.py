"""How modules are found, family by family."""

from collections.abc import Mapping

from codeplane.code.languages.c.includes import Includes
from codeplane.code.languages.go.packages import GoPackages
from codeplane.code.languages.javascript.modules import JavaScriptModules, module_manifests
from codeplane.code.languages.modules import ModuleLayout
from codeplane.code.languages.python.modules import PythonModules
from codeplane.code.languages.rust.modules import RustModules

MODULE_LAYOUTS: Mapping[str, ModuleLayout] = {
    "c": ModuleLayout(find_all=Includes, manifests=None),
    "python": ModuleLayout(find_all=lambda paths, read: PythonModules(paths), manifests=lambda paths: ()),
    "javascript": ModuleLayout(find_all=JavaScriptModules, manifests=module_manifests),
    "go": ModuleLayout(find_all=GoPackages, manifests=None),
    "rust": ModuleLayout(find_all=RustModules, manifests=None),
}
