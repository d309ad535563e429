"""What the parameters of several endpoints have in common."""

from __future__ import annotations

import re

from flask import Response, request
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from web.problems import FieldError, invalid


def digits(value: object) -> object:
    """Refuses what pydantic would take as well, such as 5_0."""
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]+", value):
        raise PydanticCustomError("whole_number", "must be a whole number")
    return value


whole_number = BeforeValidator(digits)
"""For an annotation, after the bounds: what stands before them hides them from the description."""


def refuse_repeated() -> Response | None:
    """Answers 400 if a parameter is there twice, of which only one would count; for `before_request`."""
    repeated = [name for name, values in request.args.lists() if len(values) > 1]
    return invalid([FieldError(field=name, detail="must be given once") for name in repeated]) if repeated else None
