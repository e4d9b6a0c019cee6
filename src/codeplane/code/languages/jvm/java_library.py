"""What is known of the types of Java's own library, by their simple names."""

from collections.abc import Mapping

from codeplane.code.languages.reserved_words import words

OBJECT_METHODS = words("equals hashCode toString clone finalize getClass notify notifyAll wait")
# Called by serialization, by their names alone.
SERIALIZATION = words("readObject readObjectNoData readResolve writeObject writeReplace serialVersionUID")

_COLLECTION = words(
    """add addAll clear contains containsAll isEmpty iterator forEach parallelStream remove removeAll removeIf retainAll
    size spliterator stream toArray"""
)
_THROWABLE = words(
    """addSuppressed fillInStackTrace getCause getLocalizedMessage getMessage getStackTrace getSuppressed initCause
    printStackTrace setStackTrace"""
)
_ENUM = words("compareTo describeConstable getDeclaringClass name ordinal valueOf values")

SWITCHED = words("String Integer Short Byte Character int short byte char")
"""The types beside enums whose constants a switch compares with."""

METHODS: Mapping[str, frozenset[str]] = {
    "Object": frozenset(),
    "Cloneable": frozenset(),
    "Serializable": frozenset(),
    "RandomAccess": frozenset(),
    "Record": frozenset(),
    "Enum": _ENUM,
    "Annotation": words("annotationType"),
    "Comparable": words("compareTo"),
    "Comparator": words("compare reversed thenComparing thenComparingDouble thenComparingInt thenComparingLong"),
    "Runnable": words("run"),
    "Callable": words("call"),
    "AutoCloseable": words("close"),
    "Closeable": words("close"),
    "Flushable": words("flush"),
    "Readable": words("read"),
    "Appendable": words("append"),
    "CharSequence": words("charAt chars codePoints isEmpty length subSequence"),
    "Iterable": words("forEach iterator spliterator"),
    "Iterator": words("forEachRemaining hasNext next remove"),
    "Collection": _COLLECTION,
    "Throwable": _THROWABLE,
    "Exception": _THROWABLE,
    "RuntimeException": _THROWABLE,
    "Error": _THROWABLE,
    "IllegalArgumentException": _THROWABLE,
    "IllegalStateException": _THROWABLE,
    "UnsupportedOperationException": _THROWABLE,
    "IOException": _THROWABLE,
    "InvocationHandler": words("invoke"),
    "ParameterizedType": words("getActualTypeArguments getOwnerType getRawType getTypeName"),
    "GenericArrayType": words("getGenericComponentType getTypeName"),
    "WildcardType": words("getLowerBounds getUpperBounds getTypeName"),
    "Type": words("getTypeName"),
    "Function": words("andThen apply compose identity"),
    "BiFunction": words("andThen apply"),
    "Supplier": words("get"),
    "Consumer": words("accept andThen"),
    "Predicate": words("and isEqual negate not or test"),
}
"""The methods that a type from outside may have beside those of `Object`; a type that is not listed may have any."""

_CONTAINERS = words(
    """AbstractCollection AbstractList AbstractSet ArrayDeque ArrayList BlockingQueue Collection CopyOnWriteArrayList
    Deque EnumSet HashSet ImmutableList ImmutableSet Iterable Iterator LinkedBlockingQueue LinkedHashSet LinkedList List
    ListIterator NavigableSet Optional PriorityQueue Queue Set SortedSet Stack Stream TreeSet Vector"""
)
ELEMENT: Mapping[str, int] = dict.fromkeys(_CONTAINERS, 0)
"""The type argument of a container that its items have."""

_ITEM_RESULTS = words(
    """element first floor ceiling get getFirst getLast higher last lower next orElse orElseThrow orElseGet peek
    peekFirst peekLast poll pollFirst pollLast pop previous removeFirst removeLast take"""
)
_SAME = words("filter sorted distinct limit skip peek subList headSet tailSet")
_MAPS = words(
    """Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap ConcurrentMap ConcurrentHashMap IdentityHashMap EnumMap
    WeakHashMap AbstractMap ImmutableMap"""
)
_ENTRIES = words("Entry Map.Entry SimpleEntry")
_VALUE_RESULTS = words("get getOrDefault put putIfAbsent remove computeIfAbsent compute computeIfPresent merge replace")
_HOLDERS = words("AtomicReference ThreadLocal WeakReference SoftReference Reference Supplier Callable Future Provider")


def result(of: str, method: str, count: int) -> tuple[str, tuple[int, ...]] | None:
    """Return what a method of a generic type of the library gives: a type's name ("" for an argument) and arguments."""
    if of in _MAPS and count == 2:
        if method in _VALUE_RESULTS:
            return "", (1,)
        if method in ("keySet", "navigableKeySet"):
            return "Set", (0,)
        if method == "values":
            return "Collection", (1,)
        if method in ("entrySet", "firstEntry", "lastEntry"):
            return ("MapEntries" if method == "entrySet" else "Entry"), (0, 1)
        return None
    if of in _ENTRIES and count == 2:
        return {"getKey": ("", (0,)), "getValue": ("", (1,)), "setValue": ("", (1,))}.get(method)
    if count != 1:
        return None
    if of in ELEMENT:
        if method in ("iterator", "listIterator", "descendingIterator"):
            return "Iterator", (0,)
        if method in ("stream", "parallelStream"):
            return "Stream", (0,)
        if of == "Stream" and method in ("findFirst", "findAny", "min", "max"):
            return "Optional", (0,)
        if of in ("Stream", "Optional") and method in _SAME:
            return of, (0,)
        return ("", (0,)) if method in _ITEM_RESULTS and of != "Stream" else None
    if of in _HOLDERS and method in ("get", "call", "getAndSet", "join"):
        return "", (0,)
    if of == "Class" and method in ("cast", "newInstance"):
        return "", (0,)
    return None


_PASSING = words(
    """allMatch anyMatch dropWhile filter flatMap forEach forEachOrdered ifPresent ifPresentOrElse map mapToDouble
    mapToInt mapToLong mapToObj max min noneMatch peek reduce removeIf replaceAll sort sorted takeWhile"""
)
_FUNCTIONS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(words("Consumer Function Predicate ToDoubleFunction ToIntFunction ToLongFunction"), (0,)),
    **dict.fromkeys(words("BiConsumer BiFunction BiPredicate ToIntBiFunction"), (0, 1)),
    **dict.fromkeys(words("BinaryOperator Comparator UnaryOperator"), (0, 0)),
}


def passes_items(of: str, method: str, count: int) -> bool:
    """Whether a method of a container passes its items to a function."""
    return method in _PASSING and (
        (of in ELEMENT and count == 1) or (of in _MAPS and count == 2 and method == "forEach")
    )


def function_parameter(of: str, at: int) -> int:
    """Return which type argument of a functional interface its parameter has; -1 if that is not known."""
    places = _FUNCTIONS.get(of, ())
    return places[at] if at < len(places) else -1
