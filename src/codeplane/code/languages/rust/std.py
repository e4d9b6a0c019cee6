"""What the methods of Rust's standard types give, as far as that helps to follow types."""

from collections.abc import Mapping

from msgspec import Struct

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.reserved_words import words
from codeplane.code.languages.rust.names import Thing

WRAPPERS = words("Box Rc Arc Cow Pin Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard ManuallyDrop")
CELLS = words("RefCell Mutex RwLock Cell OnceCell OnceLock LazyLock Lazy Weak")
LISTS = words("Vec VecDeque HashSet BTreeSet BinaryHeap LinkedList IndexSet SmallVec ArrayVec")
MAPS = words("HashMap BTreeMap IndexMap")
# Methods of wrappers and of references, which hide those of what is inside.
OF_WRAPPERS = words("clone as_ref as_mut borrow borrow_mut deref deref_mut to_owned into_inner as_ptr get_mut make_mut")
NUMBERS = words("u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64")
_BYTES = words("to_le_bytes to_be_bytes to_ne_bytes as_bytes into_bytes as_bytes_mut to_vec")
_SAME = words(
    """clone as_ref as_mut to_owned borrow borrow_mut by_ref as_deref as_deref_mut cloned copied take filter or
    or_else rev skip step_by chain peekable skip_while take_while inspect fuse cycle into_boxed_slice to_vec
    as_slice as_mut_slice inspect_err"""
)
_INNER = words("unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked into_inner")
_ITEM = words(
    """next next_back last first nth pop pop_front pop_back front back first_mut last_mut get_mut get max min max_by_key
    min_by_key max_by min_by find peek reduce"""
)
_ITER = words("iter iter_mut into_iter drain par_iter into_par_iter")
_GIVEN = words(
    """for_each map filter filter_map flat_map any all find position inspect take_while skip_while map_while max_by_key
    min_by_key partition find_map retain sort_by_key sort_by_cached_key and_then is_some_and map_or map_or_else
    is_none_or sort_by sort_unstable_by max_by min_by sort_unstable_by_key then partition_point dedup_by_key retain_mut
    is_ok_and"""
)
_TEXT_PART = words(
    """trim trim_start trim_end trim_matches trim_start_matches trim_end_matches trim_left trim_right as_str as_mut_str
    trim_left_matches trim_right_matches trim_ascii"""
)
_TEXT_PARTS = words(
    """lines split splitn rsplit rsplitn split_whitespace split_ascii_whitespace split_terminator split_inclusive
    matches rmatches rsplit_terminator"""
)
_ASKS = words("is_empty starts_with ends_with contains eq ne eq_ignore_ascii_case is_ascii is_char_boundary")
_COUNTS = words("len count capacity position")
_TEXTS = words("to_string to_lowercase to_uppercase repeat join")


class Ty(Struct, frozen=True):
    """A type as far as it is known: `of` a type of the repository, or `name` of one from outside, and its arguments."""

    shape: str
    of: Thing | None = None
    name: str = ""
    args: tuple["Ty | None", ...] = ()
    traits: tuple[Thing, ...] = ()
    wrapped: bool = False
    """Whether it stands behind a smart pointer, which has methods of its own."""

    def first(self) -> "Ty | None":
        """Return its first argument."""
        return self.args[0] if self.args else None


def outside(name: str, *args: Ty | None) -> Ty:
    """Return a type from outside."""
    return Ty("outside", Outside(name), name, args)


def tuple_of(*items: Ty | None) -> Ty:
    """Return the type of a tuple."""
    return Ty("tuple", None, "", items)


def iterator(item: Ty | None) -> Ty:
    """Return the type of something that yields items."""
    return Ty("iter", None, "", (item,))


def item_of(of: Ty | None) -> Ty | None:
    """Return what a loop over a value yields."""
    if of is None:
        return None
    if of.shape in ("list", "iter") or of.name in LISTS or of.name == "Option":
        return of.first()
    if of.name in MAPS and len(of.args) > 1:
        return tuple_of(*of.args[:2])
    return None


def result_of(of: Ty, method: str, closure: "Ty | None", argument: "Ty | None") -> Ty | None:
    """Return what a method of a standard type gives; `closure` is what a given closure gives."""
    if of.name in CELLS:
        if method in ("lock", "read", "write", "upgrade", "get", "try_lock"):
            return outside("Result", of.first())
        if method in ("borrow", "borrow_mut", "get_or_init", "force", "into_inner"):
            return of.first()
        return of if method == "clone" else None
    if method in _BYTES and (of.name in NUMBERS or of.name in ("str", "String")):
        return Ty("list", None, "", (outside("u8"),))
    if method in ("to_vec", "into_vec", "into_boxed_slice") and (of.shape == "list" or of.name == "Vec"):
        return of
    if method in _COUNTS:
        return outside("usize") if method != "position" else outside("Option", outside("usize"))
    if method in _TEXTS:
        return outside("String")
    if of.name in ("str", "String") and (given := _of_text(method)) is not None:
        return given
    if of.name in ("Option", "Result"):
        return _of_option(of, method, closure, argument)
    if of.name in MAPS and len(of.args) > 1:
        return _of_map(of, method)
    if method in _ITER:
        return iterator(item_of(of))
    if method in _ITEM and (of.shape in ("list", "iter") or of.name in LISTS):
        return outside("Option", item_of(of))
    if of.shape == "iter":
        return _of_iterator(of, method, closure, argument)
    return of if method in _SAME else None


