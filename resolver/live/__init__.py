"""The live catalog: what upstream says now, read from the files of a commit by the layouts in the recipes."""
