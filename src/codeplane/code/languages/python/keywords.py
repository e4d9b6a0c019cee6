"""The words of Python that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

PYTHON_RESERVED = reserved_words(
    hard="""False None True and as assert async await break class continue def del elif else except finally for
        from global if import in is lambda nonlocal not or pass raise return try while with yield""",
    soft="_ case match type",
    shadowed="""ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError
        BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
        ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning
        EnvironmentError Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError
        FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError
        InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
        ModuleNotFoundError NameError NotADirectoryError NotImplemented NotImplementedError OSError
        OverflowError PendingDeprecationWarning PermissionError ProcessLookupError RecursionError
        ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration
        SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError
        UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning
        ValueError Warning ZeroDivisionError abs aiter all anext any ascii bin bool breakpoint bytearray
        bytes callable chr classmethod compile complex delattr dict dir divmod enumerate eval exec exit
        filter float format frozenset getattr globals hasattr hash help hex id input int isinstance
        issubclass iter len list locals map max memoryview min next object oct open ord pow print property
        quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars
        zip __import__ __name__ __file__ __doc__""",
)
PYTHON_SOFT = words("case match type")
