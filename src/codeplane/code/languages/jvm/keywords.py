"""The words of Java, Kotlin and Scala that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

JAVA_RESERVED = reserved_words(
    hard="""abstract assert boolean break byte case catch char class const continue default do double else enum
        extends final finally float for goto if implements import instanceof int interface long native new
        package private protected public return short static strictfp super switch synchronized this throw
        throws transient try void volatile while true false null _""",
    soft="var record yield sealed permits non-sealed module requires exports opens",
    shadowed="Object String Integer Long Double Boolean Exception RuntimeException System Math Thread",
)
KOTLIN_RESERVED = reserved_words(
    hard="""as break class continue do else false for fun if in interface is null object package return super
        this throw true try typealias typeof val var when while _""",
    soft="by catch constructor delegate dynamic field file finally get import init param property set where",
    shadowed="Any Unit String Int Long Double Boolean List Map Set Array println print",
)
SCALA_RESERVED = reserved_words(
    hard="""abstract case catch class def do else extends false final finally for forSome if implicit import
        lazy match new null object override package private protected return sealed super this throw trait
        try true type val var while with yield enum given then export _""",
    soft="as derives end extension infix inline opaque open transparent using",
    shadowed="Any String Int Long Double Boolean List Map Set Option Some None Seq println",
)
JAVA_SOFT = words(
    """exports module open opens permits provides record requires sealed to transitive uses var when with
        yield"""
)
KOTLIN_SOFT = words(
    """abstract annotation by catch companion const constructor crossinline data delegate dynamic enum
        expect external field file final finally get import infix init inline inner internal lateinit
        noinline open operator out override param private property protected public receiver reified sealed
        set setparam suspend tailrec value vararg where"""
)
SCALA_SOFT = words("as derives end extension infix inline opaque open transparent using")
