"""The Temporal driver: carries the machine's commands out and feeds back what happened.

The only room that imports ``temporalio.workflow``; it holds no rule of the language.
"""
