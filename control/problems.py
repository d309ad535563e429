"""Why something was not done, as problem+json."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TypeVar

from flask import Flask, Response, request
from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError
from werkzeug.exceptions import HTTPException

from chaos.failure import Refused
from common.problem import problem
from common.process import manager
from deploy.local.stack import NoProcess

log = logging.getLogger(__name__)

Asked = TypeVar("Asked", bound=BaseModel)


class NotDone(Exception):
    """Another part does not do it; `status` says whose fault that is."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def asked(model: type[Asked]) -> Asked:
    """The body of the request. Raises ValidationError."""
    return model.model_validate_json(request.get_data())


def register(app: Flask) -> None:
    @app.errorhandler(HTTPException)
    def on_http_error(error: HTTPException) -> Response:
        response = problem(error.code or 500, error.description)
        response.headers.extend({name: value for name, value in error.get_headers() if name == "Allow"})
        return response

    @app.errorhandler(ValidationError)
    def on_invalid(error: ValidationError) -> Response:
        wrong = (f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors())
        return problem(HTTPStatus.BAD_REQUEST, "; ".join(wrong))

    @app.errorhandler(Refused)
    @app.errorhandler(NoProcess)
    def on_refused(error: Exception) -> Response:
        return problem(HTTPStatus.CONFLICT, str(error))

    @app.errorhandler(NotDone)
    def on_not_done(error: NotDone) -> Response:
        return problem(error.status, str(error))

    @app.errorhandler(manager.NotRunning)
    @app.errorhandler(manager.NotAnswering)
    def on_no_manager(error: Exception) -> Response:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error))

    @app.errorhandler(RedisError)
    def on_redis_error(error: RedisError) -> Response:
        log.warning("Redis: %s", error)
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "Redis does not answer.")

    @app.errorhandler(Exception)
    def on_mistake(error: Exception) -> Response:
        log.exception("%s %s", request.method, request.path)
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The server made a mistake; its log has the details.")
