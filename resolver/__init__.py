"""Manifest -> Lock: catalog, choosing, explanations, the Python layer."""
