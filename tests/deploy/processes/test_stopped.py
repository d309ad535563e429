"""What is stopped while a loss is accepted runs again afterwards, whatever happens meanwhile."""

from xmlrpc.client import Fault

import pytest
from supervisor.states import ProcessStates
from supervisor.xmlrpc import Faults

from common.process import manager
from common.process.child import program
from common.process.manager import NotAnswering, NotRunning
from common.settings import Settings
from deploy.local import instances
from deploy.local.processes import stopped as module
from deploy.local.processes import supervisor
from deploy.local.processes.spec import Process
from deploy.local.processes.stopped import stopped
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
def test_one_that_has_just_ended_is_stopped_and_one_that_fails_keeps_no_other_from_its_start(monkeypatch, error):
    asked, told = Supervisor(error), []
    monkeypatch.setattr(module.manager, "ask", lambda *_: asked)
    with stopped(Settings(), ["a", "b"], told.append) as left:
        assert asked.started == []
    assert left == ["a"]
    assert asked.started == ["a", "b"]
    assert "a was not started again" in told[0]
    assert "b was not" not in "".join(told)
    assert "murmur up" in told[1]


def test_one_that_does_not_end_is_not_taken_for_started(monkeypatch):
    asked, told = Supervisor(None), []
    monkeypatch.setattr(module.manager, "ask", lambda *_: asked)
    monkeypatch.setattr(module, "RESTART_SECONDS", 0.3)
    with stopped(Settings(), ["b"], told.append) as left:
        monkeypatch.setattr(asked, "getProcessInfo", lambda name: {"state": ProcessStates.STOPPING})
    assert (asked.started, left) == ([], ["b"])
    assert "b was not started again" in told[0]


def test_one_that_somebody_else_has_started_meanwhile_runs(monkeypatch):
    asked, told = Supervisor(Fault(Faults.ALREADY_STARTED, "ALREADY_STARTED: a")), []
    monkeypatch.setattr(module.manager, "ask", lambda *_: asked)
    with stopped(Settings(), ["a"], told.append) as left:
        pass
    assert left == []
    assert told == []


@pytest.fixture
def managed(tmp_path, monkeypatch):
    """An instance of two processes of a real process manager, one of which has to be killed."""
    monkeypatch.setattr(supervisor, "STOP_SECONDS", 3)
    settings = Settings(home=tmp_path, instance="one")
    settings.log_dir.mkdir(parents=True)
    commands = {"deaf": "trap '' TERM; while true; do sleep 1; done", "calm": "exec sleep 300"}
    supervisor.write_configuration(settings, [
        Process(name, (program("sh"), "-c", command), stage=0, ready=lambda _: True)
        for name, command in commands.items()
    ])
    supervisor.start(settings)
    yield settings
    supervisor.stop(settings, [])
    eventually("all has ended", lambda: not instances.leftovers(settings), 10)


def test_all_are_started_again_where_one_of_them_takes_too_long_to_stop(managed, monkeypatch):
    def states():
        return {info["name"]: info["statename"] for info in manager.ask(managed).getAllProcessInfo()}

    both_run = {"calm": "RUNNING", "deaf": "RUNNING"}
    eventually("both run", lambda: states() == both_run, 30)
    monkeypatch.setattr(manager, "ENDED_SECONDS", 1.0)
    with pytest.raises(NotAnswering), stopped(managed, ["calm", "deaf"], print):
        pytest.fail("not all are stopped")
    eventually("both run again", lambda: states() == both_run, 30)


def test_what_did_not_run_is_not_started(managed):
    manager.ask(managed, manager.ENDED_SECONDS).stopProcess("calm")
    with stopped(managed, ["calm"], print):
        pass
    assert manager.ask(managed).getProcessInfo("calm")["statename"] == "STOPPED"
