"""Every error as application/problem+json (RFC 9457). A problem tells what to change, and nothing of the inside."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from apiflask import APIFlask, HTTPError
from flask import Response, abort, json, request
from pydantic import BaseModel, Field
from redis.exceptions import RedisError

RETRY_AFTER_S = 2

EXPLANATIONS = {
    404: "There is nothing at this address; /openapi.json lists what there is.",
    405: "This address does not take this method; the header Allow lists those that it takes.",
    413: "The body is larger than this address takes.",
    500: "The server made a mistake; its log has the details.",
}


class FieldError(BaseModel):
    """What is wrong with one parameter."""

    field: str = Field(description="name of the parameter")
    detail: str = Field(description="what is wrong with it")


class Problem(BaseModel):
    """An error, as RFC 9457 describes it."""

    type: str = Field(description="always about:blank: the status says it all")
    title: str = Field(description="the status in words")
    status: int = Field(description="the HTTP status")
    detail: str = Field(description="what went wrong, for people")
    errors: list[FieldError] | None = Field(None, description="with status 400: the parameters at fault")


class InvalidParameter(Exception):
    """A parameter that its schema accepts and its endpoint does not: 400."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field, self.detail = field, detail


class Unavailable(Exception):
    """A dependency does not answer, or has nothing yet: 503 with Retry-After."""

    status = 503

    def __init__(self, detail: str, retry_after_s: int = RETRY_AFTER_S) -> None:
        super().__init__(detail)
        self.detail, self.retry_after_s = detail, retry_after_s


class TooManyRequests(Unavailable):
    """The client has all that it may have: 429 with Retry-After."""

    status = 429


def body(status: int, detail: str, errors: list[FieldError] | None = None) -> str:
    """JSON of a problem."""
    problem = Problem(type="about:blank", title=HTTPStatus(status).phrase, status=status, detail=detail, errors=errors)
    return problem.model_dump_json(exclude_none=True)


def answer(
    status: int, detail: str, errors: list[FieldError] | None = None, headers: Any = None
) -> Response:
    response = Response(body(status, detail, errors), status, content_type="application/problem+json")
    response.headers.update(headers or {})
    return response


def invalid(errors: list[FieldError]) -> Response:
    return answer(400, "; ".join(f"{error.field}: {error.detail}" for error in errors), errors)


def register(app: APIFlask) -> None:
    """Makes every error of the application a problem."""
    app.config["VALIDATION_ERROR_STATUS_CODE"] = 400

    @app.error_processor
    def on_http_error(error: HTTPError) -> Response:
        if error.status_code == 400 and isinstance(error.detail, dict) and error.detail:
            return invalid([
                FieldError(field=field, detail="; ".join(details))
                for fields in error.detail.values()
                for field, details in fields.items()
            ])
        detail = EXPLANATIONS.get(error.status_code) or error.message or HTTPStatus(error.status_code).description
        return answer(error.status_code, detail, headers=error.headers)

    @app.errorhandler(InvalidParameter)
    def on_invalid(error: InvalidParameter) -> Response:
        return invalid([FieldError(field=error.field, detail=error.detail)])

    @app.errorhandler(Unavailable)
    def on_unavailable(error: Unavailable) -> Response:
        return answer(error.status, error.detail, headers={"Retry-After": error.retry_after_s})

    @app.errorhandler(RedisError)
    def on_redis_error(error: RedisError) -> Response:
        app.logger.warning("Redis: %s", error)
        return on_unavailable(Unavailable("Redis does not answer."))

    @app.errorhandler(Exception)
    def on_mistake(error: Exception) -> Response:
        app.logger.exception("%s %s", request.method, request.path)
        return answer(500, EXPLANATIONS[500])

    @app.before_request
    def bound_the_body() -> None:
        """Flask itself checks only bodies that are read, and none is."""
        if (request.content_length or 0) > app.config["MAX_CONTENT_LENGTH"]:
            abort(413)


def dump(content: Any) -> str:
    """JSON as the API writes it."""
    return json.dumps(content, separators=(",", ":"))
