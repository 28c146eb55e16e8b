"""Attacks on systems that answer questions, on invented people."""

from ziggurat.experiments.steps.questions._attacking import attack_questions

__all__ = ["attack_questions"]
