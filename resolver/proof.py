"""Proofs about a whole world of releases, by a SAT solver: what fits, and which lines of a manifest do not.

Every candidate is read. Each line of the manifest is a literal of its own, so that one world answers for any
choice of lines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from .provider import Candidate, Provider, Wanted
from .rules import Violation


class Proof:
    """``lines`` are the lines of the manifest that rule something out."""

    def __init__(self, provider: Provider) -> None:
        from pysat.formula import IDPool
        from pysat.solvers import Solver

        self._provider = provider
        self._pool: Any = IDPool()
        self._solver: Any = Solver(name="glucose4")
        self._domains: dict[str, list[tuple[Candidate, int]]] = {name: [] for name in provider.needed}
        self._fitting: dict[tuple[str, str], list[int]] = {}
        self._selectors: dict[str, int] = {}
        self._add_candidates()
        for name, domain in self._domains.items():
            self._one_of(name, [literal for _, literal in domain])
        for domain in self._domains.values():
            for candidate, literal in domain:
                for wanted in provider.get_dependencies(candidate):
                    self._solver.add_clause([-literal, *self._fit(wanted)])

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(sorted(self._selectors))

    def solve(self, lines: Collection[str]) -> dict[str, Candidate] | None:
        """The newest candidates that meet ``lines``, package by package from the top; None where none do."""
        fixed = [self._selectors[line] for line in lines]
        if not self._solver.solve(assumptions=fixed):
            return None
        chosen: dict[str, Candidate] = {}
        for name in sorted(self._domains, key=self._provider.get_preference):
            for candidate, literal in self._domains[name]:
                if self._solver.solve(assumptions=[*fixed, literal]):
                    chosen[name] = candidate
                    fixed.append(literal)
                    break
        return chosen

    def impossible(self) -> tuple[str, ...]:
        """Lines that nothing meets together, of which none can be left out; none where nothing ever fits."""
        if not self._holds(()):
            return ()
        self._holds(self.lines)
        core = {abs(literal) for literal in cast("Iterable[int]", self._solver.get_core() or ())}
        kept = [line for line in self.lines if self._selectors[line] in core]
        for line in list(kept):
            fewer = [each for each in kept if each != line]
            if not self._holds(fewer):
                kept = fewer
        return tuple(kept)

    def _holds(self, lines: Collection[str]) -> bool:
        return bool(self._solver.solve(assumptions=[self._selectors[line] for line in lines]))

    def _add_candidates(self) -> None:
        provider = self._provider
        for name in sorted(self._domains):
            for release in provider.releases(name):
                violations = list(provider.violations(name, release))
                if violations:
                    provider.read.out(name, release, violations[0])
                if any(not violation.line for violation in violations):
                    continue
                candidate = provider.candidate(name, release)
                self._forbid(self._add(candidate), violations)
                for wanted in provider.get_dependencies(candidate):
                    if wanted.pin:
                        self._add_pinned(wanted)

    def _add(self, candidate: Candidate) -> int:
        literal: int = self._pool.id((candidate.package, len(self._domains[candidate.package])))
        self._domains[candidate.package].append((candidate, literal))
        return literal

    def _add_pinned(self, wanted: Wanted) -> None:
        """A commit that a candidate pins is a candidate, once, for which the manifest's range counts."""
        made = self._provider.pinned(wanted)
        if made is None or any(
            each.pin and made.pin and each.pin.commit == made.pin.commit
            for each, _ in self._domains[made.package]
        ):
            return
        literal = self._add(made)
        root = next(each for each in self._provider.roots() if each.package == made.package)
        if not self._provider.is_satisfied_by(root, made):
            self._forbid(literal, [Violation(root.line, root.says)])

    def _forbid(self, literal: int, violations: Iterable[Violation]) -> None:
        for violation in violations:
            line = violation.line
            if line not in self._selectors:
                self._selectors[line] = self._pool.id(("line", line))
            self._solver.add_clause([-self._selectors[line], -literal])

    def _one_of(self, name: str, literals: list[int]) -> None:
        """Exactly one; by a chain of literals, so that clauses grow with the candidates, not their square."""
        self._solver.add_clause(literals)
        for index in range(len(literals) - 1):
            here: int = self._pool.id(("chosen", name, index))
            following: int = self._pool.id(("chosen", name, index + 1))
            self._solver.add_clause([-literals[index], here])
            self._solver.add_clause([-here, following])
            self._solver.add_clause([-here, -literals[index + 1]])

    def _fit(self, wanted: Wanted) -> list[int]:
        """The candidates that meet what is wanted."""
        key = (wanted.package, f"pin {wanted.pin.asked}" if wanted.pin else wanted.specifier)
        if key not in self._fitting:
            self._fitting[key] = [
                literal
                for candidate, literal in self._domains[wanted.package]
                if self._provider.is_satisfied_by(wanted, candidate)
            ]
        return self._fitting[key]
