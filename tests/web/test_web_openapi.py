"""The description at /openapi.json is complete, and the answers are as described."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.stack import ROOT

TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "null": type(None),
}


@pytest.fixture
def spec(client: FlaskClient) -> dict[str, Any]:
    return client.get("/openapi.json").json


class Mismatch(Exception):
    """A value is not as its schema says."""


def check(value: Any, schema: dict[str, Any], spec: dict[str, Any], at: str = "$") -> None:
    """Raises Mismatch unless the value is as described, without a property that is not."""
    if "$ref" in schema:
        return check(value, resolve(schema["$ref"], spec), spec, at)
    if "anyOf" in schema:
        if not any(matches(value, option, spec) for option in schema["anyOf"]):
            raise Mismatch(f"{at}: {value!r} is none of {schema['anyOf']}")
        return None
    if not isinstance(value, TYPES[schema["type"]]):
        raise Mismatch(f"{at}: {value!r} is no {schema['type']}")
    if "enum" in schema and value not in schema["enum"]:
        raise Mismatch(f"{at}: {value!r} is not in {schema['enum']}")
    if "minimum" in schema and value < schema["minimum"]:
        raise Mismatch(f"{at}: {value!r} is too small")
    if schema["type"] == "array":
        for n, item in enumerate(value):
            check(item, schema["items"], spec, f"{at}[{n}]")
    if schema["type"] == "object":
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties", False)
        if missing := set(schema.get("required", [])) - set(value):
            raise Mismatch(f"{at}: {missing} missing")
        for name, part in value.items():
            if name not in properties and not extra:
                raise Mismatch(f"{at}: {name} is not described")
            check(part, properties.get(name, extra), spec, f"{at}.{name}")
    return None


def matches(value: Any, schema: dict[str, Any], spec: dict[str, Any]) -> bool:
    try:
        check(value, schema, spec)
    except Mismatch:
        return False
    return True


def resolve(reference: str, spec: dict[str, Any]) -> dict[str, Any]:
    return spec["components"]["schemas"][reference.removeprefix("#/components/schemas/")]


@pytest.mark.parametrize(("path", "status"), [
    ("/api/v1/trending", 200),
    ("/api/v1/trending?window=1h", 503),
    ("/api/v1/trending?window=2h", 400),
    ("/api/v1/pipeline", 200),
    ("/api/v1/pipeline/history", 200),
    ("/api/v1/failures", 200),
    ("/api/v1/experiments", 200),
    ("/api/v1/ledger", 200),
    ("/api/v1/processes", 200),
    ("/api/v1/search?q=football", 503),
    ("/api/v1/search?limit=0", 400),
    ("/api/v1/events?window=x", 400),
    ("/healthz", 200),
    ("/readyz", 503),
    ("/metrics", 200),
])
def test_an_answer_is_as_described(client: FlaskClient, spec: dict, ranking: dict, path: str, status: int) -> None:
    response = client.get(path)
    assert response.status_code == status
    described = spec["paths"][path.partition("?")[0]]["get"]["responses"][str(status)]
    content = described["content"][response.mimetype]
    check(response.json if "json" in response.mimetype else response.text, content["schema"], spec)
    assert set(described.get("headers", {})) <= set(response.headers.keys())


def test_the_check_can_fail(client: FlaskClient, spec: dict, ranking: dict) -> None:
    schema = resolve("#/components/schemas/Ranking", spec)
    good = client.get("/api/v1/trending").json
    check(good, schema, spec)
    for bad in ({"tweets": None}, {"tweets": -1}, {"window": "2m"}, {"hashtags": [{}]}, {"other": 1}):
        with pytest.raises(Mismatch):
            check(good | bad, schema, spec)


def test_everything_is_described(spec: dict) -> None:
    read = {
        "/api/v1/trending", "/api/v1/hashtag/course", "/api/v1/hashtag/posts", "/api/v1/search", "/api/v1/pipeline",
        "/api/v1/pipeline/history", "/api/v1/failures", "/api/v1/streams", "/api/v1/ledger", "/api/v1/processes",
        "/api/v1/events", "/api/v1/experiments", "/api/v1/experiments/{name}", "/healthz", "/readyz", "/metrics",
    }
    assert {path: set(operations) for path, operations in spec["paths"].items()} == {
        **{path: {"get"} for path in read}, "/api/v1/tweets": {"post"},
    }
    for path, operations in spec["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            for parameter in operation.get("parameters", []):
                assert parameter["description"], (path, parameter["name"])
            for status, response in operation["responses"].items():
                assert response["description"], (path, status)
                assert response["content"], (path, status)


@pytest.mark.parametrize(("path", "most"), [("trending", 5000), ("events", 5000), ("search", 100)])
def test_the_bounds_of_a_limit_are_told(spec: dict, path: str, most: int) -> None:
    parameters = {each["name"]: each["schema"] for each in spec["paths"][f"/api/v1/{path}"]["get"]["parameters"]}
    assert (parameters["limit"]["minimum"], parameters["limit"]["maximum"]) == (1, most)


def test_the_page_keeps_to_the_bounds(spec: dict) -> None:
    page = (ROOT / "frontend" / "src" / "api" / "client.ts").read_text()
    bounds = {name: int(value) for name, value in re.findall(r"^export const ([A-Z_]+) = (\d+)$", page, re.MULTILINE)}
    found = {(path, parameter["name"]): parameter["schema"] for path, operations in spec["paths"].items()
             for parameter in operations.get("get", {}).get("parameters", [])}
    assert bounds["MAX_QUERY"] == found["/api/v1/search", "q"]["maxLength"]
    assert bounds["SEARCH_LIMIT"] <= found["/api/v1/search", "limit"]["maximum"]
    assert bounds["RANKING_LIMIT"] <= found["/api/v1/events", "limit"]["maximum"]


def test_no_parameter_may_be_null(spec: dict) -> None:
    for operations in spec["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                assert parameter["schema"]["type"] in {"string", "integer"}, parameter["name"]


def test_the_operation_with_a_secret_says_so(spec: dict) -> None:
    operation = spec["paths"]["/api/v1/tweets"]["post"]
    assert operation["security"] == [{"ingestToken": []}]
    assert spec["components"]["securitySchemes"]["ingestToken"]["scheme"] == "bearer"
    assert [*operation["responses"]] == ["200", "401", "413", "421", "503", "507", "default"]
    for status in ("401", "413", "421", "503", "507"):
        assert [*operation["responses"][status]["content"]] == ["application/problem+json"]
    schema = resolve("#/components/schemas/Pushed", spec)
    pushed = {"accepted": 1, "refused": [{"line": 2, "reason": "not-json"}]}
    check(pushed, schema, spec)
    with pytest.raises(Mismatch):
        check(pushed | {"refused": [{"line": 0, "reason": "not-json"}]}, schema, spec)


def test_another_host_name_is_answered_as_described(client: FlaskClient, spec: dict) -> None:
    for path, operations in spec["paths"].items():
        described = next(iter(operations.values()))["responses"]["421"]["content"]["application/problem+json"]
        if "get" in operations:
            response = client.get(path, headers={"Host": "evil.example"})
            assert (response.status_code, response.mimetype) == (421, "application/problem+json")
            check(response.json, described["schema"], spec)


def test_every_reference_leads_somewhere(spec: dict) -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if "$ref" in part else []
            return own + [found for value in part.values() for found in references(value)]
        return [found for value in part for found in references(value)] if isinstance(part, list) else []

    found = references(spec)
    assert len(found) > 10
    for reference in found:
        assert resolve(reference, spec)
