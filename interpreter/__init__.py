"""The pure room: contract, definition, language, machine and its two drivers.

Everybody may import it; it imports nobody. Nothing here reads a clock, a random source, the
environment or the network, because a replay executes these lines again.
"""
