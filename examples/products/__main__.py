"""The command ``python -m examples.products``: serve the pretend products until interrupted."""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path

from examples.products.server import PortTaken, address_of, listen, server_for
from examples.products.settings import (
    DEVELOPMENT_BEARER,
    ProductsSettings,
    SettingsRefused,
    WebhookTarget,
    grant_authority,
    read_oauth_settings,
)

_UNAVAILABLE, _USAGE = 3, 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.products",
        description="Serve the pretend products on 127.0.0.1.",
        epilog="PRODUCTS_BEARER replaces the static bearer (empty: everyone may call);"
        " PRODUCTS_WEBHOOK_SECRET signs the completion events that go to --webhook-url;"
        " PRODUCTS_GRANT_KEY, a private JWK, the assertions that --issuer exchanges.",
    )
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free port")
    parser.add_argument("--state", type=Path, metavar="DIR", help="keep the state in this folder")
    parser.add_argument("--webhook-url", metavar="URL", help="where completion events go")
    parser.add_argument("--oauth", type=Path, metavar="FILE", help="clients of the token endpoint")
    parser.add_argument("--issuer", metavar="URL", help="whose access tokens count too")
    parser.add_argument(
        "--receipt-window", type=float, default=86_400, metavar="SECONDS", help="life of a key"
    )
    return parser


def _settings(options: argparse.Namespace) -> ProductsSettings:
    webhook = None
    if options.webhook_url is not None:
        secret = os.environ.get("PRODUCTS_WEBHOOK_SECRET", "")
        if not secret:
            raise SettingsRefused("--webhook-url: set PRODUCTS_WEBHOOK_SECRET to a whsec_… secret")
        webhook = WebhookTarget(options.webhook_url, secret)
    key = os.environ.get("PRODUCTS_GRANT_KEY")
    grants = None if options.issuer is None or not key else grant_authority(options.issuer, key)
    return ProductsSettings(
        state_directory=options.state,
        bearer=os.environ.get("PRODUCTS_BEARER", DEVELOPMENT_BEARER) or None,
        oauth=None if options.oauth is None else read_oauth_settings(options.oauth),
        issuer=options.issuer,
        grants=grants,
        webhook=webhook,
        receipt_window_seconds=options.receipt_window,
    )


def _say(refusal: str, exit_code: int) -> int:
    sys.stderr.write(f"{refusal}\n")
    return exit_code


def main(arguments: list[str] | None = None) -> int:
    """Serve; 0 after an interrupt, 2 for wrong settings, 3 if port or state can not be used."""
    options = _parser().parse_args(arguments)
    if not 0 <= options.port <= 65_535:
        return _say("--port: use a number from 0 to 65535", _USAGE)
    try:
        settings = _settings(options)
    except SettingsRefused as error:
        return _say(str(error), _USAGE)
    try:
        listener = listen(options.port)
        server = server_for(settings)
    except PortTaken as error:
        return _say(f"--port: {error}; use another one, or 0 for a free one", _UNAVAILABLE)
    except (OSError, sqlite3.Error):
        refusal = f"--state: {options.state} can not hold the state; name a writable folder"
        return _say(refusal, _UNAVAILABLE)
    sys.stdout.write(f"pretend products: {address_of(listener)}\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
