"""The files of a new project: small, whole, and a place to grow from."""

from __future__ import annotations

_WORKFLOW = """\
# A record is read, and the run ends in one of two ways.
apiVersion: coordinator/v1
kind: CoordinatorProject
project:
  id: first-workflow
  version: "1"
  title: First workflow

# What a caller has to send.
input:
  type: object
  additionalProperties: false
  required: [applicationId]
  properties:
    applicationId: {type: string, minLength: 1, maxLength: 128}

# Logical names of connections; a deployment binds them in its runtime.yaml.
connections:
  registry: breg

operations:
  read-application: {operation: breg.read-record/v1, connection: registry}

functionsFile: functions.rhai
deadlineSeconds: 86400

start: application
steps:
  application:
    title: Read the application
    type: call
    operation: read-application
    input:
      object:
        collection: {literal: applications}
        recordId: {input: /applicationId}
    next: question

  question:
    title: Does it have an applicant?
    type: choose
    choose: {function: completeness, arguments: [{step: application}]}
    cases:
      complete: complete
      incomplete: incomplete

  complete: {type: finish, outcome: complete}
  incomplete: {type: finish, outcome: incomplete}

outcomes:
  complete: {type: "null"}
  incomplete: {type: "null"}
"""

_FUNCTIONS = """\
// Pure functions: no clock, file or network; every value is one that a step passed in.

fn completeness(application) {
    let name = application.data.domainData.applicant?.name;
    if type_of(name) == "string" && name != "" { "complete" } else { "incomplete" }
}
"""

_SCENARIOS = """\
# `coordinatorctl test` plays these without a server.
apiVersion: coordinator/v1
kind: CoordinatorScenarios
cases:
  - id: complete
    admittedAt: "2026-03-02T08:00:00Z"
    input: {applicationId: A-1001}
    replies:
      application:
        - {type: success, value: {data: {domainData: {applicant: {name: Ada}}}}}
    expect:
      path: [application, question, complete]
      state: finished
      outcome: complete

  - id: incomplete
    admittedAt: "2026-03-02T08:00:00Z"
    input: {applicationId: A-1002}
    replies:
      application:
        - {type: success, value: {data: {domainData: {}}}}
    expect:
      path: [application, question, incomplete]
      state: finished
      outcome: incomplete
"""

FILES = {
    "workflow.yaml": _WORKFLOW,
    "functions.rhai": _FUNCTIONS,
    "scenarios.yaml": _SCENARIOS,
}
