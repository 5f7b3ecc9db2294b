"""A page as a browser finds it, which asks for nothing and obeys nothing."""

import re
from html.parser import HTMLParser

from mklcvx.reports.pages.html import VOID
from mklcvx.reports.plot._style import COLOURS


class Page(HTMLParser):
    """What a browser would find: elements that close properly, ids, links, text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.ids, self.links, self.open, self.text = [], [], [], [], ""
        self.styles = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        given = dict(attributes)
        assert not [name for name in given if name.startswith("on") or name in ("src", "srcset", "action", "data")]
        self.ids += [given["id"]] if "id" in given else []
        self.links += [value for name, value in attributes if name.endswith("href")]
        self.styles += " ".join(given.get(name) or "" for name in ("style", "fill", "stroke"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def read(text):
    """The page, once it is seen to ask for nothing and to obey nothing."""
    page = Page(text)
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert "://" not in text
    assert "@import" not in text
    assert not {"script", "link", "iframe", "img", "object", "embed", "base", "form"} & set(page.elements)
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert all(found in page.ids for found in re.findall(r"url\(#([^)]*)\)", text))
    assert re.findall(r"url\([^#]", text) == []
    for colour in (*COLOURS, "#000000", "#ffffff"):
        assert colour not in page.styles
    for needed in ("prefers-color-scheme:dark", "@media print", "max-width:30rem", 'name="viewport"'):
        assert needed in text
    assert text.encode("utf-8").decode("utf-8") == text
    return page
