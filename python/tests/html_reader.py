"""Checks that HTML is well-formed."""

import html.parser


class Reader(html.parser.HTMLParser):
    """Checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.count = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)
