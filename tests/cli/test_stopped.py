"""What is stopped while a loss is accepted runs again afterwards, whatever happens meanwhile."""

from xmlrpc.client import Fault

import pytest
from supervisor.states import ProcessStates
from supervisor.xmlrpc import Faults

from cli.accept_loss import command
from common.settings import Settings
from deploy.local import instances, supervision
from deploy.local.process import Process, program
from deploy.local.supervision import NotAnswering, NotRunning
from tests.stack import eventually


class Supervisor:
    """Of two processes `a` has just ended, and cannot be started once it was stopped."""

    def __init__(self, at_start):
        self.states, self.started = {"a": ProcessStates.EXITED, "b": ProcessStates.RUNNING}, []
        self.at_start = at_start

    def stopProcess(self, name):
        if self.states[name] == ProcessStates.EXITED:
            self.states[name] = ProcessStates.STARTING
            raise Fault(70, "NOT_RUNNING")
        return True

    def getProcessInfo(self, name):
        return {"state": ProcessStates.EXITED}

    def startProcess(self, name, wait):
        self.started.append(name)
        if name == "a":
            raise self.at_start


@pytest.mark.parametrize("error", [Fault(50, "SPAWN_ERROR"), NotAnswering("held"), NotRunning("gone")])
def test_one_that_has_just_ended_is_stopped_and_one_that_fails_keeps_no_other_from_its_start(
    monkeypatch, capsys, error
):
    asked = Supervisor(error)
    monkeypatch.setattr(command.supervision, "ask", lambda *_: asked)
    with command.stopped(Settings(), ["a", "b"]) as left:
        assert asked.started == []
    assert left == ["a"]
    assert asked.started == ["a", "b"]
    told = capsys.readouterr().err
    assert "a was not started again" in told
    assert "b was not" not in told
    assert "murmur up" in told


def test_one_that_does_not_end_is_not_taken_for_started(monkeypatch, capsys):
    asked = Supervisor(None)
    monkeypatch.setattr(command.supervision, "ask", lambda *_: asked)
    monkeypatch.setattr(command, "RESTART_SECONDS", 0.3)
    with command.stopped(Settings(), ["b"]) as left:
        monkeypatch.setattr(asked, "getProcessInfo", lambda name: {"state": ProcessStates.STOPPING})
    assert (asked.started, left) == ([], ["b"])
    assert "b was not started again" in capsys.readouterr().err


def test_one_that_somebody_else_has_started_meanwhile_runs(monkeypatch, capsys):
    asked = Supervisor(Fault(Faults.ALREADY_STARTED, "ALREADY_STARTED: a"))
    monkeypatch.setattr(command.supervision, "ask", lambda *_: asked)
    with command.stopped(Settings(), ["a"]) as left:
        pass
    assert left == []
    assert capsys.readouterr().err == ""


@pytest.fixture
def managed(tmp_path, monkeypatch):
    """An instance of two processes of a real process manager, one of which has to be killed."""
    monkeypatch.setattr(supervision, "STOP_SECONDS", 3)
    settings = Settings(home=tmp_path, instance="one")
    settings.log_dir.mkdir(parents=True)
    commands = {"deaf": "trap '' TERM; while true; do sleep 1; done", "calm": "exec sleep 300"}
    supervision.write_configuration(settings, [
        Process(name, (program("sh"), "-c", command), stage=0, ready=lambda _: True)
        for name, command in commands.items()
    ])
    supervision.start(settings)
    yield settings
    supervision.stop(settings, [])
    eventually("all has ended", lambda: not instances.leftovers(settings), 10)


def test_all_are_started_again_where_one_of_them_takes_too_long_to_stop(managed, monkeypatch):
    def states():
        return {info["name"]: info["statename"] for info in supervision.ask(managed).getAllProcessInfo()}

    both_run = {"calm": "RUNNING", "deaf": "RUNNING"}
    eventually("both run", lambda: states() == both_run, 30)
    monkeypatch.setattr(supervision, "ENDED_SECONDS", 1.0)
    with pytest.raises(NotAnswering), command.stopped(managed, ["calm", "deaf"]):
        pytest.fail("not all are stopped")
    eventually("both run again", lambda: states() == both_run, 30)


def test_what_did_not_run_is_not_started(managed):
    supervision.ask(managed, supervision.ENDED_SECONDS).stopProcess("calm")
    with command.stopped(managed, ["calm"]):
        pass
    assert supervision.ask(managed).getProcessInfo("calm")["statename"] == "STOPPED"
