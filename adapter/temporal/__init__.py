"""Our side of the Temporal server: the client, the payloads and the starts of runs."""
