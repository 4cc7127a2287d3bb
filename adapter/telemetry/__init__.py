"""What a process tells about itself: metrics and traces, off unless asked for, never a value.

It imports nothing by itself: a process without telemetry loads none of it.
"""
