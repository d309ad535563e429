"""The ledger: a running account of what was acknowledged, from what the stages say of themselves. See ledger.py."""
