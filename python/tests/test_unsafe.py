"""Unsafe code is listed in docs/unsafe.md and explained in a comment, and there is no other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "unsafe.md"
SOURCES = sorted([*ROOT.glob("crates/**/*.rs"), *ROOT.glob("python/src/**/*.rs")])

# Words in comments, strings and characters are not code.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(?P<hashes>#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\n]+?|[^\\\'\n])\'',
    re.DOTALL,
)


def code_of(source):
    """A source with everything that is not code replaced by blanks."""
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def counts(source):
    """How many blocks, functions, and promises (impl, trait, extern, attribute) are unsafe."""
    followers = re.findall(r"\bunsafe\b\s*([\w{(]+)", code_of(source))
    blocks = sum(word.startswith("{") for word in followers)
    functions = followers.count("fn")
    return blocks, functions, len(followers) - blocks - functions


def unexplained(source):
    """The lines with unsafe code without an explanation.

    Blocks and promises have a comment `SAFETY:` right above them, functions a part `# Safety` in their text.
    The functions of an unsafe impl keep the promises of its trait, which says what they are.
    """
    lines = source.splitlines()
    code = code_of(source).splitlines()
    inside_impl = False
    found = []
    for number, line in enumerate(code, 1):
        if re.match(r"unsafe impl\b", line):
            inside_impl = True
        elif re.match(r"\}", line):
            inside_impl = False
        for follower in re.findall(r"\bunsafe\b\s*([\w{(]*)", line):
            if follower == "fn" and inside_impl:
                continue
            wanted = "# Safety" if follower == "fn" else "SAFETY:"
            above = number - 2
            while above >= 0 and lines[above].lstrip().startswith("#["):
                above -= 1
            comment = []
            while above >= 0 and lines[above].lstrip().startswith("//"):
                comment.append(lines[above])
                above -= 1
            if wanted not in "\n".join(comment):
                found.append(number)
    return found


def listed():
    """The table of the page: file, blocks, functions, promises."""
    rows = re.findall(
        r"^\| `([\w/.-]+\.rs)` \| (\d+) \| (\d+) \| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return {path: (int(blocks), int(functions), int(rest)) for path, blocks, functions, rest in rows}


def test_the_page_lists_all_unsafe_code():
    found = {path.relative_to(ROOT).as_posix(): counts(path.read_text("utf-8")) for path in SOURCES}
    found = {path: numbers for path, numbers in found.items() if any(numbers)}
    assert found == listed()
    assert len(found) > 3


@pytest.mark.parametrize("path", sorted(listed()))
def test_unsafe_code_is_explained_in_the_code_and_on_the_page(path):
    assert unexplained((ROOT / path).read_text("utf-8")) == []
    # A section of the page, besides the table.
    assert re.search(rf"^## `{re.escape(path)}`$", PAGE.read_text("utf-8"), re.MULTILINE)


def test_crates_without_unsafe_code_forbid_it():
    roots = [path for path in SOURCES if path.parent.name == "src" and path.name in ("lib.rs", "main.rs")]
    with_unsafe = {path.partition("/src/")[0] for path in listed()}
    assert with_unsafe == {"crates/core", "crates/cuda"}
    seen = 0
    for path in roots:
        if path.relative_to(ROOT).as_posix().partition("/src/")[0] not in with_unsafe:
            text = path.read_text("utf-8")
            assert re.search(r"^#!\[forbid\(unsafe_code\)\]$", text, re.MULTILINE), path
            seen += 1
    assert seen == 6


def test_words_outside_of_code_are_not_counted():
    source = r"""
// unsafe { }
/* unsafe fn a() {} */
let a = "unsafe { \" unsafe {";
let b = r#"unsafe " { "#;
let c = ('"', b'\'', '\u{1F600}', "unsafe {");
fn d<'a>(e: &'a str) -> &'a str { unsafe { f(e) } }
unsafe impl Send for G {}
pub unsafe fn h() {}
unsafe extern "C" { fn i(); }
#[unsafe(no_mangle)]
let unsafe_code = 1;
"""
    assert counts(source) == (1, 1, 3)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("// SAFETY: so.\nunsafe { a() };", []),
        ("// SAFETY: so,\n// and so.\nlet b = unsafe { a() };", []),
        ("// SAFETY: so.\n#[rustfmt::skip]\nunsafe { a() };", []),
        ("unsafe { a() };", [1]),
        ("// It is fast.\nunsafe { a() };", [2]),
        ("// SAFETY: so.\n\nunsafe { a() };", [3]),
        ("// SAFETY: so.\nlet b = 1;\nunsafe { a() };", [3]),
        ("unsafe impl Send for A {}", [1]),
        ("// SAFETY: so.\nunsafe impl B for A {\n    unsafe fn c() {}\n}\nunsafe fn d() {}", [5]),
        ("/// Does it.\n///\n/// # Safety\n///\n/// So.\nunsafe fn d() {}", []),
    ],
)
def test_missing_explanations_are_found(source, lines):
    assert unexplained(source) == lines
