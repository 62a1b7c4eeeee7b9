"""GitHub over HTTP: releases, tags, commits and files, as facts. Chooses nothing, reads no layout."""
