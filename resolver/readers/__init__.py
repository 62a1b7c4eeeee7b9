"""Pin readers: pure functions from the text of an upstream file to facts with their lines.

Nothing here reads a file, asks a server or runs what it reads. What cannot be read for certain raises
``PIN_UNREADABLE`` with file and line; nothing is ever passed over in silence.
"""
