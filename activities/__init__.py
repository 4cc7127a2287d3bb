"""Calls to products and what they leave behind: catalogue, products, calls, records.

The adapter may import this room; it imports only the interpreter's contract.
"""
