#!/usr/bin/env python3
"""Writes ../case_table.inc: the simple case mappings of Unicode, one code point to one, as runs of equal distance.

Takes them from the C library's locale C.UTF-8, which has them from UnicodeData.txt, and says where Python's own tables differ: a
Python of an older Unicode lacks some. Run it in this folder with glibc 2.41 or newer (Unicode 16)."""
import ctypes
import locale
import sys

locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
libc = ctypes.CDLL(None)


def mappings(function, full):
    """The pairs (code point, mapped) that differ. FULL: Python's mapping, which may give several code points."""
    pairs = []
    for code in range(sys.maxunicode + 1):
        mapped = function(code)
        known = full(chr(code))
        if len(known) == 1 and ord(known) != mapped:
            print(f"U+{code:04X}: the C library says U+{mapped:04X}, Python U+{ord(known):04X}", file=sys.stderr)
        if mapped != code:
            pairs.append((code, mapped))
    return pairs


def runs(pairs):
    """[first, last, step, distance]: every STEP-th code point from FIRST to LAST moves by DISTANCE."""
    found = []
    for code, mapped in pairs:
        distance = mapped - code
        if found and found[-1][3] == distance:
            first, last, step, _ = found[-1]
            if code - last == step or (first == last and code - last <= 2):
                found[-1][1:3] = [code, code - last]
                continue
        found.append([code, code, 1, distance])
    return found


def table(name, pairs):
    rows = "".join(f"    {{0x{first:04x}, 0x{last:04x}, {step}, {distance}}},\n" for first, last, step, distance in runs(pairs))
    return f"static const struct run {name}[] = {{\n{rows}}};\n"


with open("../case_table.inc", "w", encoding="ascii") as file:
    file.write("/* Made by case_gen/case_table.py from the C library: facts, not to be edited. */\n/* clang-format off */\n\n")
    file.write(table("to_lower", mappings(libc.towlower, str.lower)) + "\n" + table("to_upper", mappings(libc.towupper, str.upper)))
