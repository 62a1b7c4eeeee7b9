"""Lock -> environment: digests, trees, actions, sandbox, builds, realisations."""
