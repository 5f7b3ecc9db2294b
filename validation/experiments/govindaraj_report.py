"""stub"""

from _reporting import Page


def report(setting, rows):
    return Page("", [], [])
