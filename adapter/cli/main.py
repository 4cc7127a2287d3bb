"""The command `coordinatorctl`: its list of commands, and nothing that takes time to import."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from adapter.cli.entries import Entry, run_program

_PROGRAM = "coordinatorctl"
_HELP = "Write, prove, activate and run workflows on Temporal."

_AUDIT = {
    "verify": Entry("adapter.cli.audit", "verify", "Prove the journal, or an export of it"),
    "export": Entry("adapter.cli.audit", "export", "Write the journal as lines of JSON"),
    "show": Entry("adapter.cli.audit", "show", "Show the records of a run, or of the deployment"),
    "checkpoint": Entry("adapter.cli.audit", "checkpoint", "Print the last signed checkpoint"),
    "keys": Entry("adapter.cli.audit", "keys", "Print the public keys that prove checkpoints"),
}

_KEYS = {
    "status": Entry("adapter.cli.keys", "status", "Count what is under each sealing key"),
    "reseal": Entry("adapter.cli.keys", "reseal", "Bring everything under the active one"),
}

_VERSIONS = {
    "list": Entry("adapter.cli.versions", "list_builds", "Show builds of workers and their runs"),
    "current": Entry("adapter.cli.versions", "current", "Have new runs begin on a build"),
    "drain": Entry("adapter.cli.versions", "drain", "Move open runs to the current build"),
}

_ENTRIES = {
    "demo": Entry("adapter.cli.demo", "demo", "Run the example on real servers of its own"),
    "dev": Entry("adapter.cli.dev", "dev", "Run a project, or the example, on servers kept up"),
    "init": Entry("adapter.cli.project", "init", "Write a new project to start from"),
    "check": Entry("adapter.cli.check", "check", "Prove a project, or a runtime file, offline"),
    "convert-runtime": Entry(
        "adapter.cli.convert", "convert_runtime", "Write a public runtime file for this program"
    ),
    "explain": Entry("adapter.cli.views", "explain", "Tell how a project runs, step by step"),
    "graph": Entry("adapter.cli.views", "graph", "Draw a project: Mermaid, Graphviz or SVG"),
    "schema": Entry("adapter.cli.views", "schema", "Print the JSON Schema of workflow.yaml"),
    "diff": Entry("adapter.cli.views", "diff", "Compare two projects or packages"),
    "test": Entry("adapter.cli.test", "play", "Play a project's scenarios on a virtual clock"),
    "package": Entry("adapter.cli.project", "package", "Freeze a project into a package"),
    "plan": Entry("adapter.cli.activation", "plan", "Show what apply would change"),
    "apply": Entry("adapter.cli.activation", "apply", "Migrate the ledger, activate a package"),
    "start": Entry("adapter.cli.runs", "start", "Start a run of an active workflow"),
    "status": Entry("adapter.cli.runs", "status", "Show how a run stands"),
    "inspect": Entry("adapter.cli.runs", "inspect", "Show a run's steps, effects, waits and acts"),
    "list": Entry("adapter.cli.runs", "list_runs", "List runs, newest first"),
    "watch": Entry("adapter.cli.watch", "watch", "Follow a run until it ends"),
    "retry-same": Entry("adapter.cli.acts", "retry_same", "Send an unknown effect's command again"),
    "reconcile": Entry("adapter.cli.acts", "reconcile", "Settle an unknown effect by its receipt"),
    "cancel": Entry("adapter.cli.acts", "cancel", "Stop future calls of a run"),
    "doctor": Entry("adapter.cli.oversight", "doctor", "Show what needs a person"),
    "restore-hold": Entry("adapter.cli.oversight", "restore_hold", "Stop dispatch and admission"),
    "complete-execution-recovery": Entry(
        "adapter.cli.oversight", "complete_recovery", "Review every run under the restore hold"
    ),
    "release-restore-hold": Entry(
        "adapter.cli.oversight", "release_restore_hold", "Let dispatches go on"
    ),
    "release-admission-hold": Entry(
        "adapter.cli.oversight", "release_admission_hold", "Let new runs in"
    ),
    "retain": Entry("adapter.cli.oversight", "retain", "Erase payloads of runs that are over"),
    "audit": Entry("", "", "Prove, export or show the audit journal", commands=_AUDIT),
    "keys": Entry("", "", "Count or renew what the sealing keys hold", commands=_KEYS),
    "versions": Entry("", "", "Builds of workers: show, switch, move runs", commands=_VERSIONS),
    "signal": Entry("adapter.cli.signal", "signal", "Complete a run's wait on a signal"),
    "emit": Entry("adapter.cli.emit", "emit", "Send an event as a product would (development)"),
    "decide": Entry("adapter.cli.decide", "decide", "Decide a review at the pretend casework"),
    "complete": Entry("adapter.cli.simulation", "complete", "Complete a simulated result"),
    "fail": Entry("adapter.cli.simulation", "fail", "Let a simulated step fail, or work again"),
    "temporal": Entry(
        "adapter.cli.temporal",
        "temporal",
        "Temporal's own CLI, with this deployment's address",
        passes_arguments_on=True,
    ),
    "token": Entry("adapter.cli.tokens", "token", "Print an access token of this client"),
    "api-key": Entry("adapter.cli.api_keys", "api_key", "Make an API key, shown once"),
    "openapi": Entry("adapter.cli.runs", "openapi", "Print the service's OpenAPI document"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `coordinatorctl`; gives the exit code."""
    return run_program(_PROGRAM, _HELP, _ENTRIES, arguments)


if __name__ == "__main__":
    sys.exit(main())
