"""What SVG documents say, for tests."""

from __future__ import annotations

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    """Return the texts of a document that has nothing but plain drawing."""
    root = ElementTree.fromstring(svg)
    assert {element.tag for element in root.iter()} <= {
        SVG + name for name in ("svg", "rect", "g", "path", "text")
    }
    assert not any("href" in name for element in root.iter() for name in element.attrib)
    assert root.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
    return [element.text or "" for element in root.iter(SVG + "text")]
