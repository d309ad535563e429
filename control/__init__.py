"""What the page's buttons do to an instance: the only HTTP of ours that changes anything but by pushing tweets."""

from __future__ import annotations

import logging

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from common.control import PATH, secret_file
from common.hosts import refuse_foreign_hosts
from common.settings import Port, Settings
from control import access, experiments, failures, problems, tweets

MAX_BODY_BYTES = 16 << 10
SESSION_S = 24 * 3600


def create_app(settings: Settings | None = None) -> Flask:
    settings = settings or Settings.load()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    app = Flask(__name__)
    app.secret_key = secret_file(settings).read_text()
    app.config |= {
        "MAX_CONTENT_LENGTH": MAX_BODY_BYTES,
        "SESSION_COOKIE_NAME": f"murmur_control_{settings.port(Port.PAGE)}",  # cookies know no ports
        "SESSION_COOKIE_PATH": PATH,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Strict",
        "PERMANENT_SESSION_LIFETIME": SESSION_S,
    }
    app.extensions |= {
        "settings": settings, "failures": failures.Failures(settings),
        "experiments": experiments.Experiments(settings),
    }
    app.wsgi_app = ProxyFix(app.wsgi_app, x_proto=0)  # type: ignore[method-assign]  # the client is who asks Nginx
    refuse_foreign_hosts(app, settings)
    problems.register(app)
    access.register(app)
    for feature in (access, experiments, failures, tweets):
        app.register_blueprint(feature.blueprint)
    return app
