"""The settings of a deployment: runtime.yaml, secret references, the environment, logs.

The only room that reads the environment. Every program of the adapter is built from the frozen
`Runtime` that `loading.load_runtime` gives; what is wrong with a file is reported whole, never
value by value, because a value may be a secret. Nothing is imported here, so that a command can
take one small part without waiting for the rest.
"""
