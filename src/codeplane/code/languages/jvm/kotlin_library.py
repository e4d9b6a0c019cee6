"""What is known of Kotlin's own library, by the simple names of types and functions."""

from codeplane.code.languages.reserved_words import words

FUNCTION, EXTENSION = "a function", "a function with a receiver"
"""How types of functions are called here."""

ITEMS = words(
    """Array ArrayDeque ArrayList Collection HashSet Iterable Iterator LinkedHashSet List ListIterator
    MutableCollection MutableIterable MutableIterator MutableList MutableSet Sequence Set"""
)
"""The containers whose only type argument is that of their items."""
MAPS = words("HashMap LinkedHashMap Map MutableMap")
ENTRIES = words("Entry MutableEntry IndexedValue Pair")

# Functions that pass what they are called on to a lambda, and give that back or what the lambda gives.
GIVES_BACK = words("also apply onEach takeIf takeUnless")
GIVES_RESULT = words("let run with")
WITH_RECEIVER = words("apply run with")
_ON_ITEMS = words(
    """all any associate associateBy associateWith chunked count distinctBy dropLastWhile dropWhile filter
    filterIndexed filterNot filterTo find findLast first firstOrNull flatMap flatMapIndexed fold foldIndexed
    foldRight forEach forEachIndexed groupBy indexOfFirst indexOfLast joinTo joinToString last lastOrNull map
    mapIndexed mapIndexedNotNull mapIndexedTo mapKeys mapNotNull mapTo mapValues maxBy maxByOrNull maxOf maxWith
    minBy minByOrNull minOf minWith none onEach partition reduce reduceIndexed removeAll removeIf retainAll
    runningFold scan single singleOrNull sortBy sortByDescending sortedBy sortedByDescending sortedWith sumBy
    sumOf takeLastWhile takeWhile windowed zip zipWithNext"""
)
_OTHER = words(
    """Array BooleanArray ByteArray CharArray Comparator DoubleArray FloatArray IntArray List LongArray MutableList
    Regex Runnable Thread also apply assertDoesNotThrow assertFails assertFailsWith check checkNotNull compareBy
    compareByDescending computeIfAbsent error execute fixedRateTimer forEachLine generateSequence getOrElse
    getOrPut ifBlank ifEmpty lazy lazyOf let measureNanoTime measureTimeMillis observable repeat replace require
    requireNotNull runCatching submit synchronized takeIf takeUnless thenBy thread trim trimEnd trimStart use
    useLines vetoable"""
)
PLAIN = _ON_ITEMS | _OTHER
"""Functions of the library whose lambdas have no receiver."""

_SAME = words("also apply ifEmpty onEach orEmpty requireNoNulls takeIf takeUnless")
# Of a sequence they give a sequence, of other containers a list.
_SELECTED = words(
    """distinct distinctBy drop dropLast dropLastWhile dropWhile filter filterIndexed filterNot filterNotNull minus
    minusElement plus plusElement shuffled sorted sortedBy sortedByDescending sortedDescending sortedWith take
    takeLast takeLastWhile takeWhile"""
)
_ADDED = words("minus minusElement plus plusElement")
_CONVERTED = {
    **dict.fromkeys(words("asList asReversed reversed slice subList toList"), "List"),
    **dict.fromkeys(words("intersect subtract toSet union"), "Set"),
    "asIterable": "Iterable",
    "asSequence": "Sequence",
    "iterator": "Iterator",
    "listIterator": "ListIterator",
    "toHashSet": "HashSet",
    "toMutableList": "MutableList",
    "toMutableSet": "MutableSet",
    "toTypedArray": "Array",
}
_ONE = words(
    """component1 component2 component3 component4 component5 elementAt elementAtOrElse elementAtOrNull find
    findLast first firstOrNull get getOrElse getOrNull last lastOrNull max maxBy maxByOrNull maxOrNull maxWith
    min minBy minByOrNull minOrNull minWith next nextOrNull pop previous random randomOrNull reduce reduceOrNull
    removeAt removeFirst removeFirstOrNull removeLast removeLastOrNull single singleOrNull"""
)
_MAPPED = words("map mapNotNull mapIndexed mapIndexedNotNull")
_MADE = {
    **dict.fromkeys(words("listOf listOfNotNull mutableListOf emptyList arrayListOf"), "List"),
    **dict.fromkeys(words("setOf mutableSetOf hashSetOf linkedSetOf emptySet"), "Set"),
    **dict.fromkeys(words("sequenceOf emptySequence"), "Sequence"),
    **dict.fromkeys(words("arrayOf emptyArray arrayOfNulls"), "Array"),
    **dict.fromkeys(words("mapOf mutableMapOf hashMapOf linkedMapOf emptyMap"), "Map"),
}
_VALUES = words("get getOrDefault getOrElse getOrPut getValue put remove putIfAbsent computeIfAbsent")

