"""Conformance: a third party's solver runs over the zoo and is judged at three levels of accuracy."""
