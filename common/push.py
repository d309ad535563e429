"""What `POST /api/v1/tweets` takes and answers: *ingest* serves it, and the API's description tells of it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

PATH = "/api/v1/tweets"

Objection = Literal["too-large", "invalid-utf8", "not-json", "not-an-object"]
"""Why a line was refused, in the words of `tweets-rejected`."""


class Refusal(BaseModel):
    line: int = Field(ge=1, description="which line of the body, from 1")
    reason: Objection


class Pushed(BaseModel):
    """What became of the lines: those that were accepted are acknowledged by the stream store."""

    accepted: int = Field(ge=0, description="lines that are published")
    refused: list[Refusal] = Field(description="the others, which do not hinder those")
