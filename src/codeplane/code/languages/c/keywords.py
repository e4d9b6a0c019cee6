"""The words of C and C++ that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

C_RESERVED = reserved_words(
    hard="""auto break case char const continue default do double else enum extern float for goto if inline int
        long register restrict return short signed sizeof static struct switch typedef union unsigned void
        volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert
        _Thread_local""",
    shadowed="main malloc free printf memcpy memset strlen NULL",
)
CPP_RESERVED = reserved_words(
    hard="""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
        char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
        co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
        false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
        operator or or_eq private protected public register reinterpret_cast requires return short signed
        sizeof static static_assert static_cast struct switch template this thread_local throw true try
        typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq""",
    soft="final override import module",
    shadowed="main std",
)
CPP_SOFT = words("final import module override")
