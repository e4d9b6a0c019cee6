"""Bodies of functions and classes, drawn: names meet in many scopes, since few are drawn from."""

from random import Random

from tests.refactor.programs.definition import NUMBER, Names, Parameters, Sort, Thing, any_use

NAMES = ("alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega")
CLASSES = ("Alpha", "Beta", "Gamma", "Delta", "Omega")


def indented(lines: list[str], by: int = 1) -> list[str]:
    """Lines further in."""
    return [f"{'    ' * by}{line}" for line in lines]


def parameters(draw: Random) -> Parameters:
    """One or two that are needed, and perhaps one that is not."""
    chosen = draw.sample(NAMES, 3)
    needed = draw.randint(1, 2)
    return Parameters(needed=tuple(chosen[:needed]), optional=tuple(chosen[2:]) if draw.random() < 0.5 else ())


def without(names: Names, hidden: tuple[str, ...]) -> dict[str, Thing]:
    """Names less those that something nearer hides."""
    return {name: thing for name, thing in names.items() if name.partition(".")[0] not in hidden}


def function(draw: Random, name: str, outer: Names, *, depth: int = 0, first: str = "") -> tuple[list[str], Parameters]:
    """A function of numbers."""
    takes = parameters(draw)
    if first:
        takes = Parameters(needed=takes.needed, optional=takes.optional)
    declared = ", ".join(filter(None, [first, takes.declared(draw)]))
    lines = [f"def {name}({declared}):", *indented(body(draw, outer, (*takes.needed, *takes.optional), depth))]
    return lines, takes


def body(draw: Random, outer: Names, parameters: tuple[str, ...], depth: int) -> list[str]:
    """Statements, and a number that is returned."""
    own = tuple(draw.sample(NAMES, 2))
    inner = without(outer, (*parameters, *own)) | dict.fromkeys(parameters, NUMBER)
    lines: list[str] = []
    for local in own:
        lines += _statement(draw, inner, local, depth)
        inner[local] = NUMBER
    for _ in range(draw.randint(0, 1)):
        lines += _statement(draw, inner, draw.choice(own), depth)
    return [*lines, f"return ({any_use(draw, inner)} + {any_use(draw, inner)}) % 997"]


def _statement(draw: Random, names: dict[str, Thing], local: str, depth: int) -> list[str]:
    """A statement that gives a local name a number."""
    value, other = any_use(draw, names), any_use(draw, names)
    item = draw.choice(NAMES)
    over = without(names, (item,)) | {item: NUMBER}
    kinds = [
        [f"{local} = {value}"],
        [f"{local}: int = {value}"],
        [f"{local} = sum([{any_use(draw, over)} for {item} in range(2)])"],
        [f"{local} = (lambda {item}: {any_use(draw, over)})({value})"],
        [f"if ({local} := {value}) > 3:", f"    {local} += {other}"],
        [f"if {value} > 3:", f"    {local} = 1", "else:", f"    {local} = {other}"],
        [f"{local} = len(f'{{{value}}}-{{{other}:>4}}')"],
        [f"{local} = 0", f"for {local} in range(3):", f"    {local} += {other}"],
        ["try:", f"    {local} = {value} // 0", f"except ZeroDivisionError as {local}:", f"    {local} = {other}"],
        [f"{local}, *_ = {value}, {other}"],
        [f"{local} = dict({item}={value})['{item}']"],
        [f"{local} = '%({item})s' % {{'{item}': {value}}}", f"{local} = len({local})"],
        [f"match {value}:", f"    case {local} if {local} > 3:", "        pass", "    case _:", f"        {local} = 1"],
    ]
    if depth < 1 and draw.random() < 0.2:
        name = draw.choice([one for one in NAMES if one != local])
        inner = without(names, (name, local))
        lines, takes = function(draw, name, inner, depth=depth + 1)
        return [*lines, f"{local} = {name}({takes.arguments(draw)})"]
    if depth < 1 and draw.random() < 0.1:
        name = draw.choice([one for one in NAMES if one != local])
        return [
            f"{local} = {value}",
            f"def {name}():",
            f"    nonlocal {local}",
            f"    {local} += {any_use(draw, without(names, (name, local)))}",
            f"    return {local}",
            f"{local} = {name}() + {local}",
        ]
    return draw.choice(kinds)


