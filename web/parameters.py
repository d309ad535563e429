"""What the parameters of several endpoints have in common."""

from __future__ import annotations

import re
from typing import Annotated

from flask import Response, request
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from common.text import MAX_HASHTAG, normal_hashtag
from web.problems import FieldError, invalid


def digits(value: object) -> object:
    """Refuses what pydantic would take as well, such as 5_0."""
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]+", value):
        raise PydanticCustomError("whole_number", "must be a whole number")
    return value


whole_number = BeforeValidator(digits)
"""For an annotation, after the bounds: what stands before them hides them from the description."""


def normalised(value: str) -> str:
    if not (tag := normal_hashtag(value)):
        raise PydanticCustomError("hashtag", "is no hashtag: those have letters, and {most} characters at most",
                                  {"most": MAX_HASHTAG})
    return tag


Hashtag = Annotated[str, Field(min_length=1, max_length=4 * MAX_HASHTAG), AfterValidator(normalised)]
"""With '#' or without, in any form; the parameter is then normalised as tweets' are."""


def refuse_repeated() -> Response | None:
    """Answers 400 if a parameter is there twice, of which only one would count; for `before_request`."""
    repeated = [name for name, values in request.args.lists() if len(values) > 1]
    return invalid([FieldError(field=name, detail="must be given once") for name in repeated]) if repeated else None
