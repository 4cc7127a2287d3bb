"""A project of the public v1alpha1 format whose products need more than data, and a catalogue."""

from __future__ import annotations

from pathlib import Path

WORKFLOW = """\
apiVersion: id.registrystack.org/formats/coordinator/project/v1alpha1
kind: CoordinatorProject
project: {id: older-follow-up, version: "1"}
input:
  type: object
  additionalProperties: false
  required: [recordId]
  properties:
    recordId: {type: string, minLength: 1}
connections: {records: breg, words: external-http, minds: decision, notices: messaging}
functionsFile: functions.rhai
deadlineSeconds: 3600
start: look
steps:
  look:
    type: call
    connection: records
    operation: read-record
    input: {function: record_request, arguments: [{type: input}]}
    next: offices
  offices:
    type: call
    connection: words
    operation: external-get
    input: {function: office_request, arguments: [{type: step, step: look}]}
    next: judge
  judge:
    type: call
    connection: minds
    operation: evaluate-decision
    input: {function: question, arguments: [{type: step, step: look}]}
    next: change
  change:
    type: call
    connection: records
    operation: invoke-breg-action
    input: {function: change_request, arguments: [{type: step, step: judge}]}
    next: tell
  tell:
    type: call
    connection: notices
    operation: submit-message
    input: {function: message, arguments: [{type: step, step: change}]}
    next: done
  done: {type: finish, outcome: done}
outcomes: {done: {type: "null"}}
"""

FUNCTIONS = """\
fn record_request(input) { #{ collection: "applications", recordId: input.recordId } }
fn office_request(record) { #{ path: "offices/licensing", query: #{ near: record.recordId } } }
fn question(record) {
    let certain = #{ type: "predicate", instructions: "Is it complete?" };
    let kind = #{ type: "choice", instructions: "Which kind?", criteria: #{ a: "A", b: "B" } };
    let how = #{ type: "score", instructions: "How good?", criteria: ["bad", "good"] };
    #{ state: record.data, questions: #{ certain: certain, kind: kind, how: how } }
}
fn change_request(judged) {
    #{ action: "note-result", input: #{ "certainty": judged.answers.certain.probability } }
}
fn message(changed) {
    #{ senderProfile: "desk", to: #{ email: "a@example.org" }, content: #{ text: "done" } }
}
"""

CATALOGUE = """\
apiVersion: coordinator/v1
kind: CoordinatorCatalogue
product: crm
operations:
  crm.open-ticket/v1:
    effect: mutation
    recovery: same-command
    key: true
    completions:
      closed:
        read: crm.read-ticket/v1
        input: {ticket: /ticket/number}
        done: {path: /state/word, in: [closed]}
        value: /resolution
        schema: {type: string, minLength: 1}
    http:
      method: POST
      path: /tickets
      idempotencyHeader: X-Request-Id
      body: {members: [text]}
      success: [201]
      responseHeaders: [Location]
    request:
      type: object
      required: [text]
      additionalProperties: false
      properties: {text: {type: string}}
    response:
      type: object
      required: [ticket]
      properties:
        ticket: {type: object, required: [number], properties: {number: {type: integer}}}
  crm.read-ticket/v1:
    effect: read
    recovery: read-again
    http: {method: GET, path: "/tickets/{ticket}"}
    request:
      type: object
      required: [ticket]
      additionalProperties: false
      properties: {ticket: {type: integer}}
    response: {type: object}
"""

TICKETS = """\
apiVersion: coordinator/v1
kind: CoordinatorProject
project: {id: tickets, version: "1"}
input: {type: object, additionalProperties: false}
connections: {desk: crm}
operations:
  open: {operation: crm.open-ticket/v1, connection: desk}
deadlineSeconds: 3600
start: open
steps:
  open:
    type: call
    operation: open
    input: {object: {text: {literal: Help}}}
    next: wait
  wait: {type: wait-for, call: open, completion: closed, timeoutSeconds: 60, next: done}
  done: {type: finish, outcome: done, output: {step: wait}}
outcomes: {done: {type: string}}
"""


def write_older(folder: Path) -> Path:
    """The v1alpha1 project in a new folder."""
    folder.mkdir()
    (folder / "workflow.yaml").write_text(WORKFLOW)
    (folder / "functions.rhai").write_text(FUNCTIONS)
    return folder


def write_tickets(folder: Path) -> tuple[Path, Path]:
    """A project of a deployer's own product, and its catalogue document."""
    folder.mkdir()
    (folder / "workflow.yaml").write_text(TICKETS)
    catalogue = folder.parent / "crm.yaml"
    catalogue.write_text(CATALOGUE)
    return folder, catalogue
