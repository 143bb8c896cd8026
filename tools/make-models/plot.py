"""A plot: a title, a text in the template language, and the scenarios that fill it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plot:
    title: str
    text: str
    scenarios: tuple = ({},)
