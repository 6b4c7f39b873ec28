"""Rules over plain values: no Django, no database."""
