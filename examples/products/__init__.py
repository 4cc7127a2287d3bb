"""Pretend products: one loopback process that speaks the HTTP of the real products.

It is what the demonstration and the tests talk to. It keeps idempotency keys, receipts and effects
in SQLite, lets a person decide a review, and can be told to fail. It guards nothing of value and
its control routes are open, so it must never listen on anything but a loopback address.
"""
