"""TeX formulas as MathML, which browsers draw without a script."""

import re

import latex2mathml.converter

# Bars of absolute values and norms stand close to what they enclose.
BAR = re.compile(r"<mo>(&#x0007C;|&#x02016;)</mo>")


def to_mathml(latex, display):
    """A formula as MathML; ValueError if a command is unknown."""
    mathml = latex2mathml.converter.convert(latex.strip(), display=display)
    if "\\" in mathml:
        raise ValueError(f"cannot convert this formula: {latex.strip()}")
    return BAR.sub(r'<mo lspace="0" rspace="0" stretchy="false">\1</mo>', mathml)
