from __future__ import annotations

from apiflask import APIFlask
from flask.testing import FlaskClient

from common.settings import Settings
from search.store import Store


def test_healthz_asks_nothing_else(lonely: FlaskClient) -> None:
    response = lonely.get("/healthz")
    assert (response.status_code, response.json) == (200, {"status": "ok"})


def test_readyz_tells_each_dependency(client: FlaskClient) -> None:
    response = client.get("/readyz")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
    assert response.json["ready"] is False
    states = {name: state["ok"] for name, state in response.json["dependencies"].items()}
    assert states == {"redis": True, "milvus": False, "database": False}


def test_the_database_is_ready_when_it_has_the_table(app: APIFlask, settings: Settings) -> None:
    store = Store.open(settings)
    store.count()
    store.close()
    assert app.test_client().get("/readyz").json["dependencies"]["database"] == {"ok": True, "detail": None}


def test_without_redis(lonely: FlaskClient) -> None:
    response = lonely.get("/readyz")
    assert response.status_code == 503
    assert response.json["dependencies"]["redis"] == {"ok": False, "detail": "ConnectionError"}
