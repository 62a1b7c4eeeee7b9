"""Commands: parse, call one function, render. The only room that prints."""
