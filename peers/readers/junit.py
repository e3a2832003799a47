"""Prints what junitparser reads in the report on standard input, as JSON."""

import json
import sys

from junitparser import JUnitXml

report = JUnitXml.fromstring(sys.stdin.buffer.read())
print(json.dumps([
    {
        "name": suite.name,
        "tests": suite.tests,
        "failures": suite.failures,
        "cases": [
            {
                "name": case.name,
                "classname": case.classname,
                "failures": [[one.type, one.message, one.text] for one in case.result],
                "output": case.system_out,
            }
            for case in suite
        ],
    }
    for suite in report
]))
