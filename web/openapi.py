"""What /openapi.json says beyond the schemas of the blueprints."""

from __future__ import annotations

from typing import Any

from apiflask import APIFlask

from web.problems import Problem

PROBLEM = "application/problem+json"

DESCRIPTION = """What happens among tweets, now: hashtag rankings, semantic search, and the pipeline that makes both.

Times are RFC 3339 in UTC. Every error is `application/problem+json`. What is unknown is null, never 0."""

ERRORS = {
    400: "A parameter is missing, unknown or out of range; `errors` names it",
    401: "The bearer token is missing or wrong",
    413: "The body is larger than `ingest_max_body_bytes`",
    421: "Asked under a Host name that `allowed_hosts` does not list",
    429: "The client has as many event streams as one address may have: come back after `Retry-After` seconds, or poll",
    503: "A dependency does not answer, or has nothing yet: come back after `Retry-After` seconds",
}

RETRY_AFTER = {"Retry-After": {"description": "seconds to wait", "schema": {"type": "integer"}}}


def errors(*statuses: int) -> Any:
    """The problems that an endpoint may answer with, for `doc(responses=…)`."""
    return {
        status: {
            "description": ERRORS[status],
            "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            **({"headers": RETRY_AFTER} if status in (429, 503) else {}),
        }
        for status in statuses
    }


def describe(app: APIFlask) -> None:
    """Completes the generated description."""
    app.config["AUTO_VALIDATION_ERROR_RESPONSE"] = False
    app.config["DESCRIPTION"] = DESCRIPTION
    app.config["SERVERS"] = [{"url": "/"}]
    app.config["LICENSE"] = {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}

    @app.spec_processor
    def complete(spec: Any) -> Any:
        problem = Problem.model_json_schema(ref_template="#/components/schemas/Problem.{model}")
        schemas = spec.setdefault("components", {}).setdefault("schemas", {})
        schemas |= {f"Problem.{name}": part for name, part in problem.pop("$defs").items()} | {"Problem": problem}
        for path in spec["paths"].values():
            for operation in path.values():
                for parameter in operation.get("parameters", []):
                    parameter["description"] = parameter["schema"].pop("description", "")
        return spec
