"""Between the outside and the interpreter: authors, callers, people, PostgreSQL, Temporal."""