ANY_MEMBERS = words("equals hashCode toString")
_ITERABLE = words("forEach iterator spliterator")
_COLLECTION = _ITERABLE | words("contains containsAll isEmpty parallelStream size stream toArray")
_MUTABLE = _COLLECTION | words("add addAll clear remove removeAll removeIf retainAll")
_LIST = words("get indexOf lastIndexOf listIterator subList")
_MUTABLE_LIST = _LIST | words("removeAt replaceAll set sort")
_MAP = words("containsKey containsValue entries forEach get getOrDefault isEmpty keys size values")
_CHARACTERS = words("chars codePoints get isEmpty length subSequence")
_NUMBER = words(
    """and compareTo dec div inc inv minus mod or plus rangeTo rangeUntil rem shl shr times toByte toChar toDouble
    toFloat toInt toLong toShort unaryMinus unaryPlus ushr xor"""
)
MEMBERS = {
    "Any": frozenset(),
    FUNCTION: words("invoke"),
    EXTENSION: words("invoke"),
    "Array": words("get iterator set size"),
    "Boolean": words("and compareTo not or xor"),
    "CharSequence": _CHARACTERS,
    "Collection": _COLLECTION,
    "Comparable": words("compareTo"),
    "Function": frozenset(),
    "Iterable": _ITERABLE,
    "Iterator": words("forEachRemaining hasNext next remove"),
    "List": _COLLECTION | _LIST,
    "Map": _MAP,
    "MutableCollection": _MUTABLE,
    "MutableList": _MUTABLE | _MUTABLE_LIST,
    "MutableMap": _MAP
    | words("clear compute computeIfAbsent computeIfPresent merge put putAll putIfAbsent remove replace replaceAll"),
    "MutableSet": _MUTABLE,
    "Pair": words("component1 component2 copy first second toList"),
    "Sequence": words("iterator"),
    "Set": _COLLECTION,
    "String": _CHARACTERS | words("compareTo plus"),
    "Unit": frozenset(),
    **dict.fromkeys(words("Byte Char Double Float Int Long Short"), _NUMBER),
}
"""The members of types of the library, beside those of `Any`."""
FINAL = words(
    """Array Boolean BooleanArray Byte ByteArray Char CharArray Double DoubleArray Float FloatArray Int IntArray Long
    LongArray Nothing Pair Regex Short ShortArray String StringBuilder Triple Unit"""
)
"""Types of which nothing else is a subtype."""
_ABOVE = {
    "String": words("CharSequence Comparable Any"),
    "StringBuilder": words("CharSequence Appendable Any"),
    "List": words("Collection Iterable Any"),
    "MutableList": words("List MutableCollection Collection Iterable MutableIterable Any"),
    "ArrayList": words("MutableList List MutableCollection Collection Iterable MutableIterable Any"),
    "Set": words("Collection Iterable Any"),
    "MutableSet": words("Set MutableCollection Collection Iterable MutableIterable Any"),
    "Collection": words("Iterable Any"),
    **dict.fromkeys(words("Iterable Iterator Map Sequence"), words("Any")),
    "MutableMap": words("Map Any"),
    **dict.fromkeys(words("Byte Double Float Int Long Short"), words("Number Comparable Any")),
}
_ONLY_ANY = words("Any Comparable")


def is_subtype(name: str, wanted: str) -> bool | None:
    """Whether a type of the library is another; None if that is not known."""
    if name == wanted or wanted == "Any" or wanted in _ABOVE.get(name, ()):
        return True
    if name in _ABOVE or name in FINAL:
        return False if name in FINAL or wanted in FINAL or wanted in _ABOVE else None
    return None


def passes_items(name: str) -> bool:
    """Whether a function of a container passes its items to a lambda."""
    return name in _ON_ITEMS


def result(of: str, count: int, function: str) -> tuple[str, int] | None:
    """Return what a function of a container gives: a container ("" for none) of one of its type arguments."""
    if of in MAPS and count == 2:
        if function in _VALUES:
            return "", 1
        return {"keys": ("Set", 0), "values": ("Collection", 1)}.get(function)
    if of not in ITEMS or count != 1:
        return None
    if function in _SAME or (function in _ADDED and of in ("Array", "Set")):
        return of, 0
    if function in _SELECTED:
        return _selection(of), 0
    if function in _CONVERTED:
        return _CONVERTED[function], 0
    return ("", 0) if function in _ONE else None


def _selection(of: str) -> str:
    """Return what holds some of the items of a container."""
    return of if of == "Sequence" else "List"


def property_of(of: str, count: int, name: str) -> tuple[str, tuple[int, ...]] | None:
    """Return what a property holds: a container ("" for none) of some of the type arguments."""
    if of in MAPS and count == 2:
        return {"keys": ("Set", (0,)), "values": ("Collection", (1,)), "entries": ("Set", (0, 1))}.get(name)
    if of in ENTRIES and count == 2:
        return {"key": ("", (0,)), "first": ("", (0,)), "value": ("", (1,)), "second": ("", (1,))}.get(name)
    return ("", (0,)) if of == "IndexedValue" and count == 1 and name == "value" else None


def mapping_result(of: str, function: str) -> str:
    """Return what holds that which a lambda makes of each item of a container; empty for other functions."""
    return _selection(of) if function in _MAPPED else ""


def container_of(function: str) -> str:
    """Return the container that a function such as `listOf` makes; empty for others."""
    return _MADE.get(function, "")
