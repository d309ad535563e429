"""Sharing the partitions of a stream, without a server: what the members of a group do to its record."""

from __future__ import annotations

import random

import pytest

from middleware.group import LEASE_S, Group, Superseded


def group(partitions: int = 4) -> Group:
    return Group(dict.fromkeys(range(partitions), 0))


def test_the_first_member_takes_all() -> None:
    record = group()
    record.join("a", "1", now=0)
    assert record.held("a") == [0, 1, 2, 3]


def test_a_second_member_gets_its_share_when_the_first_has_committed() -> None:
    record = group()
    record.join("a", "1", now=0)
    record.join("b", "2", now=0)
    assert record.held("b") == []
    record.commit("a", "1", {0: 10, 1: 11, 2: 12, 3: 13}, now=1)
    assert record.held("a") == [0, 2]
    record.renew("b", "2", now=2)
    assert record.held("b") == [1, 3]
    assert record.offsets == {0: 10, 1: 11, 2: 12, 3: 13}


def test_more_members_than_partitions() -> None:
    record = group(1)
    record.join("a", "1", now=0)
    record.join("b", "2", now=0)
    record.commit("a", "1", {0: 5}, now=1)
    record.renew("b", "2", now=1)
    assert (record.held("a"), record.held("b")) == ([0], [])


def test_the_partitions_of_a_dead_member_are_read_from_where_it_committed() -> None:
    record = group(2)
    record.join("a", "1", now=0)
    record.commit("a", "1", {0: 7, 1: 8}, now=1)
    record.join("b", "2", now=2)
    assert record.free_for("b", now=1 + LEASE_S) == set()
    assert record.free_for("b", now=1 + LEASE_S + 0.1) == {0, 1}
    record.renew("b", "2", now=1 + LEASE_S + 0.1)
    assert record.held("b") == [0, 1]
    assert record.offsets == {0: 7, 1: 8}


def test_a_successor_of_the_same_name_need_not_wait_and_its_predecessor_is_told() -> None:
    record = group(2)
    record.join("a", "1", now=0)
    record.join("a", "2", now=0)
    assert record.held("a") == [0, 1]
    for late in (lambda: record.commit("a", "1", {0: 9}, now=1), lambda: record.renew("a", "1", now=1)):
        with pytest.raises(Superseded, match="'a'"):
            late()
    record.leave("a", "1")
    assert record.held("a") == [0, 1]
    assert record.offsets == {0: 0, 1: 0}


def test_who_was_taken_for_dead_commits_nothing_of_what_others_read_now() -> None:
    record = group(2)
    record.join("a", "1", now=0)
    record.join("b", "2", now=2 * LEASE_S)
    assert record.held("b") == [0, 1]
    assert record.commit("a", "1", {0: 50, 1: 50}, now=2 * LEASE_S) is False
    assert record.offsets == {0: 0, 1: 0}
    assert record.held("a") == []


def test_a_commit_tells_whether_the_member_held_what_it_read() -> None:
    record = group(2)
    record.join("a", "1", now=0)
    record.join("b", "2", now=1)
    assert record.commit("a", "1", {0: 50, 1: 50}, now=2), "what it gives away then is committed"
    assert record.held("a") == [0]
    record.renew("b", "2", now=2)
    assert record.commit("b", "2", {1: 60}, now=3)
    assert record.commit("a", "1", {0: 60}, now=2 + 2 * LEASE_S), "nobody else took it when its lease was over"
    assert record.commit("b", "2", {1: 70}, now=2 + 2 * LEASE_S) is False


def test_a_lease_is_prolonged_for_who_is_there_and_takes_nothing() -> None:
    record = group(2)
    record.join("a", "1", now=0)
    record.join("b", "2", now=1)
    assert record.prolong("a", "1", now=9)
    record.renew("b", "2", now=9 + LEASE_S)
    assert (record.held("a"), record.held("b")) == ([0, 1], [])
    record.renew("b", "2", now=10 + LEASE_S)
    assert record.held("b") == [0, 1]
    assert not record.prolong("a", "1", now=10 + LEASE_S)
    assert not record.prolong("b", "another life", now=10 + LEASE_S)
    assert "a" not in record.members


def test_the_record_survives_its_way_through_the_table() -> None:
    record = group(3)
    record.join("a", "1", now=0)
    assert Group.from_bytes(record.to_bytes()) == record


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_no_partition_has_two_readers_and_in_the_end_each_has_one(seed: int) -> None:
    chance = random.Random(seed)
    record, lives, now = group(5), dict.fromkeys("abc", ""), 0.0
    for step in range(300):
        now += chance.random() * LEASE_S / 4
        name = chance.choice("abc")
        act = chance.choice(["join", "renew", "commit", "commit", "leave", "nothing"])
        if act == "join":
            lives[name] = str(step)
            record.join(name, lives[name], now)
        elif lives[name] and act == "leave":
            record.leave(name, lives[name])
            lives[name] = ""
        elif lives[name] and act == "renew":
            record.renew(name, lives[name], now)
        elif lives[name] and act == "commit":
            record.commit(name, lives[name], {}, now)
        held = [partition for member in record.members.values() for partition in member.partitions]
        assert len(held) == len(set(held))
    living = [name for name in sorted(record.members) if record.members[name].until >= now]
    for _ in range(3):
        for name in living:
            record.renew(name, lives[name], now)
            record.commit(name, lives[name], {}, now)
    for name in living:
        record.renew(name, lives[name], now)
    held = [partition for member in record.members.values() for partition in member.partitions]
    assert sorted(held) == (list(record.offsets) if living else [])


def test_partitions_that_are_added_are_taken_from_their_beginning() -> None:
    record = group(2)
    record.join("a", "1", now=0)
    record.commit("a", "1", {0: 10, 1: 11}, now=1)
    record.extend([1, 2])
    record.renew("a", "1", now=2)
    assert record.offsets == {0: 10, 1: 11, 2: 0}
    assert record.held("a") == [0, 1, 2]
