"""Values of an input file with their places, each read by the one shape that its format allows."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Tuple

from .errors import MAX_TOLD_MISTAKES, InputError, join_mistakes

#: GraphQL has no larger whole numbers.
MAX_INTEGER = 2**31 - 1
MAX_SHOWN_CHARACTERS = 40


def describe(value: Any) -> str:
    """What a value is, in a few words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        # A whole number of thousands of digits cannot even be written.
        return "the number %r" % value if isinstance(value, float) or abs(value) <= MAX_INTEGER else "a very large number"
    if isinstance(value, str):
        text = value if len(value) <= MAX_SHOWN_CHARACTERS else value[:MAX_SHOWN_CHARACTERS] + "…"
        return 'the text "%s"' % text
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a %s" % type(value).__name__


class OddInteger(int):
    """A whole number that YAML reads from other digits than those that are written, such as 8 from `010`."""

    written = ""


class Mistakes:
    """Mistakes of a file, each once, in the order in which they are found.

    The last of `limit` ends the reading of a document. With `counts_rest` readers of single lines go on,
    and the mistakes behind are counted.
    """

    def __init__(self, limit: int = MAX_TOLD_MISTAKES, counts_rest: bool = False) -> None:
        self.lines: List[str] = []
        self._limit = limit
        self._counts_rest = counts_rest
        self._more = 0

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= self._limit

    def note(self, line: str) -> None:
        if not self.is_full and line not in self.lines:
            self.lines.append(line)
        if self.is_full:
            raise _Enough

    def read(self, reader: Callable[[], Any]) -> Any:
        """What a reader returns; what ends it becomes one more mistake."""
        if self.is_full and not self._counts_rest:
            return None
        try:
            return reader()
        except _Enough:
            return None
        except InputError as error:
            if self.is_full:
                self._more += 1
            elif str(error) not in self.lines:
                self.lines.append(str(error))

    def finish(self) -> None:
        """Raises InputError with all mistakes, if there are some."""
        if self.lines:
            raise join_mistakes(self.lines, self._more if self._counts_rest or not self.is_full else None)


class _Enough(InputError):
    """Ends a reader of which the mistakes are noted already."""

    def __init__(self) -> None:
        super().__init__("")