def klass(draw: Random, name: str, outer: Names) -> tuple[list[str], Thing]:
    """A class: plain, a heir of another, or a dataclass."""
    bases = [one for one in outer if outer[one].kind == "class" and one != name and not one.startswith("_")]
    if draw.random() < 0.15:
        return _dataclass(draw, name, outer)
    base = draw.choice(bases) if bases and draw.random() < 0.45 else ""
    above = outer[base] if base else None
    made = Thing(
        kind="class", takes=above.takes if above else Parameters(), members=dict(above.members) if above else {}
    )
    names = without(outer, (name,))
    lines = [f"class {name}({base}):" if base else f"class {name}:"]
    if draw.random() < 0.6:
        constant = draw.choice(NAMES)
        if constant not in made.members:
            lines.append(f"    {constant} = {any_use(draw, names)}")
            made.members[constant] = ("constant", Parameters())
    if above is None or draw.random() < 0.4:
        lines += _constructor(draw, made, names, above)
    for _ in range(draw.randint(1, 3)):
        lines += _method(draw, made, names, name)
    return lines, made


def _dataclass(draw: Random, name: str, outer: Names) -> tuple[list[str], Thing]:
    takes = parameters(draw)
    made = Thing(kind="class", takes=takes)
    lines = ["@dataclass", f"class {name}:", *(f"    {parameter}: int" for parameter in takes.needed)]
    lines += [f"    {one}: int = {draw.randint(1, 9)}" for one in takes.optional]
    made.members |= {parameter: ("attribute", Parameters()) for parameter in (*takes.needed, *takes.optional)}
    return [*lines, *_method(draw, made, without(outer, (name,)), name)], made


def _constructor(draw: Random, made: Thing, names: Names, above: Thing | None) -> list[str]:
    takes = parameters(draw)
    own = (*takes.needed, *takes.optional)
    inner = without(names, own) | dict.fromkeys(own, NUMBER)
    lines = [f"    def __init__(self, {takes.declared(draw)}):"]
    if above is not None:
        lines.append(f"        super().__init__({above.takes.arguments(draw)})")
    for attribute in {takes.needed[0], draw.choice(NAMES)}:
        if made.members.get(attribute, ("attribute", None))[0] == "attribute":
            lines.append(f"        self.{attribute} = {any_use(draw, inner)} + {takes.needed[0]}")
            made.members[attribute] = ("attribute", Parameters())
    made.takes = takes
    return [*lines, "        self.ready = 1"]


def _method(draw: Random, made: Thing, names: Names, of: str) -> list[str]:
    name = draw.choice(NAMES)
    held = made.members.get(name)
    if held is not None and (held[0] != "method" or draw.random() < 0.5):
        return []
    sorts: tuple[Sort, ...] = ("method", "method", "property", "static", "maker")
    sort = draw.choice(sorts) if held is None else "method"
    plain = {name: thing for name, thing in names.items() if thing.kind != "class"}
    if sort == "maker":
        made.members[name] = (sort, made.takes)
        arguments = ", ".join([*made.takes.needed, *(f"{one}={one}" for one in made.takes.optional)])
        declared = ", ".join(filter(None, ["cls", made.takes.declared(draw)]))
        return ["    @classmethod", f"    def {name}({declared}):", f"        return cls({arguments})"]
    if sort == "static":
        lines, takes = function(draw, name, plain, depth=1)
        made.members[name] = (sort, takes)
        return ["    @staticmethod", *indented(lines)]
    own = [one for one, (kind, _) in made.members.items() if kind in ("attribute", "constant", "property")]
    self_use = f"self.{draw.choice(own)}" if own else "1"
    called = [one for one, (kind, _) in made.members.items() if kind == "method" and one != name and held is None]
    if called and draw.random() < 0.4:
        chosen = draw.choice(called)
        self_use += f" + self.{chosen}({made.members[chosen][1].arguments(draw)})"
    if sort == "property":
        made.members[name] = (sort, Parameters())
        return [
            "    @property",
            f"    def {name}(self):",
            f"        return ({self_use} + {any_use(draw, plain)}) % 997",
        ]
    takes = held[1] if held is not None else parameters(draw)
    inside = (*takes.needed, *takes.optional)
    inner = without(plain, inside) | dict.fromkeys(inside, NUMBER)
    super_use = f" + super().{name}({takes.arguments(draw)})" if held is not None and "(" in of else ""
    made.members[name] = (sort, takes)
    result = f"({self_use} + {any_use(draw, inner)}{super_use}) % 997"
    return [f"    def {name}(self, {takes.declared(draw)}):", f"        return {result}"]
