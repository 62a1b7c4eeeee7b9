"""The version strings of the field, parsed and ordered: Python packages, tags, ROCm, HIP and the driver."""
