"""What is known of the types of .NET's own library, by their simple names."""

from collections.abc import Mapping

from codeplane.code.languages.reserved_words import words

OBJECT_MEMBERS = words("Equals Finalize GetHashCode GetType MemberwiseClone ReferenceEquals ToString")
# Members that the language or the runtime looks for by their names.
BY_PATTERN = words(
    """Add Current Deconstruct Dispose DisposeAsync GetAsyncEnumerator GetAwaiter GetEnumerator GetPinnableReference
    GetResult Invoke IsCompleted Length Main MoveNext MoveNextAsync OnCompleted Slice"""
)
QUERY = words("Cast GroupBy GroupJoin Join OrderBy OrderByDescending Select SelectMany ThenBy ThenByDescending Where")

MEMBERS: Mapping[str, frozenset[str]] = {
    "Object": frozenset(),
    "ValueType": frozenset(),
    "Enum": words("CompareTo HasFlag"),
    "Attribute": words("TypeId Match IsDefaultAttribute"),
    "EventArgs": words("Empty"),
    "Exception": words("Data GetBaseException GetObjectData HResult HelpLink InnerException Message Source StackTrace"),
    "IDisposable": words("Dispose"),
    "IAsyncDisposable": words("DisposeAsync"),
    "ICloneable": words("Clone"),
    "IComparable": words("CompareTo"),
    "IComparer": words("Compare"),
    "IEquatable": words("Equals"),
    "IEqualityComparer": words("Equals GetHashCode"),
    "IEnumerable": words("GetEnumerator"),
    "IEnumerator": words("Current Dispose MoveNext Reset"),
    "IFormattable": words("ToString"),
    "IFormatProvider": words("GetFormat"),
    "INotifyPropertyChanged": words("PropertyChanged"),
    "ISerializable": words("GetObjectData"),
    "IServiceProvider": words("GetService"),
}
"""The members of a type from outside; a type that is not listed may have any."""

_SEQUENCES = words(
    """Collection ConcurrentBag ConcurrentQueue ConcurrentStack HashSet ICollection IEnumerable IEnumerator IList
    IOrderedEnumerable IQueryable IReadOnlyCollection IReadOnlyList ISet LinkedList List ObservableCollection Queue
    ReadOnlyCollection SortedSet Stack ImmutableArray ImmutableList BlockingCollection Span ReadOnlySpan"""
)
_MAPS = words(
    """ConcurrentDictionary Dictionary IDictionary IReadOnlyDictionary ImmutableDictionary SortedDictionary SortedList
    ReadOnlyDictionary"""
)
_ITEM = words(
    """Aggregate Current Dequeue ElementAt ElementAtOrDefault Find FindLast First FirstOrDefault Last LastOrDefault Max
    MaxBy Min MinBy Peek Pop Single SingleOrDefault"""
)
_SAME = words(
    """AsEnumerable Append AsReadOnly Concat DefaultIfEmpty Distinct Except FindAll GetRange Intersect OrderBy
    OrderByDescending Prepend Reverse Skip SkipWhile Take TakeWhile ThenBy ThenByDescending ToArray ToHashSet ToList
    Union Where"""
)
_HOLDERS = words("KeyValuePair Lazy LinkedListNode Nullable Task ThreadLocal ValueTask WeakReference AsyncLocal")
_PASSING = words(
    """All Any Average Count DistinctBy Exists Find FindAll FindIndex FindLast First FirstOrDefault ForEach GroupBy Last
    LastOrDefault LongCount Max MaxBy Min MinBy OrderBy OrderByDescending RemoveAll RemoveWhere Select SelectMany Single
    SingleOrDefault SkipWhile Sort Sum TakeWhile ThenBy ThenByDescending ToDictionary ToLookup TrueForAll Where
    ConvertAll"""
)
_DELEGATES = words("Action Func Predicate Comparison Converter")


def is_enumerable(name: str) -> bool:
    """Whether a type from outside can be enumerated."""
    return name in _SEQUENCES or name in _MAPS


def is_of_query(name: str) -> bool:
    """Whether all that can be enumerated has a member of that name in the library."""
    return name in _ITEM or name in _SAME or name in _PASSING or name in QUERY


def item(of: str, count: int) -> int:
    """Return which type argument the items of a container have; -1 if it is none, -2 for pairs of a map."""
    if of in _SEQUENCES and count == 1:
        return 0
    return -2 if of in _MAPS and count == 2 else -1


def result(of: str, member: str, count: int) -> tuple[str, tuple[int, ...]] | None:
    """Return what a member of a generic type gives: a type's name ("" for an argument) and the arguments it has."""
    if of in _SEQUENCES and count == 1:
        if of == "LinkedList" and member in ("First", "Last"):
            return "LinkedListNode", (0,)
        if member == "GetEnumerator":
            return "IEnumerator", (0,)
        return ("", (0,)) if member in _ITEM else ("IEnumerable", (0,)) if member in _SAME else None
    if of in _MAPS and count == 2:
        return {"Keys": ("IEnumerable", (0,)), "Values": ("IEnumerable", (1,))}.get(member)
    if of == "KeyValuePair" and count == 2:
        return {"Key": ("", (0,)), "Value": ("", (1,))}.get(member)
    if of == "LinkedListNode" and member in ("Next", "Previous"):
        return "LinkedListNode", (0,)
    if of in _HOLDERS and count == 1 and member in ("Value", "Result", "GetValueOrDefault", "Target"):
        return "", (0,)
    return None


def passes_items(of: str, member: str, count: int) -> bool:
    """Whether a member of a container passes its items to a function."""
    return member in _PASSING and of in _SEQUENCES and count == 1


def function_parameter(of: str, at: int, count: int) -> int:
    """Return which type argument of a delegate of the library its parameter has; -1 if that is not known."""
    if of not in _DELEGATES:
        return -1
    if of == "Comparison":
        return 0
    return at if at < (count - 1 if of in ("Func", "Converter") else count) else -1


def may_have(outside: str, name: str) -> bool:
    """Whether a type from outside may have a member of a name."""
    known = MEMBERS.get(outside.rpartition(".")[2])
    return known is None or name in known


def is_interface(outside: str) -> bool:
    """Whether a type from outside has the name of an interface."""
    last = outside.rpartition(".")[2]
    return last[:1] == "I" and last[1:2].isupper()
