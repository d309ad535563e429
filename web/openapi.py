"""What /openapi.json says beyond the schemas of the blueprints."""

from __future__ import annotations

from typing import Any

from apiflask import APIFlask
from pydantic import BaseModel

from common import push
from web.problems import Problem

PROBLEM = "application/problem+json"

DESCRIPTION = """What happens among tweets, now: hashtag rankings, semantic search, and the pipeline that makes both.

Times are RFC 3339 in UTC. Every error is `application/problem+json`. What is unknown is null, never 0."""

SCHEMAS = "#/components/schemas/"

ERRORS = {
    400: "A parameter is missing, unknown, repeated or out of range; `errors` names it",
    401: "The bearer token is missing or wrong",
    404: "There is none of that id",
    413: "The body is larger than the setting `ingest_max_body_bytes`",
    414: "The address is longer than the longest search makes it",
    421: "Asked under a Host name that the setting `allowed_hosts` does not list",
    429: "The client has as many event streams as one address may have: come back after `Retry-After` seconds, or poll",
    503: "A dependency does not answer, or has nothing yet: come back after `Retry-After` seconds",
    507: "The disk is full: nothing was published; push it again after `Retry-After` seconds",
}

RETRY_AFTER = {"Retry-After": {"description": "seconds to wait", "schema": {"type": "integer"}}}

HEADERS = {
    401: {"WWW-Authenticate": {"description": "how to authenticate: `Bearer`", "schema": {"type": "string"}}},
    **dict.fromkeys((429, 503, 507), RETRY_AFTER),
}


def errors(*statuses: int) -> Any:
    """The problems that an endpoint may answer with, for `doc(responses=…)`."""
    return {
        status: {
            "description": ERRORS[status],
            "content": {PROBLEM: {"schema": {"$ref": f"{SCHEMAS}Problem"}}},
            **({"headers": HEADERS[status]} if status in HEADERS else {}),
        }
        for status in statuses
    }


PUSH_DESCRIPTION = """One tweet a line, in the shape of X's API: `{"data": {"id": …, "text": …}}`.

Each is archived, and published like those of every other source. The answer comes when the stream store has
acknowledged those that are accepted."""

PUSH = {
    "tags": ["Tweets"],
    "summary": "Push tweets",
    "description": PUSH_DESCRIPTION,
    "security": [{"ingestToken": []}],
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    },
    "responses": {
        200: {
            "description": "What became of each line",
            "content": {"application/json": {"schema": {"$ref": f"{SCHEMAS}Pushed"}}},
        },
        **errors(401, 413, 503, 507),
    },
}
"""Served by *ingest*, beside this API."""

TOKEN = {
    "type": "http", "scheme": "bearer",
    "description": "The instance's setting `ingest_token`, which `murmur up` makes",
}

OTHER_ERRORS = {
    "description": "Whatever else HTTP knows, such as 405 and 431, is a problem as well",
    "content": {PROBLEM: {"schema": {"$ref": f"{SCHEMAS}Problem"}}},
}


def describe(app: APIFlask) -> None:
    """Completes the generated description."""
    app.config["AUTO_VALIDATION_ERROR_RESPONSE"] = False
    app.config["DESCRIPTION"] = DESCRIPTION
    app.config["SERVERS"] = [{"url": "/"}]
    app.config["LICENSE"] = {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}

    @app.spec_processor
    def complete(spec: Any) -> Any:
        components = spec.setdefault("components", {})
        components["securitySchemes"] = {"ingestToken": TOKEN}
        components["schemas"] = components.get("schemas", {}) | schemas(Problem) | schemas(push.Pushed)
        spec["tags"].append({"name": "Tweets"})
        spec["paths"][push.PATH] = {"post": dict(PUSH)}  # its answers are completed below
        for path in spec["paths"].values():
            for operation in path.values():
                for parameter in operation.get("parameters", []):
                    parameter["description"] = parameter["schema"].pop("description", "")
                    parameter["schema"] = without_null(parameter["schema"])
                operation["responses"] = described(operation["responses"])
        return spec


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter that may be left out: a query can hold no null."""
    if "anyOf" not in schema:
        return schema
    value, _ = schema["anyOf"]
    return {"title": schema["title"], **value}


def described(responses: dict[Any, Any]) -> dict[str, Any]:
    """Responses with those that every operation has, in order."""
    own = {str(status): response for status, response in responses.items()}
    return dict(sorted((own | {str(status): of for status, of in errors(421).items()}).items())) | {
        "default": OTHER_ERRORS
    }


def schemas(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model and of those within it, by name as the blueprints' are."""
    schema = model.model_json_schema(ref_template=f"{SCHEMAS}{model.__name__}.{{model}}")
    parts = schema.pop("$defs", {})
    return {f"{model.__name__}.{name}": part for name, part in parts.items()} | {model.__name__: schema}
