"""docs/dependencies.md names every direct dependency, with the version that is pinned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from tests.stack import ROOT
from tests.tree import tracked

MAVEN = "{http://maven.apache.org/POM/4.0.0}"
OUR_OWN = ("murmuration", "io.github.murmuration", "${project.groupId}")

Pins = set[tuple[str, str]]


def named_in_docs(text: str) -> Pins:
    """The first two columns of the tables."""
    return set(re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", text, re.MULTILINE))


def of_python() -> Pins:
    lists = [*tracked("*requirements*.in"), *tracked("*teachers.txt")]
    pins = {pin for file in lists for pin in re.findall(r"^([\w.-]+)(?:\[\w+\])?==([\w.]+)", file.read_text(), re.M)}
    tools = re.findall(r"^(PIP|PIP_TOOLS) := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return pins | {(name.lower().replace("_", "-"), version) for name, version in tools}


def of_the_page() -> Pins:
    package = json.loads((ROOT / "frontend/package.json").read_text())
    return set(package["dependencies"].items()) | set(package["devDependencies"].items())


def of_java() -> Pins:
    return {pin for pom in tracked("*pom.xml") for pin in of_pom(pom)}


def of_pom(path: Path) -> Iterator[tuple[str, str]]:
    """What a pom names with a version; of dependencies the group belongs to the name."""
    pom = ElementTree.parse(path).getroot()
    properties = properties_of(path)

    def text(element: ElementTree.Element, name: str) -> str:
        found = element.findtext(MAVEN + name, "")
        while (resolved := re.sub(r"\$\{([^}]+)\}", lambda key: properties.get(key[1], key[0]), found)) != found:
            found = resolved
        return found

    for dependency in pom.iter(f"{MAVEN}dependency"):
        if text(dependency, "groupId") not in OUR_OWN:
            yield f"{text(dependency, 'groupId')}:{text(dependency, 'artifactId')}", text(dependency, "version")
    for plugin in pom.iter(f"{MAVEN}plugin"):
        if version := text(plugin, "version"):
            yield text(plugin, "artifactId"), version


def properties_of(path: Path) -> dict[str, str]:
    """Those of a pom, and of its parents where it has none of the name."""
    pom = ElementTree.parse(path).getroot()
    own = {entry.tag.removeprefix(MAVEN): entry.text or ""
           for properties in pom.findall(f"{MAVEN}properties") for entry in properties}
    parent = pom.find(f"{MAVEN}parent")
    if parent is None:
        return own
    return properties_of(path.parent / parent.findtext(f"{MAVEN}relativePath", "../pom.xml")) | own


def of_debian() -> Pins:
    [script] = tracked("*packages")
    missing = script.read_text().split("missing() {", 1)[1].split("\n}", 1)[0]
    return {(name, "Debian's") for name in re.findall(r"echo ([\w.-]+)", missing)}


def test_every_direct_dependency_is_described_in_its_version_and_no_other() -> None:
    pinned = of_python() | of_the_page() | of_java() | of_debian()
    described = named_in_docs((ROOT / "docs/dependencies.md").read_text())
    assert sorted(pinned - described) == [], "pinned, but not in docs/dependencies.md"
    assert sorted(described - pinned) == [], "in docs/dependencies.md, but not pinned"


def test_each_kind_is_found() -> None:
    for pins, name in [(of_python(), "pyspark"), (of_the_page(), "vue"), (of_java(), "org.apache.kafka:kafka_2.13"),
                       (of_java(), "maven-shade-plugin"), (of_debian(), "maven")]:
        assert name in dict(pins), name