def _of_text(method: str) -> Ty | None:
    """Return what a method of a string gives."""
    text, count = outside("str"), outside("usize")
    if method in _TEXT_PART:
        return text
    if method in _TEXT_PARTS:
        return iterator(text)
    if method in _ASKS:
        return outside("bool")
    return {
        "as_bytes": Ty("list", None, "", (outside("u8"),)),
        "bytes": iterator(outside("u8")),
        "char_indices": iterator(tuple_of(count, outside("char"))),
        "chars": iterator(outside("char")),
        "find": outside("Option", count),
        "get": outside("Option", text),
        "match_indices": iterator(tuple_of(count, text)),
        "rfind": outside("Option", count),
        "rsplit_once": outside("Option", tuple_of(text, text)),
        "split_at": tuple_of(text, text),
        "split_once": outside("Option", tuple_of(text, text)),
        "strip_prefix": outside("Option", text),
        "strip_suffix": outside("Option", text),
    }.get(method)


def _of_option(of: Ty, method: str, closure: Ty | None, argument: Ty | None) -> Ty | None:
    if method in _INNER:
        return of.first()
    if method == "map":
        return outside(of.name, closure, *of.args[1:])
    if method == "and_then":
        return closure
    if method in ("map_or", "map_or_else"):
        return closure or argument
    if method in ("ok", "err"):
        return outside("Option", of.args[method == "err"] if len(of.args) > (method == "err") else None)
    if method in ("ok_or", "ok_or_else", "map_err", "with_context", "context"):
        return outside("Result", of.first())
    if method in ("unwrap_err", "expect_err"):
        return of.args[1] if len(of.args) > 1 else None
    if method in ("get_or_insert_with", "insert", "get_or_insert"):
        return of.first()
    if method in ("iter", "iter_mut", "into_iter"):
        return iterator(of.first())
    if method in ("is_some", "is_none", "is_ok", "is_err"):
        return outside("bool")
    return of if method in _SAME | {"replace", "xor"} else None


def _of_map(of: Ty, method: str) -> Ty | None:
    key, value = of.args[:2]
    if method in ("get", "get_mut", "remove", "insert"):
        return outside("Option", value)
    if method in ("values", "values_mut", "into_values"):
        return iterator(value)
    if method in ("keys", "into_keys"):
        return iterator(key)
    if method in ("iter", "iter_mut", "into_iter", "drain"):
        return iterator(tuple_of(key, value))
    if method == "entry":
        return outside("Entry", value)
    return of if method == "clone" else None


def _of_iterator(of: Ty, method: str, closure: Ty | None, argument: Ty | None) -> Ty | None:
    item = of.first()
    if method == "enumerate":
        return iterator(tuple_of(outside("usize"), item))
    if method == "zip":
        return iterator(tuple_of(item, item_of(argument)))
    if method == "map":
        return iterator(closure)
    if method in ("filter_map", "map_while", "flat_map"):
        return iterator(item_of(closure))
    if method in ("flatten",):
        return iterator(item_of(item))
    if method in ("any", "all"):
        return outside("bool")
    if method in ("fold",):
        return argument
    return of if method in _SAME else None


def given_to_closure(of: Ty, method: str, position: int) -> Ty | None:
    """Return what a method of a standard type gives to a parameter of its closure."""
    if of.name == "Result" and method in ("map_err", "unwrap_or_else", "or_else", "inspect_err"):
        return of.args[1] if len(of.args) > 1 else None
    if method == "fold":
        return item_of(of) if position == 1 else None
    if of.name == "Result" and method in _GIVEN:
        return of.first()
    if method == "and_modify" or (of.name == "Entry" and method == "or_insert_with"):
        return of.first()
    if of.name in MAPS and method == "retain":
        return of.args[position] if position < len(of.args) else None
    return item_of(of) if method in _GIVEN else None


def substitute_type(of: Ty | None, given: Mapping[Bound, Ty | None]) -> Ty | None:
    """Return a type with its parameters replaced."""
    if of is None or not given:
        return of
    if isinstance(of.of, Bound) and of.of in given:
        return given[of.of]
    if not of.args:
        return of
    return Ty(
        of.shape, of.of, of.name, tuple(substitute_type(argument, given) for argument in of.args), of.traits, of.wrapped
    )
