"""Experiments on this machine: those that ended, and the one that runs."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import abort, current_app
from pydantic import BaseModel, Field

from web import experiment_files
from web.experiment_files import MOST, Experiment, ExperimentDetail
from web.openapi import errors

blueprint = APIBlueprint("experiments", __name__, url_prefix="/api/v1", tag="Experiments")


class ExperimentPath(BaseModel):
    name: str = Field(description="the `id` in the list")


class Experiments(BaseModel):
    experiments: list[Experiment]


@blueprint.get("/experiments")
@blueprint.output(Experiments, description=f"The newest first, {MOST} at most")
def experiments() -> Experiments:
    """Which rates were tried, and which were sustained"""
    return Experiments(experiments=experiment_files.experiments(current_app.extensions["settings"]))


@blueprint.get("/experiments/<name>")
@blueprint.input(ExperimentPath, location="path", arg_name="path")
@blueprint.output(ExperimentDetail, description="The experiment")
@blueprint.doc(responses=errors(404))
def experiment(name: str, path: ExperimentPath) -> ExperimentDetail:
    """One experiment: what was asked, and what was found"""
    # `path` is the same name, with its description.
    found = experiment_files.experiment(current_app.extensions["settings"], name)
    return found or abort(404)
