"""Where tweets come from: sources, pacer, archive, publisher and the HTTP endpoint."""
