"""Where tweets come from: files, X, or invented ones."""
