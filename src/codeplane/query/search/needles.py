"""Looking for the nearest of a few texts, each of which is looked for only once."""

from codeplane.query.search.byte_search import Content, find

_SAMPLES = 4
_SAMPLE = 128 * 1024


class Needles:
    """Texts of which every match holds one: the rarest of each alternative."""

    def __init__(self, alternatives: tuple[tuple[bytes, ...], ...]) -> None:
        self._alternatives = alternatives
        self._content: Content = b""
        self._needles: tuple[bytes, ...] = ()
        # Of each text what is known: from where to where it was looked for, and where it is first.
        self._known: list[tuple[int, int, int]] = []

    def nearest(self, content: Content, start: int, end: int) -> int:
        """Where the first of the texts begins, or -1 before the end."""
        if content is not self._content:
            self._content = content
            self._needles = tuple(_rarest(content, texts) for texts in self._alternatives)
            self._known = [(0, 0, -1)] * len(self._needles)
        best = -1
        for index, needle in enumerate(self._needles):
            begun, ended, at = self._known[index]
            if not (begun <= start and (start <= at or (at < 0 and end <= ended))):
                at = find(content, needle, start, end)
                self._known[index] = (start, end, at)
            if at >= 0 and at + len(needle) <= end and (best < 0 or at < best):
                best = at
        return best


def _rarest(content: Content, texts: tuple[bytes, ...]) -> bytes:
    if len(texts) == 1:
        return texts[0]
    step = max(len(content) // _SAMPLES, _SAMPLE)
    samples = [bytes(content[at : at + _SAMPLE]) for at in range(step // 2, len(content), step)]
    return min(texts, key=lambda text: (sum(sample.count(text) for sample in samples), -len(text)))
