"""A request's body, read and parsed once (contract stages 5 and 6)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kindgi_site import exact_json
from kindgi_site.errors import Code, InvalidError
from kindgi_site.exact_json import JsonText, NotJsonError, TooDeepError

_WHITE_OR_BOM = b" \t\n\r"
_BOM = b"\xef\xbb\xbf"


@dataclass
class Document:
    """`value` is what the body parses to; `is_json` whether it parses at all."""

    raw: bytes
    text: str = ""
    value: Any = None
    is_json: bool = False

    @cached_property
    def members(self) -> dict[str, str]:
        """The text of each member of an object body."""
        return exact_json.members(self.text)

    def part(self, name: str) -> JsonText | None:
        """A member as it was sent, or None when it was not."""
        if name not in self.value:
            return None
        return JsonText.parsed(self.members[name], self.value[name])

    @property
    def is_empty(self) -> bool:
        return not self.raw.strip(_WHITE_OR_BOM)


def read_document(raw: bytes) -> Document:
    """Parse a body; one that is not JSON passes, for the route to refuse. InvalidError beyond the depth limit."""
    document = Document(raw)
    if not raw:
        return document
    try:
        document.text, document.value = exact_json.parse_bytes(raw)
        document.is_json = True
    except NotJsonError:
        pass
    except TooDeepError:
        if raw.removeprefix(_BOM).lstrip(_WHITE_OR_BOM)[:1] in (b"{", b"["):
            raise InvalidError(
                Code.BAD_INPUT,
                f"The body nests deeper than {exact_json.MAX_DEPTH} levels.",
                maxDepth=exact_json.MAX_DEPTH,
            ) from None
    return document


def document_of_text(text: str) -> Document:
    """A document that came by another way than a request, e.g. a line of a file."""
    return read_document(text.encode("utf-8", "surrogatepass"))
