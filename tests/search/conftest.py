from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from common.settings import Settings
from search.encoder import Encoder
from search.store import Store
from search.table import metadata
from tests.search.servers import MilvusServer, postgres_server

MakeStore = Callable[..., Store]


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The encoder that set-up made."""
    return Encoder.load(Settings().encoder_dir)


@pytest.fixture
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    folder: Path = tmp_path_factory.mktemp("milvus")
    server = MilvusServer(folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    sqlite = f"sqlite:///{tmp_path / 'tweets.db'}"
    url = sqlite if request.param == "sqlite" else request.getfixturevalue("postgres")
    opened: list[Store] = []

    def make(max_rows: int = 1000) -> Store:
        opened.append(Store(url, max_rows))
        return opened[-1]

    yield make
    if request.param == "postgresql":
        metadata.drop_all(opened[0]._engine)
    for store in opened:
        store.close()