class Node:
    """A value and its place, such as `sequences[2].ligand.ccdCodes`. Places count from 0, as in JSON paths.

    A value of a wrong shape is noted among `mistakes`, and reading goes on with an empty one.
    """

    def __init__(self, value: Any, place: str = "", mistakes: Optional[Mistakes] = None) -> None:
        self.value = value
        self.place = place
        self.mistakes = Mistakes() if mistakes is None else mistakes
        #: Whether a mistake of it is noted: whatever else is wrong with it may follow from that.
        self.is_told = False

    def fail(self, sentence: str) -> NoReturn:
        """Ends the reading of the document, where nothing can stand in for the value."""
        if self.is_told:
            raise _Enough
        raise InputError(self._line(sentence))

    def note(self, sentence: str) -> None:
        """Notes a mistake, after which the reading goes on."""
        if not self.is_told:
            self.is_told = True
            self.mistakes.note(self._line(sentence))

    def _line(self, sentence: str) -> str:
        return "%s: %s" % (self.place or "The document", sentence)

    def _child(self, value: Any, place: str) -> "Node":
        return Node(value, place, self.mistakes)

    def fields(self, known: Sequence[str]) -> "Fields":
        """An object in which nothing else may stand: what is not read could change the molecule."""
        if not isinstance(self.value, dict):
            self.note("this must be an object, not %s." % describe(self.value))
            return Fields({}, self)
        for key in self.value:
            if key not in known:
                sentence = "it has `%s`, which is not understood. Take it out if the fold is right without it." % key
                self.mistakes.note(self._line(sentence))
        return Fields(self.value, self)

    def only_field(self) -> Tuple[str, "Node"]:
        """The key and the value of an object that has one, as entries of `sequences` have."""
        if not isinstance(self.value, dict) or len(self.value) != 1:
            self.fail("this must be an object with one key, such as `protein`, not %s." % describe(self.value))
        ((key, value),) = self.value.items()
        return key, self._child(value, "%s.%s" % (self.place, key))

    def items(self, minimum: int = 0) -> List["Node"]:
        if not isinstance(self.value, list):
            self.note("this must be a list, not %s." % describe(self.value))
            return []
        if len(self.value) < minimum:
            self.note("the list is empty.")
        return [self._child(value, "%s[%d]" % (self.place, index)) for index, value in enumerate(self.value)]

    def exactly(self, size: int, meaning: str) -> List["Node"]:
        found = self.items()
        if len(found) != size:
            self.fail("this must be a list of %d: %s." % (size, meaning))
        return found

    def text(self) -> str:
        if isinstance(self.value, str):
            if any("\ud800" <= char <= "\udfff" for char in self.value):
                self.note("this has half a character in it.")
            return self.value
        if isinstance(self.value, (list, dict)):
            self.note("this must be a text, not %s. Quote it if it is one." % describe(self.value))
        else:
            self.note('this must be a text, and is read as %s. Quote it, such as "017" or "NO".' % describe(self.value))
        return ""

    def texts(self) -> List[str]:
        return [one.text() for one in self.items(1)]

    def text_or_texts(self) -> List[str]:
        """One text, or a list of some."""
        return self.texts() if isinstance(self.value, list) else [self.text()]

    def integer(self, minimum: int, maximum: int = MAX_INTEGER) -> int:
        """A whole number that is written as one: neither "2", nor 2.0, nor true, nor 010."""
        if isinstance(self.value, OddInteger):
            sentence = "this is written `%s`, which YAML reads as %d. Write the number that you mean in plain digits, without a zero before."
            self.note(sentence % (self.value.written[:MAX_SHOWN_CHARACTERS], self.value))
            return minimum
        if isinstance(self.value, int) and not isinstance(self.value, bool) and minimum <= self.value <= maximum:
            return self.value
        upper = "" if maximum == MAX_INTEGER else " to %d" % maximum
        self.note("this must be a whole number from %d%s, not %s." % (minimum, upper, describe(self.value)))
        return minimum

    def number(self) -> float:
        if isinstance(self.value, (int, float)) and not isinstance(self.value, bool):
            return self.value
        self.note("this must be a number, not %s." % describe(self.value))
        return 0

    def boolean(self) -> bool:
        if isinstance(self.value, bool):
            return self.value
        self.note("this must be true or false, not %s." % describe(self.value))
        return False


def check_version(version: Optional[Node], newest: int) -> None:
    """Refuses a version that is not read here: its words may mean another molecule."""
    if version is None or (type(version.value) is int and 1 <= version.value <= newest):
        return
    read = "version 1 is" if newest == 1 else "versions 1 to %d are" % newest
    version.note("%s read, not %s. Write the item in one of them, or in our own form." % (read, describe(version.value)))


class Fields:
    """The fields of an object. One that is null counts as left out."""

    def __init__(self, value: Dict[str, Any], owner: Node) -> None:
        self._value = value
        self._owner = owner

    def _node(self, value: Any, key: str) -> Node:
        place = self._owner.place
        return Node(value, "%s.%s" % (place, key) if place else key, self._owner.mistakes)

    def find(self, key: str) -> Optional[Node]:
        value = self._value.get(key)
        return None if value is None else self._node(value, key)

    def find_all(self, keys: Sequence[str]) -> List[Node]:
        """Those that are there, also where they are empty: an empty alignment says that there is to be none."""
        return [found for found in map(self.find, keys) if found is not None]

    def require(self, key: str) -> Node:
        found = self.find(key)
        if found is None:
            found = self._node(None, key)
            if not self._owner.is_told:
                found.note("this is missing or null. Give it, in quotes if it is a text.")
            found.is_told = True
        return found

    def find_filled(self, keys: Sequence[str]) -> List[Node]:
        """Those in which something stands."""
        return [found for found in map(self.find, keys) if found is not None and found.value]


Check = Callable[[Node], Any]


def list_of(check: Check) -> Check:
    return lambda node: [check(one) for one in node.items()]


def object_of(required: Dict[str, Check], optional: Dict[str, Check]) -> Check:
    """An object with these fields and no others."""

    def run(node: Node) -> None:
        fields = node.fields([*required, *optional])
        for key, check in required.items():
            check(fields.require(key))
        for key, check in optional.items():
            found = fields.find(key)
            if found is not None:
                check(found)

    return run
