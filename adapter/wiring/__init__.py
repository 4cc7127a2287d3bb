"""Joins the rooms: the only folder that knows all of them, and builds each program from settings.

It imports nothing by itself, so that a command waits only for the part that it uses.
"""
